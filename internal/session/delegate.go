package session

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Delegation, at the client. A lock that is delegated is held by the client, for whichever of
// its applications asks next: it enters with the next count, and no message is sent. A lock
// that no application uses goes back soon, and at once when the node recalls it. If an
// application is inside then, the client keeps the lock for it, and releases it as usual.
//
// The node knows the delegation by the number of the request that it has granted. It passes
// from the task of one application to that of the next.

// idleTime is how long a client keeps a delegated lock that no application uses.
const idleTime = 10 * member.Millisecond

// delegated notes how the lock of a request was granted.
func (g *Client) delegated(t *task, f *Frame) {
	t.granted, t.block = f.Token, f.Count
	if t.block != 0 {
		if g.delegations == nil {
			g.delegations, g.delegates = map[string]*task{}, map[uint64]*task{}
		}
		g.delegations[t.name] = t
	}
}

// known returns the request that nodes know by a number, or nil.
func (g *Client) known(number uint64) *task {
	if t := g.delegates[number]; t != nil {
		return t
	}
	if t := g.find(number); t != nil && t.wire == number {
		return t
	}
	return nil
}

// reenter lets an application enter a lock that is delegated and idle: the task becomes that
// of its request, which has the last number.
func (g *Client) reenter(t *task) {
	g.idle.remove(t)
	if i, ok := g.place(t.number); ok && i < len(g.requests)-1 {
		g.requests = append(slices.Delete(g.requests, i, i+1), t)
	}
	t.number, t.since, t.mute = g.last, g.now, false
	g.delegates[t.wire] = t
	g.enter(t)
}

// enter is the next entry of a delegated lock.
func (g *Client) enter(t *task) {
	t.state = inside
	t.token.Count++
	g.tell(Event{Request: t.number, Kind: Granted, Token: t.token})
}

// vacate handles an application that leaves a delegated lock. The next one enters, or the
// lock stays with the client for a while, or goes back to the node.
func (g *Client) vacate(t *task) {
	g.tell(Event{Request: t.number, Kind: Left, OK: true})
	switch t.mute = true; {
	case t.token.Count >= t.block || t.value != nil:
		g.letGo(t)
	case len(t.queue) > 0:
		g.handOver(t)
	default:
		t.state = idle
		g.idle.add(t, g.now+member.Instant(idleTime))
	}
}

// handOver gives a delegated lock to the first request in its queue.
func (g *Client) handOver(t *task) {
	next := t.queue[0]
	next.behind, next.queue = nil, t.queue[1:]
	for _, o := range next.queue {
		o.behind = next
	}
	t.queue = nil
	next.wire, next.on, next.token, next.granted, next.block, next.ticket = t.wire, t.on, t.token, t.granted, t.block, t.ticket
	g.delegations[t.name], g.delegates[t.wire] = next, next
	if i, ok := g.place(t.number); ok {
		g.requests = slices.Delete(g.requests, i, i+1)
	}
	g.enter(next)
}

// dequeue takes a request out of the queue of a delegated lock.
func (g *Client) dequeue(t *task) {
	if d := t.behind; d != nil {
		d.queue = slices.DeleteFunc(d.queue, func(o *task) bool { return o == t })
		t.behind = nil
	}
}

// recalled handles a RECALL.
func (g *Client) recalled(t *task) {
	switch t.state {
	case idle:
		g.letGo(t)
	case inside:
		g.keep(t)
		g.send(t.on, &Frame{Kind: Keep, Number: t.wire, Count: t.token.Count})
	}
}

// keep makes a delegated lock an ordinary one, which is in use.
func (g *Client) keep(t *task) {
	if t.block != 0 {
		t.block = 0
		g.scatter(t)
	}
}

// scatter ends the delegation of a lock. The requests in its queue are sent at the end of
// this call.
func (g *Client) scatter(t *task) {
	if g.delegations[t.name] == t {
		delete(g.delegations, t.name)
	}
	for _, o := range t.queue {
		o.behind, g.unqueued = nil, true
	}
	t.queue = nil
	if t.state == idle {
		g.idle.remove(t)
	}
}

// resend sends the requests that have waited in queues.
func (g *Client) resend() {
	g.unqueued = false
	for _, t := range g.requests {
		if t.unsent() && t.tx == nil {
			g.repeat(t)
		}
	}
}

// idleTasks are delegated locks that no application uses, by when they go back.
type idleTasks struct{ first, last *task }

func (l *idleTasks) due() member.Instant {
	if l.first == nil {
		return member.Never
	}
	return l.first.expires
}

func (l *idleTasks) add(t *task, expires member.Instant) {
	t.expires, t.before = expires, l.last
	if l.last == nil {
		l.first = t
	} else {
		l.last.after = t
	}
	l.last = t
}

func (l *idleTasks) remove(t *task) {
	if t.before == nil {
		l.first = t.after
	} else {
		t.before.after = t.after
	}
	if t.after == nil {
		l.last = t.before
	} else {
		t.after.before = t.before
	}
	t.before, t.after = nil, nil
}

// Which locks a node delegates. It is worth it if one client acquires a lock again and again
// and no other process wants it meanwhile. A delegation that is recalled before the client
// has made much use of it has cost messages, so the next one comes later.

const (
	blockLength = 4096 // entries that a client may make with one delegation
	usualStreak = 3    // silent grants in a row before a lock is delegated
	longStreak  = 96   // the same after several delegations that were recalled early
	littleUse   = 16   // entries of a delegation that was recalled early
)

// streaks counts silent grants, in a table of fixed size. Names that share a place make each
// other's streaks shorter, and nothing else.
type streaks [1024]streak

// A streak is how often in a row one session was granted a lock silently.
type streak struct {
	hash    uint64
	session uint64
	n, need uint8
}

// of returns the entry of a name. Several names may share one.
func (a *streaks) of(name string) (s *streak, hash uint64) {
	hash = 14695981039346656037
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * 1099511628211
	}
	return &a[(hash^hash>>32)%uint64(len(a))], hash
}

// granted counts a grant.
func (a *streaks) granted(name string, session uint64, silent bool) {
	s, hash := a.of(name)
	switch {
	case s.hash != hash || s.need == 0:
		*s = streak{hash: hash, session: session, need: usualStreak}
	case s.session != session || !silent:
		s.session, s.n = session, 0
	}
	if silent && s.n < longStreak {
		s.n++
	}
}

// longEnough reports whether the next silent grant of a lock may delegate it.
func (a *streaks) longEnough(name string, session uint64) bool {
	s, hash := a.of(name)
	return s.hash == hash && s.session == session && s.n > 0 && s.n >= s.need-1
}

// ended notes how a delegation has ended: with this count, and recalled or not.
func (a *streaks) ended(r *request, count uint64) {
	s, hash := a.of(r.name)
	if s.hash != hash {
		return
	}
	switch used := count - r.token.Count; {
	case r.recalled && used < littleUse:
		s.n, s.need = 0, min(2*s.need, longStreak)
	case r.recalled:
		s.n, s.need = 0, usualStreak
	case used >= littleUse:
		s.need = usualStreak
	}
}
