package model

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// The reference is a second checker, as dumb as can be: concrete states in a
// map, machines rebuilt for every step, nothing renumbered, nothing collapsed,
// nothing remembered. It only takes bounded requests.

// The phases of an application.
const (
	idle uint8 = iota
	waits
	inside
)

type refLetter struct {
	from, to int
	bytes    string
	past     uint64
	count    int
}

type refState struct {
	machines []string
	phase    []uint8
	left     []int
	start    []bool
	messages []refLetter

	watch watch
}

// A watch is what happened before, in full: requests are numbered, one bit for
// each, and entries are counted.
type watch struct {
	past    []uint64 // the requests that each process knows of
	before  []uint64 // those that its own waiting request comes after
	granted uint64
	count   []int // the highest entry count that each process has seen
	entries int
}

func (s *refState) clone() *refState {
	w := s.watch
	w.past, w.before, w.count = slices.Clone(w.past), slices.Clone(w.before), slices.Clone(w.count)
	return &refState{slices.Clone(s.machines), slices.Clone(s.phase), slices.Clone(s.left), slices.Clone(s.start), slices.Clone(s.messages), w}
}

func (s *refState) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %v %v %v", s.machines, s.phase, s.left, s.start)
	for _, l := range s.messages {
		fmt.Fprintf(&b, " %d>%d %q %d %d", l.from, l.to, l.bytes, l.past, l.count)
	}
	fmt.Fprint(&b, s.watch)
	return b.String()
}

type reference struct {
	t        testing.TB
	spec     algorithm.Spec
	n        int
	seen     map[string]*refState
	queue    []*refState
	two, end bool // two were inside; somebody waited with nothing to happen

	upset bool // timer 0 of every machine may expire at any time, and a repeated message is sent once

	watching     bool
	order, fence bool // ME3 was broken; the count did not rise by one
}

