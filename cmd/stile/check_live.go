package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/check"
)

// A live is a check while it goes on: it shows how far it is, and tells the
// first thing that is violated when that is found.
type live struct {
	out    io.Writer // nil if nothing is told on the way
	wanted []string  // the properties to tell of; nil means all
	line   *checkProgress
	head   []string // what is checked
	told   string   // the property that was told of
}

// begin makes the limits of a check: they end it when the user interrupts. The
// function that it returns must be called at the end.
func (f *checkFlags) begin(stdout, stderr io.Writer) (*live, check.Limits, func()) {
	v := &live{out: stdout, line: newCheckProgress(stderr)}
	if f.json {
		v.out = nil
	}
	if f.properties != "" {
		v.wanted = strings.Split(f.properties, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // who interrupts twice means it
	l := f.config.Limits
	l.Context, l.Progress = ctx, v.line.show
	// The garbage must not double what is in use; a little room keeps the
	// collector from running all the time.
	before := debug.SetMemoryLimit(l.Memory + l.Memory/8)
	return v, l, func() {
		v.line.clear()
		debug.SetMemoryLimit(before)
		stop()
	}
}

// found tells how a property is violated, of the first that is.
func (v *live) found(p check.Property) {
	if v.out == nil || v.told != "" || v.wanted != nil && !slices.Contains(v.wanted, p.Name) {
		return
	}
	v.told = p.Name
	v.line.clear()
	page := &page{w: v.out}
	printHead(page, v.head)
	printViolation(page, &p)
	page.line("")
	if b, ok := v.out.(interface{ Flush() error }); ok && page.err == nil {
		_ = b.Flush() // a writer that fails does so again at the end
	}
}

// printViolation tells how a property is violated.
func printViolation(p *page, q *check.Property) {
	p.line("How %s is violated, in %s:", q.Name, plural(len(q.Trace), "step"))
	p.line("")
	p.line("%s", strings.TrimRight(q.Story(width), "\n"))
}

// A checkProgress is a line on a terminal that says how far a check is;
// elsewhere it shows nothing.
type checkProgress struct {
	*progress
	pass string
	next time.Duration
	last time.Duration
}

func newCheckProgress(w io.Writer) *checkProgress {
	return &checkProgress{progress: newProgress(w)}
}

// between is the time from one progress line to the next.
const between = 250 * time.Millisecond

func (l *checkProgress) show(p check.Progress) {
	if l.w == nil {
		return
	}
	if p.Pass != l.pass || p.Elapsed < l.last {
		l.pass, l.next = p.Pass, between // another pass has begun
	}
	l.last = p.Elapsed
	if p.Elapsed < l.next {
		return
	}
	l.next = p.Elapsed + between
	fmt.Fprintf(l.w, "\r\x1b[K%s", progressLine(p))
}

// progressLine says how far a pass is, in one line.
func progressLine(p check.Progress) string {
	rate := float64(p.States) / max(p.Elapsed, time.Microsecond).Seconds()
	return fmt.Sprintf("%s: %s states, %s/s, queue %s blocks, depth %d, %s", p.Pass, grouped(p.States), grouped(int64(rate)),
		grouped(int64(p.Queue)), p.Depth, bytesOf(p.Memory))
}
