package script

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

const graphHead = "processes 3\nresources R1 2 R2 1\n"

// A graph of resources is read, and written as it was.
func TestGraphRoundTrip(t *testing.T) {
	const text = "title Two of R1\nprocesses 3\nresources R1 2 R2 1\n\nP1 has R1 2\nP2 has R2\nP2 asks R1\nP3 asks R2\n\n" +
		"expect cycle P1 P2\nexpect no cycle\nexpect deadlock P1 P2\nexpect no deadlock\nexpect order P3 P1\nexpect order none\n"
	g, err := ParseGraph("g.stile", text)
	if err != nil {
		t.Fatal(err)
	}
	if got := FormatGraph(g); got != text {
		t.Errorf("got\n%swant\n%s", got, text)
	}
	want := []Arc{{0, true, 0, 2, 5}, {1, true, 1, 1, 6}, {1, false, 0, 1, 7}, {2, false, 1, 1, 8}}
	if g.Processes != 3 || !reflect.DeepEqual(g.Resources, []int{2, 1}) || !reflect.DeepEqual(g.Arcs, want) {
		t.Errorf("read %+v", g)
	}
}

// A line that declares resources, and nothing else, makes a file a graph. Each of the two
// parsers refuses the files of the other.
func TestIsGraph(t *testing.T) {
	const scenario = "algorithm central\nprocesses 2\n"
	for text, want := range map[string]bool{
		graphHead:                           true,
		"":                                  false,
		scenario + "# resources R1 1\n":     false,
		scenario + "title resources R1 1\n": false,
		scenario + "resources# R1 1\n":      false,
		"\ufeffresources R1 1\r\nprocesses 2\r\n": true,
		scenario + "\t resources\n":               true,
	} {
		if IsGraph(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
	if _, err := Parse("f", graphHead); err == nil || !strings.HasPrefix(err.Error(), "f:2:1:") {
		t.Errorf("Parse of a graph: %v", err)
	}
	if _, err := ParseGraph("f", scenario); err == nil || !strings.Contains(err.Error(), "resources") {
		t.Errorf("ParseGraph of a scenario: %v", err)
	}
}

// What makes no sense is refused where it is, with what would be right.
func TestBadGraphs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"resources R1 2\n", "f:2:1:"},
		{"processes 3\nresources\n", "f:2:10:"},
		{"processes 3\nresources R2 1\n", `f:2:11: found "R2"`},
		{"processes 3\nresources R1 0\n", `f:2:14: found "0"`},
		{"processes 3\nresources R1\n", "f:2:13:"},
		{"processes 101\nresources R1 1\n", "f:1:1:"},
		{graphHead + "resources R1 1\n", "f:3:1:"},
		{graphHead + "algorithm none\n", `f:3:1: found "algorithm"`},
		{graphHead + "at 1 P1 asks R1\n", `f:3:1: found "at"`},
		{graphHead + "site 1 P1\n", `f:3:1: found "site"`},
		{graphHead + "P1 holds R1\n", `f:3:4: found "holds"`},
		{graphHead + "P1 has L1\n", `f:3:8: found "L1"`},
		{graphHead + "P1 has r1\n", "capital"},
		{graphHead + "P1 has R3\n", "f:3:8:"},
		{graphHead + "P4 has R1\n", "f:3:1:"},
		{graphHead + "P1 has R1 x\n", `f:3:11: found "x"`},
		{graphHead + "P1 has R1 1 2\n", `f:3:13: found "2"`},
		{graphHead + "P1 has R2\nP2 has R2\n", "f:4:1:"},
		{graphHead + "P1 has R1\nP1 asks R1 2\n", "f:4:1:"},
		{graphHead + "p1 has R1\n", "capital"},
		{graphHead + "expec no cycle\n", "did you mean expect?"},
		{graphHead + "expect stuck P1\n", `f:3:8: found "stuck"`},
		{graphHead + "expect no false\n", `f:3:11: found "false"`},
		{graphHead + "expect deadlock\n", "f:3:16:"},
		{graphHead + "expect order P9\n", "there is no process P9"},
	} {
		_, err := ParseGraph("f", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// What could not be written down is refused in Go, too.
func TestBadGraphValues(t *testing.T) {
	good := Graph{Processes: 2, Resources: []int{1}, Arcs: []Arc{{Has: true, Units: 1}}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(g *Graph){
		"a title of two lines":   func(g *Graph) { g.Title = "a\nb" },
		"no processes":           func(g *Graph) { g.Processes = 0 },
		"no resources":           func(g *Graph) { g.Resources, g.Arcs = nil, nil },
		"an expectation of runs": func(g *Graph) { g.Expect = []Expectation{{Kind: Entries}} },
		"an unknown process":     func(g *Graph) { g.Expect = []Expectation{{Kind: Deadlocked, Procs: []algorithm.ID{7}}} },
		"no units":               func(g *Graph) { g.Arcs[0].Units = 0 },
		"no such resource":       func(g *Graph) { g.Arcs[0].Resource = 1 },
	} {
		g := good
		g.Arcs = append([]Arc(nil), good.Arcs...)
		if change(&g); g.Check() == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	lock := Scenario{Algorithm: "central", Processes: 2, Latency: Always(T), Hold: Always(T), Expect: []Expectation{{Kind: NoCycle}}}
	if lock.Check() == nil {
		t.Error("no cycle expected of a lock: want an error")
	}
}

// blankGraph forgets where things were in the file.
func blankGraph(g *Graph) *Graph {
	g.File = ""
	for i := range g.Arcs {
		g.Arcs[i].Line = 0
	}
	for i := range g.Expect {
		g.Expect[i].Line = 0
	}
	return g
}
