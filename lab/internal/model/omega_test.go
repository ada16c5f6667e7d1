package model

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// A gaps visitor lists times, and then renumbers them: neighbours that are
// further apart than 2 become 2 apart.
type gaps struct {
	columns
	times []uint64
	to    map[uint64]uint64
}

func (g *gaps) Time(t *uint64) {
	if *t != 0 {
		g.Ticket(t)
	}
}

func (g *gaps) Ticket(t *uint64) {
	if g.to != nil {
		*t = g.to[*t]
	} else {
		g.times = append(g.times, *t)
	}
}

func (g *gaps) renumber() {
	slices.Sort(g.times)
	g.times = slices.Compact(g.times)
	g.to = map[uint64]uint64{}
	next := uint64(1)
	for i, t := range g.times {
		switch {
		case i > 0:
			next += min(t-g.times[i-1], 2)
		case t == 0:
			next = 0
		}
		g.to[t] = next
	}
}

// Where times drift apart, every real state has its canonical form among those
// that the checker finds: what a step leaves open is never too little.
func TestGapsCoverReference(t *testing.T) {
	for _, c := range []struct {
		spec        algorithm.Spec
		n, requests int
	}{
		{mutex.CentralStamped(0), 2, 4}, {mutex.CentralStamped(0), 3, 2},
	} {
		got := measuredOf(t, mustModel(t, setup{Spec: c.spec, Nodes: c.n, Network: c.spec.Network}))
		wide := 0
		r := reachable(t, c.spec, c.n, c.requests)
		for _, s := range r.seen {
			g := &gaps{columns: columns{anchor: make([]uint64, c.n)}}
			r.visit(s, g)
			g.renumber()
			if last := len(g.times) - 1; last > 0 && g.to[g.times[last]] < g.times[last]-g.times[0]+1 {
				wide++ // a gap of more than 2
			}
			s = r.visit(s, g)
			if m := measure(s.machines, s.phase, s.messages); !got[m] {
				t.Fatalf("%s, N=%d: the checker does not find %s", c.spec.Name, c.n, m)
			}
		}
		if wide == 0 {
			t.Errorf("%s, N=%d: no gap of more than 2 in %d states: nothing to tell", c.spec.Name, c.n, len(r.seen))
		}
	}
}

// Every step on real times is among those that the checker takes on their
// canonical form: one time is counted up by one, and itself stays or goes.
func TestGapsOfEveryStep(t *testing.T) {
	spec := mutex.CentralStamped(0)
	w := mustModel(t, setup{Spec: spec, Nodes: 2}).Worker().(*worker)
	for set := uint64(2); set < 1<<10; set += 2 {
		from := canonical(set)
		for x := range 10 {
			if set>>x&1 == 0 {
				continue
			}
			for _, stays := range []bool{true, false} {
				real, form := set|2<<x, from.bits|2<<from.to[uint64(x)]
				if !stays {
					real, form = real&^(1<<x), form&^(1<<from.to[uint64(x)])
				}
				var found []uint64
				open := shrunk(from.bits, form)
				for wide := open; ; wide = (wide - 1) & open {
					m := w.mapping(rule{times: form, wide: wide})
					var b uint64
					for y := range 64 {
						if form>>y&1 == 1 {
							b |= 1 << m.times[y]
						}
					}
					found = append(found, b)
					if wide == 0 {
						break
					}
				}
				if want := canonical(real); !slices.Contains(found, want.bits) {
					t.Fatalf("times %b, %d counted up (stays: %v): %b is not among %b", set, x, stays, want.bits, found)
				}
			}
		}
	}
}

type form struct {
	bits uint64
	to   map[uint64]uint64
}

// canonical renumbers a set of times, by the other way.
func canonical(set uint64) form {
	g := &gaps{}
	for x := range uint64(64) {
		if set>>x&1 == 1 {
			g.times = append(g.times, x)
		}
	}
	g.renumber()
	f := form{to: g.to}
	for _, x := range g.times {
		f.bits |= 1 << g.to[x]
	}
	return f
}
