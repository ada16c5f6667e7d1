package trace_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

// A long run is cut to a part in which somebody asks, enters and leaves, and
// the picture says which part it is.
func TestWindowShowsEntries(t *testing.T) {
	for _, c := range []struct {
		name           string
		nodes, entries int
		latency        string
	}{
		{"ricart-agrawala", 20, 20, "exp:1"}, {"ricart-agrawala", 20, 60, "exp:1"}, {"lamport", 20, 20, "exp:1"},
		{"maekawa", 20, 60, "uniform:0.5,1.5"}, {"central", 20, 400, "exp:1"}, {"bakery", 9, 30, "exp:1"}, {"token-ring", 10, 300, "exp:1"},
	} {
		tr := simulate(t, config(t, c.name, c.nodes, c.entries, c.latency, 1))
		l := layout(t, tr, trace.Options{})
		w := l.Window
		if w.Whole {
			t.Errorf("%s: %d messages are shown whole", c.name, w.AllMessages)
		}
		if w.Entries < 1 || w.AllEntries != c.entries || w.Messages != len(l.Arrows) || !strings.HasPrefix(w.Part, "time ") || l.Part.Text != w.Part {
			t.Errorf("%s: %s; %d arrows", c.name, w.Part, len(l.Arrows))
		}
		if !strings.Contains(l.SVG(), ">"+w.Part+"<") {
			t.Errorf("%s: the picture does not say %q", c.name, w.Part)
		}
		left := 0
		for _, e := range tr.Events {
			if e.Kind == trace.Exit && e.At >= w.From && e.At <= w.To {
				left++
			}
		}
		if left == 0 {
			t.Errorf("%s: nobody leaves in the picture: %s", c.name, w.Part)
		}
		if wide := l.Page.Width.String(); len(wide) > 6 {
			t.Errorf("%s: the picture is %s pixels wide", c.name, wide)
		}
	}
}

// The run that was drawn with nothing in it.
func TestPart(t *testing.T) {
	tr := simulate(t, config(t, "ricart-agrawala", 20, 20, "exp:1", 1))
	l := layout(t, tr, trace.Options{})
	if want := " of 760 messages; 3 of 20 entries"; !strings.HasSuffix(l.Window.Part, want) {
		t.Errorf("%q, want ...%q", l.Window.Part, want)
	}
	moments, entered, last := 0, 0, int64(-1)
	for _, e := range tr.Events { // what was shown before: the first 80 moments
		if e.At != last {
			moments, last = moments+1, e.At
		}
		if e.Kind == trace.Enter && moments <= 80 {
			entered++
		}
	}
	if entered > 0 {
		t.Errorf("%d enter in the first 80 moments: this test proves nothing", entered)
	}
	l = layout(t, tr, trace.Options{From: 10, To: 20.5})
	if want := "time 10 to 20.5 of "; !strings.HasPrefix(l.Window.Part, want) {
		t.Errorf("%q, want %q...", l.Window.Part, want)
	}
	small := layout(t, load(t, "ricart-agrawala-3"), trace.Options{})
	if want := "all of "; !strings.HasPrefix(small.Window.Part, want) || strings.Count(small.Window.Part, " of ") != 1 {
		t.Errorf("%q, want %q...", small.Window.Part, want)
	}
}

// A violation is in the picture wherever it is, with what led to it.
func TestWindowShowsTheViolation(t *testing.T) {
	for _, at := range []int{700, 1500, 2999} {
		tr := random(3, 3, 3000)
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.Violation {
				tr.Events[i].Kind, tr.Events[i].Name = trace.Note, "calm"
			}
		}
		e := &tr.Events[at]
		e.Kind, e.Name, e.Proc, e.Peer = trace.Violation, "order", 1, algorithm.None
		l := layout(t, tr, trace.Options{})
		if l.Window.Whole || e.At < l.Window.From || e.At > l.Window.To {
			t.Errorf("a violation at tick %d is not in %d to %d", e.At, l.Window.From, l.Window.To)
		}
		marks := 0
		for _, m := range l.Marks {
			if m.Means == trace.MarkViolation {
				marks++
			}
		}
		if marks != 1 {
			t.Errorf("%d marks for one violation", marks)
		}
	}
}

// What cannot be shown is an error that names what can.
func TestRange(t *testing.T) {
	tr := load(t, "ricart-agrawala-3")
	end := float64(tr.Events[len(tr.Events)-1].At) / float64(tr.Unit)
	for _, c := range []struct {
		o    trace.Options
		want string
	}{
		{trace.Options{From: 3, To: 2}, "a picture from 3 to 2: "},
		{trace.Options{From: 2, To: 2}, "a picture from 2 to 2: "},
		{trace.Options{From: 1000}, "a picture from 1000 begins after the end: the run goes from 0 to "},
		{trace.Options{From: 1, To: 1000}, "a picture from 1 to 1000 ends after the end: the run goes from 0 to "},
		{trace.Options{From: -1}, "want numbers from 0"},
		{trace.Options{To: math.NaN()}, "want numbers from 0"},
		{trace.Options{Scale: math.Inf(1)}, "want numbers from 0"},
		{trace.Options{Labels: 9}, "labels of style 9"},
		{trace.Options{}, ""}, {trace.Options{From: 1}, ""}, {trace.Options{To: 2}, ""}, {trace.Options{To: end}, ""},
	} {
		_, err := tr.Layout(c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := (&trace.Trace{N: 2}).Layout(trace.Options{To: 1}); err == nil {
		t.Error("a part of nothing is no error")
	}
}

// The pages show every message of a run and every entry, and none of them is
// too much to read.
func TestPages(t *testing.T) {
	tr := simulate(t, config(t, "ricart-agrawala", 9, 60, "exp:1", 4))
	pages := tr.Pages(trace.Options{})
	if len(pages) < 3 {
		t.Fatalf("%d pages", len(pages))
	}
	messages := map[int]bool{}
	last, entries := 0.0, 0
	for i, o := range pages {
		l := layout(t, tr, o)
		for _, a := range l.Arrows {
			messages[a.Message] = true
		}
		entries += l.Window.Entries
		if o.From != last && i > 0 {
			t.Errorf("page %d begins at %g, the one before ends at %g", i+1, o.From, last)
		}
		if last = o.To; l.Page.Width > 70_000 {
			t.Errorf("page %d is %v pixels wide", i+1, l.Page.Width)
		}
	}
	l := layout(t, tr, trace.Options{})
	if len(messages) != l.Window.AllMessages || entries < l.Window.AllEntries {
		t.Errorf("the pages show %d of %d messages and %d of %d entries", len(messages), l.Window.AllMessages, entries, l.Window.AllEntries)
	}
	if o := load(t, "ricart-agrawala-3").Pages(trace.Options{From: 1}); len(o) != 1 || o[0].From != 0 {
		t.Errorf("a short run has the pages %+v", o)
	}
}
