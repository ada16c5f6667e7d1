package model

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// From every state that machines may be found in, the checker finds exactly the states there
// are.
func TestUpsetAgreesWithReference(t *testing.T) {
	const n, values = 2, 3
	spec := mutex.Dijkstra(values)
	spec.Network = algorithm.FIFO
	c := setup{Spec: spec, Nodes: n, Requests: 1}.config(t)
	c.Upset = true
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	r := &reference{t: t, spec: spec, n: n, seen: map[string]*refState{}, upset: true}
	for first := range spec.Upset(0, n) {
		first := string(first)
		for second := range spec.Upset(1, n) {
			found = append(found, []string{first, string(second)})
		}
	}
	if len(found) != values*values*values*values {
		t.Fatalf("%d starts", len(found))
	}
	for i, machines := range found {
		s := &refState{machines: machines, phase: make([]uint8, n), left: []int{1, 1}}
		for p := range n {
			s.start = append(s.start, r.do(s.clone(), p, host.Input{Kind: host.Start, From: algorithm.None}))
		}
		r.add(s)
		var want []script.Setting
		for p, state := range machines {
			for _, f := range r.machine(p, state).Describe() {
				want = append(want, script.Setting{Proc: algorithm.ID(p), Field: f.Name, Value: f.Value})
			}
		}
		if got := m.Settings(i); !slices.Equal(got, want) || len(got) < 2*n {
			t.Errorf("start %d: %v, want %v", i, got, want)
		}
	}
	for ; len(r.queue) > 0; r.queue = r.queue[1:] {
		r.next(r.queue[0])
	}
	e, err := explore.Explore(m, explore.Limits{})
	if err != nil || e.States != int64(len(r.seen)) {
		t.Fatalf("%d states, %v, want %d", e.States, err, len(r.seen))
	}
	if _, two := e.Broken[bit(family.MutualExclusion)]; two != r.two || !two {
		t.Errorf("two inside is %v, want %v", two, r.two)
	}
	same(t, spec.Name, r.shadows(true), shadowsOf(t, m, true))
	w := m.worker()
	starts := 0
	if err := w.Init(func([]byte) bool { starts++; return starts < 5 }); err != nil || starts != 5 {
		t.Errorf("%d starts, %v: want to end after 5", starts, err)
	}
	if _, ok := m.Started(0); ok {
		t.Error("an application starts")
	}
	both := 0
	walk(t, m, func(_ *worker, g *state) {
		packed := m.pack(nil, g)
		waiting, _ := w.Waiting(packed)
		inside := g.env.Inside(0) && g.env.Inside(1)
		if waiting>>TwoInside == 1 != inside {
			t.Fatalf("%s: waiting is %b", contents(g), waiting)
		}
		if inside {
			both++
		}
		ticks := map[uint32]bool{}
		if _, err := w.Next(packed, func(s explore.Step, _ []byte) {
			if m := moveOf(s.Label); m.kind == doUpset {
				if !s.Fair || s.Class != s.Label {
					t.Fatalf("the step %+v is not fair", s)
				}
				ticks[s.Label] = true
			}
		}); err != nil || len(ticks) != n {
			t.Fatalf("%s: %v expire, %v", contents(g), ticks, err)
		}
	})
	if both == 0 {
		t.Error("never two inside: too few to tell")
	}
	if plain := mustModel(t, setup{Spec: spec, Nodes: n}); plain.Settings(0) != nil {
		t.Error("there are settings of a group that begins as it should")
	}
}

// An application's start is found in the start where it is possible.
func TestStarted(t *testing.T) {
	c := setup{Spec: mutex.TokenRing(), Nodes: 2}.config(t)
	c.Starts = []algorithm.View{{N: 2, Busy: true}, {N: 2, Holder: 1}}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for start := range c.Starts {
		w := m.worker()
		var possible []algorithm.ID
		i := 0
		if err := w.Init(func(state []byte) bool {
			if i == start {
				_, err = m.worker().Next(state, func(s explore.Step, _ []byte) {
					if x := moveOf(s.Label); x.kind == doAct && x.nth == int(script.Start) {
						possible = append(possible, x.p)
					}
				})
			}
			i++
			return true
		}); err != nil {
			t.Fatal(err)
		}
		s, ok := m.Started(start)
		if ok != (possible != nil) || ok && (len(s.Actions) != 1 || s.Actions[0].Kind != script.Start || s.Actions[0].Proc != possible[0]) {
			t.Errorf("start %d: %+v, %v; possible are %v", start, s, ok, possible)
		}
	}
}
