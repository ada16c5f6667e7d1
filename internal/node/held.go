package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/held"
	"github.com/stile-lock/stile/internal/member"
)

// A Held is a lock that an application of this process holds, or waits for.
type Held struct {
	node  *Node
	name  string
	token member.Token

	// How a request has ended: set with the node's mutex, before done is closed.
	granted bool // and if it was lost a moment later, Err says so
	event   member.EventKind
	cause   member.Cause

	// All of what follows needs the node's mutex.
	state  holding
	woken  bool // done is about to be closed
	ticket member.Ticket
	fate   held.Fate
	done   chan struct{} // closed when a request is decided; nil if nobody waits
	next   *Held         // of those who are woken
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
	return n.LockIn(ctx, &Held{}, name, a)
}

// LockIn is Lock with the room for what is held, which nobody has used before.
func (n *Node) LockIn(ctx context.Context, h *Held, name string, a held.Ask) (held.Lock, error) {
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
	h.node, h.name = n, name
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
	n.enterHere()
	if n.state != Taking {
		defer n.turnBack()
		return n.absent(h, a)
	}
	h.state = asking
	now := clock()
	err = n.core.Lock(now, h.name, a.Try, func(t member.Ticket) { n.seat(h, t) })
	var done chan struct{}
	if err == nil && h.state == asking {
		done = make(chan struct{})
		h.done, h.woken = done, false
	}
	n.leaveHere(now)
	switch {
	case errors.Is(err, member.ErrGone):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("lock %q: %w", h.name, err)
	case done != nil:
		n.await(ctx, h, done)
	}
	return h.outcome(ctx)
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
		n.core.Cancel(now, h.ticket)
		if h.state == asking {
			n.unseat(h, refused)
		}
	})
}

// outcome says what has become of a request.
func (h *Held) outcome(ctx context.Context) (again bool, err error) {
	switch {
	case h.granted:
		return false, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("lock %q: %w", h.name, held.Ended(ctx))
	case h.event == member.Busy:
		return false, fmt.Errorf("lock %q: %w", h.name, held.ErrBusy)
	case h.event == member.Recovering:
		return false, fmt.Errorf("lock %q: %w", h.name, held.ErrRecovering)
	case h.event == member.Stopped && h.cause == member.Evicted:
		return true, nil
	}
	return false, fmt.Errorf("lock %q: %w", h.name, ErrEnded)
}

// seat keeps a request, to be found by its ticket.
func (n *Node) seat(h *Held, t member.Ticket) {
	h.ticket = t
	i := int(uint32(t))
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
	n.wakeUp(h)
}

// wakeUp has who waits woken, when the mutex is given back: it would have to wait
// for that otherwise.
func (n *Node) wakeUp(h *Held) {
	if h.done != nil && !h.woken {
		h.woken = true
		h.next, n.woken = n.woken, h
	}
}

// unlock gives back the mutex, and wakes who need not wait any more.
func (n *Node) unlock() {
	h := n.woken
	n.woken = nil
	n.mu.Unlock()
	for h != nil {
		next := h.next
		h.next = nil
		close(h.done) // nobody touches it any more
		h = next
	}
}

// Told is what the member tells an application. It reports whether it is one of this
// process.
func (h host) Told(e *member.Event) bool {
	i := int(uint32(e.Ticket))
	if i >= len(h.slots) || h.slots[i] == nil || h.slots[i].ticket != e.Ticket {
		return false
	}
	x := h.slots[i]
	switch e.Kind {
	case member.Held:
		x.state, x.granted, x.token = inside, true, e.Token
		h.holders++
		h.wakeUp(x)
	case member.Lost:
		x.lose(e.Cause)
	default:
		x.event, x.cause = e.Kind, e.Cause
		h.unseat(x, refused)
	}
	return true
}

// lose tells the holder that it has lost.
func (h *Held) lose(why member.Cause) {
	h.node.unseat(h, lost)
	h.fate.Lose(h.name, why)
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
	n := h.node
	n.mu.Lock()
	over := h.fate.Over()
	if over != nil || n.over || n.usable() {
		n.unlock()
		return over
	}
	now := clock()
	n.core.Wake(now)
	n.leave(now)
	return h.fate.Lost()
}

// usable reports whether the member may act.
func (n *Node) usable() bool {
	m := n.core.Member()
	return m != nil && m.Usable(clock())
}

// Deadline returns until when the lock is held if the node hears of nobody from now
// on.
func (h *Held) Deadline() time.Time {
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	m := n.core.Member()
	if h.state != inside || m == nil {
		return time.Time{}
	}
	return time.Now().Add(until(clock(), m.Deadline()))
}

// Context returns a context that ends when the lock is lost or let go.
func (h *Held) Context() context.Context {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	return h.fate.Context()
}

// Unlock lets go of the lock. It returns an error if it was lost before.
func (h *Held) Unlock() error {
	n := h.node
	n.enterHere()
	if h.state != inside {
		defer n.turnBack()
		return h.fate.Over()
	}
	now := clock()
	n.core.Unlock(now, h.name, h.token, func() {
		n.unseat(h, letGo)
		h.fate.Free()
	})
	if h.state == inside { // the member does not know of it
		h.lose(member.NoCause)
	}
	n.leaveHere(now)
	return h.fate.Lost()
}
