package session

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// An attachment is one session with one node. A client sends its requests to the
// current attachment. Older ones exist only while locks are held through them: they go
// on reconnecting and renewing, and end at their own deadlines.
type attachment struct {
	address string
	inc     uint64 // incarnation of the node
	cluster uint64 // of the node
	conn    uint64 // number of the connection, or of the attempt at one; 0 if there is none
	phase   phase
	since   member.Instant // start of the phase; resting: its end
	fails   int            // failed attempts in a row

	session uint64 // 0 if there is none
	secret  Secret
	length  member.Span
	act     member.Span
	until   member.Instant // deadline of the session
	parting bool           // the node leaves
	asked   bool           // the node has asked the client to use another one
	hello   uint64         // number of the HELLO that began, or will begin, the session on this connection
	renews  []renewal      // not answered yet
	renewAt member.Instant

	holds int            // locks that rest on it: held, or released and not confirmed
	moved int            // locks held through it before, and now through another attachment
	owed  []uint64       // requests to withdraw here, until the node has confirmed that
	late  []late         // requests to withdraw here when applications can no longer act on them
	quiet member.Instant // until then an application may still act on a lock that was lost: the node must not be notified of the end
}

// A late is a request to withdraw at some time.
type late struct {
	number uint64
	at     member.Instant
}

// A phase is how far a client has got with a node.
type phase uint8

const (
	resting phase = iota
	dialing
	greeting // connected, but HELLO is not answered yet
	open
	ended // there will be no connection: the node has forgotten the session, or it is over
)

// A renewal is one that was sent, and when.
type renewal struct {
	number uint64
	at     member.Instant
}

// limit is when everything that rests on an attachment is lost, unless its session is
// renewed before. It is some time before others can acquire it, so that an application
// that has just checked may still act.
func (a *attachment) limit() member.Instant { return a.until - member.Instant(a.act) }

// silent is when the connection counts as broken, unless a renewal is answered.
func (a *attachment) silent() member.Instant {
	if len(a.renews) == 0 {
		return member.Never
	}
	return a.renews[0].at + member.Instant(a.length/3)
}

// renewing reports whether the session is to be renewed on the present connection.
func (g *Client) renewing(a *attachment) bool {
	return a.phase == open && !a.parting && (a == g.cur || a.holds > 0)
}

// due returns when something happens to an attachment if nothing is heard.
func (g *Client) due(a *attachment) member.Instant {
	at := member.Never
	if a.session != 0 && g.now < a.limit() {
		at = a.limit()
	}
	switch a.phase {
	case resting:
		at = min(at, a.since)
	case dialing, greeting:
		at = min(at, a.since+member.Instant(g.patience()))
	case open:
		at = min(at, a.silent())
	}
	if g.renewing(a) {
		at = min(at, a.renewAt)
	}
	for _, l := range a.late {
		at = min(at, l.at)
	}
	return at
}

// patience is the timeout of an attempt. It is short while locks rest on older
// attachments, because there may be just enough time to claim them at another node.
func (g *Client) patience() member.Span {
	d := g.config.Dial
	for _, a := range g.old {
		d = min(d, a.length/10)
	}
	return d
}

// tick handles what has become due at an attachment.
func (g *Client) tick(a *attachment) {
	a.late = slices.DeleteFunc(a.late, func(l late) bool {
		if g.now >= l.at {
			g.owe(a, l.number)
		}
		return g.now >= l.at
	})
	switch {
	case a.phase == resting && g.now >= a.since:
		g.dial(a)
	case (a.phase == dialing || a.phase == greeting) && g.now >= a.since+member.Instant(g.patience()):
		g.hangUp(a)
		g.fail(a, false)
	case a.phase == open && g.now >= a.silent():
		g.hangUp(a)
		g.fail(a, true)
	}
}

// dial tries to connect.
func (g *Client) dial(a *attachment) {
	g.conns++
	a.conn, a.phase, a.since = g.conns, dialing, g.now
	g.Out.Dials = append(g.Out.Dials, Dial{a.conn, a.address})
}

// hangUp closes the connection, after everything that was sent on it.
func (g *Client) hangUp(a *attachment) {
	if a.conn != 0 {
		g.Out.HangUps = append(g.Out.HangUps, a.conn)
		a.conn = 0
	}
}

// rest waits before the next attempt: longer each time, and not equally long at all
// clients.
func (g *Client) rest(a *attachment) {
	longest := min(g.config.Retry<<min(max(a.fails-1, 0), 20), g.config.MaxRetry)
	g.chance = g.chance*6364136223846793005 + 1442695040888963407
	wait := longest/2 + member.Span(g.chance>>33)%(longest/2+1)
	a.conn, a.phase, a.since = 0, resting, g.now+member.Instant(wait)
	a.renews, a.hello = a.renews[:0], 0
}

