package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/clock"
	"github.com/stile-lock/stile/internal/session"
)

// A Hold is a lock that an application in this process holds or waits for.
type Hold struct {
	client  *Client
	request uint64
	name    string
	token   member.Token
	born    uint64
	state   state
	done    chan struct{} // closed when the request is decided
	left    chan struct{} // closed when the release is confirmed; nil unless Unlock waits for that
	end     lock.End

	// These are set before done or left is closed, and never afterwards.
	granted bool // if the lock was lost a moment later, Err reports that
	why     session.Why
	text    string
	victim  *member.Victim
	ok      bool // it was held until it was released
	lost    error
}

type state uint8

const (
	asking state = iota
	inside
	refused
	lost
	released
)

// Lock requests a lock and waits for it. The error is nil if and only if the lock is held.
func (x *Client) Lock(ctx context.Context, name string, o lock.Options) (lock.Handle, error) {
	for tries, end := 0, time.Now().Add(o.Wait); ; tries++ {
		h, err := x.lock(ctx, name, o)
		if !o.Again(ctx, err, tries) {
			return h, err
		}
		if o.Wait > 0 {
			o.Wait = max(time.Until(end), 1)
		}
	}
}

// With requests another lock of the transaction that holds this one.
func (h *Hold) With(ctx context.Context, name string, o lock.Options) (lock.Handle, error) {
	l, err := h.client.Lock(ctx, name, o)
	if errors.Is(err, ErrClosed) {
		err = fmt.Errorf("lock %q: %w", name, lock.ErrMoved)
	}
	return l, err
}

// lock makes a request once.
func (x *Client) lock(ctx context.Context, name string, o lock.Options) (lock.Handle, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %q: %w", name, lock.Done(ctx))
	}
	h := &Hold{client: x, name: name, done: make(chan struct{})}
	done := h.done
	var err error
	x.use(func(now member.Instant) {
		if h.request, err = x.session.Lock(now, name, session.Opts{Try: o.Try, Wait: member.Span(o.Wait), Terms: o.Terms}); err == nil {
			x.holds[h.request] = h
		}
	})
	if errors.Is(err, session.ErrClosed) {
		err = ErrClosed
	}
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	select {
	case <-done:
	case <-ctx.Done():
		x.use(func(now member.Instant) {
			if h.state == asking {
				h.state = refused
				delete(x.holds, h.request)
				_ = x.session.Unlock(now, h.request) // it waits, so this cannot fail
			}
		})
	}
	return h.outcome(ctx, o)
}

// outcome returns the outcome of a request.
func (h *Hold) outcome(ctx context.Context, o lock.Options) (lock.Handle, error) {
	if h.granted {
		return h, nil
	}
	err := h.refusal(ctx, o)
	if ctx.Err() != nil || h.why == session.Unreachable || h.why == session.Late {
		if why := h.client.strangers(); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		}
	}
	return nil, err
}

// refusal returns why a request has ended without the lock.
func (h *Hold) refusal(ctx context.Context, o lock.Options) error {
	if ctx.Err() != nil {
		return fmt.Errorf("lock %q: %w", h.name, lock.Done(ctx))
	}
	switch h.why {
	case session.Busy:
		return fmt.Errorf("lock %q: %w", h.name, lock.ErrBusy)
	case session.Recovering:
		return fmt.Errorf("lock %q: %w", h.name, lock.ErrRecovering)
	case session.Denied:
		return fmt.Errorf("lock %q: %w: %s", h.name, lock.ErrDenied, h.why)
	case session.OverQuota:
		return fmt.Errorf("lock %q: %w: %s", h.name, lock.ErrQuota, h.why)
	case session.Late:
		return fmt.Errorf("lock %q: not acquired within %v: %w", h.name, o.Wait, context.DeadlineExceeded)
	case session.Finished:
		return fmt.Errorf("lock %q: %w", h.name, ErrClosed)
	case session.Deadlock, session.Aborting:
		d := lock.NewDeadlock(h.victim, h.born)
		if h.victim == nil {
			d.Why = cmp.Or(h.text, h.why.String())
		}
		return fmt.Errorf("lock %q: %w", h.name, d)
	case session.Moved:
		return fmt.Errorf("lock %q: %w", h.name, lock.ErrMoved)
	}
	if h.text != "" {
		return fmt.Errorf("lock %q: %w: %s", h.name, NotHeld(h.why), h.text)
	}
	return fmt.Errorf("lock %q: %w", h.name, NotHeld(h.why))
}

