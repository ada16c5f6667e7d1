package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/sim"
)

func TestMajorityNeedsMoreThanHalf(t *testing.T) {
	for _, c := range []struct{ n, votes int }{{1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {6, 4}, {7, 4}} {
		r := group(t, Majority(), c.n)
		r.ask(1)
		for p := 2; p <= c.votes; p++ {
			if len(r.entries) > 0 {
				t.Errorf("of %d processes %d votes were enough", c.n, p-1)
			}
			r.deliver(1, p, "REQUEST")
			r.deliver(p, 1, "LOCKED")
		}
		r.wantEntries(1)
	}
}

// Votes that come after entry are kept until the exit, which tells all.
func TestMajorityKeepsLateVotes(t *testing.T) {
	r := group(t, Majority(), 3)
	r.ask(1)
	r.deliver(1, 2, "REQUEST")
	r.deliver(2, 1, "LOCKED")
	r.wantEntries(1)
	r.deliver(1, 3, "REQUEST")
	r.deliver(3, 1, "LOCKED")
	r.wantField(3, "vote", "<1,1>")
	r.ask(2, 3)
	r.settle()
	r.wantEntries(1)
	r.leave(1)
	if n := r.count("RELEASE"); n != 2 {
		t.Errorf("the exit told %d, want 2", n)
	}
	r.finish()
	r.wantEntries(1, 2, 3)
}

// A request can be served while it still waits at a voter. Its RELEASE takes
// it out of the queue there; otherwise the vote would go to a process that
// does not want it, for ever.
func TestMajorityReleaseLeavesTheQueue(t *testing.T) {
	r := group(t, Majority(), 3)
	r.ask(1, 3)
	r.deliver(1, 2, "REQUEST")
	r.deliver(2, 1, "LOCKED")
	r.wantEntries(1)
	r.deliver(1, 3, "REQUEST") // P3 votes for itself
	r.wantField(3, "waiting", "1 0 0")
	r.leave(1)
	r.deliver(1, 3, "RELEASE")
	r.wantField(3, "waiting", "0 0 0")
	r.finish()
	r.wantEntries(1, 3)
	for p := 1; p <= 3; p++ {
		r.wantField(p, "vote", "none")
	}
}

// splitVotes lets three of six ask at once, two votes going to each.
func splitVotes(r *rig) {
	r.ask(1, 2, 3)
	for p := 1; p <= 3; p++ {
		r.deliver(p, p+3, "REQUEST")
		r.deliver(p+3, p, "LOCKED")
	}
	r.settle()
}

func TestMajorityNaiveStandsStill(t *testing.T) {
	r := group(t, MajorityNaive(), 6)
	splitVotes(r)
	if !r.stuck() {
		t.Error("three of six with two votes each: want a standstill")
	}
	r = group(t, Majority(), 6)
	splitVotes(r)
	r.finish()
	r.wantEntries(1, 2, 3)
}

func TestMajorityNaiveStandsStillInSimulation(t *testing.T) {
	c := busy(MajorityNaive(), 6, 1)
	c.Requesters = []algorithm.ID{0, 1, 2}
	c.Think.A = 0
	r, err := sim.Run(c)
	if err != nil || r.Violations == 0 || r.Found[0].Property != "lost-request" {
		t.Errorf("seed 1 went well: %v %v", err, r.Found)
	}
	c.Spec = Majority()
	if r, err = sim.Run(c); err != nil || r.Violations != 0 {
		t.Errorf("majority, seed 1: %v %v", err, r.Found)
	}
}
