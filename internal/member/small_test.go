package member

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
)

// A town is some members on reliable links, for a first look: the storm has all
// the faults.
type town struct {
	rest    Span // of ghosts
	t       *testing.T
	rand    *rand.Rand
	now     Instant
	alg     string
	members map[uint64]*Member
	live    []uint64
	epochOf map[uint64]uint64
	view    View
	next    uint64
	links   map[[3]uint64][][]byte // epoch, from, to
	views   []View
	inside  map[string]uint64 // who holds each lock
	tickets map[uint64]map[Ticket]string
	held    map[uint64]map[string]Token
	last    map[string]Token
	entries int
	claims  []Event // of claims
	later   bool    // bulk frames are made some time later
}

func newTown(t *testing.T, seed uint64, alg string, n int) *town {
	w := &town{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), alg: alg, members: map[uint64]*Member{}, epochOf: map[uint64]uint64{},
		links: map[[3]uint64][][]byte{}, inside: map[string]uint64{}, tickets: map[uint64]map[Ticket]string{}, held: map[uint64]map[string]Token{}, last: map[string]Token{},
	}
	var all []Who
	for range n {
		all = append(all, w.born())
	}
	w.commit(View{Epoch: 1, Members: all, Choices: []Choice{{"", alg, 0}}})
	return w
}

