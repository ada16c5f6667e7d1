package mutex

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/kernel"
)

// A rig is a group of machines whose every step a test decides. Processes are
// numbered from 1, as in the papers.
type rig struct {
	t       testing.TB
	spec    algorithm.Spec
	view    algorithm.View
	ms      []algorithm.Machine
	phase   []uint8
	flight  []packet
	sent    int   // messages so far
	entries []int // who entered, in order
	out     host.Output
	both    bool // two were inside at once
}

type packet struct {
	from, to int
	kind     string
	bytes    []byte
}

func newRig(t testing.TB, spec algorithm.Spec, v algorithm.View) *rig {
	t.Helper()
	ms, err := spec.Group(v)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, spec: spec, view: v, ms: ms, phase: make([]uint8, v.N)}
	if v.Busy {
		r.phase[v.Holder] = held
	}
	return r
}

// group is a rig of n processes with nobody inside.
func group(t testing.TB, spec algorithm.Spec, n int) *rig {
	return newRig(t, spec, algorithm.View{N: n})
}

// copy returns the same group, rebuilt from its bytes.
func (r *rig) copy() *rig {
	c := newRig(r.t, r.spec, r.view)
	for i, m := range c.ms {
		if err := m.LoadState(r.ms[i].AppendState(nil)); err != nil {
			r.t.Fatalf("%s: the state of %v does not load: %v", r.spec.Name, algorithm.ID(i), err)
		}
	}
	c.phase = slices.Clone(r.phase)
	c.flight = slices.Clone(r.flight)
	return c
}

func (r *rig) step(p int, in host.Input) {
	r.t.Helper()
	if err := r.ms[p-1].Step(in, &r.out); err != nil {
		r.t.Fatalf("%s: P%d: %v", r.spec.Name, p, err)
	}
	r.sent += len(r.out.Sends)
	for i, s := range r.out.Sends {
		r.flight = append(r.flight, packet{p, int(s.To) + 1, r.spec.Kinds[s.Kind], slices.Clone(r.out.Bytes(i))})
	}
	if r.out.Entered {
		r.both = r.both || slices.Contains(r.phase, held)
		r.phase[p-1] = held
		r.entries = append(r.entries, p)
	}
	for _, n := range r.out.Notices {
		if n.Kind == host.Denied {
			r.phase[p-1] = released
		}
	}
}

func (r *rig) start() {
	for p := range r.ms {
		r.step(p+1, host.Input{Kind: host.Start})
	}
}

func (r *rig) ask(ps ...int) {
	r.t.Helper()
	for _, p := range ps {
		r.phase[p-1] = wanted
		r.step(p, host.Input{Kind: host.Request})
	}
}

func (r *rig) leave(p int) {
	r.t.Helper()
	if r.phase[p-1] != held {
		r.t.Fatalf("%s: P%d cannot leave, it is not inside", r.spec.Name, p)
	}
	r.phase[p-1] = released
	r.step(p, host.Input{Kind: host.Release})
}

// deliver hands over the oldest message from one to another, which must be of
// this kind.
func (r *rig) deliver(from, to int, kind string) {
	r.t.Helper()
	i := slices.IndexFunc(r.flight, func(k packet) bool { return k.from == from && k.to == to })
	if i < 0 || r.flight[i].kind != kind {
		r.t.Fatalf("%s: no %s from P%d to P%d comes next: %v", r.spec.Name, kind, from, to, r.flight)
	}
	r.take(i)
}

func (r *rig) take(i int) {
	r.t.Helper()
	k := r.flight[i]
	r.flight = slices.Delete(r.flight, i, i+1)
	r.step(k.to, host.Input{Kind: host.Receive, From: algorithm.ID(k.from - 1), Bytes: k.bytes})
}

// settle delivers everything, in the order of sending, until nothing is left.
func (r *rig) settle() {
	r.t.Helper()
	for range 100_000 {
		if len(r.flight) == 0 {
			return
		}
		r.take(0)
	}
	r.t.Fatalf("%s: the messages never end", r.spec.Name)
}

// finish settles and lets whoever is inside leave, until nobody is.
func (r *rig) finish() {
	r.t.Helper()
	r.settle()
	for i := slices.Index(r.phase, held); i >= 0; i = slices.Index(r.phase, held) {
		r.leave(i + 1)
		r.settle()
	}
}

