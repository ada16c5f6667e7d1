package trace

import (
	"reflect"
	"strings"
	"testing"
)

func TestSVGCallsLanesByTheirNames(t *testing.T) {
	tr := Trace{N: 2, Names: []string{"", "the <account>"}, Events: []Event{{Kind: Note, Name: "x"}}}
	svg := tr.SVG(Options{})
	for _, want := range []string{">P1<", ">the &lt;account&gt;<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in the picture:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, ">P2<") {
		t.Error("P2 has a name, but the picture calls it P2")
	}
}

// transaction is a run of one process at one of two sites.
func transaction() *Trace {
	return &Trace{
		N: 3, Names: []string{"site 1", "site 2", "P1"}, Waiting: "waits for a lock", Inside: "has its locks", Unit: 10, Called: "ms",
		Events: []Event{
			{Step: 0, At: 0, Kind: Ask, Proc: 2, Name: "L1"},
			{Step: 1, At: 0, Kind: Send, Proc: 0, Peer: 1, Msg: 1, Name: "REQUEST"},
			{Step: 2, At: 10, Kind: Receive, Proc: 1, Peer: 0, Msg: 1, Name: "REQUEST"},
			{Step: 3, At: 20, Kind: Enter, Proc: 2, Name: "L1"},
			{Step: 4, At: 30, Kind: Exit, Proc: 2},
			{Step: 5, At: 30, Kind: Ask, Proc: 2, Name: "L2"},
			{Step: 6, At: 50, Kind: Deny, Proc: 2, Name: "aborts"},
		},
	}
}

// Tips and logs call lanes by their names too, and what transactions do is
// told as such.
func TestLanesAreCalledByTheirNames(t *testing.T) {
	tr := transaction()
	svg, log := tr.SVG(Options{}), tr.ShiViz()
	for _, want := range []string{
		"site 1 sends REQUEST to site 2.", "P1 asks for L1.", "P1 holds L1 from 2 to 3", "P1 waits for L2 from 3 to 5", ">aborts</text>",
		">waits for a lock</text>", ">has its locks</text>", ">time (ms)</text>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture:\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "P3") || strings.Contains(svg, ">CS<") {
		t.Errorf("the third lane is P1, and transactions have no critical section:\n%s", svg)
	}
	if want := "site-2 {\"site-1\":1,\"site-2\":1}\nsite 2 receives REQUEST from site 1\n"; !strings.Contains(log, want) {
		t.Errorf("no %q in the log:\n%s", want, log)
	}
}

// A unit of time is called T unless it has a name.
func TestUnitIsCalled(t *testing.T) {
	tr := transaction()
	for called, want := range map[string]string{"ms": "all of 5 ms", "": "all of 5 T"} {
		tr.Called = called
		if l, err := tr.Layout(Options{}); err != nil || !strings.HasPrefix(l.Window.Part, want+";") {
			t.Errorf("called %q the picture shows %q, want %s: %v", called, l.Window.Part, want, err)
		}
	}
}

func TestNamesAreInJSON(t *testing.T) {
	tr := transaction()
	data, err := tr.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Kinds = []string{}; !reflect.DeepEqual(tr, again) {
		t.Errorf("wrote %+v, read %+v", tr, again)
	}
}

// The legend lists what is in the picture, and nothing else.
func TestLegend(t *testing.T) {
	legend := func(events []Event, o Options) string {
		tr := Trace{N: 2, Kinds: []string{"ELECTION", "TOKEN"}, Events: events}
		_, after, _ := strings.Cut(tr.SVG(o), ">step</text>")
		return after
	}
	for _, c := range []struct {
		events []Event
		o      Options
		in     []string
	}{
		{[]Event{{Kind: Send, Peer: 1, Msg: 1, Name: "ELECTION"}}, Options{}, []string{"ELECTION"}},
		{[]Event{{Kind: Send, Peer: 1, Msg: 1, Name: "TOKEN"}, {Step: 1, Kind: Drop, Peer: 1, Msg: 1, Name: "TOKEN"}}, Options{}, []string{"TOKEN", "lost"}},
		{[]Event{{Kind: Ask}, {Step: 1, At: 1, Kind: Deny}}, Options{}, []string{"waiting"}},
		{[]Event{{Kind: Ask}, {Step: 1, At: 2, Kind: Enter}, {Step: 2, At: 3, Kind: Exit}}, Options{}, []string{"waiting", "critical section"}},
		{[]Event{{Kind: Ask}, {Step: 1, At: 2, Kind: Enter}, {Step: 2, At: 30, Kind: Exit}, {Step: 3, At: 40, Kind: Send, Peer: 1, Msg: 1, Name: "TOKEN"}}, Options{From: 20, To: 25}, []string{"critical section"}},
	} {
		got := legend(c.events, c.o)
		for _, word := range []string{"ELECTION", "TOKEN", "lost", "waiting", "critical section"} {
			has, want := strings.Contains(got, ">"+word+"</text>"), false
			for _, w := range c.in {
				want = want || w == word
			}
			if has != want {
				t.Errorf("%v: %q is in the legend: %v, want %v\n%s", c.events, word, has, want, got)
			}
		}
	}
}

// A title that is longer than the picture is wide goes on in another line.
func TestLongTitle(t *testing.T) {
	tr := Trace{N: 1, Title: strings.TrimSpace(strings.Repeat("a long title ", 20)), Events: []Event{{Kind: Note, Name: "x"}}}
	long := tr.layout(Options{})
	var words []string
	for _, line := range long.Title {
		words = append(words, line.Text)
		if length(len(line.Text))*9*pixel > long.Page.Width {
			t.Errorf("%q is longer than the picture is wide", line.Text)
		}
	}
	if len(words) < 3 || strings.Join(words, " ") != tr.Title {
		t.Errorf("%q is written as %q", tr.Title, words)
	}
	tr.Title = "short"
	if short := tr.layout(Options{}); short.Page.Height != long.Page.Height-length(len(words)-1)*titleHigh*pixel {
		t.Errorf("a title of %d lines makes the picture %v high, one of 1 line %v", len(words), long.Page.Height, short.Page.Height)
	}
}
