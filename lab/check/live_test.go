package check

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/nightly"
)

// bornHeld checks a group of n as live members run it: process 1 is born inside,
// and links keep the order of sending.
func bornHeld(t *testing.T, spec algorithm.Spec, n int, properties ...string) *Report {
	c := Config{Spec: spec, Nodes: n, Starts: []algorithm.View{{N: n, Busy: true}}, Properties: properties}
	if n == 3 && spec.Name == "lamport" {
		c.Requests = 1 // any number takes 12 million states
	}
	return mustRun(t, c)
}

// Of every live algorithm it is proved, from the start that live members have,
// that it is safe, that nobody waits for ever, and that no alibi is false; and
// all of them give some.
func TestLiveProved(t *testing.T) {
	for _, spec := range catalog.Live() {
		for n := 2; n <= nightly.Pick(2, 3); n++ {
			want := Holds
			if n == 3 && spec.Name == "lamport" {
				want = HoldsBounded
			}
			for _, p := range bornHeld(t, spec, n, MutualExclusion, Deadlock, Starvation, Fence, Alibi).Properties {
				if p.Verdict != want {
					t.Errorf("%s among %d: %s is %s: %s", spec.Name, n, p.Name, p.Verdict, p.Note)
				}
			}
		}
	}
}

// perjured gives everybody else an alibi.
type perjured struct {
	algorithm.Machine
	self algorithm.ID
}

func (p perjured) Alibi(d algorithm.ID) bool { return d != p.self }

// Of every live algorithm a false alibi is found.
func TestLivePerjuryIsFound(t *testing.T) {
	for _, spec := range catalog.Live() {
		plan := spec.Plan
		spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return perjured{birth(self, v), self} }, err
		}
		if p := bornHeld(t, spec, 2, Alibi).Find(Alibi); p == nil || p.Verdict != Violated {
			t.Errorf("%s: %+v, want violated", spec.Name, p)
		}
	}
}
