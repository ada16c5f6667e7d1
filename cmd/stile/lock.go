package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/internal/live/lock"
)

// lockFlags is what 'stile lock' can be told.
type lockFlags struct {
	acquireFlags
	json bool
}

// newLock returns the command lock.
func newLock() *cobra.Command {
	x := &lockFlags{}
	c := &cobra.Command{
		Use:   "lock LOCK [flags]",
		Short: "Hold a lock until standard input ends",
		Long: `Waits for a lock, prints its token, and holds it until standard input ends, or
until a signal comes: for scripts that hold a lock over several commands. If the
lock is lost the exit code is 125; whoever uses it must watch for that, since
nothing that runs elsewhere is ended. 'stile exec' ends it.

Exit codes: 0 if the lock was held to the end; 1, or what -E says, if it cannot be
had with -n or -w; 2 if stile was called wrongly; 125 if the lock was lost, or
stile failed; 128 and the number of a signal that came while it waited.`,
		Example: `  stile lock demo
  stile lock demo --nonblock --json`,
		Args: func(c *cobra.Command, args []string) error {
			if err := oneArg("the name of a lock, such as orders/42", "lock", "take them one by one")(c, args); err != nil {
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
	jsonFlag(c.Flags(), &x.json)
	return c
}

// A lockReport is what is printed when the lock is had.
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
	client, err := x.target.dial(ctx, clientName("stile-lock"))
	if err != nil {
		return failed("%v", err)
	}
	lock, err := x.acquire(ctx, client, name, c.ErrOrStderr())
	if err != nil {
		_ = client.Close()
		return err
	}
	r := lockReport{name, lock.Token().String(), client.Node()}
	err = outcome{json: r, text: func(p *printer) { p.line("%s", r.Token) }}.print(c.OutOrStdout(), x.json)
	if err == nil {
		err = flush(c.OutOrStdout())
	}
	if err == nil {
		waitForEnd(ctx, c.InOrStdin(), lock)
	}
	if lost := x.release(client, lock, c.ErrOrStderr()); lost != nil {
		return failed("%v", lost)
	}
	if err != nil {
		return fmt.Errorf("cannot print the token: %w", err)
	}
	return nil
}

// waitForEnd waits until standard input ends, a signal comes, or the lock is lost.
func waitForEnd(ctx context.Context, in io.Reader, lock lock.Handle) {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // it ends by an error too
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-lock.Context().Done():
	}
}
