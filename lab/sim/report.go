package sim

import (
	"encoding/json"
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/scenario"
)

// Report returns the outcome of a scenario for programs, to be encoded as JSON. The keys
// are part of the public interface.
func (b *Playback) Report(spec algorithm.Spec, sc *scenario.Scenario) any {
	if sc.Transacts() {
		return newSitesReport(sc, spec, b)
	}
	return newReport(sc, spec, b)
}

// Early says why a run ended before the time that its scenario gives it; it returns
// nothing if it did not.
func (b *Playback) Early(sc *scenario.Scenario) string {
	if !b.Stalled || sc.Until == 0 || b.Ended == 0 {
		return ""
	}
	return fmt.Sprintf("at %s, before %s, because events went on without progress", scenario.FormatTime(b.Events[b.Ended-1].At), scenario.FormatTime(sc.Until))
}

// Report returns the result for a graph of resources for programs, to be encoded as JSON.
func (v *Verdict) Report(g *scenario.Graph) any { return newGraphReport(g, v) }

// The report of a replay, for programs.
type (
	report struct {
		File        string              `json:"file"`
		Title       string              `json:"title"`
		Algorithm   string              `json:"algorithm"`
		Nodes       int                 `json:"nodes"`
		Seed        uint64              `json:"seed"`
		Events      int                 `json:"events"`
		Stopped     bool                `json:"stopped"`           // by --until: no expectation was checked
		Stalled     bool                `json:"stalled,omitempty"` // whether it was ended because events went on without progress
		Entries     []entry             `json:"entries"`
		Messages    int                 `json:"messages"`
		ByKind      map[string]int      `json:"messages_by_kind"`
		MaxBypass   int                 `json:"max_bypass"`
		Deadlock    bool                `json:"deadlock"`
		Violations  []string            `json:"violations"`
		Differences []difference        `json:"differences"`
		States      []map[string]string `json:"states"` // state of each process, at the end
	}
	entry struct {
		Process int         `json:"process"` // from 1
		At      json.Number `json:"at"`      // in T, or in steps the number of the action
		Section string      `json:"section,omitempty"`
	}
	difference struct {
		Line int    `json:"line"`
		Want string `json:"want"`
		Got  string `json:"got"`
	}
)

// The report of a replay of transactions, for programs.
type (
	sitesReport struct {
		File        string         `json:"file"`
		Title       string         `json:"title"`
		Algorithm   string         `json:"algorithm"`
		Mode        string         `json:"mode,omitempty"`
		Sites       int            `json:"sites"`
		Nodes       int            `json:"nodes"`
		Locks       int            `json:"locks"`
		Seed        uint64         `json:"seed"`
		Events      int            `json:"events"`
		Stopped     bool           `json:"stopped"`           // by --until: no expectation was checked
		Stalled     bool           `json:"stalled,omitempty"` // whether it was ended because events went on without progress
		Commits     []ending       `json:"commits"`
		Aborts      []ending       `json:"aborts"`
		Deadlocks   [][]int        `json:"deadlocks"` // each from one process to the next that it waits for
		False       [][]int        `json:"false_cycles"`
		Phantoms    [][]int        `json:"phantoms"` // reported, but just broken by an abort or a death
		Stuck       []int          `json:"stuck"`
		Graph       []edge         `json:"graph"`
		Messages    int            `json:"messages"`
		ByKind      map[string]int `json:"messages_by_kind"`
		Violations  []string       `json:"violations"`
		Differences []difference   `json:"differences"`
	}
	ending struct {
		Process int         `json:"process"` // from 1
		At      json.Number `json:"at"`      // in T
		Cycle   []int       `json:"cycle,omitempty"`
	}
	edge struct {
		Waits int    `json:"waits"`
		For   int    `json:"for"`
		Lock  string `json:"lock"`
	}
)

