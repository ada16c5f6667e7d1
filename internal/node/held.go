package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/held"
	"github.com/stile-lock/stile/internal/member"
)

// A Held is a lock that an application of this process holds, or waits for.
type Held struct {
	node  *Node
	name  string
	token member.Token

	// All of what follows needs the node's mutex, but for err, which is set once.
	ticket member.Ticket
	state  holding
	cause  member.Cause
	event  member.EventKind // how a request has ended
	done   chan struct{}    // closed when a request is decided; nil if nobody waits
	err    atomic.Pointer[error]

	once   sync.Once
	ctx    context.Context
	cancel context.CancelCauseFunc
}

type holding uint8

const (
	asking holding = iota
	inside
	refused
	lost
	letGo
)

// Lock asks for a lock, and waits for it. The error is nil if and only if it is
// held.
func (n *Node) Lock(ctx context.Context, name string, a held.Ask) (held.Lock, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("lock %q: %w", name, held.Ended(ctx))
	}
	if err := member.CheckName(name); err != nil {
		return nil, fmt.Errorf("lock %q: %w", name, err)
	}
	if a.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.Wait, fmt.Errorf("not within %v: %w", a.Wait, context.DeadlineExceeded))
		defer cancel()
	}
	h := &Held{node: n, name: name}
	for {
		again, err := n.ask(ctx, h, a)
		if err != nil {
			return nil, err
		}
		if !again {
			return h, nil
		}
		// The node is no member at present: the request is made again when it is.
		l, again, err := n.elsewhere(ctx, name, a)
		if !again {
			return l, err
		}
	}
}

// ask asks once. It reports whether to ask again when the node is a member.
func (n *Node) ask(ctx context.Context, h *Held, a held.Ask) (again bool, err error) {
	n.mu.Lock()
	if n.state != Taking {
		defer n.mu.Unlock()
		return n.absent(h, a)
	}
	h.state = asking
	now := clock()
	n.peer.Do(now, func(m *member.Member) {
		if h.ticket, err = m.Lock(now, h.name, member.Ask{Deadline: member.Never, Try: a.Try}); err == nil {
			n.seat(h)
		}
	})
	var done chan struct{}
	if err == nil && h.state == asking {
		done = make(chan struct{})
		h.done = done
	}
	n.leave()
	switch {
	case errors.Is(err, member.ErrGone):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("lock %q: %w", h.name, err)
	case done != nil:
		n.await(ctx, h, done)
	}
	return n.outcome(ctx, h)
}

// absent is what becomes of a request at a node that is no member.
func (n *Node) absent(h *Held, a held.Ask) (again bool, err error) {
	switch {
	case n.state >= Draining:
		return false, fmt.Errorf("lock %q: %w", h.name, ErrEnded)
	case a.Try && n.aid.client == nil:
		return false, fmt.Errorf("lock %q: %w: the node is no member at present", h.name, held.ErrRecovering)
	}
	return true, nil
}

// await waits until a request is decided, and takes it back if its context ends
// before.
func (n *Node) await(ctx context.Context, h *Held, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	n.use(func(now member.Instant) {
		if h.state != asking {
			return
		}
		n.peer.Do(now, func(m *member.Member) { m.Cancel(now, h.ticket) })
		if h.state == asking {
			n.unseat(h, refused)
		}
	})
}

// outcome says what has become of a request.
func (n *Node) outcome(ctx context.Context, h *Held) (again bool, err error) {
	n.mu.Lock()
	state, event, cause := h.state, h.event, h.cause
	n.mu.Unlock()
	switch {
	case state == inside || state == lost: // lost a moment later: it was held, and Err says so
		return false, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("lock %q: %w", h.name, held.Ended(ctx))
	case event == member.Busy:
		return false, fmt.Errorf("lock %q: %w", h.name, held.ErrBusy)
	case event == member.Recovering:
		return false, fmt.Errorf("lock %q: %w", h.name, held.ErrRecovering)
	case event == member.Stopped && cause == member.Evicted:
		return true, nil
	}
	return false, fmt.Errorf("lock %q: %w", h.name, ErrEnded)
}

