package explore

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

// line is a model of states in a row, in all of which process 0 waits. It begins
// in each of the first so many. From the last the way leads back by one, so
// there is a loop at the end. State number broken breaks
// something, if it is not 0.
type line struct {
	starts, length, broken uint32

	made  *uint32 // how many starts were emitted; may be nil
	bytes int64
}

func (m line) Worker() Worker { return m }

func (m line) Bytes() int64 { return m.bytes }

func (m line) Init(emit func([]byte) bool) error {
	for i := range m.starts {
		if m.made != nil {
			*m.made++
		}
		if !emit(binary.BigEndian.AppendUint32(nil, i)) {
			break
		}
	}
	return nil
}

func (m line) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	i := binary.BigEndian.Uint32(state)
	if i+1 < m.length {
		emit(Step{Fair: true}, binary.BigEndian.AppendUint32(nil, i+1))
	} else if i > 0 {
		emit(Step{Fair: true}, binary.BigEndian.AppendUint32(nil, i-1))
	}
	if m.broken != 0 && i == m.broken {
		return 1, nil
	}
	return 0, nil
}

func (m line) Waiting([]byte) (waiting, calm uint32) { return 1, 1 }

// ends lists limits that are reached at once, and why.
func ends() map[string]Limits {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	return map[string]Limits{
		OutOfMemory: {Memory: 1 << 10},
		OutOfTime:   {Time: time.Nanosecond},
		Interrupted: {Context: gone},
	}
}

// However many initial states there are, a limit ends their making.
func TestLimitsWhileStarting(t *testing.T) {
	const many = 1 << 26
	for why, l := range ends() {
		for _, how := range []struct {
			name string
			run  func(m Model) (string, error)
		}{
			{"explore", func(m Model) (string, error) {
				e, err := Explore(m, l)
				return e.Unfinished, err
			}},
			{"graph", func(m Model) (string, error) {
				g, err := BuildGraph(m, GraphLimits{Limits: l, Edges: true})
				return g.Unfinished, err
			}},
			{"outlook", func(m Model) (string, error) {
				o, err := OutlookOf(m, l)
				return o.Unfinished, err
			}},
		} {
			var made uint32
			got, err := how.run(line{starts: many, length: many, made: &made})
			if err != nil || got != why || made > 1<<12 {
				t.Errorf("%s: ended since %q (%v) after %d starts, want %q within %d", how.name, got, err, made, why, 1<<12)
			}
		}
	}
}

// What a model keeps counts: both that of the model and that of its workers.
func TestModelMemoryCounts(t *testing.T) {
	l := Limits{Memory: 1 << 30, Workers: 1}
	for _, c := range []struct {
		bytes int64
		why   string
	}{{1 << 20, ""}, {600 << 20, OutOfMemory}} { // the line is its own worker: it counts twice
		m := line{starts: 1, length: 5000, bytes: c.bytes}
		e, err := Explore(m, l)
		if err != nil || e.Unfinished != c.why {
			t.Errorf("%d bytes: explore ended since %q (%v), want %q", c.bytes, e.Unfinished, err, c.why)
		}
		g, err := BuildGraph(m, GraphLimits{Limits: l})
		if err != nil || g.Unfinished != c.why {
			t.Errorf("%d bytes: the graph ended since %q (%v), want %q", c.bytes, g.Unfinished, err, c.why)
		}
		m.length = 20_000
		o, err := OutlookOf(m, l)
		if err != nil || o.Unfinished != c.why {
			t.Errorf("%d bytes: the outlook ended since %q (%v), want %q", c.bytes, o.Unfinished, err, c.why)
		}
	}
}

