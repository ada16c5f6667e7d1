package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// printReplay shows a scenario that was run: the diagram, who entered when,
// and whether it came out as expected.
func printReplay(w io.Writer, sc *scenario.Scenario, b *sim.Playback) error {
	p := &page{w: w}
	p.line("%s", strings.TrimRight(b.Trace().Text(trace.TextOptions{Width: width}), "\n"))
	p.line("")
	label, words := "entries", entries(sc, b)
	if lead := leaders(b.Events); len(b.Entries) == 0 && lead != "" {
		label, words = "leader", lead
	}
	for _, line := range wrap(words, width-11) {
		p.line("%s%s", right(label, 11), line)
		label = ""
	}
	p.line("%s%d", right("messages", 11), b.Messages)
	for _, v := range b.Violations {
		p.line("%s%s: %v", right("violation", 11), v.Property, v)
	}
	if b.Deadlock {
		p.line("%sprocesses wait for each other for ever", right("deadlock", 11))
	}
	if b.Stopped {
		printStates(p, b.States, func(i int) string { return core.ID(i).String() })
		p.line("%sstopped after %s: nothing was checked", right("expected", 11), plural(len(b.Events), "event"))
		return p.err
	}
	p.line("%s%s", right("expected", 11), verdict(sc, b.Differences))
	return p.err
}

// entries says who entered when, or none.
func entries(sc *scenario.Scenario, b *sim.Playback) string {
	if len(b.Entries) == 0 {
		return "none"
	}
	var words []string
	for _, e := range b.Entries {
		who := strings.TrimSpace(e.Proc.String() + " " + e.Section)
		words = append(words, fmt.Sprintf("%s at %s", who, momentOf(sc, e.At)))
	}
	return strings.Join(words, ", ")
}

// leaders says whom each process follows in the end, or nothing if nobody
// follows anybody.
func leaders(events []trace.Event) string {
	follow := map[core.ID]core.ID{}
	for _, e := range events {
		switch e.Kind {
		case trace.Lead:
			follow[e.Proc] = e.Peer
		case trace.Crash, trace.Restart:
			delete(follow, e.Proc)
		}
	}
	followers := map[core.ID][]core.ID{}
	for _, p := range slices.Sorted(maps.Keys(follow)) {
		followers[follow[p]] = append(followers[follow[p]], p)
	}
	var words []string
	for _, l := range slices.Sorted(maps.Keys(followers)) {
		words = append(words, fmt.Sprintf("%v of %s", l, processList(followers[l])))
	}
	return strings.Join(words, "; ")
}

func verdict(sc *scenario.Scenario, differences []sim.Difference) string {
	switch {
	case len(differences) > 0:
		return plural(len(differences), "difference")
	case len(sc.Expect) == 0:
		return "nothing in particular"
	}
	return "all as expected"
}

// printStates shows what each process or site remembers.
func printStates(p *page, states [][]core.Field, name func(i int) string) {
	for i, fields := range states {
		var words []string
		for _, f := range fields {
			words = append(words, f.Name+" "+f.Value)
		}
		label := name(i)
		for _, line := range wrap(strings.Join(words, ", "), width-11) {
			p.line("%s%s", right(label, 11), line)
			label = ""
		}
	}
}
