package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// shadows returns what can be seen of the states from outside: who is idle,
// waits or is inside, and, with kinds, which kinds of messages are on which
// link.
func (r *reference) shadows(kinds bool) map[string]bool {
	set := map[string]bool{}
	for _, s := range r.seen {
		var list []string
		for _, l := range s.messages {
			list = append(list, fmt.Sprint(l.from, l.to, l.bytes[0]))
		}
		set[shadow(s.phase, list, kinds)] = true
	}
	return set
}

func shadow(phase []uint8, messages []string, kinds bool) string {
	if !kinds {
		messages = nil
	}
	slices.Sort(messages)
	return fmt.Sprint(phase, messages)
}

// shadowsOf returns the same of a checked group.
func shadowsOf(t testing.TB, h *Model, kinds bool) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	walk(t, h, func(w *worker, g *state) {
		var phase []uint8
		var list []string
		for p := range g.seats {
			phase = append(phase, phaseOf(g, algorithm.ID(p)))
		}
		for _, l := range g.messages {
			list = append(list, fmt.Sprint(int(l.link)/h.Seats, int(l.link)%h.Seats, w.info(l.blob).bytes[0]))
		}
		set[shadow(phase, list, kinds)] = true
	})
	return set
}

// phaseOf returns what an application does.
func phaseOf(g *state, p algorithm.ID) uint8 {
	switch {
	case g.env.Inside(p):
		return inside
	case g.env.Waits(p):
		return waits
	}
	return idle
}

// walk calls f for every state of a checked group.
func walk(t testing.TB, h *Model, f func(w *worker, g *state)) {
	t.Helper()
	w := h.Worker().(*worker)
	seen := map[string]bool{}
	var queue [][]byte
	add := func(b []byte) {
		if !seen[string(b)] {
			seen[string(b)] = true
			queue = append(queue, slices.Clone(b))
		}
	}
	if err := w.Init(func(b []byte) bool { add(b); return true }); err != nil {
		t.Fatal(err)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		g := newState(h.Seats, h.Env)
		h.unpack(queue[0], g)
		f(w, g)
		if _, err := w.Next(queue[0], func(_ explore.Step, b []byte) { add(b) }); err != nil {
			t.Fatal(err)
		}
	}
}

// idempotent names the algorithms of which the checker leaves out second
// copies, and measures counters from the token's.
const idempotent = "suzuki-kasami ricart-agrawala-token"

// With bounded requests the checker finds exactly the states there are, up to a
// shift of all times, and the same verdicts, also where messages get lost.
func TestAgreesWithReference(t *testing.T) {
	for _, spec := range catalog.All() {
		for _, c := range []struct{ n, requests int }{{1, 2}, {2, 1}, {2, 2}, {3, 1}} {
			if c.n == 3 && strings.Contains(large+" ricart-agrawala ricart-agrawala-1981", spec.Name) {
				continue
			}
			if spec.Accepts(c.n) != nil {
				continue
			}
			agree(t, spec, c.n, c.requests)
			if c.n == 2 {
				lossy := spec
				lossy.Network = algorithm.Lossy
				agree(t, lossy, c.n, c.requests)
			}
		}
	}
}

// agree compares the two checkers.
func agree(t *testing.T, spec algorithm.Spec, n, requests int) {
	t.Helper()
	name := fmt.Sprintf("%s, N=%d, %d requests, %v", spec.Name, n, requests, spec.Network)
	r := reachable(t, spec, n, requests)
	h := mustModel(t, setup{Spec: spec, Nodes: n, Network: spec.Network, Requests: requests})
	e, err := explore.Explore(h, explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	exact := !strings.Contains(idempotent, spec.Name)
	if states := r.shifted(); exact && int64(states) != e.States {
		t.Errorf("%s: %d states, want %d", name, e.States, states)
	}
	_, two := e.Broken[bit(family.MutualExclusion)]
	_, end := e.Broken[bit(family.Deadlock)]
	if two != r.two || end != r.end {
		t.Errorf("%s: two inside %v, deadlock %v; want %v, %v", name, two, end, r.two, r.end)
	}
	same(t, name, r.shadows(exact), shadowsOf(t, h, exact))
}

// With any number of requests the checker finds what can happen with a few,
// and nothing else: the approximation of times adds nothing that shows.
func TestUnboundedAgreesWithReference(t *testing.T) {
	for _, spec := range catalog.All() {
		exact := !strings.Contains(idempotent, spec.Name)
		r := reachable(t, spec, 2, 4)
		h := mustModel(t, setup{Spec: spec, Nodes: 2, Network: spec.Network})
		same(t, spec.Name, r.shadows(exact), shadowsOf(t, h, exact))
	}
}

// The monitors keep a few bits of what happened before. They see what somebody
// sees who keeps it all.
func TestMonitorsAgreeWithReference(t *testing.T) {
	nightly.Only(t)
	orders := 0
	for _, spec := range catalog.All() {
		for _, c := range []struct{ n, requests int }{{2, 2}, {3, 1}, {3, 2}} {
			if c.n == 3 && strings.Contains(large+" ricart-agrawala ricart-agrawala-1981", spec.Name) ||
				c.requests == 2 && c.n == 3 && !strings.Contains("central raymond naimi-trehel token-ring-lazy", spec.Name) {
				continue
			}
			r := watched(t, spec, c.n, c.requests)
			group := setup{Spec: spec, Nodes: c.n, Network: spec.Network, Requests: c.requests}
			group.Watch = family.Order
			order := exploreFor(t, group, bit(family.Order))
			group.Watch = family.Fence
			fence := exploreFor(t, group, bit(family.Fence))
			if order != r.order || fence != r.fence {
				t.Errorf("%s, N=%d, %d requests: ME3 broken is %v, fence %v; want %v, %v", spec.Name, c.n, c.requests, order, fence, r.order, r.fence)
			}
			if order {
				orders++
			}
		}
	}
	if orders < 3 {
		t.Errorf("ME3 broken %d times: too few to tell", orders)
	}
}

func exploreFor(t *testing.T, g setup, bit explore.Broken) bool {
	t.Helper()
	e, err := explore.Explore(mustModel(t, g), explore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, broken := e.Broken[bit]
	return broken
}

// With three processes and times that drift apart, nothing that can happen is
// missing.
func TestUnboundedCoversReference(t *testing.T) {
	for _, spec := range catalog.All() {
		if !spec.Spreads || strings.Contains(large+" ricart-agrawala-1981", spec.Name) {
			continue
		}
		want := reachable(t, spec, 3, 1).shadows(true)
		got := shadowsOf(t, mustModel(t, setup{Spec: spec, Nodes: 3, Network: spec.Network}), true)
		for s := range want {
			if !got[s] {
				t.Fatalf("%s: the checker does not find %s", spec.Name, s)
			}
		}
	}
}

func same(t *testing.T, name string, want, got map[string]bool) {
	t.Helper()
	for s := range want {
		if !got[s] {
			t.Errorf("%s: the checker does not find %s", name, s)
			return
		}
	}
	for s := range got {
		if !want[s] {
			t.Errorf("%s: the checker finds %s, which cannot be", name, s)
			return
		}
	}
}
