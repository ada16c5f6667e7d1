package trace_test

import (
	"strconv"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// simulate records a run.
func simulate(tb testing.TB, c sim.Config) *trace.Trace {
	tb.Helper()
	t := &trace.Trace{N: c.Nodes, Title: c.Spec.Title, Algorithm: c.Spec.Name, Kinds: c.Spec.Kinds, Unit: scenario.T}
	c.Observe = func(e trace.Event) { t.Events = append(t.Events, e) }
	if c.Network == algorithm.Unordered {
		c.Network = c.Spec.Network
	}
	if _, err := sim.Run(c); err != nil {
		tb.Fatal(err)
	}
	return t
}

func config(tb testing.TB, name string, nodes, entries int, latency string, seed uint64) sim.Config {
	tb.Helper()
	spec, err := catalog.Make(name, algorithm.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	d, err := scenario.ParseDist(latency)
	if err != nil {
		tb.Fatal(err)
	}
	return sim.Config{Spec: spec, Nodes: nodes, Entries: entries, Latency: d, Hold: scenario.Always(scenario.T), Seed: seed}
}

func layout(tb testing.TB, t *trace.Trace, o trace.Options) *trace.Layout {
	tb.Helper()
	l, err := t.Layout(o)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// near is how far apart two paths may be at each control point, and still look
// like one.
const near = 20 // tenths of a pixel

// hidden counts the arrows that lie on an earlier one, in either direction.
func hidden(l *trace.Layout) int {
	n := 0
	var paths [][]trace.Offset
	for i := range l.Arrows {
		path := spread(l.Path(&l.Arrows[i]))
		for _, other := range paths {
			if same(path, other, false) || same(path, other, true) {
				n++
				break
			}
		}
		paths = append(paths, path)
	}
	return n
}

// spread gives every path five places: its ends and what it comes by.
func spread(p []trace.Offset) []trace.Offset {
	mid := func(a, b trace.Offset) trace.Offset { return trace.Offset{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2} }
	switch len(p) {
	case 2:
		m := mid(p[0], p[1])
		return []trace.Offset{p[0], mid(p[0], m), m, mid(m, p[1]), p[1]}
	case 3:
		a, b := mid(p[0], p[1]), mid(p[1], p[2])
		return []trace.Offset{p[0], a, mid(a, b), b, p[2]}
	}
	return []trace.Offset{p[0], p[1], mid(p[1], p[2]), p[2], p[3]}
}

func same(a, b []trace.Offset, reversed bool) bool {
	for i := range a {
		j := i
		if reversed {
			j = len(b) - 1 - i
		}
		if dx, dy := a[i].X-b[j].X, a[i].Y-b[j].Y; max(dx, -dx) > near || max(dy, -dy) > near {
			return false
		}
	}
	return true
}

// unbent is the layout that hides messages behind each other: all arrows are
// straight.
func unbent(l *trace.Layout) *trace.Layout {
	straight := *l
	straight.Arrows = append([]trace.Arrow{}, l.Arrows...)
	for i := range straight.Arrows {
		straight.Arrows[i].Bend = nil
	}
	return &straight
}

// Every message of a run can be seen: whatever the algorithm, the latencies and
// the chance, no arrow lies on another.
func TestEveryMessageIsSeen(t *testing.T) {
	hid := 0
	for _, spec := range catalog.All() {
		if spec.Family != algorithm.MutualExclusion {
			continue
		}
		for _, latency := range []string{"1", "exp:1", "uniform:0.5,1.5"} {
			for seed := range uint64(3) {
				n := 3 + int(seed)*4
				if spec.Accepts(n) != nil {
					continue
				}
				c := config(t, spec.Name, n, 2*n, latency, seed)
				tr := simulate(t, c)
				for _, page := range tr.Pages(trace.Options{}) {
					l := layout(t, tr, page)
					if n := hidden(l); n > 0 {
						t.Fatalf("%s, latency %s, seed %d: %d of %d messages lie on others", spec.Name, latency, seed, n, len(l.Arrows))
					}
					hid += hidden(unbent(l))
				}
			}
		}
	}
	if hid < 100 {
		t.Errorf("without bends %d messages would be hidden: this test proves nothing", hid)
	}
}

// The runs in which messages were hidden: straight arrows hide them, and the
// count above would find it.
func TestStraightArrowsHideMessages(t *testing.T) {
	for _, c := range []struct {
		name           string
		nodes, entries int
		least          int // hidden if arrows are straight
	}{{"raymond", 5, 10, 3}, {"maekawa", 20, 40, 100}, {"central", 20, 400, 5}} {
		tr := simulate(t, config(t, c.name, c.nodes, c.entries, "1", 1))
		l := layout(t, tr, trace.Options{})
		if n := hidden(unbent(l)); n < c.least {
			t.Errorf("%s: straight arrows hide %d messages, want %d at least", c.name, n, c.least)
		}
		if n := hidden(l); n > 0 {
			t.Errorf("%s: %d messages are hidden", c.name, n)
		}
	}
}

// What is hardest to tell apart: messages that take no time, in both
// directions, to oneself, copies, and many at once.
func TestMessagesAtOnce(t *testing.T) {
	s := newScript(3, "")
	n := 0
	send := func(at, takes int64, from, to algorithm.ID) {
		n++
		s.message(at, trace.Send, from, to, n, "REQUEST")
		s.message(at+takes, trace.Receive, to, from, n, "REQUEST")
	}
	for range 4 {
		send(0, 0, 0, 1)
		send(0, 0, 1, 0)
		send(0, 0, 0, 2)
		send(0, 0, 2, 2)
	}
	for i := range int64(6) { // in both directions at once
		n += 2
		s.message(10, trace.Send, 0, 2, n-1, "OK")
		s.message(10, trace.Send, 2, 0, n, "OK")
		if i%2 == 0 {
			n++
			s.message(10, trace.Duplicate, 0, 2, n, "OK")
		}
	}
	for m := 17; m <= n; m++ {
		from, to := algorithm.ID(0), algorithm.ID(2)
		for _, e := range s.t.Events {
			if e.Msg == m {
				from, to = e.Proc, e.Peer
			}
		}
		s.message(20, trace.Receive, to, from, m, "OK")
	}
	n++
	s.message(25, trace.Send, 1, 1, n, "OK") // to itself, and it takes a while
	n++
	s.message(25, trace.Send, 1, 1, n, "OK")
	s.message(40, trace.Receive, 1, 1, n-1, "OK")
	s.message(40, trace.Receive, 1, 1, n, "OK")
	if err := s.t.Check(); err != nil {
		t.Fatal(err)
	}
	l := layout(t, s.t, trace.Options{})
	if len(l.Arrows) != n {
		t.Errorf("%d arrows for %d messages", len(l.Arrows), n)
	}
	if h := hidden(l); h > 0 {
		t.Errorf("%d messages are hidden", h)
	}
	if h := hidden(unbent(l)); h < 20 {
		t.Errorf("straight arrows hide %d messages, want 20 at least", h)
	}
}

// Any trace at all: each message has its arrow, in whatever way it ends.
func TestRandomMessagesAreSeen(t *testing.T) {
	for seed := range uint64(60) {
		tr := random(seed, 1+int(seed%9), 150)
		l := layout(t, tr, trace.Options{})
		if !l.Window.Whole || len(l.Arrows) != l.Window.AllMessages {
			t.Fatalf("seed %d: %d arrows for %d messages, %s", seed, len(l.Arrows), l.Window.AllMessages, l.Window.Part)
		}
		numbers := map[int]bool{}
		for _, e := range tr.Events {
			if e.Msg > 0 {
				numbers[e.Msg] = true
			}
		}
		for _, a := range l.Arrows {
			delete(numbers, a.Message)
		}
		if len(numbers) > 0 {
			t.Fatalf("seed %d: no arrow for %d messages", seed, len(numbers))
		}
		if n := hidden(l); n > 0 {
			t.Fatalf("seed %d: %d of %d messages are hidden", seed, n, len(l.Arrows))
		}
	}
}

// What comes later moves nothing that is there, if the scale is fixed.
func TestLayoutGrows(t *testing.T) {
	whole := simulate(t, config(t, "maekawa", 7, 20, "1", 1))
	o := trace.Options{Scale: 40, Labels: trace.LabelsShort}
	half := *whole
	half.Events = whole.Events[:len(whole.Events)/2]
	before := map[int]trace.Arrow{}
	for _, a := range layout(t, &half, o).Arrows {
		if a.End == trace.EndArrives {
			before[a.Message] = a
		}
	}
	o.To = float64(half.Events[len(half.Events)-1].At) / scenario.T
	for _, a := range layout(t, whole, o).Arrows {
		b, ok := before[a.Message]
		if ok && (a.From != b.From || a.To != b.To || len(a.Bend) != len(b.Bend) || len(a.Bend) == 1 && a.Bend[0] != b.Bend[0]) {
			t.Fatalf("message %s was drawn as %+v, and with more to draw as %+v", strconv.Itoa(a.Message), b, a)
		}
	}
	if len(before) < 20 {
		t.Errorf("only %d messages compared", len(before))
	}
}
