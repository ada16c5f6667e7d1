package teller

import (
	"math"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/survey"
)

// usual is a run as the command makes it.
func usual() Config {
	return Config{Transfers: 100, Workers: 8, Accounts: 10, Lock: "naimi-trehel", Fence: true, Chaos: Faults(), Seed: 1}
}

func TestCheck(t *testing.T) {
	c := usual()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(c *Config){
		"no transfers":        func(c *Config) { c.Transfers = 0 },
		"no workers":          func(c *Config) { c.Workers = 0 },
		"one account":         func(c *Config) { c.Accounts = 1 },
		"too many accounts":   func(c *Config) { c.Accounts = MaxAccounts + 1 },
		"fence without lock":  func(c *Config) { c.Lock = NoLock },
		"unknown algorithm":   func(c *Config) { c.Lock = "x" },
		"simulated algorithm": func(c *Config) { c.Lock = "lamport-unordered" },
		"no lock":             func(c *Config) { c.Lock = "" },
		"unknown method":      func(c *Config) { c.Lock = "kept:x" },
		"two locks":           func(c *Config) { c.Lock = "naimi-trehel,kept/=kept" },
		"unknown fault":       func(c *Config) { c.Chaos = []string{"x"} },
	} {
		c := usual()
		if change(&c); c.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, lock := range []string{"kept", "kept:wound-wait", "kept:none", "maekawa"} {
		c := usual()
		if c.Lock = lock; c.Check() != nil {
			t.Errorf("%s: %v", lock, c.Check())
		}
	}
}

// Transfers are between two accounts that exist, and depend only on the seed.
func TestPlan(t *testing.T) {
	c := usual()
	for c.Accounts = range 5 {
		if c.Accounts < 2 {
			continue
		}
		all := c.plan()
		if !slices.Equal(all, c.plan()) || len(all) != c.Transfers {
			t.Errorf("%d accounts: two plans of one seed differ, or have %d transfers", c.Accounts, len(all))
		}
		pairs := map[[2]int]bool{}
		for i, x := range all {
			if x.ID != i+1 || x.From == x.To || min(x.From, x.To) < 1 || max(x.From, x.To) > c.Accounts || x.Amount < 1 || x.Amount > maxAmount {
				t.Errorf("%d accounts: impossible transfer %+v", c.Accounts, x)
			}
			pairs[[2]int{x.From, x.To}] = true
		}
		if len(pairs) != c.Accounts*(c.Accounts-1) {
			t.Errorf("%d accounts: only %d pairs of them", c.Accounts, len(pairs))
		}
	}
	other := usual()
	other.Seed, c = 2, usual()
	if slices.Equal(c.plan(), other.plan()) {
		t.Error("the plans of two seeds are equal")
	}
}

// Faults strike while there are transfers left, and every kind is among them.
func TestStrikes(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100, 5000, 100_000} {
		for _, chaos := range [][]string{{killFault}, {pauseFault}, {partitionFault}, {killFault, pauseFault}, {killFault, partitionFault, pauseFault}} {
			c := usual()
			c.Transfers, c.Chaos = n, chaos
			before := 0
			var kinds []string
			for _, s := range c.strikes() {
				candidates := nodes
				if s.worker {
					candidates = c.processes()
				}
				if s.after < before || s.after >= n || s.victim < 0 || s.victim >= candidates || s.worker && s.kind == killFault {
					t.Errorf("%d transfers: impossible %+v", n, s)
				}
				before = s.after
				kinds = append(kinds, s.kind)
			}
			slices.Sort(kinds)
			if !slices.Equal(slices.Compact(kinds), chaos) {
				t.Errorf("%d transfers: %v instead of %v", n, kinds, chaos)
			}
		}
	}
	c := usual()
	if c.Chaos = nil; len(c.strikes()) > 0 {
		t.Error("there are faults without chaos")
	}
}

