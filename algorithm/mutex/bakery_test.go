package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/sim"
)

// overlap is the schedule that needs choosing. P1 and P2 both read 0 from each
// other; P2, the higher id, takes its number and looks at P1, which still
// waits for P3's.
func overlap(r *rig) {
	r.ask(1, 2)
	r.deliver(1, 2, "READ")
	r.deliver(2, 1, "READ")
	r.deliver(2, 1, "VALUE")
	r.deliver(1, 2, "VALUE")
	r.deliver(2, 3, "READ")
	r.deliver(3, 2, "VALUE")
	r.wantField(2, "number", "1")
	r.deliver(2, 1, "READ")
	r.deliver(2, 3, "READ")
	r.deliver(3, 2, "VALUE")
	r.wantField(1, "number", "0")
}

func TestBakeryNaiveLetsTwoIn(t *testing.T) {
	r := group(t, BakeryNaive(), 3)
	overlap(r)
	r.deliver(1, 2, "VALUE")
	r.wantEntries(2)
	r.settle()
	r.wantEntries(2, 1)
	if !r.both {
		t.Error("want both inside")
	}
}

func TestBakeryWaitsForWhoIsChoosing(t *testing.T) {
	r := group(t, Bakery(), 3)
	overlap(r)
	r.wantField(1, "choosing", "yes")
	r.wantField(1, "readers", "2")
	r.settle()
	r.wantEntries(1)
	r.finish()
	r.wantEntries(1, 2)
}

func TestBakeryNaiveLetsTwoInInSimulation(t *testing.T) {
	r, err := sim.Run(busy(BakeryNaive(), 3, 1))
	if err != nil || r.Violations == 0 || r.Found[0].Property != "mutual-exclusion" {
		t.Errorf("seed 1 went well: %v %v", err, r.Found)
	}
}

// A READ of the turn that waits is answered at the exit, once.
func TestBakeryAnswersAtExit(t *testing.T) {
	r := newRig(t, Bakery(), algorithm.View{N: 3, Holder: 0, Busy: true})
	r.wantField(1, "number", "1")
	r.ask(3)
	r.settle()
	r.wantField(3, "number", "2")
	r.wantField(1, "readers", "3")
	r.ask(2)
	r.settle()
	r.wantField(2, "number", "3")
	r.leave(1)
	if n := r.count("VALUE"); n != 2 {
		t.Errorf("%d READs answered at the exit, want 2", n)
	}
	r.wantField(1, "number", "0")
	r.finish()
	r.wantEntries(3, 2)
}

// Equal numbers are ordered by process.
func TestBakeryTie(t *testing.T) {
	for _, spec := range []algorithm.Spec{Bakery(), BakeryPolling()} {
		r := group(t, spec, 3)
		r.ask(3, 1, 2)
		for entries := 1; entries <= 3; entries++ {
			for i := 0; len(r.entries) < entries && len(r.flight) > 0 && i < 1000; i++ {
				r.take(0)
			}
			if len(r.entries) != entries {
				t.Fatalf("%s: entered %v, and nobody more", spec.Name, r.entries)
			}
			r.wantField(3, "number", "1")
			r.leave(r.entries[entries-1])
		}
		r.wantEntries(1, 2, 3)
	}
}

// Polling costs messages for as long as the wait lasts; deferred answers do
// not.
func TestBakeryPollingCosts(t *testing.T) {
	for hold, more := range map[int64]bool{0: false, 50: true} {
		cost := func(spec algorithm.Spec) float64 {
			c := busy(spec, 4, 1)
			c.Hold.A *= hold
			r, err := sim.Run(c)
			if err != nil || r.Violations > 0 {
				t.Fatalf("%s: %v %v", spec.Name, err, r.Found)
			}
			return r.PerEntry
		}
		if got := cost(Bakery()); got != 18 {
			t.Errorf("bakery, hold %d: %v messages per entry, want 18", hold, got)
		}
		if got := cost(BakeryPolling()); (got > 100) != more {
			t.Errorf("polling, hold %d: %v messages per entry", hold, got)
		}
	}
}