// seat keeps a request, to be found by its ticket.
func (n *Node) seat(h *Held) {
	i := int(uint32(h.ticket))
	for len(n.slots) <= i {
		n.slots = append(n.slots, nil)
	}
	n.slots[i] = h
}

// unseat ends a request.
func (n *Node) unseat(h *Held, s holding) {
	if h.state == inside {
		n.holders--
	}
	h.state = s
	n.slots[uint32(h.ticket)] = nil
	if h.done != nil {
		close(h.done)
		h.done = nil
	}
}

// Told is what the member tells an application.
func (h host) Told(e *member.Event) {
	if h.desk.Told(e) {
		return
	}
	i := int(uint32(e.Ticket))
	if i >= len(h.slots) || h.slots[i] == nil || h.slots[i].ticket != e.Ticket {
		return
	}
	x := h.slots[i]
	x.event, x.cause = e.Kind, e.Cause
	switch e.Kind {
	case member.Held:
		x.state, x.token = inside, e.Token
		h.holders++
		if x.done != nil {
			close(x.done)
			x.done = nil
		}
	case member.Lost:
		x.lose(e.Cause)
	default:
		h.unseat(x, refused)
	}
}

// lose tells the holder that it has lost.
func (h *Held) lose(why member.Cause) {
	err := held.Lost(h.name, why)
	h.err.CompareAndSwap(nil, &err)
	h.node.unseat(h, lost)
	if h.cancel != nil {
		h.cancel(err)
	}
}

// loseAll tells all holders that they have lost, and all waiters that they wait in
// vain.
func (n *Node) loseAll(why member.Cause) {
	for _, h := range n.slots {
		switch {
		case h == nil:
		case h.state == inside:
			h.lose(why)
		default:
			h.event, h.cause = member.Stopped, why
			n.unseat(h, refused)
		}
	}
}

// Name returns the lock's name.
func (h *Held) Name() string { return h.name }

// Token returns the token of this entry.
func (h *Held) Token() member.Token { return h.token }

// Err returns nil while the lock is held, by the clock too: whoever was stopped for
// longer than its lease learns so here before a timer has told it.
func (h *Held) Err() error {
	if e := h.err.Load(); e != nil {
		return *e
	}
	n := h.node
	n.mu.Lock()
	state := h.state
	if state == inside && !n.over && !n.usable() {
		n.peer.Wake(clock())
		n.leave()
	} else {
		n.mu.Unlock()
	}
	if e := h.err.Load(); e != nil {
		return *e
	}
	if state == letGo {
		return held.ErrReleased
	}
	return nil
}

// usable reports whether the member may act.
func (n *Node) usable() bool {
	m := n.peer.Member()
	return m != nil && m.Usable(clock())
}

// Deadline returns until when the lock is held if the node hears of nobody from now
// on.
func (h *Held) Deadline() time.Time {
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.peer.Member()
	if h.state != inside || m == nil {
		return time.Time{}
	}
	return time.Now().Add(until(clock(), m.Deadline()))
}

// Context returns a context that ends when the lock is lost or let go.
func (h *Held) Context() context.Context {
	h.once.Do(func() {
		h.node.mu.Lock()
		defer h.node.mu.Unlock()
		h.ctx, h.cancel = context.WithCancelCause(context.Background())
		if e := h.err.Load(); e != nil {
			h.cancel(*e)
		} else if h.state == letGo {
			h.cancel(held.ErrReleased)
		}
	})
	return h.ctx
}

// Unlock lets go of the lock. It returns an error if it was lost before.
func (h *Held) Unlock() error {
	n := h.node
	n.mu.Lock()
	if h.state != inside {
		defer n.mu.Unlock()
		if e := h.err.Load(); e != nil {
			return *e
		}
		return held.ErrReleased
	}
	now := clock()
	n.peer.Do(now, func(m *member.Member) {
		if m.Unlock(now, h.name, h.token) == nil {
			n.unseat(h, letGo)
		}
	})
	if h.state == inside { // the member does not know of it
		h.lose(member.NoCause)
	}
	if h.cancel != nil {
		h.cancel(held.ErrReleased)
	}
	n.leave()
	if e := h.err.Load(); e != nil {
		return *e
	}
	return nil
}
