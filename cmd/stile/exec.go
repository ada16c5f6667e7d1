package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/terminal"
)

// execFlags holds the flags and arguments of 'stile exec'.
type execFlags struct {
	acquireFlags
	shell  bool
	grace  time.Duration
	linger bool
	names  []string // of the locks, as they were given
	args   []string
}

func newExec() *cobra.Command {
	x := &execFlags{grace: 2 * time.Second}
	c := &cobra.Command{
		Use:   "exec LOCK... [flags] [--] COMMAND [ARGUMENT...]",
		Short: "Run a command while one or more locks are held",
		Long: `Waits for a lock, runs a command while holding it, and releases the lock when
the command exits. The command gets standard input, signals, and the environment
with STILE_LOCK and STILE_TOKEN added; stile exits with its exit code. Within
the command, 'stile exec' refuses to wait for the same lock again (STILE_HELD).
STILE_TOKEN is a fencing token, higher than those of all earlier holders. A
resource that refuses tokens lower than it has seen is safe whatever happens.

Several locks are acquired all or none, and in the same order everywhere, so
that commands do not deadlock. STILE_LOCK and STILE_TOKEN are then those of the
first one given, and STILE_TOKENS is a JSON object with the tokens of all.
A lock that is kept, such as kept/x, can also be shared, or be a semaphore, with
--shared and --units, which apply to all locks given: see docs/kept.md.

If the node stops or crashes, stile claims the lock through another node. The
lock is lost if none confirms that before the lease, less --grace, expires; if
there is no contact with a majority for that long; or if an operator takes it.
The command and its children then get TERM, and KILL after --grace, before the
lock can be acquired again, and the exit code is 125. The shorter --grace is,
the more crashes a command survives. If stile itself is killed with -9, a
watchdog ends the command in the same way. If the watchdog is killed at the same
moment, or the whole machine is suspended for longer than the lease, the command
cannot be ended in time: only the token protects the resource then.

Without -n, stile also waits for a node to start and for a majority of the
nodes; -w is the only limit. After a second it reports what it waits for.

Exit codes: the command's own, or 128 plus the number of the signal that ended
it; 1, or the value of -E, if -n or -w was given and the lock was not acquired;
2 if stile was called wrongly; 125 if the lock was lost or stile failed; 126 if
the command cannot be run; 127 if it was not found.

Everything before -- is the name of a lock or a flag of stile. Without --, the
first word is the lock, and the next one that is no flag begins the command.`,
		Example: `  stile exec nightly-backup -- ./backup.sh --full
  stile exec demo -n -- sh -c 'echo $STILE_TOKEN'
  stile exec demo --shell 'echo $STILE_TOKEN'
  stile exec demo --wait 5 --conflict-exit-code 75 -- ./import.sh
  stile exec account/3 account/7 -- ./transfer.sh
  stile exec --shared kept/catalogue -- ./report.sh
  stile exec --units 2/5 kept/licences -- ./render.sh`,
		Args:                  x.parse,
		RunE:                  func(c *cobra.Command, _ []string) error { return x.run(c) },
		ValidArgsFunction:     completeCommand,
		DisableFlagsInUseLine: true,
	}
	fs := c.Flags()
	fs.SetInterspersed(false)
	x.define(fs)
	x.defineModes(fs)
	return c
}

// completeCommand completes files after the name of a lock: a command and its arguments.
func completeCommand(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// define defines the flags.
func (x *execFlags) define(fs *pflag.FlagSet) {
	x.acquireFlags.define(fs)
	fs.BoolVarP(&x.shell, "shell", "c", false, "run the command, given as one argument, in the shell: $SHELL or /bin/sh")
	fs.Var(durationFlag(&x.grace, 0, time.Hour), "grace", "maximum time for the command to exit when the lock is lost; never longer than the lease")
	fs.BoolVar(&x.linger, "linger", false, "hold the lock until background processes of the command exit, instead of killing them")
}

// parse parses the names of the locks, the flags, and the command.
func (x *execFlags) parse(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s needs the name of a lock and a command, such as 'stile exec demo -- ls'", c.CommandPath())
	}
	if err := x.split(c, args); err != nil {
		return err
	}
	if len(x.args) == 0 || x.args[0] == "" {
		return fmt.Errorf("%s needs a command to run under lock %s, such as 'stile exec demo -- ls'", c.CommandPath(), listNames(x.names, strconv.Quote))
	}
	return x.check()
}

// split parses the names of locks, the flags after the first one, and the command, if there
// is one. With --, everything before it is a name or a flag. Without, there is one name.
func (x *execFlags) split(c *cobra.Command, args []string) error {
	fs := c.Flags()
	flags := args[1:]
	dash := slices.Index(args, "--")
	if dash > 0 {
		flags = args[1:dash]
		fs.SetInterspersed(true)
	}
	if err := fs.Parse(flags); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return c.FlagErrorFunc()(c, err)
	}
	if help, _ := fs.GetBool("help"); help {
		return pflag.ErrHelp
	}
	x.names, x.args = args[:1], fs.Args()
	if dash > 0 {
		x.names, x.args = append(slices.Clone(x.names), fs.Args()...), args[dash+1:]
	}
	for _, name := range x.names {
		if err := checkLockName(name); err != nil {
			return err
		}
	}
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
	h, err := x.acquire(ctx, clientName(x.args[0]), x.names, c.ErrOrStderr())
	if err != nil {
		return err
	}
	stop() // from here on signals go to the command
	res, err := x.under(h)
	if !res.Gone { // remaining processes may still act: the locks must stay taken until the lease expires
		return failed("lock %s: %v", listNames(x.names, strconv.Quote), err)
	}
	if errors.Is(err, child.ErrExpired) {
		if why := h.client.Trouble(); why != nil {
			err = fmt.Errorf("%w: %w", why, err)
		}
	}
	x.verbose = x.verbose && !res.Lost // what is released now was already lost for the command
	lost := x.release(h, c.ErrOrStderr())
	switch {
	case err != nil && res.Lost:
		return failed("lock %s: %v", listNames(x.names, strconv.Quote), err)
	case err != nil:
		return terminal.ExitError{Code: res.Code, Why: err.Error()}
	case lost != nil:
		return failed("the command exited with code %d, but no node confirms that the lock was held until then: %v", res.Code, lost)
	case res.Code != 0:
		return terminal.ExitError{Code: res.Code}
	}
	return nil
}

// under runs the command while the locks are held.
func (x *execFlags) under(h *holding) (child.Result, error) {
	lease := child.NewLease(h.leaseEnd())
	ctx, stop := h.watch(context.Background(), lease.Extend)
	defer stop()
	return child.Run(ctx, child.Config{
		Args: x.args, Shell: x.shell, Env: x.environ(h),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Grace: x.grace, Lease: lease, Linger: x.linger,
	})
}

// environ returns the environment of the command.
func (x *execFlags) environ(h *holding) []string {
	var all []child.Lock
	for _, name := range x.names {
		all = append(all, child.Lock{Name: name, Token: h.lock(name).Token().String()})
	}
	if x.elects {
		return child.LeaderEnviron(os.Environ(), all[0])
	}
	return child.Environ(os.Environ(), all[0], all[1:]...)
}
