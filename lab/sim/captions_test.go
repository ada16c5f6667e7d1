package sim_test

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Captions come at their moments, and are remarks in a trace that is shown.
func TestCaptions(t *testing.T) {
	const text = `algorithm ricart-agrawala
processes 2
say "start"
at 0 P1 asks
at 1 say "asked"
when P1 enters say "inside"
when P2 enters say "never"
at 90 say "end"
`
	sc, err := scenario.Parse("a.stile", text)
	if err != nil {
		t.Fatal(err)
	}
	back, err := sim.Replay(mutex.RicartAgrawala(), sc, sim.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"start", "asked", "inside", "end"}
	if len(back.Captions) != len(want) {
		t.Fatalf("captions %+v, want %q", back.Captions, want)
	}
	for i, c := range back.Captions {
		if c.Text != want[i] {
			t.Errorf("caption %d is %q, want %q", i, c.Text, want[i])
		}
	}
	if first, last := back.Captions[0].After, back.Captions[3].After; first != 0 || last != len(back.Events) {
		t.Errorf("the first caption comes after %d events and the last after %d, want 0 and %d", first, last, len(back.Events))
	}
	for _, e := range back.Events[:back.Captions[1].After] {
		if e.At > scenario.T {
			t.Errorf("%v at %d is before a caption at %d", e.Kind, e.At, scenario.T)
		}
	}
	shown, notes := back.Captioned(), 0
	for i, e := range shown.Events {
		if e.Kind == trace.Note {
			notes++
		}
		if e.Step != i {
			t.Errorf("event %d has the step %d", i, e.Step)
		}
	}
	if notes != len(want) || len(shown.Events) != len(back.Events)+notes {
		t.Errorf("%d remarks among %d events, want %d among %d", notes, len(shown.Events), len(want), len(back.Events)+len(want))
	}
}