func (r *reference) machine(i int, state string) algorithm.Machine {
	m, err := r.spec.New(algorithm.ID(i), algorithm.View{N: r.n})
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
func (r *reference) do(s *refState, i int, in host.Input) bool {
	m := r.machine(i, s.machines[i])
	var out host.Output
	if err := m.Step(in, &out); err != nil {
		r.t.Fatal(err)
	}
	after := string(m.AppendState(nil))
	moved := after != s.machines[i] || len(out.Sends) > 0 || out.Entered
	s.machines[i] = after
	if out.Entered && r.watching {
		r.entered(s, i)
	}
	for k, send := range out.Sends {
		l := refLetter{from: i, to: int(send.To), bytes: string(out.Bytes(k))}
		if r.watching {
			l.past, l.count = s.watch.past[i], s.watch.count[i]
		}
		if r.upset && s.last(l.from, l.to) == l.bytes {
			continue
		}
		s.messages = append(s.messages, l)
	}
	for _, n := range out.Notices {
		if n.Kind == host.Denied {
			s.phase[i] = idle
			if r.watching {
				s.watch.granted |= r.bit(s, i) // it waits no more
			}
		}
	}
	if out.Entered {
		s.phase[i] = inside
	}
	return moved
}

// last returns the newest message on a link.
func (s *refState) last(from, to int) string {
	for _, l := range slices.Backward(s.messages) {
		if l.from == from && l.to == to {
			return l.bytes
		}
	}
	return ""
}

func (r *reference) add(s *refState) {
	if r.spec.Network == algorithm.Unordered {
		sort.Slice(s.messages, func(a, b int) bool { return fmt.Sprint(s.messages[a]) < fmt.Sprint(s.messages[b]) })
	} else {
		sort.SliceStable(s.messages, func(a, b int) bool {
			x, y := s.messages[a], s.messages[b]
			return x.from < y.from || x.from == y.from && x.to < y.to
		})
	}
	key := s.key()
	if r.seen[key] == nil {
		r.seen[key] = s
		r.queue = append(r.queue, s)
	}
}

func reachable(t testing.TB, spec algorithm.Spec, n, requests int) *reference {
	t.Helper()
	r := &reference{t: t, spec: spec, n: n, seen: map[string]*refState{}}
	r.run(requests)
	return r
}

// watched explores with all that happened before kept.
func watched(t testing.TB, spec algorithm.Spec, n, requests int) *reference {
	t.Helper()
	r := &reference{t: t, spec: spec, n: n, seen: map[string]*refState{}, watching: true}
	r.run(requests)
	return r
}

func (r *reference) run(requests int) {
	n := r.n
	s := &refState{phase: make([]uint8, n), left: slices.Repeat([]int{requests}, n)}
	if r.watching {
		s.watch = watch{past: make([]uint64, n), before: make([]uint64, n), count: make([]int, n)}
	}
	for i := range n {
		s.machines = append(s.machines, string(r.machine(i, "").AppendState(nil)))
	}
	for i := range n {
		s.start = append(s.start, r.do(s.clone(), i, host.Input{Kind: host.Start}))
	}
	for r.add(s); len(r.queue) > 0; r.queue = r.queue[1:] {
		r.next(r.queue[0])
	}
}

// asks numbers the request that process i makes now.
func (r *reference) asks(s *refState, i int) {
	s.watch.before[i] = s.watch.past[i]
	s.watch.past[i] |= r.bit(s, i)
}

// bit is that of the last request of process i.
func (r *reference) bit(s *refState, i int) uint64 { return 1 << (i + r.n*s.left[i]) }

func (r *reference) entered(s *refState, i int) {
	w := &s.watch
	if w.before[i]&^w.granted != 0 {
		r.order = true
	}
	w.granted |= r.bit(s, i)
	w.entries++
	w.count[i]++
	if w.count[i] != w.entries {
		r.fence = true
		w.count[i] = w.entries
	}
}

func (r *reference) next(s *refState) {
	in, waiting, can := 0, false, len(s.messages) > 0
	for i := range r.n {
		next := s.clone()
		switch {
		case s.phase[i] == idle && s.left[i] > 0:
			next.phase[i] = waits
			next.left[i]--
			if r.watching {
				r.asks(next, i)
			}
			r.do(next, i, host.Input{Kind: host.Request})
			r.add(next)
		case s.phase[i] == waits:
			waiting = true
		case s.phase[i] == inside:
			in++
			can = true
			next.phase[i] = idle
			r.do(next, i, host.Input{Kind: host.Release})
			r.add(next)
		}
		if r.upset {
			next := s.clone()
			r.do(next, i, host.Input{Kind: host.Expire, From: algorithm.None})
			r.add(next)
		}
		if s.start[i] {
			can = true
			next := s.clone()
			next.start[i] = false
			r.do(next, i, host.Input{Kind: host.Start})
			r.add(next)
		}
	}
	for k, l := range s.messages {
		if r.spec.Network != algorithm.Unordered && k > 0 && s.messages[k-1].from == l.from && s.messages[k-1].to == l.to {
			continue
		}
		next := s.clone()
		next.messages = slices.Delete(next.messages, k, k+1)
		if r.spec.Network == algorithm.Lossy {
			r.add(next.clone())
		}
		if r.watching {
			next.watch.past[l.to] |= l.past
			next.watch.count[l.to] = max(next.watch.count[l.to], l.count)
		}
		r.do(next, l.to, host.Input{Kind: host.Receive, From: algorithm.ID(l.from), Bytes: []byte(l.bytes)})
		r.add(next)
	}
	r.two = r.two || in > 1
	r.end = r.end || waiting && !can
}

// A shifter finds the smallest live time, and subtracts.
type shifter struct {
	least, by uint64
}

func (s *shifter) Time(t *uint64) {
	if *t != 0 {
		s.Ticket(t)
	}
}

func (s *shifter) Ticket(t *uint64) {
	s.least = min(s.least, *t)
	*t -= s.by
}

func (s *shifter) Seq(algorithm.ID, *uint64) {}

func (s *shifter) Anchor(algorithm.ID, *uint64) {}

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

func (r *reference) visit(s *refState, v host.TimeVisitor) *refState {
	s = s.clone()
	for i := range s.machines {
		m := r.machine(i, s.machines[i])
		m.VisitTimes(v)
		s.machines[i] = string(m.AppendState(nil))
	}
	m := r.machine(0, "")
	for i := range s.messages {
		b, err := m.RecodeMessage(nil, []byte(s.messages[i].bytes), v)
		if err != nil {
			r.t.Fatal(err)
		}
		s.messages[i].bytes = string(b)
	}
	if r.spec.Network == algorithm.Unordered {
		sort.Slice(s.messages, func(a, b int) bool { return fmt.Sprint(s.messages[a]) < fmt.Sprint(s.messages[b]) })
	}
	return s
}
