package check

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
)

// The reference is a second checker, as dumb as can be: concrete states in a
// map, machines rebuilt for every step, nothing renumbered, nothing collapsed,
// nothing remembered. It only takes bounded requests.

type refLetter struct {
	from, to int
	bytes    string
}

type refState struct {
	machines []string
	phase    []uint8
	left     []int
	start    []bool
	letters  []refLetter
}

func (s *refState) clone() *refState {
	return &refState{slices.Clone(s.machines), slices.Clone(s.phase), slices.Clone(s.left), slices.Clone(s.start), slices.Clone(s.letters)}
}

func (s *refState) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %v %v %v", s.machines, s.phase, s.left, s.start)
	for _, l := range s.letters {
		fmt.Fprintf(&b, " %d>%d %q", l.from, l.to, l.bytes)
	}
	return b.String()
}

type reference struct {
	t        testing.TB
	spec     core.Spec
	n        int
	seen     map[string]*refState
	queue    []*refState
	two, end bool // two were inside; somebody waited with nothing to happen
}

func (r *reference) machine(i int, state string) core.Machine {
	m, err := r.spec.New(core.ID(i), core.View{N: r.n})
	if err != nil {
		r.t.Fatal(err)
	}
	if state != "" {
		if err := m.LoadState([]byte(state)); err != nil {
			r.t.Fatal(err)
		}
	}
	return m
}

// do lets machine i of s take an input. It reports whether anything came of it.
func (r *reference) do(s *refState, i int, in core.Input) bool {
	m := r.machine(i, s.machines[i])
	var out core.Output
	if err := m.Step(in, &out); err != nil {
		r.t.Fatal(err)
	}
	after := string(m.AppendState(nil))
	moved := after != s.machines[i] || len(out.Sends) > 0 || out.Entered
	s.machines[i] = after
	for k, send := range out.Sends {
		s.letters = append(s.letters, refLetter{i, int(send.To), string(out.Bytes(k))})
	}
	for _, n := range out.Notices {
		if n.Kind == core.Denied {
			s.phase[i] = idle
		}
	}
	if out.Entered {
		s.phase[i] = inside
	}
	return moved
}

func (r *reference) add(s *refState) {
	if r.spec.Network == core.Unordered {
		sort.Slice(s.letters, func(a, b int) bool { return fmt.Sprint(s.letters[a]) < fmt.Sprint(s.letters[b]) })
	} else {
		sort.SliceStable(s.letters, func(a, b int) bool {
			x, y := s.letters[a], s.letters[b]
			return x.from < y.from || x.from == y.from && x.to < y.to
		})
	}
	key := s.key()
	if r.seen[key] == nil {
		r.seen[key] = s
		r.queue = append(r.queue, s)
	}
}

func explore(t testing.TB, spec core.Spec, n, requests int) *reference {
	t.Helper()
	r := &reference{t: t, spec: spec, n: n, seen: map[string]*refState{}}
	s := &refState{phase: make([]uint8, n), left: slices.Repeat([]int{requests}, n)}
	for i := range n {
		s.machines = append(s.machines, string(r.machine(i, "").AppendState(nil)))
	}
	for i := range n {
		s.start = append(s.start, r.do(s.clone(), i, core.Input{Kind: core.Start}))
	}
	for r.add(s); len(r.queue) > 0; r.queue = r.queue[1:] {
		r.next(r.queue[0])
	}
	return r
}

func (r *reference) next(s *refState) {
	in, waiting, can := 0, false, len(s.letters) > 0
	for i := range r.n {
		next := s.clone()
		switch {
		case s.phase[i] == idle && s.left[i] > 0:
			next.phase[i] = waits
			next.left[i]--
			r.do(next, i, core.Input{Kind: core.Request})
			r.add(next)
		case s.phase[i] == waits:
			waiting = true
		case s.phase[i] == inside:
			in++
			can = true
			next.phase[i] = idle
			r.do(next, i, core.Input{Kind: core.Release})
			r.add(next)
		}
		if s.start[i] {
			can = true
			next := s.clone()
			next.start[i] = false
			r.do(next, i, core.Input{Kind: core.Start})
			r.add(next)
		}
	}
	for k, l := range s.letters {
		if r.spec.Network != core.Unordered && k > 0 && s.letters[k-1].from == l.from && s.letters[k-1].to == l.to {
			continue
		}
		next := s.clone()
		next.letters = slices.Delete(next.letters, k, k+1)
		r.do(next, l.to, core.Input{Kind: core.Receive, From: core.ID(l.from), Bytes: []byte(l.bytes)})
		r.add(next)
	}
	r.two = r.two || in > 1
	r.end = r.end || waiting && !can
}

// A shifter finds the smallest live time, and subtracts.
type shifter struct {
	least, by core.Time
}

func (s *shifter) Time(t *core.Time) {
	if *t != 0 {
		s.Ticket(t)
	}
}

func (s *shifter) Ticket(t *core.Time) {
	s.least = min(s.least, *t)
	*t -= s.by
}

