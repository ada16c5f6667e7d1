package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/child"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/words"
)

// A holding is the locks that a command holds, through one client.
type holding struct {
	client *client.Client
	locks  []lock.Handle // in the order in which they were acquired
}

// lock returns the lock of this name.
func (h *holding) lock(name string) lock.Handle {
	return h.locks[slices.IndexFunc(h.locks, func(l lock.Handle) bool { return l.Name() == name })]
}

// err returns why a lock is no longer held, or nil.
func (h *holding) err() error {
	for _, l := range h.locks {
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns why a lock should be released because an older transaction waits for it,
// or nil.
func (h *holding) wanted() error {
	for _, l := range h.locks {
		if err := context.Cause(l.Context()); errors.Is(err, lock.ErrDeadlock) {
			return err
		}
	}
	return nil
}

// unlock releases the locks. Its error is that of one that was lost before.
func (h *holding) unlock() (err error) {
	for _, l := range slices.Backward(h.locks) {
		err = errors.Join(err, l.Unlock())
	}
	h.locks = nil
	return err
}

// leaseEnd is when the first lock expires if the node is not heard from again. The clock is
// read first, so that a pause in between makes the result earlier, never later.
func (h *holding) leaseEnd() child.Moment {
	now := child.Now()
	var left []time.Duration
	for _, l := range h.locks {
		until := l.Deadline()
		if until.IsZero() {
			return now // already lost
		}
		left = append(left, time.Until(until))
	}
	return now.Add(slices.Min(left))
}

// watch returns a context that ends when a lock is lost, and calls renewed, which may be
// nil, with leaseEnd now and then. That an older transaction waits for a lock is no reason
// to give it up: what runs under the locks waits for none, so it is in no deadlock.
func (h *holding) watch(parent context.Context, renewed func(child.Moment)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var stops []func() bool
	for _, l := range h.locks {
		stops = append(stops, context.AfterFunc(l.Context(), func() {
			if err := l.Err(); err != nil {
				cancel(err)
			}
		}))
	}
	every := min(max(h.leaseEnd().Sub(child.Now())/20, 5*time.Millisecond), time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
			if renewed != nil {
				renewed(h.leaseEnd())
			}
			if err := h.err(); err != nil {
				cancel(err) // its context may have ended before, for another reason
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
		for _, stop := range stops {
			stop()
		}
	}
}

// acquire connects as a client of this name and waits for all locks. --wait limits all of
// that together. Its error has the exit code.
func (t *acquireFlags) acquire(ctx context.Context, who string, names []string, stderr io.Writer) (*holding, error) {
	for _, name := range names {
		if t.waits() && slices.Contains(child.Held(os.Environ()), name) {
			return nil, fmt.Errorf("lock %q: a command around this one already holds it (%s), so waiting for it would never end: do not acquire it again; for a lock of another cluster, unset %s", name, child.HeldVariable, child.HeldVariable)
		}
	}
	end := time.Now().Add(t.wait)
	what := listNames(names, words.Quoted)
	c, err := t.connect(ctx, who, what, stderr)
	if err != nil {
		return nil, orSignal(ctx, what, failed("%v", err))
	}
	h := &holding{client: c}
	names = slices.Compact(slices.Sorted(slices.Values(names))) // the same order everywhere: no deadlock
	for tries := 0; ; tries++ {
		again, err := t.all(ctx, h, names, end, stderr)
		if err == nil {
			break
		}
		_ = h.unlock() // if one was lost, that does not matter any more
		if !again {
			_ = c.Close()
			return nil, err
		}
		lock.Pause(ctx, tries)
	}
	for _, l := range h.locks {
		if t.value != "" || t.elects {
			_ = l.SetValue(t.value) // if the lock is lost already, the caller finds out
		}
		if t.verbose {
			notify(stderr, "acquired %s with token %s through %s", words.Quoted(l.Name()), l.Token(), c.Node())
		}
	}
	return h, nil
}

// listNames lists names of locks: in errors with strconv.Quote, elsewhere with words.Quoted.
func listNames(names []string, quote func(string) string) string {
	var all []string
	for _, name := range names {
		all = append(all, quote(name))
	}
	return strings.Join(all, ", ")
}

// all waits for the locks, one after the other. If it fails, again reports whether that is
// only because an older transaction needs a lock that is already held.
func (t *acquireFlags) all(ctx context.Context, h *holding, names []string, end time.Time, stderr io.Writer) (again bool, err error) {
	for _, name := range names {
		inner, cancel := context.WithCancelCause(ctx)
		for _, l := range h.locks {
			held := l.Context()
			defer context.AfterFunc(held, func() { cancel(context.Cause(held)) })()
		}
		l, err := t.one(inner, h.client, name, end, stderr)
		cancel(nil)
		if err == nil {
			h.locks = append(h.locks, l)
			continue
		}
		switch lost := h.err(); {
		case ctx.Err() != nil:
			return false, orSignal(ctx, words.Quoted(name), t.notAcquired(name, err))
		case lost != nil:
			return false, failed("while waiting for %s: %v", words.Quoted(name), lost)
		case h.wanted() != nil:
			return true, err
		}
		return false, t.notAcquired(name, err)
	}
	if err := h.err(); err != nil {
		return false, failed("%v", err)
	}
	return false, nil
}

// one waits for one lock.
func (t *acquireFlags) one(ctx context.Context, c *client.Client, name string, end time.Time, stderr io.Writer) (lock.Handle, error) {
	options := lock.Options{Try: !t.waits(), Terms: t.terms}
	if t.wait > 0 {
		options.Wait = max(time.Until(end), 1) // 0 would be forever
	}
	if t.waits() {
		defer explainLater(ctx, words.Quoted(name), stderr, func(ctx context.Context) string { return t.whyLock(ctx, c, name) })()
	}
	return c.Lock(ctx, name, options)
}

// release releases the locks, and returns an error if one was lost before.
func (t *acquireFlags) release(h *holding, stderr io.Writer) error {
	var names []string
	for _, l := range h.locks {
		names = append(names, l.Name())
	}
	err := h.unlock()
	_ = h.client.Close() // it cannot fail
	if err == nil && t.verbose {
		for _, name := range names {
			notify(stderr, "released %s", words.Quoted(name))
		}
	}
	return err
}
