package lab

import (
	"cmp"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// runGraph shows a graph of resources: nothing runs, and the picture is all.
func runGraph(sc *scenario.Scenario) *Document {
	v, err := sim.Reduce(sc)
	if err != nil {
		return &Document{Error: located(err)}
	}
	n := sc.Processes
	d := &Document{
		Title: cmp.Or(sc.Title, "Resource-allocation graph"), Kind: KindGraph, Unit: 1, Steps: true, Names: []string{}, Badges: []string{},
		Kinds: []trace.KindStyle{}, Events: []Event{}, Lines: []LineEvents{}, Deltas: []Delta{}, Measures: []Measure{}, Violations: []Violation{},
		Scene:   Scene{Shape: string(core.Mesh), Title: "who has what, and who asks for what", Places: circle(n), Links: []Link{}, Groups: []Group{}},
		Expects: compared(v.Differences, sc, false), SVG: v.Graph.SVG(cmp.Or(sc.Title, "Resource-allocation graph")),
	}
	key := Key{States: make([][][2]string, n), Status: make([]string, n), Waits: make([]string, n)}
	for i := range n {
		d.Names = append(d.Names, core.ID(i).String())
		key.States[i], key.Status[i] = [][2]string{}, Idle
	}
	for _, a := range sc.Arcs {
		what := "asks for"
		if a.Has {
			what = "has"
		} else {
			key.Status[a.Proc], key.Waits[a.Proc] = Waiting, "waits for what others have"
		}
		key.States[a.Proc] = append(key.States[a.Proc], [2]string{what, a.String()})
	}
	cycles := [][]int{}
	for _, c := range v.Cycles {
		cycles = append(cycles, ints(c))
	}
	d.Keys, d.Graph = []Key{key}, []WaitsFor{{Edges: []Edge{}, Cycles: cycles}}
	dead := Property{Name: "no deadlock", Holds: len(v.Deadlocked) == 0, Event: -1, Text: "everybody can end"}
	if !dead.Holds {
		var names []string
		for _, p := range v.Deadlocked {
			names = append(names, p.String())
		}
		dead.Text = list(names) + " can never go on"
	}
	d.Properties = []Property{dead}
	if d.End, err = Encode(v.Report(sc)); err != nil {
		return &Document{Error: located(err)}
	}
	return d
}
