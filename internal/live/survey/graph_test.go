package survey

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/live/node"
)

// A cycle is a deadlock only if no other holder can release enough units.
func TestGraph(t *testing.T) {
	tx := func(n uint64) node.TxInfo { return node.TxInfo{Node: "a", Tx: n} }
	holder := func(n uint64) Holder {
		h := Holder{Node: "a"}
		h.Who, h.Tx = "p", n
		return h
	}
	first := holder(1)
	locks := func(others ...node.EdgeInfo) *Locks {
		return &Locks{Locks: []Lock{
			{Name: "x", Holder: &first, Edges: append([]node.EdgeInfo{{From: tx(2), To: tx(1), Holds: true, Units: 1, Spare: 1}}, others...)},
			{Name: "y", Shared: []Holder{holder(2)}, Edges: []node.EdgeInfo{{From: tx(1), To: tx(2), Holds: true, Units: 1}, {From: tx(1), To: tx(4), Units: 1}}},
		}}
	}
	for name, test := range map[string]struct {
		s         *Locks
		edges     []Edge
		deadlocks int
	}{
		"spare unit": {locks(node.EdgeInfo{From: tx(2), To: tx(3), Holds: true, Units: 1, Spare: 1}), []Edge{{0, 1, "x"}, {0, 2, "x"}, {1, 0, "y"}}, 0},
		"deadlock":   {locks(node.EdgeInfo{From: tx(2), To: tx(1), Holds: true, Units: 1, Spare: 1}), []Edge{{0, 1, "x"}, {0, 1, "x"}, {1, 0, "y"}}, 1},
		"none":       {&Locks{}, []Edge{}, 0},
	} {
		g := test.s.Graph()
		if !slices.Equal(g.Edges, test.edges) || len(g.Deadlocks) != test.deadlocks {
			t.Errorf("%s: %+v, want %v", name, g, test.edges)
		}
		for _, v := range g.Vertices {
			if v.Who == "" || v.Holds == nil || (v.Who == "p") != (v.Tx < 3) {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}
