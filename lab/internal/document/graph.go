package document

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// AtResources is the shape of the picture of a graph of resources.
const AtResources = "resources"

// parseGraph reads a graph of resources, and rejects one that is too large to show.
func parseGraph(text string, o Options) (*scenario.Graph, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}
	return scenario.ParseGraph(o.File, text)
}

// runGraph shows a graph of resources. Nothing runs: its events are the steps that reduce
// it, and the verdict.
func runGraph(g *scenario.Graph) *Document {
	v, err := sim.Reduce(g)
	if err != nil {
		return &Document{Error: located(err)}
	}
	title := cmp.Or(g.Title, "Resource-allocation graph")
	d := &Document{
		Title: title, Kind: KindGraph, Unit: 1, Steps: true, Names: []string{}, Badges: []string{}, Kinds: []trace.KindStyle{}, Events: []Event{},
		Ended: len(v.Steps), Lines: []LineEvents{}, Deltas: []Delta{}, Graph: []WaitsFor{}, Violations: []Violation{},
		Measures: countedOf(v), Properties: []Property{provenOf(v)}, Scene: benches(g), Expects: compared(v.Differences, g.Expect, false), SVG: draw.Allocation(v.Graph, title),
	}
	for i := range g.Processes {
		d.Names = append(d.Names, algorithm.ID(i).String())
	}
	h := holdingsOf(g)
	d.Keys = []Key{h.key()}
	d.Graph = append(d.Graph, h.waitsFor(0))
	for i, s := range v.Steps {
		d.Events = append(d.Events, Event{At: int64(i), Kind: "reduce", Proc: int(s.Tx), Peer: -1, Text: s.String() + "."})
		before := h.key()
		h.end(s.Tx)
		d.Deltas = append(d.Deltas, differ(i+1, before, h.key())...)
		d.Graph = append(d.Graph, h.waitsFor(i+1))
	}
	verdict := Event{At: int64(len(v.Steps)), Kind: "end", Proc: -1, Peer: -1, Text: "All processes have ended: there is no deadlock."}
	if p := d.Properties[0]; !p.Holds {
		verdict.Kind, verdict.Name, verdict.Text = "violation", "deadlock", p.Text+"."
		d.Violations = append(d.Violations, Violation{d.Ended, "deadlock", p.Text})
	}
	d.Events = append(d.Events, verdict)
	if d.End, err = Encode(v.Report(g)); err != nil {
		return &Document{Error: located(err)}
	}
	return d
}

// benches puts processes on the left and resources on the right.
func benches(g *scenario.Graph) Scene {
	s := Scene{Shape: AtResources, Title: "what each process holds and asks for", Links: []Link{}, Groups: []Group{}, Units: g.Resources}
	column := func(x float64, n int) (all []Place) {
		for i := range n {
			all = append(all, Place{x, (float64(i) + 0.5) / float64(n)})
		}
		return all
	}
	s.Places, s.Locks = column(0, g.Processes), column(1, len(g.Resources))
	for r := range g.Resources {
		s.LockNames = append(s.LockNames, deadlock.ResourceName(r))
	}
	return s
}

// provenOf says whether there is a deadlock, and how that is known.
func provenOf(v *sim.Verdict) Property {
	if len(v.Deadlocked) == 0 {
		return Property{Name: family.NoDeadlock, Holds: true, Event: -1, Text: "every process can get what it asks for and end, in the order " + list(namesOf(v.Order()))}
	}
	what := "are deadlocked: none of them can ever get all that it asks for, even if all other processes end and release everything"
	if len(v.Deadlocked) == 1 {
		what = "is deadlocked: it can never get all that it asks for, even if all other processes end and release everything"
	}
	return Property{Name: family.NoDeadlock, Event: len(v.Steps), Text: list(namesOf(v.Deadlocked)) + " " + what}
}

// countedOf returns what was found, next to what theory says it means (Holt 1972).
func countedOf(v *sim.Verdict) []Measure {
	var rings []string
	for _, c := range v.Cycles {
		rings = append(rings, strings.Join(append(namesOf(c), c[0].String()), " → "))
	}
	return []Measure{
		{Name: "cycles", Here: cmp.Or(list(rings), "none"), Theory: "a deadlock needs one", Formula: "with several units per resource, a cycle alone does not prove one", Fits: true},
		{Name: "can end, in this order", Here: cmp.Or(list(namesOf(v.Order())), "none"), Theory: "any order leaves the same processes", Fits: true},
		{Name: "left over", Here: cmp.Or(list(namesOf(v.Deadlocked)), "none"), Theory: "these are deadlocked", Fits: true},
	}
}

