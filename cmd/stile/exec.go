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

// execFlags holds the flags and arguments of 'stile exec'.
type execFlags struct {
	acquireFlags
	shell  bool
	grace  time.Duration
	linger bool
	name   string
	args   []string
}

func newExec() *cobra.Command {
	x := &execFlags{grace: 2 * time.Second}
	c := &cobra.Command{
		Use:   "exec LOCK [flags] [--] COMMAND [ARGUMENT...]",
		Short: "Run a command while a lock is held",
		Long: `Waits for a lock, runs a command while holding it, and releases the lock when
the command exits. The command gets standard input, signals, and the environment
with STILE_LOCK and STILE_TOKEN added; stile exits with its exit code. Within the
command, 'stile exec' refuses to wait for the same lock again (see STILE_HELD).
STILE_TOKEN is a fencing token, higher than those of all earlier holders. A
resource that refuses tokens lower than it has seen is safe whatever happens.

If the node stops or crashes, stile claims the lock through another node. The
lock is lost if none confirms that before the lease, less --grace, expires; if
there is no contact with a majority for that long; or if an operator takes it.
The command and its children then get TERM, and KILL after --grace, before the
lock can be acquired again, and the exit code is 125. The shorter --grace is, the
more crashes a command survives. If stile itself is killed with -9, a watchdog
ends the command in the same way. If the watchdog is killed at the same moment,
or the whole machine is suspended for longer than the lease, the command cannot
be ended in time: only the token protects the resource then.

Without -n, stile also waits for a node to start and for a majority of the
nodes; -w is the only limit. After a second it reports what it waits for.

Exit codes: the command's own, or 128 plus the number of the signal that ended
it; 1, or the value of -E, if -n or -w was given and the lock was not acquired;
2 if stile was called wrongly; 125 if the lock was lost or stile failed; 126 if
the command cannot be run; 127 if it was not found.

Flags after the name of the lock are stile's until the command begins. Put --
before a command that begins with a hyphen.`,
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
	return c
}

// define defines the flags.
func (x *execFlags) define(fs *pflag.FlagSet) {
	x.acquireFlags.define(fs)
	fs.BoolVarP(&x.shell, "shell", "c", false, "run the command, given as one argument, in the shell: $SHELL or /bin/sh")
	fs.Var(durationFlag(&x.grace, 0, time.Hour), "grace", "maximum time for the command to exit when the lock is lost; never longer than the lease")
	fs.BoolVar(&x.linger, "linger", false, "hold the lock until background processes of the command exit, instead of killing them")
}

// parse parses the name of the lock, the flags after it, and the command.
func (x *execFlags) parse(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the name of a lock and a command, such as 'stile exec demo -- ls'", c.CommandPath())
	}
	if err := x.split(c, args); err != nil {
		return err
	}
	if len(x.args) == 0 || x.args[0] == "" {
		return fmt.Errorf("%s needs a command to run under lock %q, such as 'stile exec demo -- ls'", c.CommandPath(), x.name)
	}
	return x.check()
}

// split parses the name of the lock, the flags after it, and the command, if there is one.
func (x *execFlags) split(c *cobra.Command, args []string) error {
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
	if x.shell && len(x.args) > 1 {
		return fmt.Errorf("with --shell the command is one argument, but %q was also given: quote the command", x.args[1])
	}
	return nil
}

func (x *execFlags) run(c *cobra.Command) error {
	if err := x.target.resolve(c); err != nil {
		return err
	}
	ctx, stop := untilSignal(c.Context())
	defer stop()
	client, lock, err := x.acquire(ctx, clientName(x.args[0]), x.name, c.ErrOrStderr())
	if err != nil {
		return err
	}
	stop() // from here on signals go to the command
	res, err := x.under(lock)
	if !res.Gone { // remaining processes may still act: the lock must stay taken until the lease expires
		return failed("lock %q: %v", x.name, err)
	}
	if errors.Is(err, child.ErrExpired) {
		if why := client.Trouble(); why != nil {
			err = fmt.Errorf("%w: %w", why, err)
		}
	}
	x.verbose = x.verbose && !res.Lost // what is released now was already lost for the command
	lost := x.release(client, lock, c.ErrOrStderr())
	switch {
	case err != nil && res.Lost:
		return failed("lock %q: %v", x.name, err)
	case err != nil:
		return exitError{code: res.Code, why: err.Error()}
	case lost != nil:
		return failed("the command exited with code %d, but no node confirms that the lock was held until then: %v", res.Code, lost)
	case res.Code != 0:
		return exitError{code: res.Code}
	}
	return nil
}

// under runs the command while the lock is held.
func (x *execFlags) under(lock lock.Handle) (child.Result, error) {
	lease := child.NewLease(leaseEnd(lock))
	done := make(chan struct{})
	defer close(done)
	go extendLease(lock, lease, done)
	environ := child.Environ
	if x.elects {
		environ = child.LeaderEnviron
	}
	return child.Run(lock.Context(), child.Config{
		Args: x.args, Shell: x.shell, Env: environ(os.Environ(), x.name, lock.Token().String()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Grace: x.grace, Lease: lease, Linger: x.linger,
	})
}

// leaseEnd is when the lock expires if the node is not heard from again. The clock is
// read first, so that a pause in between makes the result earlier, never later.
func leaseEnd(lock lock.Handle) child.Moment {
	now := child.Now()
	until := lock.Deadline()
	if until.IsZero() {
		return now // already lost
	}
	return now.Add(time.Until(until))
}

// extendLease extends the lease of the command's watchdog whenever the lock is renewed.
func extendLease(lock lock.Handle, lease *child.Lease, done <-chan struct{}) {
	every := min(max(lease.Until().Sub(child.Now())/20, 5*time.Millisecond), time.Second)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			lease.Extend(leaseEnd(lock))
		case <-done:
			return
		}
	}
}
