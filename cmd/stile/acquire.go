package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// maxWait is the longest --wait.
const maxWait = 365 * 24 * time.Hour

// explainAfter is the time after which a waiting command prints why it waits.
const explainAfter = time.Second

// acquireFlags holds the flags that say how to acquire a lock. They are those of
// flock.
type acquireFlags struct {
	target   target
	nonblock bool
	wait     time.Duration
	conflict int
	value    string
	verbose  bool
	shared   bool
	terms    member.Terms // units of a semaphore
	elects   bool         // a value is attached in any case, which makes the holder the leader
}

// define defines the flags.
func (t *acquireFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	t.wait, t.conflict = -1, child.Conflict
	fs.BoolVarP(&t.nonblock, "nonblock", "n", false, "do not wait if the lock is held or waited for")
	fs.VarP(durationFlag(&t.wait, 0, maxWait), "wait", "w", "maximum `TIME` to wait, in seconds or with a unit (default forever)")
	fs.VarP(terminal.CountFlag(&t.conflict, 0, 255), "conflict-exit-code", "E", "exit code if the lock is not acquired with -n or -w")
	fs.StringVar(&t.value, "value", "", "`TEXT` that 'stile locks' shows while the lock is held, up to 256 bytes")
	fs.BoolVar(&t.verbose, "verbose", false, "report on standard error when the lock is acquired and released")
	terminal.HideDefaults(fs, "wait")
	t.target.define(fs)
}

// defineModes defines the flags that only kept locks have.
func (t *acquireFlags) defineModes(fs *pflag.FlagSet) {
	fs.BoolVarP(&t.shared, "shared", "s", false, "share the lock with other holders that share it; only a kept lock, such as kept/x")
	fs.Var(unitsFlag(&t.terms), "units", "units of a semaphore: K of the N that it has, such as 2/5; only a kept lock")
}

// unitsFlag takes a number of units of a semaphore, and the number that it has.
func unitsFlag(to *member.Terms) pflag.Value {
	return terminal.NewFlag(to, "K/N", func(s string) (member.Terms, error) {
		some, all, _ := strings.Cut(s, "/")
		k, err := strconv.Atoi(some)
		n, bad := strconv.Atoi(all)
		switch {
		case err != nil || bad != nil:
			return member.Terms{}, errors.New("must be two numbers, such as 2/5 for two of a semaphore's five units")
		case k < 1 || n < k || n > member.MaxUnits:
			return member.Terms{}, fmt.Errorf("must be K/N, with K from 1 to N, and N at most %d", member.MaxUnits)
		}
		return member.Terms{Mode: deadlock.Mode(k), Units: n}, nil
	}, func(t member.Terms) string {
		if t.Units == 0 {
			return ""
		}
		return fmt.Sprintf("%d/%d", t.Mode, t.Units)
	})
}

// check refuses flags that contradict each other.
func (t *acquireFlags) check() error {
	switch {
	case t.shared && t.terms.Units > 0:
		return errors.New("--shared and --units contradict each other: give one of them")
	case t.shared:
		t.terms = member.Terms{Mode: deadlock.Shared}
	}
	if t.nonblock && t.wait >= 0 {
		return errors.New("--nonblock and --wait contradict each other: give one of them")
	}
	if err := session.CheckValue(t.value); err != nil {
		return fmt.Errorf("--value: %w", err)
	}
	return nil
}

// failed is the error if stile itself fails.
func failed(format string, args ...any) error {
	return terminal.ExitError{Code: child.Failed, Why: fmt.Sprintf(format, args...)}
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.String() }

// untilSignal returns a context that ends when a signal tells the process to end.
// Signals that were ignored at its start stay ignored. After stop, signals end the
// process again.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case s := <-signals:
			cancel(signalled{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// waits reports whether the command waits, for a node as well as for the lock.
func (t *acquireFlags) waits() bool { return !t.nonblock && t.wait != 0 }

// connect opens a session with a node. If the command waits, it also waits for a node that
// can open one: for nodes to start, and for a majority of them.
func (t *acquireFlags) connect(ctx context.Context, who, what string, stderr io.Writer) (*client.Client, error) {
	if !t.waits() {
		return t.target.dial(ctx, who)
	}
	if t.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.wait, fmt.Errorf("waited for %v", t.wait))
		defer cancel()
	}
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	defer explainLater(ctx, what, stderr, func(ctx context.Context) string {
		why := t.whyNoSession(ctx)
		if client.NeedsTLS(why) {
			refuse(why) // waiting does not help
		}
		return why.Error()
	})()
	c, err := client.Dial(ctx, t.target.config(who))
	switch why := context.Cause(ctx); {
	case err == nil:
		return c, nil
	case client.NeedsTLS(why):
		return nil, why
	}
	return nil, t.target.withHint(err)
}

// orSignal returns the error of a command that has not acquired the lock, which is that of
// the signal if one came.
func orSignal(ctx context.Context, what string, err error) error {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return terminal.ExitError{Code: child.Signalled + int(by.Signal), Why: "stopped by a signal while waiting for " + what}
	}
	return err
}

// notAcquired returns the error, with the exit code, of a request that failed.
func (t *acquireFlags) notAcquired(name string, err error) error {
	switch {
	case errors.Is(err, lock.ErrBusy), errors.Is(err, lock.ErrRecovering):
		return terminal.ExitError{Code: t.conflict, Why: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return terminal.ExitError{Code: t.conflict, Why: fmt.Sprintf("lock %q: not acquired within %v; to see who holds it, run 'stile locks'", name, t.wait)}
	}
	return failed("%v", err)
}

// explainLater prints why the command waits, if it still does after a while. The function
// that it returns ends that.
func explainLater(ctx context.Context, what string, stderr io.Writer, why func(context.Context) string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	timer := time.AfterFunc(explainAfter, func() {
		defer close(done)
		if why := why(ctx); ctx.Err() == nil {
			notify(stderr, "waiting for %s: %s", what, why)
		}
	})
	return func() {
		cancel()
		if !timer.Stop() {
			<-done
		}
	}
}

// whyNoSession returns why no node opens a session.
func (t *acquireFlags) whyNoSession(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, explainAfter)
	defer cancel()
	if err := t.target.checkListening(soon); err != nil {
		return err
	}
	s, at, err := t.target.member(ctx)
	switch {
	case err != nil:
		return err
	case s.Why != "":
		return fmt.Errorf("node %s at %s has %s", s.Node, at, s.Why)
	}
	return fmt.Errorf("node %s at %s has not opened a session yet", s.Node, at)
}

// whyLock returns why the lock is not acquired yet.
func (t *acquireFlags) whyLock(ctx context.Context, c *client.Client, name string) string {
	s, err := t.target.at(c.Node()).survey(ctx, node.LockQuery{Prefix: name})
	if err != nil {
		return err.Error()
	}
	return waitReason(s, name)
}

func waitReason(s *survey.Locks, name string) string {
	for _, l := range s.Locks {
		switch {
		case l.Name != name:
		case l.Holder != nil:
			why := fmt.Sprintf("held by %s with token %s for %.1f s", l.Holder.Who, l.Holder.Token, l.Holder.Held)
			if n := len(l.Shared); n > 0 {
				why = fmt.Sprintf("held by %s and %s", l.Holder.Who, words.Plural(n, "other"))
			}
			if l.Holder.Value != "" {
				why += ", value " + words.Quoted(l.Holder.Value)
			}
			return why
		case len(l.Waiters) > 0:
			return l.Waiters[0].Why
		}
	}
	return "no node reports a holder" + missingNodes(s)
}
