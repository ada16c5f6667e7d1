package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
	why     client.Why
	done    chan struct{} // closed when the request is decided
	left    chan struct{} // closed when it is confirmed that the lock was let go; nil if nobody waits for that
	ok      bool          // it was held until then
	err     atomic.Pointer[error]

	once   sync.Once
	ctx    context.Context
	cancel context.CancelCauseFunc
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
	h.client.mu.Lock()
	state, why := h.state, h.why
	h.client.mu.Unlock()
	switch {
	case state == inside || state == lost: // lost a moment later: it was held, and Err says so
		return h, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.Ended(ctx))
	}
	switch why {
	case client.Busy:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.ErrBusy)
	case client.Recovering:
		return nil, fmt.Errorf("lock %q: %w", h.name, held.ErrRecovering)
	case client.Late:
		return nil, fmt.Errorf("lock %q: not within %v: %w", h.name, a.Wait, context.DeadlineExceeded)
	case client.Finished:
		return nil, fmt.Errorf("lock %q: %w", h.name, ErrClosed)
	}
	return nil, fmt.Errorf("lock %q: %s", h.name, why)
}

// told takes what the guest tells, with the mutex.
func (x *Client) told(e *client.Event) {
	h := x.holds[e.Request]
	if h == nil {
		return
	}
	switch e.Kind {
	case client.Granted:
		h.state, h.token = inside, e.Token
		close(h.done)
	case client.Taken:
		h.lose(e.Cause)
	case client.Refused:
		h.state, h.why = refused, e.Why
		delete(x.holds, e.Request)
		close(h.done)
	case client.Left:
		delete(x.holds, e.Request)
		h.ok = e.OK
		if h.left != nil {
			close(h.left)
		}
	}
}

// lose tells the holder that it has lost.
func (h *Held) lose(why member.Cause) {
	err := held.Lost(h.name, why)
	h.err.CompareAndSwap(nil, &err)
	h.state = lost
	delete(h.client.holds, h.request)
	if h.left != nil {
		close(h.left)
	}
	if h.cancel != nil {
		h.cancel(err)
	}
}

// Name returns the lock's name.
func (h *Held) Name() string { return h.name }

// Token returns the token of this entry.
func (h *Held) Token() member.Token { return h.token }

// Err returns nil while the lock is held, by the clock too.
func (h *Held) Err() error {
	if e := h.err.Load(); e != nil {
		return *e
	}
	x := h.client
	x.mu.Lock()
	valid := h.state != inside || x.guest.Valid(h.request, boot.Now())
	state := h.state
	x.mu.Unlock()
	if !valid {
		x.wake()
	}
	if e := h.err.Load(); e != nil {
		return *e
	}
	if state == letGo {
		return held.ErrReleased
	}
	return nil
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
	h.once.Do(func() {
		h.client.mu.Lock()
		defer h.client.mu.Unlock()
		h.ctx, h.cancel = context.WithCancelCause(context.Background())
		if e := h.err.Load(); e != nil {
			h.cancel(*e)
		} else if h.state == letGo {
			h.cancel(held.ErrReleased)
		}
	})
	return h.ctx
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
		}
		if h.cancel != nil {
			h.cancel(held.ErrReleased)
		}
	})
	if left == nil {
		if e := h.err.Load(); e != nil {
			return *e
		}
		return held.ErrReleased
	}
	<-left
	if e := h.err.Load(); e != nil {
		return *e
	}
	h.client.mu.Lock()
	defer h.client.mu.Unlock()
	if !h.ok {
		return held.Lost(h.name, member.Session)
	}
	return nil
}
