package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/sim"
)

// A Live is a command while it runs: a line on the terminal says how far it is,
// and the context is done when the user interrupts.
type Live struct {
	context.Context
	release func()
	line    line
}

// Begin makes a command live; End must be called when it has run. Who interrupts
// once gets what there is by then, so whatever runs must look at the context. Who
// interrupts twice means it.
func Begin(c *cobra.Command) *Live {
	parent := c.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, release := signal.NotifyContext(parent, os.Interrupt)
	context.AfterFunc(ctx, release)
	return &Live{Context: ctx, release: release, line: line{w: tellTerminal(c.ErrOrStderr()), now: time.Now, last: time.Now()}}
}

// End removes the line, and lets an interrupt end the program again.
func (l *Live) End() {
	l.line.clear()
	l.release()
}

// On reports whether the command is to go on.
func (l *Live) On() bool { return l.Err() == nil }

// Show says how far the command is, but not more than a few times in a second.
func (l *Live) Show(format string, args ...any) { l.line.show(format, args...) }

// Bar shows how many runs are done.
func (l *Live) Bar(done, total int) {
	const length = 40
	l.Show("[%-*s] %d of %d runs", length, strings.Repeat("#", done*length/max(total, 1)), done, total)
}

// Print writes a line to w, in place of the one that says how far the command is.
func (l *Live) Print(w io.Writer, text string) {
	l.line.clear()
	fmt.Fprintln(w, text)
}

// Clear removes the line until there is more to show.
func (l *Live) Clear() { l.line.clear() }

// Watch returns what a run is watched by: it shows how many of these things are
// done, and ends the run when the user interrupts.
func (l *Live) Watch(things string) sim.Watch {
	return func(p sim.Progress) bool {
		if p.Of > 0 {
			l.Show("%s of %s %s, %s events", words.Grouped(p.Done), words.Grouped(p.Of), things, words.Grouped(p.Events))
		} else {
			l.Show("%s events", words.Grouped(p.Events))
		}
		return l.On()
	}
}

// A line is one on a terminal; several goroutines may write it.
type line struct {
	w     io.Writer // nil if there is no terminal
	now   func() time.Time
	mu    sync.Mutex
	last  time.Time // when it was written, or the command began
	there bool
}

// between is the time from one writing to the next.
const between = 250 * time.Millisecond

func (l *line) show(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); l.w != nil && now.Sub(l.last) >= between {
		l.last, l.there = now, true
		fmt.Fprintf(l.w, "\r\x1b[K%s", Cut(fmt.Sprintf(format, args...), Width-1))
	}
}

func (l *line) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.there {
		l.there = false
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

// tellTerminal returns w if it is a terminal, or else nil.
func tellTerminal(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return nil
}
