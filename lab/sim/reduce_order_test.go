package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// anyGraph returns a graph of resources by chance, in which some have a unit and
// ask for more of the same.
func anyGraph(r *rand.Rand) *scenario.Graph {
	g := &scenario.Graph{Processes: 2 + r.IntN(3)}
	for range 1 + r.IntN(3) {
		g.Resources = append(g.Resources, 1+r.IntN(3))
	}
	for range 12 {
		g.Arcs = append(g.Arcs, script.Arc{Proc: algorithm.ID(r.IntN(g.Processes)), Resource: r.IntN(len(g.Resources)), Units: 1 + r.IntN(2), Has: r.IntN(2) == 0})
		if g.Check() != nil {
			g.Arcs = g.Arcs[:len(g.Arcs)-1]
		}
	}
	return g
}

// leftOver tries every order in which processes could end, and returns who never
// does.
func leftOver(g *scenario.Graph) []algorithm.ID {
	ends := make([]bool, g.Processes)
	var try func(ended []bool)
	try = func(ended []bool) {
		for p := range ended {
			if ended[p] || !canEnd(g, ended, algorithm.ID(p)) {
				continue
			}
			next := slices.Clone(ended)
			next[p], ends[p] = true, true
			try(next)
		}
	}
	try(make([]bool, g.Processes))
	var left []algorithm.ID
	for p, can := range ends {
		if !can {
			left = append(left, algorithm.ID(p))
		}
	}
	return left
}

// canEnd reports whether all that a process asks for is free once some have ended.
func canEnd(g *scenario.Graph, ended []bool, p algorithm.ID) bool {
	free := slices.Clone(g.Resources)
	for _, a := range g.Arcs {
		if a.Has && !ended[a.Proc] || !a.Has && a.Proc == p {
			free[a.Resource] -= a.Units
		}
	}
	return !slices.ContainsFunc(free, func(n int) bool { return n < 0 })
}

// disagreement says how verdicts about the lines of a graph, in any order, differ
// from each other or from who is left over if everything is tried.
func disagreement(g *scenario.Graph, r *rand.Rand, deadlocked func(g *scenario.Graph) (verdict string, left []algorithm.ID)) string {
	want := leftOver(g)
	first, _ := deadlocked(g)
	for range 6 {
		verdict, left := deadlocked(g)
		if verdict != first || !slices.Equal(left, want) {
			return fmt.Sprintf("%v of %v:\n%s\nand in another order\n%s\nbut %v are deadlocked", g.Arcs, g.Resources, verdict, first, want)
		}
		r.Shuffle(len(g.Arcs), func(i, j int) { g.Arcs[i], g.Arcs[j] = g.Arcs[j], g.Arcs[i] })
	}
	return ""
}

// TestReduceAnyOrder: the lines of a graph are one moment, whatever their order.
func TestReduceAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	stuck := 0
	for range 1500 {
		g := anyGraph(r)
		wrong := disagreement(g, r, func(g *scenario.Graph) (string, []algorithm.ID) {
			v, err := Reduce(g)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(v.Steps, v.Cycles, v.Graph.WaitFor().Edges()), v.Deadlocked
		})
		if wrong != "" {
			t.Fatal(wrong)
		}
		if len(leftOver(g)) > 0 {
			stuck++
		}
	}
	if stuck < 200 || stuck > 1300 {
		t.Errorf("%d of 1500 graphs have a deadlock: too few, or too few have none", stuck)
	}
}

// TestReduceInOrderIsFound: arcs that are drawn line by line, as if time went by,
// are found to depend on their order.
func TestReduceInOrderIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		wrong := disagreement(anyGraph(r), r, func(g *scenario.Graph) (string, []algorithm.ID) {
			a := deadlock.NewAllocation(g.Processes, g.Resources...)
			for _, arc := range g.Arcs {
				for range arc.Units {
					if !arc.Has {
						a.Request(arc.Proc, arc.Resource)
					} else if err := a.Assign(arc.Proc, arc.Resource); err != nil {
						t.Fatal(err)
					}
				}
			}
			return fmt.Sprint(a.Steps()), a.Deadlocked()
		})
		if wrong != "" {
			return
		}
	}
	t.Error("200 graphs drawn line by line pass")
}
