package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/held"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/boot"
)

// A Held is a lock that an application of this process holds, or waits for.
type Held struct {
	client  *Client
	request uint64
	name    string
	token   member.Token
	state   state
	done    chan struct{} // closed when the request is decided
	left    chan struct{} // closed when it is confirmed that the lock was let go; nil if nobody waits for that
	fate    held.Fate

	// These are set before done or left is closed, and then no more.
	granted bool // and if it was lost a moment later, Err says so
	why     client.Why
	ok      bool // it was held until it was let go
}

type state uint8

const (
	asking state = iota
	inside
	refused
	lost
	letGo
)

// Lock asks for a lock, and waits for it. The error is nil if and only if it is
// held.
func (x *Client) Lock(ctx context.Context, name string, a held.Ask) (held.Lock, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %q: %w", name, held.Ended(ctx))
	}
	h := &Held{client: x, name: name, done: make(chan struct{})}
	done := h.done
	var err error
	x.use(func(now member.Instant) {
		if h.request, err = x.guest.Lock(now, name, client.Opts{Try: a.Try, Wait: member.Span(a.Wait)}); err == nil {
			x.holds[h.request] = h
		}
	})
	if errors.Is(err, client.ErrClosed) {
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
				_ = x.guest.Unlock(now, h.request) // it waits: that cannot fail
			}
		})
	}
	return h.outcome(ctx, a)
}

// outcome says what has become of a request.
func (h *Held) outcome(ctx context.Context, a held.Ask) (held.Lock, error) {
	switch {
	case h.granted:
		return h, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.Ended(ctx))
	}
	switch h.why {
	case client.Busy:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.ErrBusy)
	case client.Recovering:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.ErrRecovering)
	case client.Late:
		return nil, fmt.Errorf("lock %q: not within %v: %w", h.name, a.Wait, context.DeadlineExceeded)
	case client.Finished:
		return nil, fmt.Errorf("lock %q: %w", h.name, ErrClosed)
	}
	return nil, fmt.Errorf("lock %q: %s", h.name, h.why)
}

// told takes what the guest tells, with the mutex.
func (x *Client) told(e *client.Event) {
	h := x.holds[e.Request]
	if h == nil {
		return
	}
	switch e.Kind {
	case client.Granted:
		h.state, h.granted, h.token = inside, true, e.Token
		x.woken = append(x.woken, h.done)
	case client.Taken:
		h.lose(e.Cause)
	case client.Refused:
		h.state, h.why = refused, e.Why
		delete(x.holds, e.Request)
		x.woken = append(x.woken, h.done)
	case client.Left:
		delete(x.holds, e.Request)
		h.ok = e.OK
		h.wakeLeft()
	}
}

// lose tells the holder that it has lost.
func (h *Held) lose(why member.Cause) {
	h.state = lost
	delete(h.client.holds, h.request)
	h.wakeLeft()
	h.fate.Lose(h.name, why)
}

// wakeLeft wakes who waits until the lock was let go.
func (h *Held) wakeLeft() {
	if h.left != nil {
		h.client.woken = append(h.client.woken, h.left)
		h.left = nil
	}
}

// Name returns the lock's name.
func (h *Held) Name() string { return h.name }

// Token returns the token of this entry.
func (h *Held) Token() member.Token { return h.token }

// Err returns nil while the lock is held, by the clock too.
func (h *Held) Err() error {
	x := h.client
	x.mu.Lock()
	over, valid := h.fate.Over(), x.guest.Valid(h.request, boot.Now())
	x.mu.Unlock()
	if over != nil || valid {
		return over
	}
	x.wake()
	return h.fate.Lost()
}

// Deadline returns until when the lock is held if nothing is heard of the node.
func (h *Held) Deadline() time.Time {
	x := h.client
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.state != inside {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(x.guest.Deadline(h.request) - boot.Now()))
}

// Context returns a context that ends when the lock is lost or let go.
func (h *Held) Context() context.Context {
	h.client.mu.Lock()
	defer h.client.mu.Unlock()
	return h.fate.Context()
}

// Unlock lets go of the lock, and waits until the node has confirmed that it was
// held until then, or its time is over. It returns an error if it was lost before.
func (h *Held) Unlock() error {
	var left chan struct{}
	h.client.use(func(now member.Instant) {
		if h.state != inside {
			return
		}
		left = make(chan struct{})
		h.left = left
		if err := h.client.guest.Unlock(now, h.request); err != nil {
			h.lose(member.Session)
			return
		}
		if h.state == inside {
			h.state = letGo
			h.fate.Free()
		}
	})
	if left == nil {
		h.client.mu.Lock()
		defer h.client.mu.Unlock()
		return h.fate.Over()
	}
	<-left
	if err := h.fate.Lost(); err != nil {
		return err
	}
	if !h.ok {
		return held.Lost(h.name, member.Session)
	}
	return nil
}
