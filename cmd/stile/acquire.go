package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/stile-lock/stile/internal/live/child"
	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/lock"
	"github.com/stile-lock/stile/internal/live/node"
	"github.com/stile-lock/stile/internal/live/session"
	"github.com/stile-lock/stile/internal/live/survey"
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
	elects   bool // a value is attached in any case, which makes the holder the leader
}

// define defines the flags.
func (t *acquireFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	t.wait, t.conflict = -1, child.Conflict
	fs.BoolVarP(&t.nonblock, "nonblock", "n", false, "do not wait if the lock is held or waited for")
	fs.VarP(durationFlag(&t.wait, 0, maxWait), "wait", "w", "maximum `TIME` to wait, in seconds or with a unit (default forever)")
	fs.VarP(countFlag(&t.conflict, 0, 255), "conflict-exit-code", "E", "exit code if the lock is not acquired with -n or -w")
	fs.StringVar(&t.value, "value", "", "`TEXT` that 'stile locks' shows while the lock is held, up to 256 bytes")
	fs.BoolVar(&t.verbose, "verbose", false, "report on standard error when the lock is acquired and released")
	hideDefaults(fs, "wait")
	t.target.define(fs)
}

// check refuses flags that contradict each other.
func (t *acquireFlags) check() error {
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

// waits reports whether the command waits, for a node as well as for the lock.
func (t *acquireFlags) waits() bool { return !t.nonblock && t.wait != 0 }

// acquire connects as a client of this name and waits for the lock. --wait limits both
// together. Its error has the exit code.
func (t *acquireFlags) acquire(ctx context.Context, who, name string, stderr io.Writer) (*client.Client, lock.Handle, error) {
	if t.waits() && slices.Contains(child.Held(os.Environ()), name) {
		return nil, nil, fmt.Errorf("lock %q: a command around this one already holds it (%s), so waiting for it would never end: do not acquire it again; for a lock of another cluster, unset %s", name, child.HeldVariable, child.HeldVariable)
	}
	start := time.Now()
	c, err := t.connect(ctx, who, name, stderr)
	if err != nil {
		return nil, nil, orSignal(ctx, name, failed("%v", err))
	}
	options := lock.Options{Try: !t.waits()}
	if t.wait > 0 {
		options.Wait = max(t.wait-time.Since(start), 1) // 0 would be forever
	}
	stop := func() {}
	if t.waits() {
		stop = explainLater(ctx, name, stderr, func(ctx context.Context) string { return t.whyLock(ctx, c, name) })
	}
	l, err := c.Lock(ctx, name, options)
	stop()
	if err != nil {
		_ = c.Close()
		return nil, nil, orSignal(ctx, name, t.notAcquired(name, err))
	}
	if t.value != "" || t.elects {
		_ = l.SetValue(t.value) // if the lock is lost already, the caller finds out
	}
	if t.verbose {
		notify(stderr, "acquired %s with token %s through %s", words.Quoted(name), l.Token(), c.Node())
	}
	return c, l, nil
}

// connect opens a session with a node. If the command waits, it also waits for a node that
// can open one: for nodes to start, and for a majority of them.
func (t *acquireFlags) connect(ctx context.Context, who, name string, stderr io.Writer) (*client.Client, error) {
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
	defer explainLater(ctx, name, stderr, func(ctx context.Context) string {
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
func orSignal(ctx context.Context, name string, err error) error {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return exitError{code: child.Signalled + int(by.Signal), why: "stopped by a signal while waiting for " + words.Quoted(name)}
	}
	return err
}

// notAcquired returns the error, with the exit code, of a request that failed.
func (t *acquireFlags) notAcquired(name string, err error) error {
	switch {
	case errors.Is(err, lock.ErrBusy), errors.Is(err, lock.ErrRecovering):
		return exitError{code: t.conflict, why: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return exitError{code: t.conflict, why: fmt.Sprintf("lock %q: not acquired within %v; to see who holds it, run 'stile locks'", name, t.wait)}
	}
	return failed("%v", err)
}

// explainLater prints why the command waits, if it still does after a while. The function
// that it returns ends that.
func explainLater(ctx context.Context, name string, stderr io.Writer, why func(context.Context) string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	timer := time.AfterFunc(explainAfter, func() {
		defer close(done)
		if why := why(ctx); ctx.Err() == nil {
			notify(stderr, "waiting for %s: %s", words.Quoted(name), why)
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

// release releases the lock, and returns an error if it was lost before.
func (t *acquireFlags) release(c *client.Client, l lock.Handle, stderr io.Writer) error {
	err := l.Unlock()
	_ = c.Close() // it cannot fail
	if err == nil && t.verbose {
		notify(stderr, "released %s", words.Quoted(l.Name()))
	}
	return err
}
