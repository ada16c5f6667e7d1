package terminal

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
)

// A Progress shows on the terminal how far a command is, and is a context that ends
// when the user interrupts.
type Progress struct {
	context.Context
	release func()
	line    statusLine
}

// StartProgress starts showing the progress of a command; end must be called when it
// has run. The first interrupt ends the context, so that the command prints its
// results so far. The second one kills the process.
func StartProgress(c *cobra.Command) *Progress {
	parent := c.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, release := signal.NotifyContext(parent, os.Interrupt)
	context.AfterFunc(ctx, release)
	return &Progress{Context: ctx, release: release, line: statusLine{w: terminalOrNil(c.ErrOrStderr()), now: time.Now, last: time.Now()}}
}

// End removes the line and lets an interrupt end the process again.
func (l *Progress) End() {
	l.line.clear()
	l.release()
}

// On reports whether the command should continue.
func (l *Progress) On() bool { return l.Err() == nil }

// Show shows how far the command is, at most a few times a second.
func (l *Progress) Show(format string, args ...any) { l.line.show(format, args...) }

// Bar shows the number of finished runs.
func (l *Progress) Bar(done, total int) {
	const length = 40
	l.Show("[%-*s] %d of %d runs", length, strings.Repeat("#", done*length/max(total, 1)), done, total)
}

// Print writes a line to w in place of the progress line.
func (l *Progress) Print(w io.Writer, text string) {
	l.line.clear()
	fmt.Fprintln(w, text)
}

// Clear removes the line until there is something new to show.
func (l *Progress) Clear() { l.line.clear() }

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
		fmt.Fprintf(l.w, "\r\x1b[K%s", Truncate(fmt.Sprintf(format, args...), ScreenWidth-1))
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
