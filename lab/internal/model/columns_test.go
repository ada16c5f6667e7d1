package model

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/nightly"
)

// A columns visitor finds what the token says, and measures from it.
type columns struct {
	shifter
	anchor []uint64
	cut    bool
}

func (c *columns) Seq(column algorithm.ID, v *uint64) {
	if c.cut {
		*v = max(*v, c.anchor[column]) - c.anchor[column]
	}
}

func (c *columns) Anchor(column algorithm.ID, v *uint64) {
	if c.cut {
		*v = 0
	} else {
		c.anchor[column] = *v
	}
}

// measured returns the states with every counter measured from the token's,
// and messages as a set: what columns and collapsing should come to.
func (r *reference) measured() map[string]bool {
	set := map[string]bool{}
	for _, s := range r.seen {
		c := &columns{anchor: make([]uint64, r.n)}
		r.visit(s, c)
		c.cut = true
		s = r.visit(s, c)
		set[measure(s.machines, s.phase, s.messages)] = true
	}
	return set
}

func measure(machines []string, phase []uint8, messages []refLetter) string {
	var list []string
	for _, l := range messages {
		list = append(list, fmt.Sprintf("%#v", l))
	}
	slices.Sort(list)
	return fmt.Sprintf("%q %v %v", machines, phase, slices.Compact(list))
}

func measuredOf(t *testing.T, h *Model) map[string]bool {
	set := map[string]bool{}
	walk(t, h, func(w *worker, g *state) {
		var machines []string
		var phase []uint8
		var messages []refLetter
		for i, p := range g.seats {
			machines = append(machines, string(w.info(p.blob).bytes))
			phase = append(phase, phaseOf(g, algorithm.ID(i)))
		}
		for _, l := range g.messages {
			messages = append(messages, refLetter{from: int(l.link) / h.Seats, to: int(l.link) % h.Seats, bytes: string(w.info(l.blob).bytes)})
		}
		set[measure(machines, phase, messages)] = true
	})
	return set
}

// Counters measured from the token's, and second copies left out: with any
// number of requests there are exactly the states that a few requests lead to.
func TestColumnsAgreeWithReference(t *testing.T) {
	nightly.Only(t)
	for _, spec := range []algorithm.Spec{mutex.SuzukiKasami(), mutex.RicartAgrawalaToken()} {
		want := reachable(t, spec, 2, 5).measured()
		got := measuredOf(t, mustModel(t, setup{Spec: spec, Nodes: 2, Network: spec.Network}))
		same(t, spec.Name, want, got)
	}
	spec := mutex.SuzukiKasami()
	want := reachable(t, spec, 3, 1).measured()
	got := measuredOf(t, mustModel(t, setup{Spec: spec, Nodes: 3, Network: spec.Network}))
	for s := range want {
		if !got[s] {
			t.Fatalf("N=3: the checker does not find %s", s)
		}
	}
	if len(want) < 300 {
		t.Errorf("N=3: only %d states to compare", len(want))
	}
}