// The report on a graph of resources, for programs.
type (
	graphReport struct {
		File        string       `json:"file"`
		Title       string       `json:"title"`
		Nodes       int          `json:"nodes"`
		Units       []int        `json:"units"` // units of each resource
		Has         [][]int      `json:"has"`   // units that each process has, by resource
		Asks        [][]int      `json:"asks"`
		Cycles      [][]int      `json:"cycles"` // each from one process to the next that has what it asks for
		Reduction   []reduction  `json:"reduction"`
		Deadlocked  []int        `json:"deadlocked"`
		Differences []difference `json:"differences"`
	}
	reduction struct {
		Process int   `json:"process"` // process that gets what it asks for, ends, and returns everything
		Free    []int `json:"free"`    // free units of each resource, after it
	}
)

func newReport(sc *scenario.Scenario, spec algorithm.Spec, b *Playback) report {
	r := report{
		File: sc.File, Title: sc.Title, Algorithm: spec.Name, Nodes: sc.Processes, Seed: sc.Seed, Events: len(b.Events), Stopped: b.Stopped, Stalled: b.Stalled,
		Entries:  listOf(b.Entries, func(e Entry) entry { return entry{number(e.Proc), json.Number(moment(e.At, sc.Steps)), e.Section} }),
		Messages: b.Messages, ByKind: map[string]int{}, MaxBypass: b.MaxBypass, Deadlock: b.Deadlock,
		Violations: listOf(b.Violations, named), Differences: listOf(b.Differences, func(d Difference) difference { return difference(d) }),
		States: listOf(b.States, func(fields []host.Field) map[string]string {
			state := map[string]string{}
			for _, f := range fields {
				state[f.Name] = f.Value
			}
			return state
		}),
	}
	for k, n := range b.ByKind {
		r.ByKind[spec.Kinds[k]] += n
	}
	return r
}

func newSitesReport(sc *scenario.Scenario, spec algorithm.Spec, b *Playback) sitesReport {
	s := b.Sites
	end := func(e Ending) ending {
		return ending{number(e.Proc), json.Number(s.Ledger.Moment(e.At)), numbers(e.Cycle)}
	}
	r := sitesReport{
		File: sc.File, Title: sc.Title, Algorithm: sc.Algorithm, Mode: sc.Mode, Sites: sc.Sites, Nodes: sc.Processes, Locks: len(sc.Locks), Seed: sc.Seed,
		Events: len(b.Events), Stopped: b.Stopped, Stalled: b.Stalled, Commits: listOf(s.Commits, end), Aborts: listOf(s.Aborts, end),
		Deadlocks: listOf(s.Cycles, numbers), False: listOf(s.False, numbers), Phantoms: listOf(s.Phantoms, numbers), Stuck: numbers(s.Stuck),
		Graph:    listOf(s.Ledger.Graph.Edges(), func(e deadlock.Edge) edge { return edge{number(e.From), number(e.To), e.Label} }),
		Messages: b.Messages, ByKind: map[string]int{},
		Violations: listOf(b.Violations, named), Differences: listOf(b.Differences, func(d Difference) difference { return difference(d) }),
	}
	for k, n := range b.ByKind {
		if n > 0 {
			r.ByKind[spec.Kinds[k]] = n
		}
	}
	return r
}

func newGraphReport(g *scenario.Graph, v *Verdict) graphReport {
	r := graphReport{
		File: g.File, Title: g.Title, Nodes: g.Processes, Units: g.Resources,
		Cycles: listOf(v.Cycles, numbers), Deadlocked: numbers(v.Deadlocked),
		Reduction:   listOf(v.Steps, func(s deadlock.Reduction) reduction { return reduction{number(s.Tx), s.Free} }),
		Differences: listOf(v.Differences, func(d Difference) difference { return difference(d) }),
	}
	for range g.Processes {
		r.Has, r.Asks = append(r.Has, make([]int, len(g.Resources))), append(r.Asks, make([]int, len(g.Resources)))
	}
	for _, a := range g.Arcs {
		if a.Has {
			r.Has[a.Proc][a.Resource] += a.Units
		} else {
			r.Asks[a.Proc][a.Resource] += a.Units
		}
	}
	return r
}

// listOf maps a list to a list that may be empty but is never null.
func listOf[T, U any](all []T, of func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = of(x)
	}
	return list
}

// number returns the number of a process, from 1.
func number(id algorithm.ID) int { return int(id) + 1 }

func numbers(ids []algorithm.ID) []int { return listOf(ids, number) }

func named(v Violation) string { return v.Property + ": " + v.String() }
