package bank

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// scene is the one that everybody knows: two machines, 10,000 each, on 1,000.
func scene(lock algorithm.Spec, seed uint64) Config {
	return Config{Lock: lock, Machines: 2, Deposits: 1, Amount: 10_000, Balance: 1_000, Seed: seed}
}

func play(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Run(c)
	if err != nil {
		t.Fatalf("%s, seed %d: %v", c.Lock.Name, c.Seed, err)
	}
	return r
}

const seeds = 1000

// Without a lock the outcome is chance, and all that can be lost is what one
// machine deposited.
func TestMoneyIsLostWithoutALock(t *testing.T) {
	outcome := map[int64]int{}
	for seed := range uint64(seeds) {
		outcome[play(t, scene(NoLock(), seed)).Balance]++
	}
	if outcome[11_000] < seeds/4 || outcome[21_000] < seeds/4 || outcome[11_000]+outcome[21_000] != seeds {
		t.Errorf("balances of %d seeds: %v; want 11000 and 21000, each often", seeds, outcome)
	}
}

func TestNoMoneyIsLostWithAnySoundAlgorithm(t *testing.T) {
	for _, lock := range catalog.Sound() {
		t.Run(lock.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(seeds) {
				c := scene(lock, seed)
				c.Machines += int(seed % 3)
				if lock.Accepts(c.Machines) != nil {
					c.Machines = 2
				}
				c.Deposits += int(seed % 2)
				r := play(t, c)
				if r.Lost != 0 || r.Balance != r.Expected || len(r.Found) > 0 || r.Entries != c.Machines*c.Deposits {
					t.Fatalf("seed %d: %+v", seed, *r)
				}
			}
		})
	}
}

// Every machine makes the deposits it was told to make, no more and no fewer.
func TestEachMachineMakesItsDeposits(t *testing.T) {
	for seed := range uint64(50) {
		c := scene(NoLock(), seed)
		c.Machines, c.Deposits, c.Record = 3, 4, true
		enters := make([]int, c.Machines)
		for _, e := range play(t, c).Events {
			if e.Kind == trace.Enter {
				enters[e.Proc]++
			}
		}
		if want := []int{4, 4, 4}; !reflect.DeepEqual(enters, want) {
			t.Errorf("seed %d: entries %v, want %v", seed, enters, want)
		}
	}
}

// The account in the events must tell the same story as the balance: a reader
// who applies what they say arrives at the same sum.
func TestEventsTellTheBalance(t *testing.T) {
	for _, lock := range append(catalog.Sound(), NoLock()) {
		c := scene(lock, 7)
		c.Machines, c.Deposits, c.Record = 3, 2, true
		if lock.Accepts(c.Machines) != nil {
			continue
		}
		r := play(t, c)
		account := algorithm.ID(c.Machines)
		balance := "1000"
		at := int64(0)
		for i, e := range r.Events {
			if e.At < at || e.Step != i {
				t.Fatalf("%s: event %d is out of order: %+v", lock.Name, i, e)
			}
			at = e.At
			switch {
			case e.Proc == account && e.Kind == trace.Receive && e.Name == "WRITE":
				balance = e.Fields[0].Value
			case e.Proc == account && e.Kind == trace.Send && e.Name == "VALUE" && e.Fields[0].Value != balance:
				t.Errorf("%s: read %s from a balance of %s", lock.Name, e.Fields[0].Value, balance)
			}
		}
		if want := r.Balance; balance != strconv.FormatInt(want, 10) {
			t.Errorf("%s: the events end with %s, the result says %d", lock.Name, balance, want)
		}
	}
}

func TestSameSeedSameEvents(t *testing.T) {
	c := scene(catalog.Sound()[0], 3)
	c.Record = true
	if a, b := play(t, c), play(t, c); !reflect.DeepEqual(a, b) {
		t.Errorf("two runs of seed 3 differ:\n%+v\n%+v", a, b)
	}
}

func TestImpossibleScenes(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"no machine":       func(c *Config) { c.Machines = 0 },
		"no deposit":       func(c *Config) { c.Deposits = 0 },
		"negative amount":  func(c *Config) { c.Amount = -1 },
		"negative balance": func(c *Config) { c.Balance = -1 },
		"too much money":   func(c *Config) { c.Amount, c.Deposits = 1<<62, 4 },
	} {
		c := scene(NoLock(), 1)
		change(&c)
		if r, err := Run(c); err == nil {
			t.Errorf("%s: got %+v, want an error", name, r)
		}
	}
}

// What was never deposited is not lost: a lock that stands still loses nothing.
func TestStandstillLosesNothing(t *testing.T) {
	lock, err := catalog.Make("maekawa-naive", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := scene(lock, 1)
	c.Machines, c.Deposits = 4, 5
	r := play(t, c)
	if r.Lost != 0 || r.Balance != c.Balance+int64(r.Entries)*c.Amount || r.Entries == 20 || r.Expected != 201_000 || len(r.Found) == 0 {
		t.Errorf("want a standstill without a loss: %+v", *r)
	}
}

// A scene that is ended early counts what has reached the account by then, and its
// events end there, too.
func TestStoppedScene(t *testing.T) {
	for _, lock := range []algorithm.Spec{NoLock(), catalog.Sound()[0]} {
		now := int64(0)
		c := scene(lock, 1)
		c.Machines, c.Deposits, c.Record = 3, 100_000, true
		c.Watch = func(p sim.Progress) bool {
			now = p.Now
			return false
		}
		r := play(t, c)
		all := c.Machines * c.Deposits
		if !r.Stopped || r.Entries == 0 || r.Entries >= all || r.Expected != c.Balance+int64(all)*c.Amount || len(r.Found) > 0 && lock.Name != "none" {
			t.Fatalf("%s: %d of %d deposits, %+v", lock.Name, r.Entries, all, r.Found)
		}
		if r.Lost != c.Balance+int64(r.Entries)*c.Amount-r.Balance || (r.Lost > 0) != (lock.Name == "none") {
			t.Errorf("%s: balance %d after %d deposits, %d lost", lock.Name, r.Balance, r.Entries, r.Lost)
		}
		if last := r.Events[len(r.Events)-1]; last.At > now {
			t.Errorf("%s: stopped at %d, but an event is at %d", lock.Name, now, last.At)
		}
	}
}