// NotHeld is the error of a request that ended without the lock, for a reason that has no
// error of its own.
type NotHeld session.Why

func (n NotHeld) Error() string { return session.Why(n).String() }

// told handles an event of the session. The mutex must be held.
func (x *Client) told(e *session.Event) {
	h := x.holds[e.Request]
	if h == nil {
		return
	}
	switch e.Kind {
	case session.Granted:
		h.state, h.granted, h.token, h.born = inside, true, e.Token, e.Born
		x.woken = append(x.woken, h.done)
	case session.Doomed:
		h.end.Doom(lock.NewDeadlock(e.Victim, h.born))
	case session.Taken:
		h.lose(e.Cause)
	case session.Refused:
		h.state, h.why, h.text, h.victim, h.born = refused, e.Why, e.Text, e.Victim, e.Born
		delete(x.holds, e.Request)
		x.woken = append(x.woken, h.done)
	case session.Left:
		delete(x.holds, e.Request)
		h.ok = e.OK
		h.wakeLeft()
	}
}

// Held returns the names of the locks that are held.
func (x *Client) Held() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var names []string
	for _, h := range x.holds {
		if h.state == inside {
			names = append(names, h.name)
		}
	}
	return names
}

// lose notifies the holder that it has lost the lock.
func (h *Hold) lose(why member.Cause) {
	h.state, h.lost = lost, lock.Lost(h.name, why)
	delete(h.client.holds, h.request)
	h.wakeLeft()
	h.end.Lose(h.name, why)
}

// wakeLeft wakes the caller of Unlock.
func (h *Hold) wakeLeft() {
	if h.left != nil {
		h.client.woken = append(h.client.woken, h.left)
		h.left = nil
	}
}

// Name returns the lock's name.
func (h *Hold) Name() string { return h.name }

// Token returns the fencing token of this entry.
func (h *Hold) Token() member.Token { return h.token }

// Born returns the stamp of the transaction of a kept lock; 0 if it is not a kept one.
func (h *Hold) Born() uint64 { return h.born }

// Err returns nil while the lock is held. It checks the clock too.
func (h *Hold) Err() error {
	if err := h.end.Err(); err != nil {
		return err
	}
	x := h.client
	x.mu.Lock()
	valid := x.session.Valid(h.request, clock.Now())
	x.mu.Unlock()
	if !valid {
		x.wake()
	}
	return h.end.Err()
}

// Deadline returns how long the lock is held if nothing more is heard from the node.
func (h *Hold) Deadline() time.Time {
	until := h.Until()
	if until == 0 {
		return time.Time{}
	}
	return lock.Deadline(time.Duration(until - clock.Now()))
}

// Until is Deadline on the clock that clock.Now reads; 0 if the lock is not held.
func (h *Hold) Until() member.Instant {
	x := h.client
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.state != inside {
		return 0
	}
	return x.session.Deadline(h.request)
}

// SetValue attaches a value to the lock. It does not wait for the node.
func (h *Hold) SetValue(value string) (err error) {
	h.client.use(func(now member.Instant) {
		if err = h.client.session.SetValue(now, h.request, value); errors.Is(err, member.ErrNotHeld) {
			err = nil // its end says more
		}
	})
	if err != nil {
		return fmt.Errorf("attach a value to lock %q: %w", h.name, err)
	}
	return h.end.Err()
}

// Context returns a context that ends when the lock is lost or released, or its transaction
// must abort.
func (h *Hold) Context() context.Context { return h.end.Context() }

// Doom returns why the lock's transaction must abort; nil if it need not, as far as is known.
func (h *Hold) Doom() *lock.Deadlock { return h.end.Doomed() }

// Unlock releases the lock, and waits until the node has confirmed that it was held until
// then, or until its deadline. It returns an error if the lock was lost before.
func (h *Hold) Unlock() error {
	var left chan struct{}
	h.client.use(func(now member.Instant) {
		if h.state != inside {
			return
		}
		left = make(chan struct{})
		h.left = left
		if err := h.client.session.Unlock(now, h.request); err != nil {
			return // lost in this very step, which its event is about to report
		}
		if h.state == inside {
			h.state = released
			h.end.Release()
		}
	})
	if left == nil {
		return h.end.Err()
	}
	<-left
	switch {
	case h.lost != nil:
		return h.lost
	case !h.ok:
		return lock.Lost(h.name, member.Session)
	}
	return nil
}