func TestAudit(t *testing.T) {
	made := []Transfer{{ID: 1, From: 1, To: 2, Amount: 10}, {ID: 2, From: 2, To: 3, Amount: 5}}
	for _, x := range []struct {
		name     string
		balances []int64
		wrong    int
		off      int64
		total    int64
	}{
		{"exact", []int64{Opening - 10, Opening + 5, Opening + 5}, 0, 0, 0},
		{"lost", []int64{Opening - 10, Opening - 5, Opening + 5}, 1, 10, -10},
		{"made", []int64{Opening, Opening + 5, Opening + 5}, 1, 10, 10},
		{"the total is right, and two balances are not", []int64{Opening, Opening - 5, Opening + 5}, 2, 20, 0},
	} {
		a, err := audit(x.balances, made)
		if err != nil || a.Wrong != x.wrong || a.Off != x.off || a.Found-a.Expected != x.total || a.Exact() != (x.wrong == 0) || a.Made != 2 || a.Moved != 15 {
			t.Errorf("%s: %+v, %v", x.name, a, err)
		}
	}
	for _, stranger := range []Transfer{{From: 0, To: 1}, {From: 1, To: 4}, {From: math.MinInt, To: 1}} {
		if _, err := audit([]int64{0, 0, 0}, []Transfer{stranger}); err == nil {
			t.Errorf("%+v is accepted", stranger)
		}
	}
}

// Only a lock together with a fence promises anything.
func TestFailed(t *testing.T) {
	for _, x := range []struct {
		lock  string
		fence bool
		wrong int
		fails bool
	}{
		{NoLock, false, 3, false}, {"naimi-trehel", false, 3, false}, {"naimi-trehel", true, 3, true}, {"kept:none", true, 1, true}, {"naimi-trehel", true, 0, false},
	} {
		r := &Report{Lock: x.lock, Fence: x.fence, Audit: Audit{Wrong: x.wrong}}
		if r.Failed() != x.fails {
			t.Errorf("%+v", x)
		}
	}
}

// Runs that end differently have different explanations.
func TestWhy(t *testing.T) {
	wrong := Audit{Wrong: 1}
	said := map[string]int{}
	for i, r := range []*Report{
		{Lock: NoLock}, {Lock: NoLock, Audit: wrong}, {Lock: "x"}, {Lock: "x", Audit: wrong}, {Lock: "x", Fence: true}, {Lock: "x", Fence: true, Audit: wrong},
		{Lock: "x", Fence: true, Tally: Tally{Refused: 1}}, {Lock: "x", Fence: true, Tally: Tally{Deadlocks: 1}}, {Lock: "x", Fence: true, Deadlock: &survey.Graph{}},
	} {
		if other, ok := said[r.Why()]; ok {
			t.Errorf("%d and %d have the same explanation: %s", i, other, r.Why())
		}
		said[r.Why()] = i
	}
}

func TestRing(t *testing.T) {
	v := func(node string, tx uint64) survey.Vertex { return survey.Vertex{Node: node, Tx: tx} }
	g := &survey.Graph{Vertices: []survey.Vertex{v("a", 1), v("a", 2), v("b", 1)}, Deadlocks: [][]int{{2, 0}}}
	if all := ring(g); len(all) != 2 || all[0].Node != "b" || all[1].Tx != 1 {
		t.Errorf("%+v", all)
	}
	if ring(&survey.Graph{}) != nil {
		t.Error("a ring without a deadlock")
	}
	for _, x := range []struct {
		a, b []survey.Vertex
		same bool
	}{
		{[]survey.Vertex{v("a", 1), v("b", 1)}, []survey.Vertex{v("b", 1), v("a", 1)}, true},
		{[]survey.Vertex{v("a", 1), v("b", 1)}, []survey.Vertex{v("b", 1), v("a", 2)}, false},
		{[]survey.Vertex{v("a", 1), v("b", 1)}, []survey.Vertex{v("b", 1)}, false},
		{nil, []survey.Vertex{v("b", 1)}, false},
	} {
		if same(x.a, x.b) != x.same {
			t.Errorf("%v and %v", x.a, x.b)
		}
	}
}

func TestListening(t *testing.T) {
	if a, err := listening("node a listening on 127.0.0.1:7420, data in /tmp\n"); err != nil || a != "127.0.0.1:7420" {
		t.Error(a, err)
	}
	for _, line := range []string{"", "\n", "x listening on y", "listening, on"} {
		if a, err := listening(line); err == nil {
			t.Errorf("%q has address %s", line, a)
		}
	}
}
