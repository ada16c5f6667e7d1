package scenarios_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// reduced reduces a graph of resources, which must come out as it expects.
func reduced(t *testing.T, g *scenario.Graph) *sim.Verdict {
	t.Helper()
	v, err := sim.Reduce(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Differences {
		t.Errorf("%s: %v", g.File, d)
	}
	v.Differences = nil
	return v
}

// Every graph of resources comes out as it expects, and so does its canonical form. Its
// text and its picture are those that were read and looked at before.
func TestGraphs(t *testing.T) {
	_, graphs := read(t)
	for _, g := range graphs {
		name := strings.TrimSuffix(g.File, ".stile")
		if !strings.HasPrefix(name, "graph-") || g.Title == "" {
			t.Errorf("%s: want a name that begins with graph-, and a title", g.File)
		}
		v := reduced(t, g)
		golden(t, name+".txt", g.Title+"\n\n"+draw.AllocationText(v.Graph))
		golden(t, name+".svg", draw.Allocation(v.Graph, g.Title))
		again, err := scenario.ParseGraph(g.File, script.FormatGraph(g))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v, reduced(t, again)) {
			t.Errorf("%s and its canonical form differ:\n%s", g.File, script.FormatGraph(g))
		}
	}
	if len(graphs) < 3 {
		t.Errorf("%d graphs, want a cycle without a deadlock, a deadlock and a reduction at least", len(graphs))
	}
}
