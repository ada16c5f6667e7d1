package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/child"
	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/lock"
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
	verbose  bool
}

// define defines the flags.
func (t *acquireFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	t.wait, t.conflict = -1, child.Conflict
	fs.BoolVarP(&t.nonblock, "nonblock", "n", false, "do not wait if the lock is held or waited for")
	fs.VarP(durationFlag(&t.wait, 0, maxWait), "wait", "w", "maximum `TIME` to wait, in seconds or with a unit (default forever)")
	fs.VarP(countFlag(&t.conflict, 0, 255), "conflict-exit-code", "E", "exit code if the lock is not acquired with -n or -w")
	fs.BoolVar(&t.verbose, "verbose", false, "report on standard error when the lock is acquired and released")
	hideDefaults(fs, "wait")
	t.target.define(fs)
}

// check refuses flags that contradict each other.
func (t *acquireFlags) check() error {
	if t.nonblock && t.wait >= 0 {
		return errors.New("--nonblock and --wait contradict each other: give one of them")
	}
	return nil
}

// failed is the error if stile itself fails.
func failed(format string, args ...any) error {
	return exitError{code: child.Failed, why: fmt.Sprintf(format, args...)}
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

// acquire waits for the lock. Its error has the exit code.
func (t *acquireFlags) acquire(ctx context.Context, c *client.Client, name string, stderr io.Writer) (lock.Handle, error) {
	options := lock.Options{Try: t.nonblock || t.wait == 0, Wait: max(t.wait, 0)}
	if !options.Try {
		late, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(explainAfter, func() { t.explain(late, c, name, stderr) })
		defer timer.Stop()
		defer cancel()
	}
	l, err := c.Lock(ctx, name, options)
	if err == nil {
		if t.verbose {
			fmt.Fprintf(stderr, "stile: acquired %s with token %s through %s\n", name, l.Token(), c.Node())
		}
		return l, nil
	}
	var by signalled
	switch {
	case errors.As(context.Cause(ctx), &by):
		return nil, exitError{code: child.Signalled + int(by.Signal), why: "stopped by a signal while waiting for " + name}
	case errors.Is(err, lock.ErrBusy), errors.Is(err, lock.ErrRecovering):
		return nil, exitError{code: t.conflict, why: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, exitError{code: t.conflict, why: fmt.Sprintf("lock %q: not acquired within %v: 'stile locks' shows who holds it", name, t.wait)}
	}
	return nil, failed("%v", err)
}

// explain prints why the command waits.
func (t *acquireFlags) explain(ctx context.Context, c *client.Client, name string, stderr io.Writer) {
	why := "the node does not answer"
	if s, err := t.target.at(c.Node()).survey(ctx, name); err == nil {
		why = waitReason(s, name)
	}
	if ctx.Err() == nil {
		fmt.Fprintf(stderr, "stile: waiting for %s: %s\n", name, why)
	}
}

func waitReason(s *lockSurvey, name string) string {
	for _, l := range s.Locks {
		switch {
		case l.Name != name:
		case l.Holder != nil:
			return fmt.Sprintf("held by %s with token %s for %.1f s", l.Holder.Who, l.Holder.Token, l.Holder.Held)
		case len(l.Waiters) > 0:
			return l.Waiters[0].Why
		}
	}
	return "no node reports a holder"
}

// release releases the lock, and returns an error if it was lost before.
func (t *acquireFlags) release(c *client.Client, l lock.Handle, stderr io.Writer) error {
	err := l.Unlock()
	_ = c.Close() // it cannot fail
	if err == nil && t.verbose {
		fmt.Fprintf(stderr, "stile: released %s\n", l.Name())
	}
	return err
}