// greet sends HELLO, to resume the attachment's session or to begin one.
func (g *Client) greet(a *attachment) {
	a.phase, a.since = greeting, g.now
	a.renews = a.renews[:0]
	a.hello = g.count(a)
	f := Frame{Kind: Hello, Number: a.hello, Protocol: Protocol, Oldest: OldestProtocol, Session: a.session, Name: g.config.Name, Length: g.config.Length}
	if a.session != 0 {
		f.Secret = a.secret
	}
	g.send(a, &f)
}

// renew renews the session. The new span counts from now, which is before the frame is
// sent.
func (g *Client) renew(a *attachment) {
	a.renewAt = g.now + member.Instant(a.length/5)
	g.send(a, &Frame{Kind: Renew, Number: g.count(a)})
}

// count numbers a renewal.
func (g *Client) count(a *attachment) uint64 {
	g.renewal++
	a.renews = append(a.renews, renewal{g.renewal, g.now})
	return g.renewal
}

// renewed handles the answer to a renewal.
func (g *Client) renewed(a *attachment, f *Frame) {
	i := slices.IndexFunc(a.renews, func(r renewal) bool { return r.number == f.Number })
	if i < 0 {
		return // of another connection, or never sent
	}
	from := a.renews[i].at
	a.renews = slices.Delete(a.renews, 0, i+1)
	if f.Span > 0 {
		a.until = max(a.until, from+member.Instant(f.Span))
	}
	// Retry soon if the node could not give much: it will when its own lease is
	// renewed.
	a.renewAt = g.now + member.Instant(max(min(f.Again, a.length/4, (f.Span-a.act)/3), a.length/50))
	g.strays = g.strays || len(g.txs) > 0 // some may have waited for claims for too long
}

// owe withdraws a request at an attachment where it waits or is held, now and after each
// reconnect until the node has confirmed it.
func (g *Client) owe(a *attachment, number uint64) {
	if a.session == 0 || a.phase == ended {
		return
	}
	a.owed = append(a.owed, number)
	if a.phase == open {
		g.send(a, &Frame{Kind: Unlock, Number: number})
	}
}

// paid notes that a node has confirmed that a request is withdrawn, and reports whether
// that was owed.
func (a *attachment) paid(number uint64) bool {
	i := slices.Index(a.owed, number)
	switch {
	case i == 0: // usually: nodes answer in order
		a.owed = a.owed[1:]
	case i > 0:
		a.owed = slices.Delete(a.owed, i, i+1)
	}
	return i >= 0
}

// lose ends an attachment at its deadline, or because its node says so: locks that rest
// on it are lost, and what is not confirmed will not be. The node need not hear of it,
// because an application that has just checked the clock may still act until the node
// itself ends the session.
func (g *Client) lose(a *attachment, why member.Cause) {
	if a.parting && why == member.Session {
		why = member.Leaving // that is why it was not renewed
	}
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		switch {
		case t.on != a:
			return false
		case t.state == inside:
			g.taken(t, why)
		case t.state == idle: // no application is inside
		case t.state == leaving:
			g.left(t, false)
		default:
			g.unask(t)
			return false
		}
		g.depart(t)
		return true
	})
	g.finish(a)
}

// finish notes that an attachment's session is over, when nothing rests on it.
func (g *Client) finish(a *attachment) {
	for _, t := range g.requests {
		if t.claim == a {
			t.claim = nil
		}
	}
	a.session, a.phase, a.holds, a.owed, a.late = 0, ended, 0, nil, nil
}

// sweep removes older attachments through which nothing is held any more. If all their
// locks have moved, a node that leaves is notified: it waits for that; and so is one that has
// asked for it. Another node is not, because it would then grant them to others, which it
// must not do if it has been evicted without knowing. Its own timeout ends the session.
func (g *Client) sweep() {
	g.old = slices.DeleteFunc(g.old, func(a *attachment) bool {
		if a.holds > 0 || a.moved > 0 && a.phase == open && !a.parting && !a.asked {
			return false
		}
		g.retire(a)
		return true
	})
}

// retire drops an attachment on which nothing rests.
func (g *Client) retire(a *attachment) {
	if a.phase == open && g.now >= a.quiet && (a.parting || a.asked || a.moved == 0) {
		g.send(a, &Frame{Kind: Close})
	}
	g.hangUp(a)
	g.finish(a)
}
