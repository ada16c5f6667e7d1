package document

import (
	"fmt"
	"strings"
	"testing"
)

// busy is a text in which a hundred processes ask again and again.
func busy(name string, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "algorithm %s\nprocesses 100\nhold 0.1\n", name)
	for i := range rounds {
		for p := range 100 {
			fmt.Fprintf(&b, "at %d P%d asks\n", i*400, p+1)
		}
	}
	return b.String()
}

// BenchmarkRun shows a hundred processes and about 50,000 events.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name   string
		rounds int
	}{{"ricart-agrawala", 1}, {"raymond", 50}, {"suzuki-kasami", 2}} {
		text := busy(c.name, c.rounds)
		b.Run(c.name, func(b *testing.B) {
			events, bytes := 0, 0
			for b.Loop() {
				d := Run(text, Options{})
				if d.Error != nil {
					b.Fatal(d.Error.Text)
				}
				events = len(d.Events)
				data, err := d.JSON()
				if err != nil {
					b.Fatal(err)
				}
				bytes = len(data)
			}
			b.ReportMetric(float64(events), "events")
			b.ReportMetric(float64(bytes)/1e6, "MB")
		})
	}
}

// FuzzRun: no text is too strange.
func FuzzRun(f *testing.F) {
	f.Add("algorithm raymond\nprocesses 3\nat 0 P2 asks\nat 1 drop 2 -> 1\n", 2)
	f.Add("algorithm none\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\n", 3)
	f.Add("algorithm lamport\nprocesses 3\nschedule steps\nP1 asks\ndeliver all\n", 1)
	f.Add("processes 2\nresources R1 1\nP1 has R1\nP2 asks R1\n", 0)
	f.Fuzz(func(t *testing.T, text string, event int) {
		if len(text) > 2000 {
			return
		}
		if sc, err := parse(text, Options{}); err == nil && sc.Processes+sc.Sites > 12 {
			return
		}
		if g, err := parseGraph(text, Options{}); err == nil && g.Processes > 12 {
			return
		}
		d := run(text, Options{}, undrawn)
		if d.Error != nil {
			return
		}
		if len(d.Events) > MaxEvents {
			t.Fatalf("%d events", len(d.Events))
		}
		if message := frames(d); message != "" && len(d.Events) < 2000 {
			t.Fatal(message)
		}
		if e, err := Act(text, Options{}, event, UserAction{Verb: "ask"}); err == nil {
			if next := run(e.Text, Options{}, undrawn); next.Error != nil {
				t.Fatalf("%s in\n%s", next.Error.Text, e.Text)
			}
		}
	})
}
