package replay

import (
	"encoding/json"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// What a replay says to programs.
type (
	report struct {
		File        string              `json:"file"`
		Title       string              `json:"title"`
		Algorithm   string              `json:"algorithm"`
		Nodes       int                 `json:"nodes"`
		Seed        uint64              `json:"seed"`
		Events      int                 `json:"events"`
		Stopped     bool                `json:"stopped"` // by --until: nothing was checked
		Entries     []entry             `json:"entries"`
		Messages    int                 `json:"messages"`
		ByKind      map[string]int      `json:"messages_by_kind"`
		MaxBypass   int                 `json:"max_bypass"`
		Deadlock    bool                `json:"deadlock"`
		Violations  []string            `json:"violations"`
		Differences []difference        `json:"differences"`
		States      []map[string]string `json:"states"` // of each process, at the end
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

// What a replay of transactions says to programs.
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
		Stopped     bool           `json:"stopped"` // by --until: nothing was checked
		Commits     []ending       `json:"commits"`
		Aborts      []ending       `json:"aborts"`
		Deadlocks   [][]int        `json:"deadlocks"` // each from one to the next that it waits for
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

func newReport(sc *scenario.Scenario, spec core.Spec, b *sim.Playback) report {
	r := report{
		File: sc.File, Title: sc.Title, Algorithm: spec.Name, Nodes: sc.Processes, Seed: sc.Seed, Events: len(b.Events), Stopped: b.Stopped,
		Entries:  each(b.Entries, func(e sim.Entry) entry { return entry{number(e.Proc), json.Number(moment(sc, e.At)), e.Section} }),
		Messages: b.Messages, ByKind: map[string]int{}, MaxBypass: b.MaxBypass, Deadlock: b.Deadlock,
		Violations: each(b.Violations, violation), Differences: each(b.Differences, func(d sim.Difference) difference { return difference(d) }),
		States: each(b.States, func(fields []core.Field) map[string]string {
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

func newSitesReport(sc *scenario.Scenario, b *sim.Playback) sitesReport {
	s := b.Sites
	end := func(e sim.Ending) ending {
		return ending{number(e.Proc), json.Number(s.Ledger.Moment(e.At)), numbers(e.Cycle)}
	}
	r := sitesReport{
		File: sc.File, Title: sc.Title, Algorithm: sc.Algorithm, Mode: sc.Mode, Sites: sc.Sites, Nodes: sc.Processes, Locks: len(sc.Locks), Seed: sc.Seed,
		Events: len(b.Events), Stopped: b.Stopped, Commits: each(s.Commits, end), Aborts: each(s.Aborts, end),
		Deadlocks: each(s.Cycles, numbers), False: each(s.False, numbers), Phantoms: each(s.Phantoms, numbers), Stuck: numbers(s.Stuck),
		Graph:    each(s.Ledger.Graph.Edges(), func(e deadlock.Edge) edge { return edge{number(e.From), number(e.To), e.Label} }),
		Messages: b.Messages, ByKind: map[string]int{},
		Violations: each(b.Violations, violation), Differences: each(b.Differences, func(d sim.Difference) difference { return difference(d) }),
	}
	for k, n := range b.ByKind {
		if n > 0 {
			r.ByKind[deadlock.Kinds()[k]] = n
		}
	}
	return r
}

// each makes a list of a list, which may be empty but is never null.
func each[T, U any](all []T, of func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = of(x)
	}
	return list
}

// number is a process as people number it.
func number(id core.ID) int { return int(id) + 1 }

func numbers(ids []core.ID) []int { return each(ids, number) }

func violation(v sim.Violation) string { return v.Property + ": " + v.String() }
