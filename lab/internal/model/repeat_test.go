package model

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A loop that leaves a message undelivered can be repeated without end, but is not fair:
// so it is refused where it must be.
func TestRepeatingMustBeFair(t *testing.T) {
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
		m := mustModel(t, setup{Spec: mutex.CentralStamped(0), Nodes: 2, Network: network})
		request, release := label(doAct, 0, 0, int(script.Ask)), label(doAct, 0, 0, int(script.Leave))
		// P2 asks, and then the coordinator enters again and again. It has a clock of its
		// own, which P2 does not hear of: once there is a gap, it only becomes wider.
		p := Path{Labels: []uint32{label(doAct, 1, 0, int(script.Ask)), request, release, request, release, request, release}, Loop: 2}
		w := m.Worker()
		if err := w.Init(func(s []byte) bool { p.States = [][]byte{slices.Clone(s)}; return false }); err != nil {
			t.Fatal(err)
		}
		for _, l := range p.Labels {
			var next []byte
			_, err := w.Next(p.States[len(p.States)-1], func(s explore.Step, b []byte) {
				if s.Label == l && (next == nil || bytes.Equal(b, p.States[len(p.States)-2])) {
					next = slices.Clone(b)
				}
			})
			if err != nil || next == nil {
				t.Fatalf("no step %x: %v", l, err)
			}
			p.States = append(p.States, next)
		}
		for _, fair := range []bool{false, true} {
			p.Fair = fair
			if _, _, err := m.Run(p); errors.As(err, new(Spurious)) != fair || err != nil && !fair {
				t.Errorf("%v, must be fair %v: %v", network, fair, err)
			}
		}
	}
}

