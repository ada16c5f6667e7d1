package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// printSites shows a scenario with sites that was run: the story, who waited
// for whom, who committed and who aborted, and whether it came out as expected.
func printSites(w io.Writer, sc *scenario.Scenario, b *sim.Playback) error {
	p := &page{w: w}
	if sc.Title != "" {
		p.line("%s", sc.Title)
		p.line("")
	}
	p.line("%s", strings.TrimRight(sim.Story(b.Sites.Run.Layout, b.Trace()), "\n"))
	p.line("")
	p.line("%s:", b.Sites.Ledger.When())
	printGraph(p, b.Sites.Ledger.Graph)
	p.line("")
	if f := b.Sites.Ledger.False; f != nil {
		p.line("%s was reported by %s, but never there. What was true then:", deadlock.Round(f.Cycle), b.Sites.Ledger.Moment(f.At))
		printGraph(p, f.Graph)
		p.line("")
	}
	printSummary(p, b)
	if b.Stopped {
		printStates(p, b.States, func(i int) string { return fmt.Sprintf("site %d", i+1) })
		p.line("%sstopped after %s: nothing was checked", right("expected", 11), plural(len(b.Events), "event"))
		return p.err
	}
	p.line("%s%s", right("expected", 11), verdict(sc, b.Differences))
	return p.err
}

// printSummary says what came of the transactions.
func printSummary(p *page, b *sim.Playback) {
	row := func(label, text string) {
		for _, line := range wrap(text, width-11) {
			p.line("%s%s", right(label, 11), line)
			label = ""
		}
	}
	row("commits", endings(b.Sites.Ledger, b.Sites.Commits))
	row("aborts", endings(b.Sites.Ledger, b.Sites.Aborts))
	row("deadlocks", rounds(b.Sites.Cycles))
	if len(b.Sites.False) > 0 {
		row("false", rounds(b.Sites.False))
	}
	if len(b.Sites.Stuck) > 0 {
		row("stuck", processList(b.Sites.Stuck))
	}
	if b.Sites.Ledger.Lost > 0 {
		row("lost", plural(b.Sites.Ledger.Lost, "transaction")+" of dead sites")
	}
	kinds := []string{}
	for k, n := range b.ByKind {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, deadlock.Kinds()[k]))
		}
	}
	row("messages", strings.TrimSuffix(fmt.Sprintf("%d: %s", b.Messages, strings.Join(kinds, ", ")), ": "))
	for _, v := range b.Violations {
		row("violation", v.Property+": "+v.String())
	}
}

// endings writes who ended when, or none.
func endings(l *sim.Ledger, all []sim.Ending) string {
	var words []string
	for _, e := range all {
		words = append(words, fmt.Sprintf("%v at %s", e.Proc, l.Moment(e.At)))
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ", ")
}

// rounds writes cycles, or none.
func rounds(cycles [][]core.ID) string {
	var words []string
	for _, c := range cycles {
		words = append(words, deadlock.Round(c))
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ", ")
}

// What a replay of transactions says to programs.
type (
	sitesReport struct {
		File        string             `json:"file"`
		Title       string             `json:"title"`
		Algorithm   string             `json:"algorithm"`
		Mode        string             `json:"mode,omitempty"`
		Sites       int                `json:"sites"`
		Nodes       int                `json:"nodes"`
		Locks       int                `json:"locks"`
		Events      int                `json:"events"`
		Stopped     bool               `json:"stopped"` // by --until: nothing was checked
		Commits     []sitesEnding      `json:"commits"`
		Aborts      []sitesEnding      `json:"aborts"`
		Deadlocks   [][]int            `json:"deadlocks"` // each from one to the next that it waits for
		False       [][]int            `json:"false_cycles"`
		Stuck       []int              `json:"stuck"`
		Graph       []sitesEdge        `json:"graph"`
		Messages    int                `json:"messages"`
		ByKind      map[string]int     `json:"messages_by_kind"`
		Violations  []string           `json:"violations"`
		Differences []replayDifference `json:"differences"`
	}
	sitesEnding struct {
		Process int         `json:"process"` // from 1
		At      json.Number `json:"at"`      // in T
		Cycle   []int       `json:"cycle,omitempty"`
	}
	sitesEdge struct {
		Waits int    `json:"waits"`
		For   int    `json:"for"`
		Lock  string `json:"lock"`
	}
)

func newSitesReport(sc *scenario.Scenario, b *sim.Playback) sitesReport {
	r := sitesReport{
		File: sc.File, Title: sc.Title, Algorithm: sc.Algorithm, Mode: sc.Mode, Sites: sc.Sites, Nodes: sc.Processes, Locks: len(sc.Locks),
		Events: len(b.Events), Stopped: b.Stopped, Commits: sitesEndings(b.Sites.Ledger, b.Sites.Commits), Aborts: sitesEndings(b.Sites.Ledger, b.Sites.Aborts),
		Deadlocks: fromOnes(b.Sites.Cycles), False: fromOnes(b.Sites.False), Stuck: fromOne(b.Sites.Stuck), Graph: []sitesEdge{},
		Messages: b.Messages, ByKind: map[string]int{}, Violations: []string{},
		Differences: []replayDifference{},
	}
	for _, e := range b.Sites.Ledger.Graph.Edges() {
		r.Graph = append(r.Graph, sitesEdge{int(e.From) + 1, int(e.To) + 1, e.Label})
	}
	for k, n := range b.ByKind {
		if n > 0 {
			r.ByKind[deadlock.Kinds()[k]] = n
		}
	}
	for _, v := range b.Violations {
		r.Violations = append(r.Violations, v.Property+": "+v.String())
	}
	for _, d := range b.Differences {
		r.Differences = append(r.Differences, replayDifference(d))
	}
	return r
}

func sitesEndings(l *sim.Ledger, all []sim.Ending) []sitesEnding {
	list := []sitesEnding{}
	for _, e := range all {
		list = append(list, sitesEnding{int(e.Proc) + 1, json.Number(l.Moment(e.At)), fromOne(e.Cycle)})
	}
	return list
}

func fromOnes(all [][]core.ID) [][]int {
	list := [][]int{}
	for _, ids := range all {
		list = append(list, fromOne(ids))
	}
	return list
}

// fromOne writes processes as people number them.
func fromOne(ids []core.ID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = int(id) + 1
	}
	return list
}
