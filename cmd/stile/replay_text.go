package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// replayShow prints what happened, what came of it, and whether it came out as
// expected.
func replayShow(p *Page, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	name := func(i int) string { return algorithm.ID(i).String() }
	if sc.Transacts() {
		name = func(i int) string { return fmt.Sprintf("site %d", i+1) }
		showSites(p, sc, b)
	} else {
		showProcesses(p, sc, b, look)
	}
	if early := b.Early(sc); early != "" {
		p.Row("ended", "%s", early)
	}
	verdict := "all as expected"
	switch {
	case b.Stopped:
		showStates(p, b.States, name)
		verdict = fmt.Sprintf("stopped after %s: nothing was checked", words.Plural(len(b.Events), "event"))
	case len(b.Differences) > 0:
		verdict = words.Plural(len(b.Differences), "difference")
	case len(sc.Expect) == 0:
		verdict = "nothing in particular"
	}
	p.Row("expected", "%s", verdict)
}

// showProcesses shows the diagram, and who entered when.
func showProcesses(p *Page, sc *scenario.Scenario, b *sim.Playback, look trace.TextOptions) {
	p.Line("%s", strings.TrimRight(b.Trace().Text(look), "\n"))
	p.Gap()
	if lead := leaders(b.Events); len(b.Entries) == 0 && lead != "" {
		p.Row("leader", "%s", lead)
	} else {
		p.Row("entries", "%s", replayListed(b.Entries, func(e sim.Entry) string {
			return strings.TrimSpace(e.Proc.String()+" "+e.Section) + " at " + replayMoment(sc, e.At)
		}))
	}
	p.Row("messages", "%d", b.Messages)
	for _, v := range b.Violations {
		p.Line("%-11s%s", "violation", replayViolation(v))
	}
	if b.Deadlock {
		p.Row("deadlock", "processes wait for each other for ever")
	}
}

// replayMoment writes when something happened.
func replayMoment(sc *scenario.Scenario, at int64) string {
	if sc.Steps {
		return fmt.Sprint(at)
	}
	return scenario.FormatTime(at)
}

// replayListed writes a list, or none.
func replayListed[T any](all []T, say func(T) string) string {
	return cmp.Or(strings.Join(replayEach(all, say), ", "), "none")
}

// leaders says whom each process follows in the end, or nothing if nobody
// follows anybody.
func leaders(events []trace.Event) string {
	follow := map[algorithm.ID]algorithm.ID{}
	for _, e := range events {
		switch e.Kind {
		case trace.Lead:
			follow[e.Proc] = e.Peer
		case trace.Crash, trace.Restart:
			delete(follow, e.Proc)
		}
	}
	followers := map[algorithm.ID][]algorithm.ID{}
	for _, p := range slices.Sorted(maps.Keys(follow)) {
		followers[follow[p]] = append(followers[follow[p]], p)
	}
	var list []string
	for _, l := range slices.Sorted(maps.Keys(followers)) {
		list = append(list, fmt.Sprintf("%v of %s", l, tellProcesses(followers[l])))
	}
	return strings.Join(list, "; ")
}

// showSites tells the story, who waited for whom, who committed and who aborted.
func showSites(p *Page, sc *scenario.Scenario, b *sim.Playback) {
	s, l := b.Sites, b.Sites.Ledger
	if sc.Title != "" {
		p.Line("%s", sc.Title)
		p.Gap()
	}
	p.Line("%s", strings.TrimRight(sim.Story(s.Run.Layout, b.Trace()), "\n"))
	p.Gap()
	p.Line("%s:", l.When())
	p.Graph(l.Graph)
	p.Gap()
	if f := l.False; f != nil {
		p.Line("%s was reported by %s, but never there. What was true then:", deadlock.Round(f.Cycle), l.Moment(f.At))
		p.Graph(f.Graph)
		p.Gap()
	}
	end := func(e sim.Ending) string { return fmt.Sprintf("%v at %s", e.Proc, l.Moment(e.At)) }
	p.Row("commits", "%s", replayListed(s.Commits, end))
	p.Row("aborts", "%s", replayListed(s.Aborts, end))
	p.Row("deadlocks", "%s", replayListed(s.Cycles, deadlock.Round))
	if len(s.False) > 0 {
		p.Row("false", "%s", replayListed(s.False, deadlock.Round))
	}
	if len(s.Phantoms) > 0 {
		p.Row("phantoms", "%s", replayListed(s.Phantoms, deadlock.Round))
	}
	if len(s.Stuck) > 0 {
		p.Row("stuck", "%s", tellProcesses(s.Stuck))
	}
	if l.Lost > 0 {
		p.Row("lost", "%s of dead sites", words.Plural(l.Lost, "transaction"))
	}
	var kinds []string
	for k, n := range b.ByKind {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, b.Trace().Kinds[k]))
		}
	}
	p.Row("messages", "%s", strings.TrimSuffix(fmt.Sprintf("%d: %s", b.Messages, strings.Join(kinds, ", ")), ": "))
	for _, v := range b.Violations {
		p.Row("violation", "%s", replayViolation(v))
	}
}

// showStates shows what each process or site remembers.
func showStates(p *Page, states [][]algorithm.Field, name func(i int) string) {
	for i, fields := range states {
		p.Row(name(i), "%s", strings.Join(replayEach(fields, func(f algorithm.Field) string { return f.Name + " " + f.Value }), ", "))
	}
}

// replayEach makes a list of a list.
func replayEach[T, U any](all []T, of func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = of(x)
	}
	return list
}

func replayViolation(v sim.Violation) string { return v.Property + ": " + v.String() }
