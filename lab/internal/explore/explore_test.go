package explore

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"
)

// fan is a model with many initial states, each with many successors, none of
// which goes on.
type fan struct{ initial, each uint32 }

func (f fan) Worker() Worker { return f }

func (f fan) Init(emit func([]byte) bool) error {
	for i := range f.initial {
		if !emit(binary.BigEndian.AppendUint32(nil, i)) {
			break
		}
	}
	return nil
}

func (f fan) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	i := binary.BigEndian.Uint32(state)
	if i >= f.initial {
		return 0, nil
	}
	for j := range f.each {
		emit(Step{}, binary.BigEndian.AppendUint32(nil, f.initial+i*f.each+j))
	}
	return 0, nil
}

// The table grows in time, however many states come at once.
func TestTableGrowsInTime(t *testing.T) {
	for _, f := range []fan{{200_000, 0}, {1000, 300}, {1, 5000}} {
		for workers := range 3 {
			e, err := Explore(f, Limits{Workers: workers + 1})
			if err != nil {
				t.Fatal(err)
			}
			want := int64(f.initial) + int64(f.initial)*int64(f.each)
			if e.States != want || e.Transitions != int64(f.initial)*int64(f.each) || e.Unfinished != "" {
				t.Errorf("%v, %d workers: %d states, %d transitions, %q", f, workers+1, e.States, e.Transitions, e.Unfinished)
			}
		}
	}
}

// counter counts up for ever; it fails at a number, if that is not 0.
type counter struct{ fails uint64 }

var errCounter = errors.New("no further")

func (c counter) Worker() Worker { return c }

func (c counter) Init(emit func([]byte) bool) error {
	emit([]byte{0})
	return nil
}

func (c counter) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	n, _ := binary.Uvarint(state)
	if c.fails != 0 && n >= c.fails {
		return 0, errCounter
	}
	for i := range uint64(16) {
		emit(Step{}, binary.AppendUvarint(nil, 16*n+i+1))
	}
	return 0, nil
}

func TestLimitsEndCleanly(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		limits Limits
		why    string
	}{
		{"memory", Limits{Memory: 4 << 20}, "out of memory"},
		{"little memory", Limits{Memory: 1}, "out of memory"},
		{"time", Limits{Time: time.Nanosecond}, "out of time"},
		{"cancelled", Limits{Context: cancelled}, "interrupted"},
	} {
		for workers := range 2 {
			c.limits.Workers = workers + 1
			e, err := Explore(counter{}, c.limits)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if !strings.Contains(e.Unfinished, c.why) || e.States == 0 {
				t.Errorf("%s, %d workers: unfinished because %q after %d states, want %q", c.name, workers+1, e.Unfinished, e.States, c.why)
			}
		}
	}
}

// Interrupted in the middle, from the function that shows progress.
func TestCancelledInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	told := 0
	e, err := Explore(counter{}, Limits{Workers: 2, Context: ctx, Progress: func(p Progress) {
		if told++; p.States > 5000 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Unfinished != "interrupted" || e.States <= 5000 || told == 0 {
		t.Errorf("unfinished because %q after %d states, told %d times", e.Unfinished, e.States, told)
	}
}

func TestErrorEndsExploration(t *testing.T) {
	for workers := range 2 {
		if e, err := Explore(counter{fails: 5000}, Limits{Workers: workers + 1}); !errors.Is(err, errCounter) {
			t.Errorf("%d workers: got %v and %v, want the model's error", workers+1, e, err)
		}
	}
	if _, err := BuildGraph(counter{fails: 50}, GraphLimits{}); !errors.Is(err, errCounter) {
		t.Errorf("the graph: got %v, want the model's error", err)
	}
}

// A hasty fan fails in its first state, and then somebody interrupts.
type hasty struct {
	fan
	interrupt func()
}

func (h hasty) Worker() Worker { return h }

func (h hasty) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	if binary.BigEndian.Uint32(state) == 0 {
		h.interrupt()
		return 0, errCounter
	}
	return h.fan.Next(state, emit)
}

// Who interrupts a long level is told at once of the error that was found in it.
func TestErrorIsToldWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e, err := Explore(hasty{fan{200_000, 1}, cancel}, Limits{Workers: 1, Context: ctx})
	if !errors.Is(err, errCounter) || e.Transitions > 100_000 {
		t.Errorf("got %v after %d transitions", err, e.Transitions)
	}
}

// A minefield is a start with many successors: some fail, and one breaks something by
// itself and one by a step out of it, which fails, too.
type minefield struct{ wide uint32 }

func (f minefield) Worker() Worker { return f }

func (f minefield) Init(emit func([]byte) bool) error {
	emit([]byte{0, 0, 0, 0})
	return nil
}

func (f minefield) Next(state []byte, emit func(Step, []byte)) (Broken, error) {
	switch i := binary.BigEndian.Uint32(state); {
	case i == 0:
		for j := range f.wide {
			emit(Step{}, binary.BigEndian.AppendUint32(nil, j+1))
		}
	case i == f.wide/2:
		return 1, nil
	case i == f.wide/2+1:
		emit(Step{Label: 7, Broken: 2}, state)
		return 4, errCounter
	case i%3 == 0:
		return 0, errCounter
	}
	return 0, nil
}

// An error takes away nothing that is broken in the same level, in whichever order
// that is looked at, and a way there is found.
func TestErrorAndBroken(t *testing.T) {
	f := minefield{20_000}
	for workers := range 3 {
		var told Broken
		e, err := ExploreTelling(f, Limits{Workers: workers + 1}, func(now Broken, _ Exploration) { told |= now })
		if !errors.Is(err, errCounter) || told != 7 || len(e.Broken) != 3 || e.Depth != 2 || e.Whole != 1 {
			t.Errorf("%d workers: %v, told of %b, %+v", workers+1, err, told, e)
		}
	}
	for _, b := range []Broken{1, 2, 4} {
		g, err := BuildGraph(f, GraphLimits{Limits: Limits{Stop: b}})
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := g.Found(b); !ok || len(g.PathTo(at.State)) != 2 {
			t.Errorf("%b is found %v, at %+v", b, ok, at)
		}
	}
	if _, err := BuildGraph(f, GraphLimits{Limits: Limits{Stop: 8}}); !errors.Is(err, errCounter) {
		t.Errorf("what is nowhere: got %v, want the model's error", err)
	}
	if c, err := (Dive{Stop: 2, Tries: 1, Steps: 1}).Run(minefield{1}, Limits{}); err != nil || c != nil {
		t.Errorf("a dive of one step: got %+v and %v", c, err)
	}
	for _, b := range []Broken{2, 4} {
		if c, err := (Dive{Stop: b, Tries: 1, Steps: 2}).Run(minefield{1}, Limits{}); err != nil || c == nil || c.Broken != b {
			t.Errorf("a dive for %b: got %+v and %v", b, c, err)
		}
	}
}

func TestGraphLimits(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		limits Limits
		why    string
	}{
		{Limits{Memory: 1 << 20}, OutOfMemory},
		{Limits{Time: time.Nanosecond}, OutOfTime},
		{Limits{Context: cancelled}, Interrupted},
	} {
		g, err := BuildGraph(counter{}, GraphLimits{Limits: c.limits})
		if err != nil || g.Unfinished != c.why {
			t.Errorf("unfinished because %q (%v), want %q", g.Unfinished, err, c.why)
		}
	}
}

// A graph without states has no levels.
func TestNoLevels(t *testing.T) {
	if n := (&Graph{}).Levels(); n != 0 {
		t.Errorf("%d levels, want 0", n)
	}
}
