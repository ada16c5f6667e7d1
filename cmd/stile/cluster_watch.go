package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/tty"
)

// Codes of terminals. A picture is drawn over the one before, line by line, so that
// nothing flickers.
const (
	enter        = "\x1b[?1049h\x1b[?25l" // another screen, without a cursor
	leave        = "\x1b[?25h\x1b[?1049l"
	home         = "\x1b[H"
	lineEnd      = "\x1b[K\n"
	clusterBelow = "\x1b[J"
)

// again shows the locks every second, until the user has enough.
func (l *locks) again(c *cobra.Command) error {
	ctx, cancel := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	w := c.OutOrStdout()
	screen := tty.Is(int(os.Stdout.Fd())) && !l.json
	if screen {
		restore := clusterKeys(os.Stdin)
		defer restore()
		go untilQ(os.Stdin, cancel)
		io.WriteString(w, enter)
		defer Flush(w)
		defer io.WriteString(w, leave)
	}
	for first := true; ctx.Err() == nil; first = false {
		s, err := l.target.Survey(ctx, l.prefix)
		if err != nil && first && !screen {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil && l.json { // standard output is for programs
			fmt.Fprintln(c.ErrOrStderr(), "stile:", err)
		} else if err := l.redraw(w, screen, s, err); err != nil {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return nil
}

// redraw shows what there is, or why there is nothing.
func (l *locks) redraw(w io.Writer, screen bool, s *Survey, failed error) error {
	var page bytes.Buffer
	if failed != nil {
		fmt.Fprintln(&page, strings.Join(Wrap(failed.Error(), Width), "\n"))
	} else if err := l.report(s).Print(&page, l.json); err != nil {
		return err
	}
	text := page.String()
	if screen {
		head := fmt.Sprintf("stile locks at %s, every second, q ends it\n\n", time.Now().Format(time.TimeOnly))
		text = home + strings.ReplaceAll(head+text, "\n", lineEnd) + clusterBelow
	} else if !l.json {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return errors.Join(err, Flush(w))
}

// untilQ ends something when the user presses q.
func untilQ(in io.Reader, end func()) {
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
