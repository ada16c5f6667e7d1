package document

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// graphs calls f with the worked examples that are graphs of resources.
func graphs(t *testing.T, f func(t *testing.T, text string, g *scenario.Graph)) {
	t.Helper()
	seen := 0
	files(t, func(t *testing.T, name, text string) {
		if !scenario.IsGraph(text) {
			return
		}
		g, err := scenario.ParseGraph(name, text)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		f(t, text, g)
	})
	if seen < 4 {
		t.Errorf("only %d graphs", seen)
	}
}

// untold says what a document leaves out of what is found out about a graph.
func untold(d *Document, v *sim.Verdict) []string {
	var wrong []string
	if len(d.Events) != len(v.Steps)+1 || d.Ended != len(v.Steps) {
		return append(wrong, "not every step is an event")
	}
	for i, s := range v.Steps {
		if e := d.Events[i]; e.Proc != int(s.Tx) || e.Text != s.String()+"." {
			wrong = append(wrong, "step "+itoa(i+1)+" is "+e.Text)
		}
	}
	end := d.at(len(d.Events))
	for p := range d.Names {
		stuck := slices.ContainsFunc(namesOf(v.Deadlocked), func(s string) bool { return s == d.Names[p] })
		if stuck != (end.Status[p] == Waiting && end.Waits[p] != "") || stuck == (end.Status[p] == Ended) {
			wrong = append(wrong, d.Names[p]+" is "+end.Status[p]+" in the end")
		}
	}
	if broken := len(v.Deadlocked) > 0; broken != (len(d.Violations) == 1) || broken == d.Properties[0].Holds {
		wrong = append(wrong, "whether there is a deadlock")
	}
	if rings := d.Graph[0].Cycles; len(rings) != len(v.Cycles) {
		wrong = append(wrong, "the cycles")
	}
	return wrong
}

// TestGraphsAreTold: the steps of a reduction are events, with what everybody has,
// asks for and waits for at each of them; a document that leaves some out is found.
func TestGraphsAreTold(t *testing.T) {
	graphs(t, func(t *testing.T, text string, g *scenario.Graph) {
		v, err := sim.Reduce(g)
		if err != nil {
			t.Fatal(err)
		}
		d := Run(text, Options{})
		for _, wrong := range untold(d, v) {
			t.Error(wrong)
		}
		d.Deltas = nil
		if len(v.Steps) > 0 && len(untold(d, v)) == 0 {
			t.Error("a document in which nobody ever ends passes")
		}
	})
}

// TestWhyInGraph: the sentence says what is asked for, and who has it.
func TestWhyInGraph(t *testing.T) {
	d := Run("processes 3\nresources R1 3\nP1 has R1 2\nP2 has R1\nP3 asks R1 2\n", Options{})
	if got, want := d.Keys[0].Waits[2], "waits for 2 R1: 0 of 3 free, P1 holds 2 and P2 holds 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	two := Run("processes 3\nresources R1 1 R2 3\nP1 has R1\nP2 has R2 3\nP3 asks R1\nP3 asks R2\n", Options{})
	if got, want := two.Keys[0].Waits[2], "waits for 1 R1: 0 of 1 free, P1 holds 1; and for 1 R2: 0 of 3 free, P2 holds 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := d.at(1).Status; !slices.Equal(got, []string{Ended, Idle, Idle}) {
		t.Errorf("when P1 has ended they are %q", got)
	}
}

