package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/terminal"
)

// lockFlags holds the flags of 'stile lock'.
type lockFlags struct {
	acquireFlags
	json bool
}

func newLock() *cobra.Command {
	x := &lockFlags{}
	c := &cobra.Command{
		Use:   "lock LOCK [flags]",
		Short: "Hold a lock until standard input ends",
		Long: `Waits for a lock, prints its fencing token, and holds the lock until standard
input ends or a signal arrives. This lets a script hold a lock over several
commands. If the lock is lost the exit code is 125. The script must watch for
that, because its commands keep running; 'stile exec' kills them.
With --shared or --units there can be several holders: see docs/kept.md.

Without -n, stile also waits for a node to start and for a majority of the
nodes; -w is the only limit. After a second it reports what it waits for.

Exit codes: 0 if the lock was held to the end; 1, or the value of -E, if -n or
-w was given and the lock was not acquired; 2 if stile was called wrongly; 125
if the lock was lost or stile failed; 128 plus the number of a signal that
arrived while waiting.`,
		Example: `  stile lock demo
  stile lock demo --nonblock --json
  stile lock kept/licences --units 1/5`,
		Args: func(c *cobra.Command, args []string) error {
			if err := terminal.OneArg("the name of a lock, such as orders/42", "lock", "acquire them one at a time")(c, args); err != nil {
				return err
			}
			if err := checkLockName(args[0]); err != nil {
				return err
			}
			return x.check()
		},
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args[0]) },
	}
	x.define(c.Flags())
	x.defineModes(c.Flags())
	terminal.JSONFlag(c.Flags(), &x.json)
	return c
}

// A lockReport is the JSON output when the lock is acquired.
type lockReport struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	Node  string `json:"node"` // address through which it is held
}

func (x *lockFlags) run(c *cobra.Command, name string) error {
	if err := x.target.resolve(c); err != nil {
		return err
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	h, err := x.acquire(ctx, clientName("stile-lock"), []string{name}, c.ErrOrStderr())
	if err != nil {
		return err
	}
	r := lockReport{name, h.lock(name).Token().String(), h.client.Node()}
	err = terminal.Outcome{JSON: r, Text: func(p *terminal.Printer) { p.Line("%s", r.Token) }}.Print(c.OutOrStdout(), x.json)
	if err == nil {
		err = terminal.Flush(c.OutOrStdout())
	}
	if err == nil {
		waitForEnd(ctx, c.InOrStdin(), h)
	}
	if lost := x.release(h, c.ErrOrStderr()); lost != nil {
		return failed("%v", lost)
	}
	if err != nil {
		return fmt.Errorf("cannot print the token: %w", err)
	}
	return nil
}

// waitForEnd waits until standard input ends, a signal arrives, or the lock is lost.
func waitForEnd(ctx context.Context, in io.Reader, h *holding) {
	ctx, stop := h.watch(ctx, nil)
	defer stop()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error ends it too
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
