package check

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

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/words"
)

// A live is a check while it goes on: it shows how far it is, and tells the
// first thing that is violated when that is found.
type live struct {
	out    io.Writer // nil if nothing is told on the way
	wanted []string  // the properties to tell of; nil means all
	line   *progress
	head   []string // what is checked
	told   string   // the property that was told of
}

// begin makes the limits of a check: they end it when the user interrupts. The
// function that it returns must be called at the end.
func (f *flags) begin(c *cobra.Command) (*live, check.Limits, func()) {
	v := &live{out: c.OutOrStdout(), line: &progress{Progress: tell.NewProgress(c.ErrOrStderr())}}
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
		v.line.Clear()
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
	v.line.Clear()
	page := tell.NewPage(v.out)
	printHead(page, v.head)
	printViolation(page, &p)
	page.Gap()
	if b, ok := v.out.(interface{ Flush() error }); ok {
		_ = b.Flush() // a writer that fails does so again at the end
	}
}

// printViolation tells how a property is violated.
func printViolation(p *tell.Page, q *check.Property) {
	p.Line("How %s is violated, in %s:", q.Name, words.Plural(len(q.Trace), "step"))
	p.Gap()
	p.Line("%s", strings.TrimRight(q.Story(tell.Width), "\n"))
}

// A progress is a line that says how far a check is.
type progress struct {
	*tell.Progress
	pass string
	next time.Duration
	last time.Duration
}

// between is the time from one progress line to the next.
const between = 250 * time.Millisecond

func (l *progress) show(p check.Progress) {
	if p.Pass != l.pass || p.Elapsed < l.last {
		l.pass, l.next = p.Pass, between // another pass has begun
	}
	l.last = p.Elapsed
	if p.Elapsed < l.next {
		return
	}
	l.next = p.Elapsed + between
	l.Line(progressLine(p))
}

// progressLine says how far a pass is, in one line.
func progressLine(p check.Progress) string {
	rate := float64(p.States) / max(p.Elapsed, time.Microsecond).Seconds()
	return fmt.Sprintf("%s: %s states, %s/s, queue %s blocks, depth %d, %s", p.Pass, words.Grouped(p.States), words.Grouped(int64(rate)),
		words.Grouped(p.Queue), p.Depth, bytesOf(p.Memory))
}