// TestGraphDeeds: a random walk of deeds changes one unit each, keeps the rest of
// the text, and never leads to a text that cannot be read.
func TestGraphDeeds(t *testing.T) {
	graphs(t, func(t *testing.T, text string, g *scenario.Graph) {
		r := rand.New(rand.NewPCG(1, 2))
		done := 0
		for range 300 {
			d := UserAction{Verb: graphVerbs()[r.IntN(len(graphVerbs()))], Proc: r.IntN(g.Processes), Locks: []int{r.IntN(len(g.Resources))}}
			e, err := Act(text, Options{}, 0, d)
			if err != nil {
				continue
			}
			before, after := holdingsIn(t, text), holdingsIn(t, e.Text)
			p, k := d.Proc, d.Locks[0]
			switch d.Verb {
			case "ask":
				before.want[p][k]++
			case "withdraw":
				before.want[p][k]--
			case "grant":
				before.want[p][k] = max(0, before.want[p][k]-1)
				before.have[p][k]++
			case "release":
				before.have[p][k]--
			}
			if !sameHoldings(before, after) {
				t.Fatalf("%v of\n%s\nis\n%s", d, text, e.Text)
			}
			if e.Line > 0 && !strings.HasPrefix(strings.Split(e.Text, "\n")[e.Line-1], "P"+itoa(p+1)) {
				t.Fatalf("%v: line %d is new in\n%s", d, e.Line, e.Text)
			}
			text = e.Text
			done++
		}
		if done < 50 {
			t.Errorf("only %d deeds were possible", done)
		}
	})
}

func holdingsIn(t *testing.T, text string) *holdings {
	t.Helper()
	g, err := scenario.ParseGraph("", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return holdingsOf(g)
}

func sameHoldings(a, b *holdings) bool {
	return slices.EqualFunc(a.have, b.have, slices.Equal[[]int]) && slices.EqualFunc(a.want, b.want, slices.Equal[[]int])
}

// TestGraphAnyOrder: who is given one unit of two that it asks for still asks for the
// other, and the document says of all orders of the lines what a replay does.
func TestGraphAnyOrder(t *testing.T) {
	e, err := Act("processes 2\nresources R1 2\n\nP1 asks R1 2\nP2 has R1\nP2 asks R1\n", Options{}, 0, UserAction{Verb: "grant", Locks: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(e.Text, "\n\n")
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		text := head + "\n" + strings.Join(lines, "\n") + "\n"
		g, err := scenario.ParseGraph("", text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := sim.Reduce(g)
		if err != nil {
			t.Fatal(err)
		}
		d := Run(text, Options{})
		wrong := untold(d, v)
		if len(wrong) > 0 || d.Properties[0].Holds || len(v.Deadlocked) != 2 || len(d.Graph[0].Edges) != len(v.Graph.WaitFor().Edges()) {
			t.Fatalf("%v, %v are deadlocked, %+v in\n%s", wrong, v.Deadlocked, d.Properties[0], text)
		}
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
}

// TestGraphDeedsRefused: what cannot be is refused in words.
func TestGraphDeedsRefused(t *testing.T) {
	text := "processes 2\nresources R1 1\n\nP1 has R1 # the only one\nP2 asks R1\n"
	for _, c := range []struct {
		deed UserAction
		want string
	}{
		{UserAction{Verb: "grant", Proc: 1, Locks: []int{0}}, "0 are free"},
		{UserAction{Verb: "ask", Proc: 1, Locks: []int{0}}, "could never get 2"},
		{UserAction{Verb: "release", Proc: 1, Locks: []int{0}}, "P2 does not hold R1"},
		{UserAction{Verb: "withdraw", Proc: 0, Locks: []int{0}}, "P1 does not ask for R1"},
		{UserAction{Verb: "crash", Proc: 0}, "unknown verb"},
		{UserAction{Verb: "ask", Proc: 7, Locks: []int{0}}, "want a process"},
		{UserAction{Verb: "ask", Proc: 0, Locks: []int{4}}, "one resource"},
	} {
		if _, err := Act(text, Options{}, 0, c.deed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.deed, err, c.want)
		}
	}
	e, err := Act(text, Options{}, 0, UserAction{Verb: "release", Proc: 0, Locks: []int{0}})
	if err != nil || e.Text != "processes 2\nresources R1 1\n\nP2 asks R1\n" {
		t.Errorf("%v: %+v", err, e)
	}
	e, err = Act("processes 2\nresources R1 3\nP1 has R1 # some\n", Options{}, 0, UserAction{Verb: "grant", Proc: 0, Locks: []int{0}})
	if err != nil || e.Text != "processes 2\nresources R1 3\nP1 has R1 2 # some\n" || e.Line != 3 {
		t.Errorf("%v: %+v", err, e)
	}
}
