package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/words"
)

// A Hold is a lock that an application in this process holds or waits for.
type Hold struct {
	node  *Node
	name  string
	token member.Token
	born  uint64
	end   lock.End // needs no mutex

	// The outcome of a request: set with the node's mutex held, before done is closed.
	granted bool // if the lock was lost a moment later, Err reports that
	event   member.EventKind
	cause   member.Cause
	victim  *member.Victim

	// The fields below need the node's mutex.
	state  holding
	woken  bool // done is about to be closed
	ticket member.Ticket
	done   chan struct{} // closed when a request is decided; nil if nothing waits for it
	next   *Hold         // next hold to be woken
}

type holding uint8

const (
	asking holding = iota
	inside
	refused
	lost
	released
)

// Lock requests a lock and waits for it. The error is nil if and only if the lock is held.
func (n *Node) Lock(ctx context.Context, name string, o lock.Options) (lock.Handle, error) {
	return n.LockIn(ctx, &Hold{}, name, o)
}

// LockIn is Lock with memory for the hold, which must be unused.
func (n *Node) LockIn(ctx context.Context, h *Hold, name string, o lock.Options) (lock.Handle, error) {
	if o.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Wait, fmt.Errorf("not acquired within %v: %w", o.Wait, context.DeadlineExceeded))
		defer cancel()
	}
	if c, ok := o.With.(*client.Hold); ok {
		return c.With(ctx, name, o)
	}
	h.node, h.name = n, name
	for tries := 0; ; {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("lock %q: %w", name, lock.Done(ctx))
		}
		again, err := n.ask(ctx, h, o)
		switch {
		case o.Again(ctx, err, tries):
			tries++
			continue
		case err != nil:
			return nil, err
		case !again:
			return h, nil
		case o.With != nil:
			return nil, fmt.Errorf("lock %q: %w", name, lock.ErrMoved)
		}
		// The node is not a member at present: the request is made again when it is.
		l, again, err := n.elsewhere(ctx, name, o)
		if !again {
			return l, err
		}
	}
}

// ask makes the request once. It reports whether to make it again when the node is a
// member.
func (n *Node) ask(ctx context.Context, h *Hold, o lock.Options) (again bool, err error) {
	n.enterHere()
	if n.stopping || n.p.Phase() != process.Member {
		defer n.turnBack()
		return n.absent(h, o)
	}
	h.state = asking
	n.in = process.Input{Kind: process.Lock}
	n.in.Text, n.in.Try, n.in.Terms = h.name, o.Try, o.Terms
	n.take()
	if err = n.p.Out.Err; err == nil {
		n.seat(h, n.p.Out.Ticket)
	}
	n.carryOut()
	var done chan struct{}
	if err == nil && h.state == asking {
		done = make(chan struct{})
		h.done, h.woken = done, false
	}
	n.leaveHere()
	if err != nil {
		return h.refusal(err)
	}
	if done != nil {
		n.await(ctx, h, done)
	}
	return h.outcome(ctx)
}

// refusal decides about a request that the process has not accepted.
func (h *Hold) refusal(err error) (again bool, _ error) {
	switch {
	case errors.Is(err, member.ErrGone):
		return true, nil
	case errors.Is(err, member.ErrDoomed):
		err = &lock.Deadlock{Why: err.Error()}
	}
	return false, fmt.Errorf("lock %q: %w", h.name, err)
}

// absent decides about a request at a node that is not a member.
func (n *Node) absent(h *Hold, o lock.Options) (again bool, err error) {
	switch err := member.CheckName(h.name); {
	case err != nil:
		return h.refusal(err)
	case n.stopping:
		return false, fmt.Errorf("lock %q: %w", h.name, ErrEnded)
	case o.Try && n.fallback.client == nil:
		return false, fmt.Errorf("lock %q: %w: the node is not a member at present", h.name, lock.ErrRecovering)
	}
	return true, nil
}

// await waits until a request is decided, and withdraws it if its context ends first.
func (n *Node) await(ctx context.Context, h *Hold, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	n.enter()
	if n.over || h.state != asking {
		n.mu.Unlock()
		return
	}
	n.step(process.Input{Kind: process.Cancel, Number: uint64(h.ticket)})
	n.carryOut()
	if h.state == asking { // it was not granted in this very step
		n.unseat(h, refused)
	}
	n.leave()
}

// outcome returns the outcome of a request.
func (h *Hold) outcome(ctx context.Context) (again bool, err error) {
	switch {
	case h.granted:
		return false, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("lock %q: %w", h.name, lock.Done(ctx))
	case h.event == member.Busy:
		return false, fmt.Errorf("lock %q: %w", h.name, lock.ErrBusy)
	case h.event == member.Recovering:
		return false, fmt.Errorf("lock %q: %w", h.name, lock.ErrRecovering)
	case h.event != member.Stopped:
	case h.cause == member.Evicted:
		return true, nil
	case h.cause == member.Deadlock:
		return false, fmt.Errorf("lock %q: %w", h.name, lock.NewDeadlock(h.victim, h.born))
	case h.cause == member.Units:
		return false, fmt.Errorf("lock %q: %w", h.name, client.NotHeld(session.OtherUnits))
	case h.cause == member.Changed:
		return false, fmt.Errorf("lock %q: %w", h.name, client.NotHeld(session.OtherKind))
	case h.cause == member.Ended:
		return false, fmt.Errorf("lock %q: %w", h.name, client.NotHeld(session.Ended))
	}
	return false, fmt.Errorf("lock %q: %w", h.name, ErrEnded)
}

