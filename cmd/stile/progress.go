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
	"github.com/stile-lock/stile/lab/sim"
)

// A progress shows on the terminal how far a command is, and is a context that ends
// when the user interrupts.
type progress struct {
	context.Context
	release func()
	line    statusLine
}

// startProgress starts showing the progress of a command; end must be called when it
// has run. The first interrupt ends the context, so that the command prints its
// results so far. The second one kills the process.
func startProgress(c *cobra.Command) *progress {
	parent := c.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, release := signal.NotifyContext(parent, os.Interrupt)
	context.AfterFunc(ctx, release)
	return &progress{Context: ctx, release: release, line: statusLine{w: terminalOrNil(c.ErrOrStderr()), now: time.Now, last: time.Now()}}
}

// end removes the line and lets an interrupt end the process again.
func (l *progress) end() {
	l.line.clear()
	l.release()
}

// on reports whether the command should continue.
func (l *progress) on() bool { return l.Err() == nil }

// show shows how far the command is, at most a few times a second.
func (l *progress) show(format string, args ...any) { l.line.show(format, args...) }

// bar shows the number of finished runs.
func (l *progress) bar(done, total int) {
	const length = 40
	l.show("[%-*s] %d of %d runs", length, strings.Repeat("#", done*length/max(total, 1)), done, total)
}

// print writes a line to w in place of the progress line.
func (l *progress) print(w io.Writer, text string) {
	l.line.clear()
	fmt.Fprintln(w, text)
}

// clear removes the line until there is something new to show.
func (l *progress) clear() { l.line.clear() }

// watch returns a sim.Watch that shows how many things are done, and ends the run when
// the user interrupts.
func (l *progress) watch(things string) sim.Watch {
	return func(p sim.Progress) bool {
		if p.Of > 0 {
			l.show("%s of %s %s, %s events", words.Grouped(p.Done), words.Grouped(p.Of), things, words.Grouped(p.Events))
		} else {
			l.show("%s events", words.Grouped(p.Events))
		}
		return l.on()
	}
}

// A statusLine is a line on a terminal that several goroutines may write.
type statusLine struct {
	w     io.Writer // nil if there is no terminal
	now   func() time.Time
	mu    sync.Mutex
	last  time.Time // when it was last written, or the command began
	shown bool
}

// redrawInterval is the shortest time between two redraws.
const redrawInterval = 250 * time.Millisecond

func (l *statusLine) show(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); l.w != nil && now.Sub(l.last) >= redrawInterval {
		l.last, l.shown = now, true
		fmt.Fprintf(l.w, "\r\x1b[K%s", truncate(fmt.Sprintf(format, args...), screenWidth-1))
	}
}

func (l *statusLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		l.shown = false
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

// terminalOrNil returns w if it is a terminal, and otherwise nil.
func terminalOrNil(w io.Writer) io.Writer {
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return nil
}
