package document

import (
	"slices"
	"strings"
	"testing"
)

// middle begins while P1 is inside, P2 waits, and its request is in flight.
const middle = `algorithm ricart-agrawala
processes 3
schedule steps
begin P1 inside
set P1 state HELD
set P1 given none
set P1 clock 4
begin P2 waits
set P2 state WANTED
set P2 clock 5
set P2 asked 5
set P2 missing 1
begin 2 -> 1 REQUEST 0005

deliver 2 -> 1 REQUEST
`

// The lab shows a run that begins in the middle, and its user can change it.
func TestBeginInTheMiddle(t *testing.T) {
	d := Run(middle, Options{})
	if d.Error != nil {
		t.Fatal(d.Error)
	}
	first := d.Keys[0]
	if len(d.Events) < 4 || len(d.Violations) > 0 || first.Event != 0 {
		t.Fatalf("%d events, violations %v", len(d.Events), d.Violations)
	}
	last := len(d.Events)
	e, err := Act(middle, Options{}, last, UserAction{Verb: "leave", Proc: 0})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(strings.TrimSpace(e.Text), "P1 leaves") {
		t.Errorf("the text is\n%s", e.Text)
	}
	if d := Run(e.Text, Options{}); d.Error != nil || !slices.ContainsFunc(d.Events, func(e Event) bool { return e.Kind == "exit" && e.Proc == 0 }) {
		t.Errorf("%+v", d.Error)
	}
	// A message that was in flight can be lost.
	at := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == "send" })
	if e, err = Act(strings.Replace(middle, "deliver 2 -> 1 REQUEST\n", "", 1), Options{}, 3, UserAction{Verb: "drop", Msg: d.Events[at].Msg}); err != nil || !strings.Contains(e.Text, "drop 2 -> 1") {
		t.Errorf("%+v, %v", e, err)
	}
	for _, as := range []string{"svg", "json", "shiviz", "scenario"} {
		if _, err := ExportAs(middle, as, Options{}); err != nil {
			t.Errorf("%s: %v", as, err)
		}
	}
}
