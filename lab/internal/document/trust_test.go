package document

import (
	"slices"
	"strings"
	"testing"
)

// beliefs returns who was told what of whom, in order.
func beliefs(d *Document) []string {
	var all []string
	for _, e := range d.Events {
		if e.Kind == "suspect" || e.Kind == "trust" {
			all = append(all, e.Text)
		}
	}
	return all
}

// Whoever is told that another is back knows it from then on: by a line, by a deed,
// and by a failure detector when somebody comes back.
func TestTrustIsAnEvent(t *testing.T) {
	const back = "P1 believes that P3 is back."
	text := "algorithm ricart-agrawala\nprocesses 3\nschedule steps\nP1 suspects P3\n"
	e, err := Act(text, Options{}, 1, UserAction{Verb: "trust", Proc: 0, To: 2})
	if err != nil || e.Event != 2 || e.Text != text+"P1 trusts P3\n" {
		t.Fatalf("%+v, %v", e, err)
	}
	d := Run(e.Text, Options{})
	x := d.Events[1]
	if x.Kind != "trust" || x.Proc != 0 || x.Peer != 2 || x.Line != e.Line || x.Text != back {
		t.Errorf("the event is %+v", x)
	}
	if n := len(d.Layout.Marks); n != 2 || d.Layout.Marks[1].Means != "trust" {
		t.Errorf("the marks are %+v", d.Layout.Marks)
	}
	for _, as := range []string{"json", "shiviz", "svg"} {
		out, err := ExportAs(e.Text, as, Options{})
		want := map[string]string{"json": `"kind":"trust"`, "shiviz": strings.TrimSuffix(back, "."), "svg": "trusts P3"}[as]
		if err != nil || !strings.Contains(out.Data, want) {
			t.Errorf("as %s there is no %s: %v", as, want, err)
		}
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"algorithm bully\nprocesses 3\nholder 3 busy\nat 0 crash P3\nat 5 restart P3\n",
			[]string{"P1 believes that P3 is dead.", "P2 believes that P3 is dead.", back, "P2 believes that P3 is back."}},
		{"algorithm bully\nprocesses 3\nschedule steps\ncrash P2\ncrash P3\nP1 suspects P3\nrestart P3\n", // it is told by lines who is dead
			[]string{"P1 believes that P3 is dead.", back}},
		{"algorithm bully\nprocesses 3\nholder 3 busy\nat 0 crash P2\nat 0 crash P3\nat 5 restart P3\n", // and by itself in time
			[]string{"P1 believes that P2 is dead.", "P1 believes that P3 is dead.", back, "P3 believes that P2 is dead."}},
		{"algorithm ricart-agrawala\nprocesses 3\nat 0 crash P3\nat 5 restart P3\n", nil}, // nobody is told
		{"algorithm ricart-agrawala+bully\nprocesses 3\nsection a among 1,3\nsection b among 1,2,3\nat 0 crash P3\nat 5 restart P3\n", // once, however many sections there are
			[]string{"P1 believes that P3 is dead.", "P2 believes that P3 is dead.", back, "P2 believes that P3 is back."}},
	} {
		if got := beliefs(Run(c.text, Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
