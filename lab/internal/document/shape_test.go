package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// TestShapes: every algorithm has a picture on purpose, and the fields that it
// speaks of are there.
func TestShapes(t *testing.T) {
	every(func(name string, spec algorithm.Spec) {
		for _, wrong := range misshapen(t, name, spec) {
			t.Error(wrong)
		}
	})
	bad := mutex.Raymond(mutex.Star)
	bad.Shape.Pointer = "howlder"
	if len(misshapen(t, "raymond", bad)) != 1 {
		t.Error("a field that is not there passes")
	}
	bad.Shape = algorithm.Shape{}
	if len(misshapen(t, "raymond", bad)) != 1 {
		t.Error("an algorithm without a picture passes")
	}
}

// TestRingsLeadOn: where messages go round they go along the arrows, as long as nobody is
// dead.
func TestRingsLeadOn(t *testing.T) {
	for _, name := range []string{"token-ring", "token-ring-lazy", "dijkstra", "ring-election", "chang-roberts", "chang-roberts\ntopology down"} {
		d := Run(bare(name, false)+"at 0 P1 asks\nat 0.1 P2 asks\n", Options{})
		sent := 0
		for _, e := range d.Events {
			if e.Kind != "send" {
				continue
			}
			if sent++; !slices.Contains(d.Scene.Links, Link{e.Proc, e.Peer}) {
				t.Fatalf("%s: %s, and no arrow leads there", name, e.Text)
			}
		}
		if sent < 3 {
			t.Errorf("%s: %d messages are sent, %v", name, sent, d.Error)
		}
	}
}

// misshapen says what is wrong with the shape of an algorithm.
func misshapen(t *testing.T, name string, spec algorithm.Spec) []string {
	t.Helper()
	var wrong []string
	if spec.Shape.Picture == algorithm.Unshaped || spec.Shape.Title == "" {
		wrong = append(wrong, name+" has no picture, or no title for it")
	}
	seen := map[string]bool{}
	text := bare(name, false) + "hold 3\nat 0 P1 asks\nat 0.1 P2 asks\nat 0.2 P3 asks\n"
	if spec.Shape.Picture == algorithm.AtSites || len(spec.Shape.Fields()) == 0 {
		return wrong
	}
	sc, err := scenario.Parse("", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Replay(spec, sc, sim.ReplayOptions{Watch: func(s *sim.Step) bool {
		for _, c := range s.Changes {
			for _, f := range apart(slices.Clone(c.Fields)) {
				seen[f.Name] = true
			}
		}
		return true
	}}); err != nil {
		t.Fatal(name, err)
	}
	for _, field := range spec.Shape.Fields() {
		if !seen[field] {
			wrong = append(wrong, name+" has no field "+field)
		}
	}
	for _, kind := range []string{spec.Shape.Answer, spec.Shape.Carrier} {
		if kind != "" && !slices.Contains(spec.Kinds, kind) {
			wrong = append(wrong, name+" has no message "+kind)
		}
	}
	return wrong
}

// TestWhy: the sentences say whom a process waits for.
func TestWhy(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"algorithm ricart-agrawala\nprocesses 3\nhold 9\nat 0 P3 asks\nat 4 P1 asks\n", "waits for OK from P3; P3 defers P1, because it is inside"},
		{"algorithm raymond\ntopology 1-2,1-3\nprocesses 3\nholder 3 busy\nhold 9\nat 1 P2 asks\n", "waits for the token: it asked P1; P1 asked P3, which is inside"},
		{"algorithm maekawa\nprocesses 4\nhold 9\nat 0 P4 asks\nat 4 P1 asks\n", "P2 and P3 have voted for P4, which is inside"},
		{"algorithm central\nprocesses 3\nhold 9\nat 0 P3 asks\nat 4 P2 asks\n", "waits for GRANT from P1; P2 is number 1 in the queue at P1; P1 queues P2, because it has granted P3"},
		{"algorithm suzuki-kasami\nprocesses 3\nhold 9\nat 0 P1 asks\nat 4 P2 asks\n", "waits for the token, held by P1: P1 is inside"},
		{"algorithm token-ring\nprocesses 3\nhold 9\nat 0 P1 asks\nat 0.5 P2 asks\nuntil 12\n", "waits for the token, held by P1: P1 is inside"},
		{"algorithm naimi-trehel\nprocesses 3\nhold 9\nat 0 P1 asks\nat 1 P2 asks\n", "waits for the token; P1 will pass the token to P2 when it leaves"},
		{"algorithm bully\nprocesses 5\nat 0 crash P5\nat 0 crash P4\nat 1 P3 asks\n", "waits for an answer from P4, which has crashed, and P5, which has crashed"},
		{"algorithm bully\nprocesses 4\nat 0 crash P4\nat 1 P1 asks\n", "got an answer, and waits until P3 announces that it has won"},
		{"algorithm ring-election\nprocesses 3\nat 1 P1 asks\n", "takes part, and waits for the result"},
		{"algorithm ricart-agrawala\nprocesses 3\nsection printer among 2,3\nsection disk among 1,3\nhold 9\nat 0 P3 asks printer\nat 3 P2 asks printer\n", "printer: waits for OK from P3, which is inside"},
		{"algorithm lamport\nprocesses 3\nat 0 P1 asks\nat 0.1 P2 asks\n", "waits for RELEASE from P1, and RELEASE is in flight; P2 waits for P1, because (1,P1) comes before (1,P2)"},
		{"algorithm lamport\nprocesses 3\nhold 9\nsection a among 2,3\nsection b among 1,2\nat 0 P2 asks a\nat 0.1 P3 asks a\n", "a: waits for RELEASE from P2, which is inside; P3 waits for P2, because (1,P2) comes before (1,P3)"},
		{"algorithm dijkstra\nprocesses 4\nuntil 9\nat 0 P3 asks\nat 0.2 P1 asks\n", "waits for FLAG from P4; P3 is inside; P1 is not privileged: its flag 1 differs from that of P4"},
		{"algorithm dijkstra\nprocesses 4\nuntil 9\nat 0 P3 asks\n", "waits for FLAG from P2; FLAG is in flight from P2 to P3; P3 is not privileged: its flag 0 equals that of P2"},
		{"algorithm suzuki-kasami\nprocesses 3\nhold 9\nat 0 P1 asks\nat 4 P2 asks\n", "held by P1: P1 is inside; REQUEST is in flight from P2 to P1"},
		{"algorithm bakery+bully\nprocesses 3\nat 0 P3 asks\nat 0.1 crash P2\n", "waits for the next view"},
		{"algorithm none\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\n", "P2 waits for P1: a deadlock"},
	} {
		d := run(c.text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		var all []string
		for _, x := range d.Deltas {
			if x.Wait != nil {
				all = append(all, *x.Wait)
			}
		}
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%swant %q, got %q", c.text, c.want, all)
		}
	}
}