func (s *shifter) Seq(core.ID, *uint64) {}

func (s *shifter) Anchor(core.ID, *uint64) {}

// shifted counts the states, those that differ by a shift of all times as one.
func (r *reference) shifted() int {
	classes := map[string]bool{}
	for _, s := range r.seen {
		v := &shifter{least: 1 << 40}
		r.visit(s, v)
		v.by = max(v.least, 1) - 1
		classes[r.visit(s, v).key()] = true
	}
	return len(classes)
}

func (r *reference) visit(s *refState, v core.TimeVisitor) *refState {
	s = s.clone()
	c := core.VisitTimes(r.n, v)
	for i := range s.machines {
		m := r.machine(i, s.machines[i])
		m.Visit(c)
		s.machines[i] = string(m.AppendState(nil))
	}
	m := r.machine(0, "")
	for i := range s.letters {
		b, err := m.RecodeMessage(nil, []byte(s.letters[i].bytes), c)
		if err != nil {
			r.t.Fatal(err)
		}
		s.letters[i].bytes = string(b)
	}
	if r.spec.Network == core.Unordered {
		sort.Slice(s.letters, func(a, b int) bool { return fmt.Sprint(s.letters[a]) < fmt.Sprint(s.letters[b]) })
	}
	return s
}

// shadows returns what can be seen of the states from outside: who is idle,
// waits or is inside, and, with kinds, which kinds of messages are on which
// link.
func (r *reference) shadows(kinds bool) map[string]bool {
	set := map[string]bool{}
	for _, s := range r.seen {
		var list []string
		for _, l := range s.letters {
			list = append(list, fmt.Sprint(l.from, l.to, l.bytes[0]))
		}
		set[shadow(s.phase, list, kinds)] = true
	}
	return set
}

func shadow(phase []uint8, letters []string, kinds bool) string {
	if !kinds {
		letters = nil
	}
	slices.Sort(letters)
	return fmt.Sprint(phase, letters)
}

// shadowsOf returns the same of a checked group.
func shadowsOf(t testing.TB, h *host, kinds bool) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	walk(t, h, func(w *worker, g *global) {
		var phase []uint8
		var list []string
		for _, p := range g.procs {
			phase = append(phase, p.phase)
		}
		for _, l := range g.letters {
			list = append(list, fmt.Sprint(int(l.link)/h.Nodes, int(l.link)%h.Nodes, w.info(l.blob).kind))
		}
		set[shadow(phase, list, kinds)] = true
	})
	return set
}

// walk calls f for every state of a checked group.
func walk(t testing.TB, h *host, f func(w *worker, g *global)) {
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
	if err := w.Init(add); err != nil {
		t.Fatal(err)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		g := newGlobal(h.Nodes)
		h.unpack(queue[0], g)
		f(w, g)
		if _, err := w.Next(queue[0], func(_ Step, b []byte) { add(b) }); err != nil {
			t.Fatal(err)
		}
	}
}

// idempotent names the algorithms of which the checker leaves out second
// copies, and measures counters from the token's.
const idempotent = "suzuki-kasami ricart-agrawala-token dijkstra"

// With bounded requests the checker finds exactly the states there are, up to a
// shift of all times, and the same verdicts.
func TestAgreesWithReference(t *testing.T) {
	for _, spec := range catalog.All() {
		for _, c := range []struct{ n, requests int }{{1, 2}, {2, 1}, {2, 2}, {3, 1}} {
			if c.n == 3 && strings.Contains(large+" ricart-agrawala ricart-agrawala-1981", spec.Name) {
				continue
			}
			if spec.Accepts(c.n) != nil {
				continue
			}
			r := explore(t, spec, c.n, c.requests)
			h := mustHost(t, Group{Spec: spec, Nodes: c.n, Network: spec.Network, Requests: c.requests})
			e, err := Explore(h, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			exact := !strings.Contains(idempotent, spec.Name)
			if states := r.shifted(); exact && int64(states) != e.States {
				t.Errorf("%s, N=%d, %d requests: %d states, want %d", spec.Name, c.n, c.requests, e.States, states)
			}
			_, two := e.Broken[brokenExclusion]
			_, end := e.Broken[brokenDeadlock]
			if two != r.two || end != r.end {
				t.Errorf("%s, N=%d, %d requests: two inside %v, deadlock %v; want %v, %v", spec.Name, c.n, c.requests, two, end, r.two, r.end)
			}
			same(t, spec.Name, r.shadows(exact), shadowsOf(t, h, exact))
		}
	}
}

// With any number of requests the checker finds what can happen with a few,
// and nothing else: the approximation of times adds nothing that shows.
func TestUnboundedAgreesWithReference(t *testing.T) {
	for _, spec := range catalog.All() {
		exact := !strings.Contains(idempotent, spec.Name)
		r := explore(t, spec, 2, 4)
		h := mustHost(t, Group{Spec: spec, Nodes: 2, Network: spec.Network})
		same(t, spec.Name, r.shadows(exact), shadowsOf(t, h, exact))
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
