package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stile-lock/stile/check"
)

// printCheck shows a report: what was checked, a verdict for each property,
// and the story of the first that is violated.
func printCheck(w io.Writer, head []string, r *check.Report, written string) error {
	p := &page{w: w}
	for _, line := range head {
		for _, line := range wrap(line, width) {
			p.line("%s", line)
		}
	}
	p.line("")
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
	first := r.First()
	if first == nil || len(first.Trace) == 0 {
		return p.err
	}
	p.line("")
	p.line("How %s is violated, in %s:", first.Name, plural(len(first.Trace), "step"))
	p.line("")
	p.line("%s", strings.TrimRight(first.Story(width), "\n"))
	return p.err
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

// A checkProgress is a line on a terminal that says how far a check is;
// elsewhere it shows nothing.
type checkProgress struct {
	*progress
	next time.Duration
	last time.Duration
}

func newCheckProgress(w io.Writer) *checkProgress {
	return &checkProgress{progress: newProgress(w)}
}

// between is the time from one progress line to the next.
const between = 250 * time.Millisecond

func (l *checkProgress) show(p check.Progress) {
	if p.Elapsed < l.last {
		l.next = 0 // another exploration has begun
	}
	l.last = p.Elapsed
	if l.w == nil || p.Elapsed < l.next || p.Elapsed < between {
		return
	}
	l.next = p.Elapsed + between
	rate := float64(p.States) / p.Elapsed.Seconds()
	fmt.Fprintf(l.w, "\r\x1b[K%s states, %s/s, queue %s blocks, depth %d, %s", grouped(p.States), grouped(int64(rate)),
		grouped(int64(p.Queue)), p.Depth, bytesOf(p.Memory))
}
