package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/trace"
)

// A checkLive is a check while it goes on: it shows how far it is, and tells the
// first thing that is violated when that is found.
type checkLive struct {
	*Live
	out    io.Writer // nil if nothing is told on the way
	wanted []string  // the properties to tell of; nil means all
	head   []string  // what is checked
	told   string    // the property that was told of

	look trace.TextOptions // how a violation is drawn
}

// begin makes the limits of a check: they end it when the user interrupts. The
// function that it returns must be called at the end.
func (f *checkFlags) begin(c *cobra.Command) (*checkLive, check.Limits, func()) {
	v := &checkLive{Live: Begin(c), out: c.OutOrStdout(), look: f.scene.Text()}
	if f.json {
		v.out = nil
	}
	if f.properties != "" {
		v.wanted = strings.Split(f.properties, ",")
	}
	l := f.config.Limits
	l.Context, l.Progress = v, func(p check.Progress) { v.Show("%s", progressLine(p)) }
	// The garbage must not double what is in use; a little room keeps the
	// collector from running all the time.
	before := debug.SetMemoryLimit(l.Memory + l.Memory/8)
	return v, l, func() {
		debug.SetMemoryLimit(before)
		v.End()
	}
}

// answer tells what came of a check: all of it, or part of it if the user
// interrupted and something is open for that reason.
func (v *checkLive) answer(r *check.Report, all, part any, text func(p *Page)) Report {
	open := slices.ContainsFunc(r.Properties, func(p check.Property) bool { return p.Verdict == check.Unfinished })
	if v.On() || !open {
		return Report{JSON: all, Text: text, Wrong: wrong(r)}
	}
	a := Report{JSON: part, Text: text, Stopped: words.Grouped(r.States) + " states"}
	if r.Verdict == check.Violated {
		a.Wrong = wrong(r) // else it is only open
	}
	return a
}

// found tells how a property is violated, of the first that is.
func (v *checkLive) found(p check.Property) {
	if v.out == nil || v.told != "" || v.wanted != nil && !slices.Contains(v.wanted, p.Name) {
		return
	}
	v.told = p.Name
	v.Clear()
	page := NewPage(v.out)
	printHead(page, v.head)
	printViolation(page, &p, v.look)
	page.Gap()
	if b, ok := v.out.(interface{ Flush() error }); ok {
		_ = b.Flush() // a writer that fails does so again at the end
	}
}

// printViolation tells how a property is violated.
func printViolation(p *Page, q *check.Property, look trace.TextOptions) {
	p.Line("How %s is violated, in %s:", q.Name, words.Plural(len(q.Trace), "step"))
	p.Gap()
	p.Line("%s", strings.TrimRight(q.Story(look), "\n"))
}

// progressLine says how far a pass is, in one line.
func progressLine(p check.Progress) string {
	rate := float64(p.States) / max(p.Elapsed, time.Microsecond).Seconds()
	return fmt.Sprintf("%s: %s states, %s/s, queue %s blocks, depth %d, %s", p.Pass, words.Grouped(p.States), words.Grouped(int64(rate)),
		words.Grouped(p.Queue), p.Depth, Bytes(p.Memory))
}
