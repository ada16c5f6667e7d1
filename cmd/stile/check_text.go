package main

import (
	"strings"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
)

// printCheck shows a report: what was checked, a verdict for each property,
// and the story of the first that is violated, unless that was told already.
func printCheck(p *Page, v *checkLive, r *check.Report, written string) {
	if v.told == "" {
		printHead(p, v.head)
	}
	printTable(p, r, written)
	if first := r.First(); first != nil && len(first.Trace) > 0 && first.Name != v.told {
		p.Gap()
		printViolation(p, first, v.look)
	}
}

// printHead says what is checked.
func printHead(p *Page, head []string) {
	for _, text := range head {
		p.Text(0, text)
	}
	p.Gap()
}

// printTable shows the verdicts, and how large the check was.
func printTable(p *Page, r *check.Report, written string) {
	for _, q := range r.Properties {
		printProperty(p, q)
	}
	p.Gap()
	p.Line("%-18s%s", "verdict", r.Verdict)
	p.Line("%-18s%s, %s transitions, depth %d", "states", words.Grouped(r.States), words.Grouped(r.Transitions), r.Depth)
	p.Line("%-18s%.2f s, %s states per second", "time", r.Seconds, words.Grouped(int64(r.Rate)))
	p.Line("%-18s%.1g, that two states were taken for one", "probability", r.Collision)
	p.Line("%-18s%s", "words", "'stile glossary' says what they mean")
	if written != "" {
		p.Line("%-18s%s", "written", written)
	}
	if r.Hint == "" {
		return
	}
	p.Gap()
	if r.Shown == "" {
		p.Text(0, r.Hint+".")
		return
	}
	p.Text(0, r.Hint+". To see it:")
	p.Line("  %s", r.Shown)
}

func printProperty(p *Page, q check.Property) {
	verdict := string(q.Verdict)
	if q.Verdict == check.Violated {
		verdict = "VIOLATED"
	}
	name, note := q.Name, q.Note
	if strings.HasPrefix(note, "up to ") { // the first line says that already
		_, note, _ = strings.Cut(note, " of each process")
		note = strings.TrimLeft(note, ",; ")
	}
	if note == "" && q.Verdict != check.Violated {
		note = q.Means
	}
	for _, line := range Wrap(note, Width-33) {
		p.Line("%-18s%-15s%s", name, verdict, line)
		name, verdict = "", ""
	}
}
