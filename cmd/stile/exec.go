package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/child"
	"github.com/stile-lock/stile/internal/live/lock"
)

// execFlags is what 'stile exec' can be told.
type execFlags struct {
	acquireFlags
	shell  bool
	grace  time.Duration
	linger bool
	name   string
	args   []string
}

// newExec returns the command exec.
func newExec() *cobra.Command {
	x := &execFlags{grace: 2 * time.Second}
	c := &cobra.Command{
		Use:   "exec LOCK [flags] [--] COMMAND [ARGUMENT...]",
		Short: "Run a command while a lock is held",
		Long: `Waits for a lock, runs a command, and lets go of the lock when the command is
over. The command gets standard input, the environment with STILE_LOCK and
STILE_TOKEN in it, and signals; its exit code is that of stile. The token is
higher than those of all who held the lock before: a resource that refuses lower
ones than it has seen is safe whatever happens.

If the lock is lost - the node dies, or hears of no majority for the length of a
lease, or an operator takes the lock away - the command and all that it has
started get TERM, and KILL after --grace, before somebody else can have the lock;
the exit code is then 125. So it is if stile itself is killed with -9: a watchdog
ends the command then. If that is killed too at the same moment, or the whole
machine stands still for longer than the lease, nobody can end the command in
time: only the token helps there.

Exit codes: the command's own, or 128 and the number of the signal that ended
it; 1, or what -E says, if the lock cannot be had with -n or -w; 2 if stile was
called wrongly; 125 if the lock was lost, or stile failed; 126 if the command
cannot be run; 127 if there is none of that name.

Flags after the name of the lock are stile's until the command begins; a command
that begins with a hyphen, or none at all, needs -- before it.`,
		Example: `  stile exec nightly-backup -- ./backup.sh --full
  stile exec demo -n -- sh -c 'echo $STILE_TOKEN'
  stile exec demo --shell 'echo $STILE_TOKEN'
  stile exec demo --wait 5 --conflict-exit-code 75 -- ./import.sh`,
		Args: x.parse,
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		DisableFlagsInUseLine: true,
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	x.define(fs)
	fs.BoolVarP(&x.shell, "shell", "c", false, "the command is one argument, for the shell: $SHELL, or /bin/sh")
	fs.Var(durationFlag(&x.grace, 0, time.Hour), "grace", "how long the command may take to end when the lock is lost; never longer than the lease lasts")
	fs.BoolVar(&x.linger, "linger", false, "hold the lock also for what the command leaves in the background, which is ended otherwise")
	return c
}

// parse reads the name of the lock, the flags after it, and the command.
func (x *execFlags) parse(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the name of a lock and a command, such as 'stile exec demo -- ls'", c.CommandPath())
	}
	x.name = args[0]
	if err := checkLockName(x.name); err != nil {
		return err
	}
	if err := c.Flags().Parse(args[1:]); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return c.FlagErrorFunc()(c, err)
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return pflag.ErrHelp
	}
	x.args = c.Flags().Args()
	switch {
	case len(x.args) == 0 || x.args[0] == "":
		return fmt.Errorf("%s needs a command to run under lock %q, such as 'stile exec demo -- ls'", c.CommandPath(), x.name)
	case x.shell && len(x.args) > 1:
		return fmt.Errorf("with --shell the command is one argument, but got %q too: put it in quotes", x.args[1])
	}
	return x.check()
}

func (x *execFlags) run(c *cobra.Command) error {
	if err := x.target.resolve(c); err != nil {
		return err
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	client, err := x.target.dial(ctx, clientName(x.args[0]))
	if err != nil {
		return failed("%v", err)
	}
	lock, err := x.acquire(ctx, client, x.name, c.ErrOrStderr())
	if err != nil {
		_ = client.Close()
		return err
	}
	stop() // signals are the command's from here on
	res, err := x.under(lock)
	if !res.Gone { // what is left may still act: nobody may have the lock before the lease is over
		return failed("lock %q: %v", x.name, err)
	}
	lost := x.release(client, lock, c.ErrOrStderr())
	switch {
	case err != nil && res.Lost:
		return failed("lock %q: %v", x.name, err)
	case err != nil:
		return exitError{code: res.Code, why: err.Error()}
	case lost != nil:
		return failed("the command has ended with code %d, but no node confirms that the lock was held until then: %v", res.Code, lost)
	case res.Code != 0:
		return exitError{code: res.Code}
	}
	return nil
}

// under runs the command while the lock is held.
func (x *execFlags) under(lock lock.Handle) (child.Result, error) {
	lease := child.NewLease(leaseEnd(lock))
	over := make(chan struct{})
	defer close(over)
	go extendLease(lock, lease, over)
	return child.Run(lock.Context(), child.Config{
		Args: x.args, Shell: x.shell, Env: child.Environ(os.Environ(), x.name, lock.Token().String()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Grace: x.grace, Lease: lease, Linger: x.linger,
	})
}

// leaseEnd is when the lock is over if nothing more is heard of the node. The clock is
// read first: what the process sleeps through in between makes it earlier.
func leaseEnd(lock lock.Handle) child.Moment {
	now := child.Now()
	until := lock.Deadline()
	if until.IsZero() {
		return now // it is lost already
	}
	return now.Add(time.Until(until))
}

// extendLease tells the command's watchdog whenever the lock is held for longer.
func extendLease(lock lock.Handle, lease *child.Lease, over <-chan struct{}) {
	every := min(max(lease.Until().Sub(child.Now())/20, 5*time.Millisecond), time.Second)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			lease.Extend(leaseEnd(lock))
		case <-over:
			return
		}
	}
}
