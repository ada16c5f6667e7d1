package sim

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Verdict is the result for a graph of resources.
type Verdict struct {
	Graph       *deadlock.Allocation
	Cycles      [][]algorithm.ID     // a shortest cycle of each part of the graph that has any
	Steps       []deadlock.Reduction // steps by which it is reduced
	Deadlocked  []algorithm.ID       // processes left over
	Differences []Difference         // outcomes that differ from the expected ones
}

// Reduce finds the deadlocked processes in a graph of resources: nothing is run.
func Reduce(g *scenario.Graph) (*Verdict, error) {
	if err := g.Check(); err != nil {
		return nil, within(g.File, err)
	}
	a, err := allocation(g)
	if err != nil {
		return nil, within(g.File, err)
	}
	v := &Verdict{Graph: a, Cycles: a.Cycles(), Steps: a.Steps(), Deadlocked: a.Deadlocked()}
	for _, e := range g.Expect {
		if got := v.instead(e); got != "" {
			v.Differences = append(v.Differences, Difference{e.Line, e.What(), got})
		}
	}
	return v, nil
}

// allocation returns the graph that the lines describe. They describe one moment, in any
// order. Units that processes have are assigned first, because an assignment removes a
// request, and no process is given here what the lines say it asks for.
func allocation(g *scenario.Graph) (*deadlock.Allocation, error) {
	a := deadlock.NewAllocation(g.Processes, g.Resources...)
	for _, has := range []bool{true, false} {
		for _, arc := range g.Arcs {
			for range arc.Units {
				switch {
				case arc.Has != has:
				case !has:
					a.Request(arc.Proc, arc.Resource)
				default:
					if err := a.Assign(arc.Proc, arc.Resource); err != nil {
						return nil, at(arc.Line, err)
					}
				}
			}
		}
	}
	return a, nil
}

// Order returns the processes that can end, in this order.
func (v *Verdict) Order() []algorithm.ID {
	var order []algorithm.ID
	for _, s := range v.Steps {
		order = append(order, s.Tx)
	}
	return order
}

// instead describes what is true instead of the expectation, or returns nothing.
func (v *Verdict) instead(e script.Expectation) string {
	var rings []string
	for _, c := range v.Cycles {
		rings = append(rings, deadlock.Round(c))
	}
	is := e
	switch e.Kind {
	case script.Cycle:
		if v.Graph.IsCycle(e.Procs) {
			return ""
		}
		if rings == nil {
			return "none"
		}
		return strings.Join(rings, ", ")
	case script.NoCycle:
		return strings.Join(rings, ", ")
	case script.Deadlocked:
		is.Procs = v.Deadlocked
		e.Procs = slices.Sorted(slices.Values(e.Procs))
	case script.EndOrder:
		is.Procs = v.Order()
	}
	if slices.Equal(is.Procs, e.Procs) {
		return ""
	}
	return is.What()
}
