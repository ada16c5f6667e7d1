package sim

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
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
		sc, err := scenario.Parse("g.stile", rag+"expect "+c.expect)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Reduce(sc)
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
	stuck, err := scenario.Parse("", strings.Replace(rag, "P2 has R2", "P2 has R2\nP2 asks R1", 1)+"expect deadlock P3 P1 P2\nexpect order none")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Reduce(stuck); err != nil || len(v.Differences) > 0 || len(v.Deadlocked) != 3 {
		t.Errorf("%v, %+v", err, v)
	}
}

// TestReduceRefuses: what is no graph is not reduced, and a graph is not run.
func TestReduceRefuses(t *testing.T) {
	if _, err := Reduce(&scenario.Scenario{Algorithm: "central", Processes: 2}); err == nil {
		t.Error("a lock: want an error")
	}
	if _, err := Reduce(&scenario.Scenario{Processes: 2, Resources: []int{0}}); err == nil {
		t.Error("no units: want an error")
	}
	sc, err := scenario.Parse("g.stile", rag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(algorithm.Spec{}, sc, ReplayOptions{}); err == nil || !strings.Contains(err.Error(), "graph of resources") {
		t.Errorf("a run: %v", err)
	}
}
