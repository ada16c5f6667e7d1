package survey

import (
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/internal/node"
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

// A ring that exists only because a process has several requests is a possible deadlock, and
// is found once. Of one whose process is not known, nothing is concluded.
func TestGraphPossible(t *testing.T) {
	party := func(session uint64) node.Party { return node.Party{Who: "p", Session: session} }
	lock := func(name string, holder, waiter uint64) Lock {
		return Lock{Name: name, Holder: &Holder{"a", node.HolderInfo{Party: party(holder)}}, Waiters: []Waiter{{Node: "a", WaiterInfo: node.WaiterInfo{Party: party(waiter)}}}}
	}
	kept := func(name string, holder, waiter uint64) Lock { // transactions have the number of their session and of their lock
		l := lock(name, holder, waiter)
		l.Holder.Tx, l.Waiters[0].Tx = 10*holder+uint64(name[0]), 10*waiter+uint64(name[0])
		tx := func(n uint64) node.TxInfo { return node.TxInfo{Node: "a", Tx: n} }
		l.Edges = []node.EdgeInfo{{From: tx(l.Waiters[0].Tx), To: tx(l.Holder.Tx), Holds: true, Units: 1}}
		return l
	}
	elsewhere := lock("y", 2, 1)
	elsewhere.Holder.Node, elsewhere.Waiters[0].Node = "b", "b"
	unknown := kept("y", 2, 0)
	unknown.Waiters, unknown.Edges[0].From.Tx = nil, 999 // it has come since
	for name, test := range map[string]struct {
		locks []Lock
		size  int // of the ring; 0 if there is none
	}{
		"two processes":          {[]Lock{lock("x", 1, 2), lock("y", 2, 1)}, 4},
		"kept locks":             {[]Lock{kept("x", 1, 2), kept("y", 2, 1)}, 4},
		"three processes":        {[]Lock{lock("x", 1, 2), lock("y", 2, 3), kept("z", 3, 1)}, 6},
		"a chain":                {[]Lock{lock("x", 1, 2), lock("y", 2, 3)}, 0},
		"one process":            {[]Lock{lock("x", 1, 1)}, 0},
		"sessions at two nodes":  {[]Lock{lock("x", 1, 2), elsewhere}, 0},
		"an unknown transaction": {[]Lock{kept("x", 0, 2), unknown}, 0},
	} {
		g := (&Locks{Locks: test.locks}).Graph()
		if len(g.Deadlocks) > 0 || len(g.Possible) != min(test.size, 1) || test.size > 0 && len(g.Possible[0]) != test.size {
			t.Errorf("%s: %v, %v", name, g.Deadlocks, g.Possible)
			continue
		}
		for _, ring := range g.Possible {
			for i, from := range ring {
				to := ring[(i+1)%len(ring)]
				waits := slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.From == from && e.To == to })
				if v, w := g.Vertices[from], g.Vertices[to]; !waits && (v.Node != w.Node || v.Session != w.Session) {
					t.Errorf("%s: %+v, and then %+v", name, v, w)
				}
			}
		}
	}
}

// The graph of very many locks takes work in proportion to them: what a node holds outside of
// transactions is part of no vertex, and what a transaction holds is not copied for each lock.
func TestGraphOfMany(t *testing.T) {
	locks := func(count int, tx uint64) *Locks {
		s := &Locks{}
		for i := range count {
			h := &Holder{Node: "a"}
			h.Tx = tx
			s.Locks = append(s.Locks, Lock{Name: strconv.Itoa(i), Holder: h})
		}
		return s
	}
	for _, tx := range []uint64{0, 7} {
		const few, more = 500, 5000
		if a, b := allocated(locks(few, tx)), allocated(locks(more, tx)); b > 3*more/few*a {
			t.Errorf("transaction %d: %d bytes for %d locks, but %d for %d", tx, a, few, b, more)
		}
	}
}

// allocated returns how many bytes making the graph of some locks allocates.
func allocated(s *Locks) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Graph()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