// TestBadges: what breaks an assumption is allowed, and said.
func TestBadges(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"algorithm raymond\nprocesses 2\nat 0 P2 asks\nat 0.5 drop 2 -> 1\n", "a message is lost"},
		{"algorithm lamport\nprocesses 2\nnetwork unordered\n", "the network is unordered"},
		{"algorithm central\nprocesses 2\nat 1 crash P2\n", "a process crashes"},
	} {
		if d := run(c.text, Options{}, undrawn); len(d.Badges) != 1 || !strings.Contains(d.Badges[0], c.want) {
			t.Errorf("%s: got %q, want %q", c.text, d.Badges, c.want)
		}
	}
	if d := run("algorithm raymond\nprocesses 2\nat 0 P2 asks\n", Options{}, undrawn); len(d.Badges) != 0 {
		t.Errorf("got %q, want none", d.Badges)
	}
}

// TestLeaveKeepsThePast: a stay ended by hand does not prolong earlier ones.
func TestLeaveKeepsThePast(t *testing.T) {
	const text = "algorithm central\nprocesses 2\nhold 3\nat 0 P2 asks\nat 9 P2 asks\n"
	d := run(text, Options{}, undrawn)
	inside := 0
	for i, e := range d.Events {
		if e.Kind == "enter" {
			inside = i + 1
		}
	}
	e, err := Act(text, Options{}, inside, UserAction{Verb: "leave", Proc: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(e.Text, "at 11.1 P2 leaves now\n") {
		t.Errorf("got\n%s", e.Text)
	}
}

// TestSentences: whoever waits has a sentence, and it is one.
func TestSentences(t *testing.T) {
	every(func(name string, spec algorithm.Spec) {
		text := bare(name, false) + "hold 2\n"
		if spec.Shape.Picture == algorithm.AtSites {
			text += "at 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\nat 0.3 P3 takes L1\n"
		} else {
			text += "at 0 P1 asks\nat 0.1 P2 asks\nat 2.2 P3 asks\nat 6 P1 pauses\n"
		}
		d := run(text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(name, d.Error.Text)
		}
		said := 0
		for _, x := range d.Deltas {
			if x.Wait == nil || *x.Wait == "" {
				continue
			}
			said++
			for _, odd := range []string{",,", " ,", "  ", "P0", "from ;", "none", "%"} {
				if strings.Contains(*x.Wait, odd) {
					t.Errorf("%s: %q", name, *x.Wait)
				}
			}
		}
		last := d.at(len(d.Events))
		for i, is := range last.Status {
			if is == Waiting && last.Waits[i] == "" {
				t.Errorf("%s: %s waits, and nothing says why", name, d.Names[i])
			}
		}
		if said == 0 {
			t.Errorf("%s: nobody waits", name)
		}
	})
}

// TestNextMessage: what happens to the next message of a link comes of the line
// that wanted it.
func TestNextMessage(t *testing.T) {
	d := run("algorithm raymond\nprocesses 2\nat 0 drop 2 -> 1\nat 1 P2 asks\n", Options{}, undrawn)
	for i, e := range d.Events {
		if e.Kind == "drop" && (e.Line != 3 || d.Lines[0] != LineEvents{3, i, i + 1}) {
			t.Errorf("%+v, %+v", e, d.Lines)
		}
	}
	if !slices.ContainsFunc(d.Events, func(e Event) bool { return e.Kind == "drop" }) {
		t.Error("nothing is lost")
	}
}

// TestOver: a run that takes too long is refused. What is shown of it does not depend on time.
func TestOver(t *testing.T) {
	asked := 0
	o := Options{Over: func() bool { asked++; return asked > 500 }}
	for _, text := range []string{
		"algorithm token-ring\nprocesses 3\nat 0 P1 asks\nat 99999 P1 asks\n",
		"algorithm token-ring\nprocesses 3\nschedule steps\ndeliver all\n",
	} {
		asked = 0
		d := run(text, o, undrawn)
		if d.Error == nil || !strings.Contains(d.Error.Text, "takes too long") || asked > 510 {
			t.Errorf("%v, %d events; it was asked %d times", d.Error, len(d.Events), asked)
		}
		asked = 0
		if _, err := Act(text, o, 1_000_000, UserAction{Verb: "ask", Proc: 2}); err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("got %v", err)
		}
	}
}