func (w *town) born() Who {
	w.next++
	m, err := New(Config{Inc: w.next, Settings: Usual(), Spec: func(name string, _ int) (algorithm.Spec, error) { return catalog.Make(name, algorithm.Options{}) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.members[w.next] = m
	w.tickets[w.next], w.held[w.next] = map[Ticket]string{}, map[string]Token{}
	m.lease, m.later = Never-1, w.later
	w.live = append(w.live, w.next)
	return Who{fmt.Sprint("m", w.next), w.next}
}

func (w *town) commit(v View) {
	w.view = v
	w.views = append(w.views, v)
}

// take does what a member wants done.
func (w *town) take(inc uint64) {
	m := w.members[inc]
	if !w.later {
		all(m)
	}
	for _, f := range m.Out.Frames {
		k := [3]uint64{w.epochOf[inc], inc, f.To}
		w.links[k] = append(w.links[k], slices.Clone(f.Bytes))
	}
	for _, e := range m.Out.Events {
		name := w.tickets[inc][e.Ticket]
		if name == "" {
			w.claims = append(w.claims, e)
			continue
		}
		switch e.Kind {
		case Held:
			if other, in := w.inside[name]; in {
				w.t.Fatalf("%s: %d enters %s while %d is inside", w.alg, inc, name, other)
			}
			if !w.last[name].Less(e.Token) {
				w.t.Fatalf("%s: token %v of %s after %v", w.alg, e.Token, name, w.last[name])
			}
			if l := w.last[name]; l.Epoch == e.Token.Epoch && l.Count+1 != e.Token.Count {
				w.t.Fatalf("%s: token %v of %s after %v: not the next", w.alg, e.Token, name, l)
			}
			w.last[name] = e.Token
			w.inside[name] = inc
			w.held[inc][name] = e.Token
			w.entries++
		case Lost:
			delete(w.inside, name)
			delete(w.held[inc], name)
		}
		if e.Kind != Held {
			delete(w.tickets[inc], e.Ticket)
		}
	}
	m.Out.Reset()
}

func (w *town) lock(inc uint64, name string) {
	t, err := w.members[inc].Lock(w.now, name, Ask{Deadline: Never})
	if err != nil {
		w.t.Fatal(err)
	}
	w.tickets[inc][t] = name
	w.take(inc)
}

func (w *town) unlock(inc uint64, name string) {
	tok := w.held[inc][name]
	delete(w.held[inc], name)
	delete(w.inside, name)
	for t, n := range w.tickets[inc] {
		if x := w.members[inc].waiter(t); n == name && x != nil && x.at.holder == x {
			delete(w.tickets[inc], t)
		}
	}
	if err := w.members[inc].Unlock(w.now, name, tok); err != nil {
		w.t.Fatalf("%s: unlock %s of %d with %v: %v", w.alg, name, inc, tok, err)
	}
	w.take(inc)
}

// choices lists what can happen next, in a fixed order.
func (w *town) step(names int, asking bool) bool {
	type choice func()
	var all []choice
	for e := uint64(1); e <= w.view.Epoch; e++ {
		for _, from := range w.live {
			for _, to := range w.live {
				k := [3]uint64{e, from, to}
				if len(w.links[k]) == 0 || w.epochOf[to] < e {
					continue
				}
				all = append(all, func() {
					b := w.links[k][0]
					w.links[k] = w.links[k][1:]
					if w.epochOf[to] != e {
						return // of an older epoch
					}
					if err := w.members[to].Deliver(w.now, from, b); err != nil {
						w.t.Fatalf("%s: %v", w.alg, err)
					}
					w.take(to)
				})
			}
		}
	}
	for _, inc := range w.live {
		if m := w.members[inc]; w.later && (asking || m.Bulk()) {
			for _, to := range w.live {
				all = append(all, func() {
					m.More(w.now, to)
					w.take(inc)
				})
			}
		}
		at := w.epochOf[inc]
		for _, v := range w.views {
			if v.Epoch > at && v.Rank(inc) >= 0 {
				all = append(all, func() {
					w.epochOf[inc] = v.Epoch
					if err := w.members[inc].Install(w.now, v); err != nil {
						w.t.Fatalf("%s: %v", w.alg, err)
					}
					w.take(inc)
				})
			}
		}
		for i := range names {
			if name := fmt.Sprint("lock", i); w.inside[name] == inc {
				all = append(all, func() { w.unlock(inc, name) })
			} else if asking && at > 0 && len(w.tickets[inc]) < 4 && w.rand.IntN(4) == 0 {
				all = append(all, func() { w.lock(inc, name) })
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	all[w.rand.IntN(len(all))]()
	return true
}

// change commits another view: a member crashes or joins, or only the epoch changes.
func (w *town) change() {
	v := View{Epoch: w.view.Epoch + 1, BeforeEpoch: w.view.Epoch, Choices: w.view.Choices}
	for _, m := range w.view.Members {
		v.Before = append(v.Before, m.Inc)
	}
	v.Members = append(v.Members, w.view.Members...)
	switch w.rand.IntN(3) {
	case 0:
		if len(v.Members) < 5 {
			v.Members = append(v.Members, w.born())
		}
	case 1:
		if len(v.Members) > 2 {
			i := w.rand.IntN(len(v.Members))
			dead := v.Members[i].Inc
			v.Members = append(append([]Who{}, v.Members[:i]...), v.Members[i+1:]...)
			for j, inc := range w.live {
				if inc == dead {
					w.live = append(append([]uint64{}, w.live[:j]...), w.live[j+1:]...)
				}
			}
			for name, inc := range w.inside {
				if inc == dead {
					delete(w.inside, name) // its lease is over by the time that its ghost is
				}
			}
			v.Ghosts = append(v.Ghosts, Ghost{dead, w.rest})
		}
	}
	w.commit(v)
}

func TestTown(t *testing.T) {
	for _, alg := range []string{"central", "naimi-trehel", "raymond", "ricart-agrawala", "lamport", "suzuki-kasami", "carvalho-roucairol", "token-ring-lazy", "maekawa", "ricart-agrawala-token"} {
		total := 0
		for seed := range uint64(60) {
			w := newTown(t, seed, alg, 2+int(seed%4))
			w.postpone(seed%3 == 2)
			for i := range 600 {
				if i%100 == 99 {
					w.change()
				}
				w.step(2, true)
			}
			for i := 0; w.step(2, false); i++ {
				if i > 20_000 {
					t.Fatalf("%s, seed %d: it goes on for ever", alg, seed)
				}
			}
			for _, inc := range w.live {
				for ticket, name := range w.tickets[inc] {
					t.Fatalf("%s, seed %d: %d waits for %s for ever (ticket %d), in epoch %d", alg, seed, inc, name, ticket, w.epochOf[inc])
				}
			}
			total += w.entries
		}
		t.Logf("%s: %d entries", alg, total)
	}
}
