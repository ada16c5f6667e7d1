package model

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// identified is a model in which every message has an identity: its place in the order of
// sending. A state also has a list of all that is owed in it, the oldest first: messages
// by their places, and other fair actions by their classes. An edge is marked, as if a
// process entered by it, if it pays the oldest. So a run is fair if it has infinitely many
// marked edges: a process starves if it is overtaken without bound.
type identified struct{ *Model }

func (m identified) Worker() explore.Worker { return &identities{m.worker(), newState(m.Seats, m.Env)} }

type identities struct {
	*worker
	next *state
}

// An outcome is a step and the state after it.
type outcome struct {
	step  explore.Step
	state []byte
	owed  []uint32 // what remains of what was owed
	paid  bool     // the oldest is paid
}

// other marks what is owed and is not a message.
const other = 1 << 31

func (w *identities) Init(emit func(state []byte) bool) error {
	var starts [][]byte
	err := w.worker.Init(func([]byte) bool {
		starts = append(starts, w.pack(nil, w.to)) // nothing is in flight, or to be renumbered
		return true
	})
	for _, s := range starts {
		emit(w.encode(s, nil))
	}
	return err
}

// encode returns a state together with what is owed in it, in addition to what was.
func (w *identities) encode(state []byte, owed []uint32) []byte {
	for _, k := range w.owedIn(state) {
		if !slices.Contains(owed, k) {
			owed = append(owed, k)
		}
	}
	b := []byte{byte(len(owed))}
	for _, k := range owed {
		b = binary.BigEndian.AppendUint32(b, k)
	}
	return append(b, state...)
}

