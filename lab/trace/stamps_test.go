package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

// Every stamp of a small run is beside or upon at least one arrow: stamps decide which
// request goes first.
func TestEveryStampIsShown(t *testing.T) {
	for _, n := range []int{3, 5, 6} {
		tr := simulate(t, config(t, "ricart-agrawala", n, n, "1", 1))
		l := layout(t, tr, trace.Options{})
		if len(l.Arrows) > 150 {
			t.Fatalf("%d processes send %d messages, which have no stamps", n, len(l.Arrows))
		}
		var shown []string
		for _, a := range l.Arrows {
			if a.Label != nil {
				if _, stamp, ok := strings.Cut(a.Label.Text, "("); ok {
					shown = append(shown, "("+stamp)
				}
			}
		}
		for _, e := range tr.Events {
			for _, f := range e.Fields {
				stamp := "(" + f.Value + "," + e.Proc.String() + ")"
				if e.Kind == trace.Send && e.Name == "REQUEST" && f.Name == "time" && !slices.Contains(shown, stamp) {
					t.Errorf("%d processes: no arrow shows the stamp %s", n, stamp)
				}
			}
		}
	}
}

// Several remarks are numbered above the lanes and listed in full below; a single one is not.
func TestRemarksListed(t *testing.T) {
	for n := 1; n <= 3; n++ {
		tr := trace.Trace{N: 2, Unit: 1}
		for i := range n {
			tr.Events = append(tr.Events, trace.Event{Step: i, At: int64(i), Kind: trace.Note, Proc: algorithm.None, Name: strings.Repeat("long words ", 30) + fmt.Sprint("remark ", i)})
		}
		l := layout(t, &tr, trace.Options{})
		footer := ""
		for _, line := range l.Footer {
			footer += line.Text + "\n"
		}
		for i := range n {
			if got := strings.Contains(footer, fmt.Sprint("remark ", i)) && strings.Contains(footer, fmt.Sprintf("[%d] ", i+1)); got != (n > 1) {
				t.Errorf("%d remarks: the footer lists remark %d: %v\n%s", n, i, got, footer)
			}
		}
	}
}
