package sim_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// TestExplain shows that the reasons of a run are with the events that they follow from,
// and change nothing else.
func TestExplain(t *testing.T) {
	c := sim.Config{Spec: mutex.RicartAgrawala(), Nodes: 3, Entries: 20, Latency: scenario.Always(scenario.T), Hold: scenario.Always(scenario.T)}
	record := func(explain bool) (events []trace.Event) {
		c.Observe = func(e trace.Event) { events = append(events, e) }
		if c.Explain = nil; explain {
			c.Explain = func(why []trace.Why) { events[len(events)-1].Why = why }
		}
		if _, err := sim.Run(c); err != nil {
			t.Fatal(err)
		}
		return events
	}
	with, without := record(true), record(false)
	if len(with) != len(without) {
		t.Fatalf("%d events with reasons, %d without", len(with), len(without))
	}
	for i, e := range with {
		decides := e.Kind == trace.Ask || e.Kind == trace.Exit || e.Kind == trace.Receive
		if decides != (len(e.Why) > 0) || without[i].Why != nil || e.Sentence() != without[i].Sentence() {
			t.Fatalf("event %d: %s Why: %v", i, e.Sentence(), e.Why)
		}
		for _, y := range e.Why {
			if y.Rule == "" || !strings.HasPrefix(y.Text, e.Proc.String()+" ") {
				t.Errorf("event %d at %v: %v", i, e.Proc, y)
			}
		}
	}
}