func decode(b []byte) (state []byte, owed []uint32) {
	n := int(b[0])
	b = b[1:]
	for range n {
		owed = append(owed, binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	return b, owed
}

// owedIn returns all that is owed in a state.
func (w *identities) owedIn(state []byte) (owed []uint32) {
	_, _ = w.worker.Next(state, func(s explore.Step, _ []byte) {
		if moveOf(s.Label).kind != doDeliver && s.Fair && !slices.Contains(owed, s.Class|other) {
			owed = append(owed, s.Class|other)
		}
	})
	for i := range w.from.messages {
		owed = append(owed, uint32(i))
	}
	return owed
}

func (w *identities) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	packed, owed := decode(state)
	var all []outcome
	_, err := w.worker.Next(packed, func(s explore.Step, _ []byte) { all = append(all, w.arrive(s, owed)) })
	for _, a := range all {
		now := w.owedIn(a.state)
		rest := slices.DeleteFunc(slices.Clone(a.owed), func(k uint32) bool { return !slices.Contains(now, k) })
		a.paid = a.paid || len(rest) == 0 || rest[0] != a.owed[0]
		s := explore.Step{}
		if a.paid {
			s.Enters = 1
		}
		emit(s, w.encode(a.state, rest))
	}
	if len(owed) == 0 {
		emit(explore.Step{Enters: 1}, state)
	}
	return 0, err
}

// arrive follows all that is owed through the step that was just made.
func (w *identities) arrive(s explore.Step, owed []uint32) outcome {
	place := w.places(moveOf(s.Label))
	g := w.next
	g.copyFrom(w.to)
	if s.Renaming != 0 {
		w.renumber(g, w.mappings[s.Renaming-1])
	}
	// A second copy of an idempotent message right behind the first is none.
	to := make([]int, len(g.messages))
	var kept []message
	for i, m := range g.messages {
		if n := len(kept); n == 0 || !w.info(m.blob).idem || m != kept[n-1] {
			kept = append(kept, m)
		}
		to[i] = len(kept) - 1
	}
	g.messages = kept
	a := outcome{step: s, state: w.pack(nil, g)}
	for i, k := range owed {
		switch {
		case k&other != 0 && k == s.Class|other && s.Fair, k&other == 0 && place[k] < 0:
			a.paid = a.paid || i == 0
			continue
		case k&other == 0:
			k = uint32(to[place[k]])
		}
		if !slices.Contains(a.owed, k) {
			a.owed = append(a.owed, k)
		}
	}
	return a
}

// places returns where each message of the state before is in the state after the step: a
// step removes at most one, and adds others behind those of their link.
func (w *identities) places(m move) []int {
	gone := -1
	if m.kind == doDeliver || m.kind == doDrop {
		link := uint16(int(m.peer)*w.Seats + int(m.p))
		gone = m.nth + slices.IndexFunc(w.from.messages, func(m message) bool { return m.link == link })
	}
	var place []int
	at := 0
	for i := range w.from.messages {
		if i == gone {
			place = append(place, -1)
			continue
		}
		for w.to.messages[at].link != w.from.messages[i].link {
			at++
		}
		if w.to.messages[at].blob != w.from.messages[i].blob {
			panic("a message is not where it should be")
		}
		place = append(place, at)
		at++
	}
	return place
}

func (w *identities) Waiting(state []byte) (waiting, calm uint32) {
	packed, _ := decode(state)
	return w.worker.Waiting(packed)
}

// What a message is called after a step is what the step makes of its name: its numbers,
// its tag and its age.
func TestRenamedAgainstIdentities(t *testing.T) {
	units := vote{election.Bully(), 3, 1, 0, AnyPace}.config()
	units.Network = algorithm.Unordered
	rounds := vote{election.ChangRoberts(false), 3, 1, 0, Quick}.config()
	rounds.Network = algorithm.Unordered
	changed := map[string]int{}
	for _, c := range []Config{
		setup{Spec: mutex.RicartAgrawala(), Nodes: 3, Network: algorithm.Unordered}.config(t),
		setup{Spec: mutex.SuzukiKasami(), Nodes: 3, Network: algorithm.Duplicating}.config(t),
		setup{Spec: mutex.CentralStamped(0), Nodes: 3, Network: algorithm.Unordered, Watch: family.Fence}.config(t),
		setup{Spec: mutex.RicartAgrawala(), Nodes: 3, Network: algorithm.Unordered, Watch: family.Order}.config(t),
		units, rounds,
	} {
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		w := &identities{m.worker(), newState(m.Seats, m.Env)}
		called := map[uint32]message{}
		name := func(m message) uint32 {
			k := w.classOf(w.arrival(&m))
			if other, ok := called[k]; ok && other != m {
				t.Fatalf("%s: %+v and %+v are one action", c.Spec.Name, m, other)
			}
			called[k] = m
			return k
		}
		var queue [][]byte
		seen := map[string]bool{}
		add := func(b []byte) bool {
			if len(queue) < 3000 && !seen[string(b)] {
				seen[string(b)] = true
				queue = append(queue, slices.Clone(b))
			}
			return true
		}
		if err := w.worker.Init(add); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(queue); i++ {
			_, err := w.worker.Next(queue[i], func(s explore.Step, b []byte) {
				if add(b); moveOf(s.Label).kind == doCrash {
					return // messages get lost
				}
				g := w.next
				g.copyFrom(w.to)
				var by renaming
				if by.mapping = s.Renaming; by.mapping&moreThanNumbers != 0 {
					by = w.renamed[by.mapping&^moreThanNumbers]
				}
				if by.mapping != 0 {
					w.renumber(g, w.mappings[by.mapping-1])
				}
				for i, place := range w.places(moveOf(s.Label)) {
					if place < 0 {
						if want := name(w.from.messages[i]); s.Fair && s.Class != want {
							t.Fatalf("%s: the delivery of %+v is action %d, want %d", c.Spec.Name, w.from.messages[i], s.Class, want)
						}
						continue
					}
					old, now := w.from.messages[i], g.messages[place]
					if got, want := w.Renamed(s.Renaming, name(old)), name(now); s.Renaming != 0 && got != want || s.Renaming == 0 && old != now {
						t.Fatalf("%s: %+v becomes %+v, but its name becomes %+v", c.Spec.Name, old, now, w.named[got-firstClass])
					}
					for what, differs := range map[string]bool{"numbers": old.blob != now.blob, "tags": old.tag != now.tag, "ages": old.old != now.old} {
						if differs {
							changed[what]++
						}
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, what := range []string{"numbers", "tags", "ages"} {
		if changed[what] < 20 {
			t.Errorf("%d %s of messages change: too few to tell", changed[what], what)
		}
	}
}

// Who starves on an unordered network is the same as with explicit identities of
// messages.
func TestStarvationAgainstIdentities(t *testing.T) {
	compared, starving := 0, 0
	for _, spec := range catalog.All() {
		for n := 2; n <= 3; n++ {
			if n == 3 && (!nightly.On() || spec.Endless != "") || spec.Accepts(n) != nil {
				continue
			}
			m := mustModel(t, setup{Spec: spec, Nodes: n, Network: algorithm.Unordered})
			g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: explore.Limits{Memory: 8 << 20}, Edges: true})
			if err != nil || g.Unfinished != "" || g.States() > 12_000 {
				continue // it cannot be checked without a bound on requests, or takes too long
			}
			all, err := explore.BuildGraph(identified{m}, explore.GraphLimits{Edges: true})
			if err != nil {
				t.Fatalf("%s, N=%d: %v", spec.Name, n, err)
			}
			for _, i := range g.Waiters() {
				got := g.Cut(i).Starves() != nil
				if want := all.Cut(i).Bypass().FromRequest == explore.Unbounded; got != want {
					t.Errorf("%s, N=%d: P%d starves is %v, with identities %v", spec.Name, n, i+1, got, want)
				}
				compared++
				if got {
					starving++
				}
			}
		}
	}
	if compared < 30 || starving < 5 {
		t.Errorf("%d comparisons, and %d starve: too few to tell", compared, starving)
	}
}