// A real run does what the path says, even if another step leads to the same state.
func TestRunDoesWhatThePathSays(t *testing.T) {
	m := mustModel(t, setup{Spec: mutex.SuzukiKasami(), Nodes: 3, Network: algorithm.Duplicating})
	w := m.Worker()
	var paths [][][]byte
	if err := w.Init(func(s []byte) bool { paths = [][][]byte{{slices.Clone(s)}}; return false }); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := 0; i < len(paths); i++ {
		at := paths[i][len(paths[i])-1]
		labels := map[string][]uint32{} // of the steps to each state
		_, err := w.Next(at, func(s explore.Step, b []byte) {
			labels[string(b)] = append(labels[string(b)], s.Label)
			if !seen[string(b)] {
				seen[string(b)] = true
				paths = append(paths, append(slices.Clone(paths[i]), slices.Clone(b)))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for next, all := range labels {
			if len(all) < 2 {
				continue
			}
			told := map[string]bool{}
			for _, l := range all {
				steps, _, err := m.Run(Path{States: append(slices.Clone(paths[i]), []byte(next)), Labels: []uint32{l}})
				if err != nil {
					t.Fatal(err)
				}
				actions := steps[len(steps)-1].Actions
				told[actions[len(actions)-1].String()] = true
			}
			if len(told) != len(all) {
				t.Errorf("%d steps to the same state are told as %v", len(all), told)
			}
			return
		}
	}
	t.Error("no two steps lead to the same state")
}

// Gaps between times, and which of them are at least as wide as others.
func TestNoNarrower(t *testing.T) {
	for _, c := range []struct {
		times, than uint64
		want        bool
	}{
		{0, 0, true}, {0b10, 0b10, true}, {0b100, 0b10, true},
		{0b1010, 0b1010, true}, {0b10010, 0b1010, true}, {0b1010, 0b10010, false},
		{0b100101, 0b10101, true}, {0b10101, 0b100101, false}, {0b101001, 0b100101, false},
		{0b101010, 0b1010, false}, {0b1010, 0b101010, false},
	} {
		if got := noNarrower(c.times, c.than); got != c.want {
			t.Errorf("%b, compared with %b: %v, want %v", c.times, c.than, got, c.want)
		}
	}
}

// The first round of a loop may differ from all others: a gap is wide because of what was
// before. So a loop is followed further.
func TestLoopsAreFollowedFurther(t *testing.T) {
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
		m := mustModel(t, setup{Spec: mutex.CentralStamped(0), Nodes: 2, Network: network})
		act := func(p algorithm.ID, kind script.ActionKind) uint32 { return label(doAct, p, 0, int(kind)) }
		arrives := func(to, from algorithm.ID) uint32 { return label(doDeliver, to, from, 0) }
		var stem []uint32
		for range 12 {
			stem = append(stem, act(0, script.Ask), act(0, script.Leave))
		}
		// P2 learns the coordinator's clock, which then runs ahead, but not as far as before.
		round := []uint32{act(1, script.Ask), arrives(0, 1), arrives(1, 0), act(1, script.Leave), arrives(0, 1)}
		round = append(round, stem[:8]...)
		p := Path{Labels: slices.Concat(stem, round), Loop: len(round)}
		w := m.worker()
		w.exact = true
		var real []byte
		if err := w.Init(func(s []byte) bool {
			p.States, real = [][]byte{slices.Clone(s)}, m.pack(nil, w.to)
			return false
		}); err != nil {
			t.Fatal(err)
		}
		for i, l := range p.Labels {
			var next, canonical []byte
			if _, err := w.Next(real, func(s explore.Step, b []byte) {
				if s.Label == l {
					next, canonical = m.pack(nil, w.to), slices.Clone(b)
				}
			}); err != nil || next == nil {
				t.Fatalf("%v: no step %d: %v", network, i, err)
			}
			p.States, real = append(p.States, canonical), next
		}
		if first := len(stem); !bytes.Equal(p.States[first], p.States[len(p.States)-1]) {
			t.Fatalf("%v: the loop is not closed", network)
		}
		for _, fair := range []bool{false, true} {
			p.Fair = fair
			steps, loop, err := m.Run(p)
			if err != nil || loop != len(stem)+len(round) || len(steps) != len(stem)+2*len(round) {
				t.Errorf("%v, must be fair %v: repeated from step %d of %d on, %v; want %d", network, fair, loop, len(steps), err, len(stem)+len(round))
			}
		}
	}
}

// Two visits are of one state if the same messages are in flight, on links that keep the
// order in the same order.
func TestVisits(t *testing.T) {
	for _, network := range []algorithm.Network{algorithm.FIFO, algorithm.Unordered} {
		m := mustModel(t, setup{Spec: mutex.CentralStamped(0), Nodes: 3, Network: network, Requests: 2})
		swapped := 0
		walk(t, m, func(w *worker, g *state) {
			if len(g.messages) < 2 || g.messages[0].link != g.messages[1].link || g.messages[0] == g.messages[1] {
				return
			}
			r := &realRun{worker: w, at: m.pack(nil, g), scratch: newState(m.Seats, m.Env)}
			first := r.visit(nil, false)
			g.messages[0], g.messages[1] = g.messages[1], g.messages[0]
			r.at = m.pack(nil, g)
			second := r.visit(nil, false)
			if same := bytes.Equal(first.state, second.state); same == m.ordered() || first.times != second.times || !first.endless(&first) {
				t.Fatalf("%v: %s, in another order, is the same: %v", network, contents(g), same)
			}
			swapped++
		})
		if swapped < 10 {
			t.Errorf("%v: %d states have two messages on a link: too few to tell", network, swapped)
		}
	}
}

// A loop of states whose times are only shifted is one of real states: it is followed once.
func TestExactLoopsAreFollowedOnce(t *testing.T) {
	m := mustModel(t, setup{Spec: mutex.Central(0), Nodes: 2})
	p := Path{Loop: 2}
	w := m.worker()
	if err := w.Init(func(s []byte) bool { p.States = [][]byte{slices.Clone(s)}; return false }); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		kind := []script.ActionKind{script.Ask, script.Leave}[i%2]
		if _, err := w.Next(p.States[i], func(s explore.Step, b []byte) {
			if s.Label == label(doAct, 0, 0, int(kind)) {
				p.States, p.Labels = append(p.States, slices.Clone(b)), append(p.Labels, s.Label)
			}
		}); err != nil || len(p.Labels) != i+1 {
			t.Fatalf("%d steps, %v", len(p.Labels), err)
		}
	}
	if steps, loop, err := m.Run(p); err != nil || len(steps) != 6 || loop != 4 {
		t.Errorf("%d steps, repeated from %d on, %v", len(steps), loop, err)
	}
}

// Of at most 64 messages it is chosen which are lost.
func TestManyLosses(t *testing.T) {
	m, err := New(vote{election.Bully(), 3, 1, 1, AnyPace}.config())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{1: true, 64: true, 65: false} {
		w := m.worker()
		w.from.messages = make([]message, n)
		calls := 0
		if w.lossesTo(1, func(set uint64) { calls++ }); (w.err == nil) != want || (calls == 1) != want {
			t.Errorf("%d messages: %v, %d choices", n, w.err, calls)
		}
	}
}

// A gap that was filled before a visit does not count against it.
func TestNarrowBefore(t *testing.T) {
	r := &realRun{narrow: true}
	visits := []visit{{}}
	r.pay(visits)
	visits = append(visits, visit{})
	r.pay(visits)
	if !visits[0].narrow || visits[1].narrow {
		t.Errorf("narrow since the first visit: %v, since the second: %v", visits[0].narrow, visits[1].narrow)
	}
}