// stuck reports whether somebody waits, nobody is inside and nothing is in
// flight.
func (r *rig) stuck() bool {
	return len(r.flight) == 0 && slices.Contains(r.phase, wanted) && !slices.Contains(r.phase, held)
}

func (r *rig) wantEntries(want ...int) {
	r.t.Helper()
	if !slices.Equal(r.entries, want) {
		r.t.Errorf("%s: entered %v, want %v", r.spec.Name, r.entries, want)
	}
}

func (r *rig) wantField(p int, name, want string) {
	r.t.Helper()
	for _, f := range r.ms[p-1].Describe() {
		if f.Name == name {
			if f.Value != want {
				r.t.Errorf("%s: %s of P%d is %s, want %s", r.spec.Name, name, p, f.Value, want)
			}
			return
		}
	}
	r.t.Errorf("%s: P%d has no field %s", r.spec.Name, p, name)
}

func (r *rig) count(kind string) int {
	n := 0
	for _, k := range r.flight {
		if k.kind == kind {
			n++
		}
	}
	return n
}

// A walk lets chance decide the steps of a rig.
type walk struct {
	*rig
	rand   kernel.Rand
	fifo   bool
	frozen int // a process that takes no step, or 0
	asking bool
}

func (w *walk) below(n int) int { return int(w.rand.Below(int64(n))) }

// move takes one random step. It reports whether there was any to take.
func (w *walk) move() bool {
	var can []func()
	for i, k := range w.flight {
		first := slices.IndexFunc(w.flight, func(o packet) bool { return o.from == k.from && o.to == k.to })
		if k.to != w.frozen && (first == i || !w.fifo) {
			can = append(can, func() { w.take(i) })
		}
	}
	for i, ph := range w.phase {
		switch p := i + 1; {
		case p == w.frozen:
		case ph == held:
			can = append(can, func() { w.leave(p) })
		case ph == released && w.asking:
			can = append(can, func() { w.ask(p) })
		}
	}
	if len(can) == 0 {
		return false
	}
	can[w.below(len(can))]()
	return true
}

// checkAlibis demands that nobody who has an alibi is inside, or gets there
// while the one who gives it stands still.
func (w *walk) checkAlibis() {
	s := 1 + w.below(w.view.N)
	var free []int
	for d := range algorithm.ID(w.view.N) {
		if w.ms[s-1].Alibi(d) {
			free = append(free, int(d)+1)
		}
	}
	if len(free) == 0 {
		return
	}
	c := &walk{rig: w.copy(), rand: w.rand, fifo: w.fifo, frozen: s, asking: true}
	for range 40 {
		for _, d := range free {
			if c.phase[d-1] == held {
				c.t.Fatalf("%s N=%d: P%d is inside, though P%d gave it an alibi", c.spec.Name, c.view.N, d, s)
			}
		}
		if !c.move() {
			break
		}
	}
}

// roam walks at random from this view and demands safety, true alibis and, at
// the end, that every request is granted.
func roam(t *testing.T, spec algorithm.Spec, v algorithm.View, seed uint64, steps int) {
	t.Helper()
	w := &walk{rig: newRig(t, spec, v), rand: kernel.NewRand(seed, 7), fifo: spec.Network == algorithm.FIFO, asking: true}
	started := v.N
	for i := range steps {
		if started > 0 && w.below(4) == 0 {
			w.step(started, host.Input{Kind: host.Start})
			started--
		}
		w.move()
		if w.both {
			t.Fatalf("%s %+v seed %d: two inside after %d steps", spec.Name, v, seed, i)
		}
		if i%5 == 0 {
			w.checkAlibis()
		}
	}
	for ; started > 0; started-- {
		w.step(started, host.Input{Kind: host.Start})
	}
	w.asking = false
	for i := 0; slices.ContainsFunc(w.phase, func(p uint8) bool { return p != released }); i++ {
		if !w.move() || i > 100_000 {
			t.Fatalf("%s %+v seed %d: not all were granted: %v", spec.Name, v, seed, w.phase)
		}
	}
	if w.both {
		t.Fatalf("%s %+v seed %d: two inside at the end", spec.Name, v, seed)
	}
}