// Every long question about a graph can be interrupted, and then says so.
func TestQuestionsEnd(t *testing.T) {
	for name, ask := range map[string]func(g *Graph){
		"mark":    func(g *Graph) { g.MarkBefore(0, 5) },
		"cut":     func(g *Graph) { g.Cut(0) },
		"starves": func(g *Graph) { cutOf(g).Starves() },
		"bypass":  func(g *Graph) { cutOf(g).Bypass() },
		"longest": func(g *Graph) { cutOf(g).Longest() },
		"search": func(g *Graph) {
			c := cutOf(g)
			clear(c.comp)
			c.search(0, 0, func(uint32, uint64) bool { return false })
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		g, err := BuildGraph(line{starts: 1, length: 200_000}, GraphLimits{Limits: Limits{Context: ctx}, Edges: true})
		if err != nil || g.Unfinished != "" {
			t.Fatalf("%q, %v", g.Unfinished, err)
		}
		cancel()
		if ask(g); g.Unfinished != Interrupted {
			t.Errorf("%s: unfinished because %q, want %q", name, g.Unfinished, Interrupted)
		}
	}
}

// cutOf is a cut with each state a component of its own, made without looking
// at the limits.
func cutOf(g *Graph) *Cut {
	c := &Cut{Graph: g, bit: 1}
	for s := range uint32(len(g.waiting)) {
		c.comp = append(c.comp, int32(s))
		c.order = append(c.order, s)
		c.ends = append(c.ends, s+1)
	}
	return c
}

// A loop that could not be found in time is none.
func TestLoopEnds(t *testing.T) {
	g, err := BuildGraph(line{starts: 1, length: 3}, GraphLimits{Edges: true})
	if err != nil {
		t.Fatal(err)
	}
	c := g.Cut(0)
	bad := c.Starves()
	if len(bad) != 2 || c.Loop(bad) == nil {
		t.Fatalf("the bad component is %v, its loop %v", bad, c.Loop(bad))
	}
	g.Unfinished = Interrupted
	if loop := c.around(bad[1]); loop != nil {
		t.Errorf("interrupted, but there is the loop %v", loop)
	}
}

// How many levels are whole: the search is ended in the middle of one.
func TestWholeLevels(t *testing.T) {
	for _, end := range []int{3, 10} {
		ctx, cancel := context.WithCancel(context.Background())
		l := Limits{Context: ctx, Workers: 1, Progress: func(p Progress) {
			if p.Depth == end {
				cancel()
			}
		}}
		m := line{starts: 1, length: 100, broken: 50}
		e, err := Explore(m, l)
		// The progress of level end is told when it is over, and the limits
		// are looked at before that: so the level after it is the last.
		if err != nil || e.Unfinished != Interrupted || e.Whole != end+1 || len(e.Broken) > 0 {
			t.Errorf("interrupted at level %d: %+v, %v", end, e, err)
		}
	}
	e, err := Explore(line{starts: 1, length: 100, broken: 50}, Limits{Stop: 1})
	if err != nil || e.Whole != 51 || e.Broken[1].Steps() != 50 {
		t.Errorf("the break at step 50: %+v, %v", e, err)
	}
	made := 0
	g, err := BuildGraph(fan{1, 5000}, GraphLimits{Limits: Limits{Memory: 1}})
	for range g.prints {
		made++
	}
	if err != nil || g.Unfinished != OutOfMemory || g.Whole() != 1 {
		t.Errorf("the graph of a fan: %d states, %d whole levels, %q (%v)", made, g.Whole(), g.Unfinished, err)
	}
}

// Progress names the pass, also while graphs are built and cut, and begins anew
// with each.
func TestProgressNamesThePass(t *testing.T) {
	var told []string
	l := Limits{Pass: "a pass", Workers: 1, Progress: func(p Progress) {
		if p.Elapsed < 0 || p.Memory <= 0 {
			t.Errorf("progress %+v", p)
		}
		told = append(told, p.Pass)
	}}
	m := line{starts: 1, length: 100_000}
	var g *Graph
	for name, do := range map[string]func() error{
		"explore": func() error { _, err := Explore(fan{10_000, 1}, l); return err },
		"outlook": func() error { _, err := OutlookOf(m, l); return err },
		"graph":   func() (err error) { g, err = BuildGraph(m, GraphLimits{Limits: l, Edges: true}); return err },
	} {
		told = nil
		if err := do(); err != nil || !slices.Contains(told, "a pass") {
			t.Errorf("%s: told of %q (%v)", name, told, err)
		}
	}
	told = nil
	if g.Cut(0); !slices.Contains(told, "a pass") {
		t.Errorf("cut: told of %q", told)
	}
}

// What is seen broken is told at the end of its level, once, and exploring goes
// on.
func TestSeenAtTheEndOfTheLevel(t *testing.T) {
	var depths []int
	e, err := ExploreTelling(line{starts: 1, length: 100, broken: 50}, Limits{}, func(now Broken, so Exploration) {
		if now != 1 || so.Broken[1].Depth != 50 {
			t.Errorf("told of %v: %+v", now, so)
		}
		depths = append(depths, so.Depth)
	})
	if err != nil || e.States != 100 || !slices.Equal(depths, []int{51}) {
		t.Errorf("told at depths %v, %d states, %v", depths, e.States, err)
	}
	calls := 0
	g, err := BuildGraph(line{starts: 1, length: 100, broken: 50}, GraphLimits{Seen: func(g *Graph, now Broken) error {
		calls++
		if at, ok := g.Found(1); !ok || now != 1 || len(g.PathTo(at.State)) != 51 {
			t.Errorf("told of %v at %v", now, at)
		}
		return nil
	}})
	if err != nil || g.States() != 100 || calls != 1 {
		t.Errorf("told %d times, %d states, %v", calls, g.States(), err)
	}
}

// The formula, by hand: there are n²/2 pairs, and each collides once in 2^64.
func TestCollision(t *testing.T) {
	for _, c := range []struct {
		states int64
		want   float64
	}{{0, 0}, {1 << 30, 1. / 32}, {1 << 32, 0.5}, {1 << 40, 1}, {3_000_000, 9e12 / 2 / 18446744073709551616.}} {
		if got := Collision(c.states); got != c.want {
			t.Errorf("%d states: %g, want %g", c.states, got, c.want)
		}
	}
}

// A table is never filled, however many workers add at once, and however many
// successors a state has.
func TestManyWorkers(t *testing.T) {
	for _, f := range []fan{{3000, 100}, {1, 300_000}} {
		e, err := Explore(f, Limits{Workers: 700})
		if want := int64(f.initial) * (1 + int64(f.each)); err != nil || e.States != want {
			t.Errorf("%v: %d states, want %d (%v)", f, e.States, want, err)
		}
		if e, err = Explore(f, Limits{Workers: 700, Memory: 1}); err != nil || e.Unfinished == "" {
			t.Errorf("%v without memory: unfinished because %q (%v)", f, e.Unfinished, err)
		}
	}
}

// A graph that was not finished has steps to states that were not looked into:
// what is asked of it is asked of the others.
func TestUnfinishedGraphIsCut(t *testing.T) {
	const broken = 50
	g, err := BuildGraph(line{starts: 1, length: 100, broken: broken}, GraphLimits{Limits: Limits{Stop: ^Broken(0)}, Edges: true})
	if err != nil || g.Unfinished == "" || int64(len(g.waiting)) != g.States() {
		t.Fatalf("unfinished because %q, %v: %d states, of %d it is known who waits", g.Unfinished, err, g.States(), len(g.waiting))
	}
	c := g.Cut(0)
	c.Starves()
	c.Bypass()
	c.Longest()
	g.MarkBefore(0, 5)
}