func namesOf(ids []algorithm.ID) []string {
	var all []string
	for _, p := range ids {
		all = append(all, p.String())
	}
	return all
}

// holdings are the units of each resource that each process has and asks for, while a graph
// is reduced.
type holdings struct {
	units, free []int
	have, want  [][]int // by process and resource
	ended       []bool
}

func holdingsOf(g *scenario.Graph) *holdings {
	h := &holdings{units: g.Resources, free: append([]int(nil), g.Resources...), ended: make([]bool, g.Processes)}
	for range g.Processes {
		h.have, h.want = append(h.have, make([]int, len(h.units))), append(h.want, make([]int, len(h.units)))
	}
	for _, a := range g.Arcs {
		if a.Has {
			h.have[a.Proc][a.Resource] += a.Units
			h.free[a.Resource] -= a.Units
		} else {
			h.want[a.Proc][a.Resource] += a.Units
		}
	}
	return h
}

// end gives a process what it asks for, and then returns everything it has.
func (h *holdings) end(p algorithm.ID) {
	for r := range h.units {
		h.free[r] += h.have[p][r]
		h.have[p][r], h.want[p][r] = 0, 0
	}
	h.ended[p] = true
}

// key returns the current state.
func (h *holdings) key() Key {
	var k Key
	for p := range h.have {
		fields := [][2]string{}
		if s := deadlock.Amounts(h.have[p], false); s != "" {
			fields = append(fields, [2]string{"has", s})
		}
		if s := deadlock.Amounts(h.want[p], false); s != "" {
			fields = append(fields, [2]string{"asks for", s})
		}
		wait, status := h.why(p), Idle
		switch {
		case h.ended[p]:
			status = Ended
		case wait != "":
			status = Waiting
		}
		k.States, k.Status, k.Waits = append(k.States, fields), append(k.Status, status), append(k.Waits, wait)
	}
	return k
}

// why says what a process waits for, and which processes have it.
func (h *holdings) why(p int) string {
	var reasons []string
	for r, n := range h.want[p] {
		if n <= h.free[r] {
			continue
		}
		var owners []string
		for q := range h.have {
			if m := h.have[q][r]; m > 0 {
				owners = append(owners, fmt.Sprintf("%v holds %d", algorithm.ID(q), m))
			}
		}
		reasons = append(reasons, fmt.Sprintf("%d %s: %d of %d free, %s", n, deadlock.ResourceName(r), h.free[r], h.units[r], list(owners)))
	}
	if len(reasons) == 0 {
		return ""
	}
	return "waits for " + strings.Join(reasons, "; and for ")
}

// waitsFor returns the current wait-for graph, and the cycles that are left.
func (h *holdings) waitsFor(event int) WaitsFor {
	a := deadlock.NewAllocation(len(h.have), h.units...)
	for p := range h.have {
		for r := range h.units {
			for range h.have[p][r] {
				_ = a.Assign(algorithm.ID(p), r) // there are enough: otherwise the text would have been rejected
			}
		}
	}
	for p := range h.want {
		for r, n := range h.want[p] {
			for range n {
				a.Request(algorithm.ID(p), r)
			}
		}
	}
	g := WaitsFor{Event: event, Edges: []Edge{}, Cycles: [][]int{}}
	for _, e := range a.WaitFor().Edges() {
		g.Edges = append(g.Edges, Edge{int(e.From), int(e.To), e.Label})
	}
	for _, c := range a.Cycles() {
		g.Cycles = append(g.Cycles, ints(c))
	}
	return g
}

// differ returns the changes from one state to the next.
func differ(event int, was, now Key) []Delta {
	var all []Delta
	for p := range now.States {
		d := Delta{Event: event, Proc: p}
		for _, name := range []string{"has", "asks for"} {
			before, after := fieldOf(was.States[p], name), fieldOf(now.States[p], name)
			switch {
			case before == after:
			case after == "":
				d.Set = append(d.Set, [2]*string{&name, nil})
			default:
				d.Set = append(d.Set, [2]*string{&name, &after})
			}
		}
		if was.Status[p] != now.Status[p] {
			d.Status = now.Status[p]
		}
		if was.Waits[p] != now.Waits[p] {
			d.Wait = &now.Waits[p]
		}
		if d.Set != nil || d.Status != "" || d.Wait != nil {
			all = append(all, d)
		}
	}
	return all
}

func fieldOf(fields [][2]string, name string) string {
	for _, f := range fields {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}
