package main

import (
	"io"
	"strings"

	"github.com/stile-lock/stile/check"
)

// printCheck shows a report: what was checked, a verdict for each property,
// and the story of the first that is violated, unless that was told already.
func printCheck(w io.Writer, v *live, r *check.Report, written string) error {
	p := &page{w: w}
	if v.told == "" {
		printHead(p, v.head)
	}
	printTable(p, r, written)
	if first := r.First(); first != nil && len(first.Trace) > 0 && first.Name != v.told {
		p.line("")
		printViolation(p, first)
	}
	return p.err
}

// printHead says what is checked.
func printHead(p *page, head []string) {
	for _, text := range head {
		for _, line := range wrap(text, width) {
			p.line("%s", line)
		}
	}
	p.line("")
}

// printTable shows the verdicts, and how large the check was.
func printTable(p *page, r *check.Report, written string) {
	for _, q := range r.Properties {
		printProperty(p, q)
	}
	p.line("")
	p.line("%s%s", right("verdict", 18), r.Verdict)
	p.line("%s%s, %s transitions, depth %d", right("states", 18), grouped(r.States), grouped(r.Transitions), r.Depth)
	p.line("%s%.2f s, %s states per second", right("time", 18), r.Seconds, grouped(int64(r.Rate)))
	p.line("%s%.1g, that two states were taken for one", right("probability", 18), r.Collision)
	if written != "" {
		p.line("%s%s", right("written", 18), written)
	}
	if r.Hint != "" {
		p.line("")
		for _, line := range wrap(r.Hint+". To see it:", width) {
			p.line("%s", line)
		}
		p.line("  %s", r.Shown)
	}
}

func printProperty(p *page, q check.Property) {
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
	for _, line := range wrap(note, width-33) {
		p.line("%s%s%s", right(name, 18), right(verdict, 15), line)
		name, verdict = "", ""
	}
}