// seat stores a request so that it can be found by its ticket.
func (n *Node) seat(h *Hold, t member.Ticket) {
	h.ticket = t
	i := int(uint32(t))
	for len(n.slots) <= i {
		n.slots = append(n.slots, nil)
	}
	n.slots[i] = h
}

// unseat removes a request.
func (n *Node) unseat(h *Hold, s holding) {
	h.state = s
	n.slots[uint32(h.ticket)] = nil
	if _, ok := n.values[h.ticket]; ok {
		delete(n.values, h.ticket)
		n.shown(h.name)
	}
	n.wakeUp(h)
}

// wakeUp marks the caller to be woken after the mutex is released; woken earlier, it would
// only wait for the mutex.
func (n *Node) wakeUp(h *Hold) {
	if h.done != nil && !h.woken {
		h.woken = true
		h.next, n.woken = n.woken, h
	}
}

// notify tells an application the outcome of its request.
func (n *Node) notify(e *member.Event) {
	i := int(uint32(e.Ticket))
	if i >= len(n.slots) || n.slots[i] == nil || n.slots[i].ticket != e.Ticket {
		return // it was withdrawn
	}
	h := n.slots[i]
	switch e.Kind {
	case member.Held:
		h.state, h.granted, h.token, h.born = inside, true, e.Token, e.Born
		n.wakeUp(h)
	case member.Lost:
		h.lose(e.Cause)
	case member.Doomed:
		h.end.Doom(lock.NewDeadlock(e.Victim, e.Born))
	default:
		h.event, h.cause, h.victim, h.born = e.Kind, e.Cause, e.Victim, e.Born
		n.unseat(h, refused)
	}
}

// lose notifies the holder that it has lost the lock.
func (h *Hold) lose(why member.Cause) {
	h.node.unseat(h, lost)
	h.end.Lose(h.name, why)
}

// loseAll notifies all holders that they have lost their locks, and all waiters that their
// requests have failed.
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

// undrained returns why the node cannot stop: the locks that are still held through it, and
// only the first of many.
func (n *Node) undrained() string {
	n.mu.Lock()
	var names []string
	if m := n.p.Member(); m != nil {
		for q := range m.Queues {
			if q.Held {
				names = append(names, words.Quoted(string(q.Name)))
			}
		}
	}
	if c := n.fallback.client; c != nil {
		for _, name := range c.Held() {
			names = append(names, words.Quoted(name))
		}
	}
	n.mu.Unlock()
	if len(names) == 0 {
		return "no lock is held, but the other nodes do not confirm that the node has left"
	}
	slices.Sort(names)
	const most = 10
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	return "still held: " + strings.Join(names, ", ")
}

// Name returns the lock's name.
func (h *Hold) Name() string { return h.name }

// Token returns the fencing token of this entry.
func (h *Hold) Token() member.Token { return h.token }

// Born returns the stamp of the transaction of a kept lock; 0 if it is not a kept one.
func (h *Hold) Born() uint64 { return h.born }

// left returns how long the lock is still held if the lease is not renewed; 0 if its
// deadline has passed. It never blocks.
func (h *Hold) left() time.Duration {
	return until(h.node.clock(), member.Instant(h.node.deadline.Load()))
}

// Err returns nil while the lock is held. It checks the clock too: an application that was
// stopped for longer than its lease is notified here, before any timer fires. It never
// blocks, whatever the node is doing.
func (h *Hold) Err() error {
	left := h.left() // first: a loss is noted before a later deadline is published
	if err := h.end.Err(); err != nil {
		return err
	}
	if left > 0 {
		return nil
	}
	h.end.Lose(h.name, member.Lease)
	go h.giveUp() // notifies the node when it has time
	return h.end.Err()
}

// giveUp releases a lock whose expiry the application has seen. Otherwise, if the lease was
// renewed at that very moment, the member would hold the lock until the application calls
// Unlock.
func (h *Hold) giveUp() {
	n := h.node
	n.enter()
	if n.over || h.state != inside {
		n.mu.Unlock()
		return
	}
	n.release(h)
	n.leave()
}

// release hands the release of a lock to the process. The mutex must be held.
func (n *Node) release(h *Hold) {
	n.in = process.Input{Kind: process.Unlock}
	n.in.Text, n.in.Number, n.in.Token = h.name, uint64(h.ticket), h.token
	n.take()
	if n.p.Out.Err == nil {
		n.unseat(h, released)
		h.end.Release()
	}
	n.carryOut()
	if h.state == inside { // the member does not know the hold
		h.lose(member.NoCause)
	}
}

// Deadline returns how long the lock is held if the lease is not renewed. It never blocks.
func (h *Hold) Deadline() time.Time {
	left := h.left()
	if left <= 0 || h.end.Err() != nil {
		return time.Time{}
	}
	return lock.Deadline(left)
}

// SetValue attaches a value to the lock.
func (h *Hold) SetValue(value string) error {
	if err := session.CheckValue(value); err != nil {
		return fmt.Errorf("attach a value to lock %q: %w", h.name, err)
	}
	n := h.node
	n.enterHere()
	if h.state == inside {
		if n.values == nil {
			n.values = map[member.Ticket]string{}
		}
		n.values[h.ticket] = value
		n.shown(h.name)
	}
	n.leaveHere()
	return h.end.Err()
}

// Context returns a context that ends when the lock is lost or released, or its transaction
// must abort.
func (h *Hold) Context() context.Context { return h.end.Context() }

// Unlock releases the lock. It returns an error if the lock was lost before.
func (h *Hold) Unlock() error {
	n := h.node
	n.enterHere()
	if h.state != inside {
		n.turnBack()
		return h.end.Err()
	}
	n.release(h)
	n.leaveHere()
	if err := h.end.Err(); err != lock.ErrReleased {
		return err
	}
	return nil
}
