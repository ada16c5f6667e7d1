package survey

import (
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/node"
)

// A Graph is a wait-for graph of a cluster.
type Graph struct {
	Vertices  []Vertex `json:"vertices"`
	Edges     []Edge   `json:"edges"`
	Deadlocks [][]int  `json:"deadlocks"` // vertices that wait for each other, each for the next, and the last for the first
	Possible  [][]int  `json:"possible"`  // the same, but some are only requests of the same process as the next
	Cut       bool     `json:"cut"`       // edges are missing, because there are too many
}

// A Vertex is a transaction, or a request for a lock outside of transactions.
type Vertex struct {
	node.Party
	Node  string   `json:"node"`
	Tx    uint64   `json:"tx,omitempty"` // number of the transaction at the node; 0 if the lock is not a kept one
	Holds []string `json:"holds"`

	known bool // its process is known
}

// An Edge says that a vertex waits for another one, by their indices.
type Edge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Lock string `json:"lock"`
}

// Graph returns the wait-for graph of locks that were listed with their edges. What waits
// for several units of a semaphore, and behind others, waits for those that hold it: the
// edges to the others are left out.
func (s *Locks) Graph() *Graph {
	g := &Graph{Vertices: []Vertex{}, Edges: []Edge{}, Deadlocks: [][]int{}, Possible: [][]int{}}
	parties := s.parties()
	known := map[node.TxInfo]int{}
	index := func(t node.TxInfo) int {
		i, ok := known[t]
		if !ok {
			i = len(g.Vertices)
			known[t] = i
			v := Vertex{Party: node.Party{Who: "a transaction of " + t.Node}, Holds: []string{}}
			if listed := parties[t]; listed != nil { // otherwise it came or went in between, or its node has not answered
				v = *listed
			}
			v.Node, v.Tx = t.Node, t.Tx
			g.Vertices = append(g.Vertices, v)
		}
		return i
	}
	var arcs []deadlock.Arc
	for number := range s.Locks {
		l := &s.Locks[number]
		g.Cut = g.Cut || l.Cut
		g.ordinary(l)
		for i, e := range l.Edges {
			from, to := index(e.From), index(e.To)
			arcs = append(arcs, deadlock.Arc{From: deadlock.Attempt{Tx: from}, To: deadlock.Attempt{Tx: to}, Lock: number, Units: e.Units, Spare: e.Spare})
			if e.Holds || !l.behind(i) {
				g.Edges = append(g.Edges, Edge{from, to, l.Name})
			}
		}
	}
	for _, d := range deadlock.Deadlocks(arcs) {
		var cycle []int
		for _, a := range d.Cycle {
			cycle = append(cycle, a.Tx)
		}
		g.Deadlocks = append(g.Deadlocks, cycle)
	}
	g.possible()
	return g
}

// behind reports whether an edge to a request that waits can be left out, because the same
// transaction also waits for a holder of the lock, or for a request that comes later.
func (l *Lock) behind(i int) bool {
	from := l.Edges[i].From
	return slices.ContainsFunc(l.Edges, func(o node.EdgeInfo) bool { return o.From == from && o.Holds }) ||
		slices.ContainsFunc(l.Edges[i+1:], func(o node.EdgeInfo) bool { return o.From == from })
}

// ordinary adds those that wait for a lock that is not a kept one.
func (g *Graph) ordinary(l *Lock) {
	if l.Holder == nil || l.Holder.Tx != 0 || len(l.Waiters) == 0 {
		return
	}
	to := len(g.Vertices)
	g.Vertices = append(g.Vertices, Vertex{Party: l.Holder.Party, Node: l.Holder.Node, Holds: []string{l.Name}, known: true})
	for _, w := range l.Waiters {
		g.Edges = append(g.Edges, Edge{len(g.Vertices), to, l.Name})
		g.Vertices = append(g.Vertices, Vertex{Party: w.Party, Node: w.Node, Holds: []string{}, known: true})
	}
}

// parties returns what is known of transactions. Requests outside of transactions have no number
// that tells them apart, and no edges that name it.
func (s *Locks) parties() map[node.TxInfo]*Vertex {
	all := map[node.TxInfo]*Vertex{}
	add := func(at string, tx uint64, who *node.Party, holds ...string) {
		t := node.TxInfo{Node: at, Tx: tx}
		switch {
		case tx == 0:
			return
		case all[t] == nil:
			all[t] = &Vertex{Holds: []string{}, known: true}
		}
		v := all[t]
		v.Party, v.Holds = *who, append(v.Holds, holds...)
	}
	for _, l := range s.Locks {
		if l.Holder != nil {
			add(l.Holder.Node, l.Holder.Tx, &l.Holder.Party, l.Name)
		}
		for _, h := range l.Shared {
			add(h.Node, h.Tx, &h.Party, l.Name)
		}
		for _, w := range l.Waiters {
			add(w.Node, w.Tx, &w.Party)
		}
	}
	return all
}
