package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/tty"
)

// Terminal control codes. Each frame is drawn over the previous one, line by line, so
// that nothing flickers.
const (
	enterScreen  = "\x1b[?1049h\x1b[?25l" // alternate screen, no cursor
	leaveScreen  = "\x1b[?25h\x1b[?1049l"
	cursorHome   = "\x1b[H"
	eraseLineEnd = "\x1b[K\n"
	eraseBelow   = "\x1b[J"
)

// A watcher prints something every second until the user quits.
type watcher struct {
	what string // the command
	json bool
	look func(ctx context.Context) (terminal.Outcome, error)
}

// run prints until the user quits. On a terminal it redraws the screen.
func (l *watcher) run(c *cobra.Command) error {
	ctx, cancel := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	w := c.OutOrStdout()
	screen := tty.Is(int(os.Stdout.Fd())) && !l.json
	if screen {
		restore := rawKeys(os.Stdin)
		defer restore()
		go waitForQ(os.Stdin, cancel)
		io.WriteString(w, enterScreen)
		defer terminal.Flush(w)
		defer io.WriteString(w, leaveScreen)
	}
	for first := true; ctx.Err() == nil; first = false {
		o, err := l.look(ctx)
		if err != nil && first && !screen {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil && l.json { // standard output is for programs
			notify(c.ErrOrStderr(), "%v", err)
		} else if err := l.redraw(w, screen, o, err); err != nil {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return nil
}

// redraw prints what was found, or the error.
func (l *watcher) redraw(w io.Writer, screen bool, o terminal.Outcome, failed error) error {
	var page bytes.Buffer
	if failed != nil {
		terminal.NewPrinter(&page).Text(0, failed.Error())
	} else if err := o.Print(&page, l.json); err != nil {
		return err
	}
	text := page.String()
	if screen {
		head := fmt.Sprintf("stile %s at %s, refreshed every second; press q to quit\n\n", l.what, time.Now().Format(time.TimeOnly))
		text = cursorHome + strings.ReplaceAll(head+text, "\n", eraseLineEnd) + eraseBelow
	} else if !l.json {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return errors.Join(err, terminal.Flush(w))
}

// waitForQ calls end when the user presses q.
func waitForQ(in io.Reader, end func()) {
	b := make([]byte, 1)
	for {
		n, err := in.Read(b)
		if n == 1 && (b[0] == 'q' || b[0] == 'Q') {
			end()
			return
		}
		if err != nil {
			return
		}
	}
}

// rawKeys makes a terminal deliver each key at once, without echo. The function that
// it returns undoes that.
func rawKeys(f *os.File) func() {
	before, err := tty.Modes(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	_ = tty.SetModes(int(f.Fd()), &now) // if it fails, Enter is needed
	return func() { _ = tty.SetModes(int(f.Fd()), before) }
}
