package sim

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/scenario"
)

const rag = "processes 3\nresources R1 1 R2 2\nP3 has R1\nP1 has R2\nP2 has R2\nP1 asks R1\nP3 asks R2\n"

// TestReduce: what is expected of a graph is compared with what is so.
func TestReduce(t *testing.T) {
	for _, c := range []struct{ expect, got string }{
		{"cycle P1 P3", ""},
		{"cycle P3 P1", ""},
		{"cycle P1 P2", "P1->P3->P1"},
		{"no cycle", "P1->P3->P1"},
		{"no deadlock", ""},
		{"deadlock P1 P3", "no deadlock"},
		{"order P2 P3 P1", ""},
		{"order P2 P1 P3", "order P2 P3 P1"},
		{"order none", "order P2 P3 P1"},
	} {
		g, err := scenario.ParseGraph("g.stile", rag+"expect "+c.expect)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Reduce(g)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range v.Differences {
			got += d.Got
			if d.Line != 8 || d.Want != c.expect {
				t.Errorf("expect %s: %v", c.expect, d)
			}
		}
		if got != c.got {
			t.Errorf("expect %s: got %q, want %q", c.expect, got, c.got)
		}
	}
	stuck, err := scenario.ParseGraph("", strings.Replace(rag, "P2 has R2", "P2 has R2\nP2 asks R1", 1)+"expect deadlock P3 P1 P2\nexpect order none")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Reduce(stuck); err != nil || len(v.Differences) > 0 || len(v.Deadlocked) != 3 {
		t.Errorf("%v, %+v", err, v)
	}
}

// TestReduceRefuses: what is not a graph is not reduced.
func TestReduceRefuses(t *testing.T) {
	if _, err := Reduce(&scenario.Graph{File: "g.stile", Processes: 2, Resources: []int{0}}); err == nil || !strings.HasPrefix(err.Error(), "g.stile: ") {
		t.Errorf("no units: %v", err)
	}
}
