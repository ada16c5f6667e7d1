package trace_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/trace"
)

// TestWhy shows the reasons of events, on lines that fit, and only if they are wanted.
func TestWhy(t *testing.T) {
	tr := &trace.Trace{N: 2, Unit: 1, Events: []trace.Event{
		{Step: 0, Kind: trace.Ask, Proc: 0, Why: []trace.Why{{Rule: "1", Text: "P1 asks all others, with the stamp (1,P1)"}}},
		{Step: 1, At: 1, Kind: trace.Enter, Proc: 0},
		{Step: 2, At: 2, Kind: trace.Suspect, Proc: 1, Peer: 0, Why: []trace.Why{{Rule: "2a", Text: strings.Repeat("P2 thinks and ", 20)}, {Rule: "2b", Text: "P2\nwaits\x1b"}}},
	}}
	data, err := tr.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := trace.ReadJSON(data); err != nil || !reflect.DeepEqual(back.Events, tr.Events) {
		t.Errorf("after JSON: %v, %+v", err, back)
	}
	for name, write := range map[string]func(o trace.TextOptions) string{"Text": tr.Text, "Story": tr.Story, "Tale": tr.Tale} {
		with, without := write(trace.TextOptions{Why: true}), write(trace.TextOptions{})
		for _, rule := range []string{"1: P1 asks", "2a: P2 thinks", "2b: P2"} {
			if !strings.Contains(with, rule) || strings.Contains(without, rule) {
				t.Errorf("%s: %q:\n%s\n%s", name, rule, with, without)
			}
		}
		for line := range strings.Lines(with) {
			if len([]rune(line)) > 81 || strings.Contains(line, "\x1b") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}
