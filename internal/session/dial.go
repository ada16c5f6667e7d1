package session

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Which node a client uses. After it has lost the connection it tries the same node
// again, because that costs nothing if it succeeds. Then it goes to the next node: at
// once if it holds locks, because there may be just enough time to claim them there;
// otherwise after some attempts, because its waiting requests lose their places.

const (
	// stubborn is the number of attempts at the same node while there is a session in
	// which nothing is held.
	stubborn = 2

	// maxOld is the maximum number of older attachments.
	maxOld = 16
)

// fail handles a failed attempt or a lost connection.
func (g *Client) fail(a *attachment, silent bool) {
	a.fails++
	g.rest(a)
	if a != g.cur {
		return
	}
	urgent := a.holds > 0 || len(g.old) > 0
	switch {
	case a.session == 0:
		if g.elsewhere() && g.cur.phase == resting {
			g.cur.fails = a.fails
			g.rest(g.cur)
		}
	case urgent && (silent || a.fails > 1) || a.fails > stubborn:
		if g.elsewhere() {
			g.start()
		} else if a.holds == 0 && a.fails > stubborn {
			g.over(member.NoCause)
		}
	}
}

// elsewhere makes another node the current one. It reports false, and changes nothing,
// if there is none: a node with an older attachment is one only if that is in order.
func (g *Client) elsewhere() bool {
	if g.cur.holds > 0 && len(g.old) >= maxOld {
		return false
	}
	at := slices.Index(g.nodes, g.cur.address) // -1 if nodes no longer report it
	for i := range g.nodes {
		address := g.nodes[(at+1+i)%len(g.nodes)]
		if address == g.cur.address {
			continue
		}
		o := g.attached(address)
		if o != nil && (o.phase != open || o.parting || g.now < o.quiet || len(o.owed) > 0) {
			continue
		}
		had := g.cur.session != 0
		g.leaveBehind()
		if o == nil {
			if g.cur = (&attachment{address: address}); had {
				g.lonely()
			}
			return true
		}
		g.old = slices.DeleteFunc(g.old, func(a *attachment) bool { return a == o })
		g.cur = o
		for _, t := range g.requests {
			if t.state == wanted {
				g.repeat(t)
			}
		}
		g.claims()
		return true
	}
	return false
}

// attached returns the older attachment to an address, or nil.
func (g *Client) attached(address string) *attachment {
	for _, a := range g.old {
		if a.address == address && a.phase != ended {
			return a
		}
	}
	return nil
}

// leaveBehind makes the current attachment an older one if locks rest on it, and drops
// it otherwise. Requests that wait there are sent again to another node, and what is
// claimed there is claimed at another node.
func (g *Client) leaveBehind() {
	a := g.cur
	kept := a.holds > 0
	for _, t := range g.requests {
		if t.claim == a {
			t.claim = nil
			if kept {
				g.owe(a, t.wire)
			}
		}
		if t.on == a {
			switch t.state {
			case idle:
				g.letGo(t) // only locks in use are claimed elsewhere
			case inside:
				g.keep(t)
			}
		}
		if t.on == a && t.state == wanted {
			if kept && !a.parting { // a node that leaves has withdrawn them itself
				g.owe(a, t.wire)
			}
			g.unask(t)
		}
	}
	if kept {
		g.old = append(g.old, a)
	} else {
		g.retire(a)
	}
}

// lonely notes that there is no session with the current node any more.
func (g *Client) lonely() {
	g.alone = g.now
	g.soonest = member.Never
	for _, t := range g.requests {
		g.soonest = min(g.soonest, g.waits(t))
	}
}

// start connects to the current node, unless there is a connection already.
func (g *Client) start() {
	if g.cur.phase == resting {
		g.dial(g.cur)
	}
}

// move goes elsewhere because the current node leaves. If there is no other node, what
// is held stays with it until its deadline.
func (g *Client) move() {
	a := g.cur
	switch {
	case g.elsewhere():
	case a.holds == 0:
		g.retire(a)
		g.cur = &attachment{address: a.address}
		g.lonely()
	default:
		return
	}
	g.start()
}

// over ends the session with the current node, and with it what rests on it. Waiting
// requests are sent in the next one.
func (g *Client) over(why member.Cause) {
	a := g.cur
	n := g.succeed()
	g.lose(a, why)
	g.lonely()
	switch {
	case a.parting:
		g.hangUp(n)
		n.phase = resting
		g.elsewhere()
		g.start()
	case n.phase == greeting || n.phase == open:
		g.greet(n)
	}
}

// succeed makes another attachment to the same node the current one, without a session,
// and on the same connection.
func (g *Client) succeed() *attachment {
	a := g.cur
	g.cur = &attachment{address: a.address, conn: a.conn, phase: a.phase, since: a.since, fails: a.fails, hello: a.hello, renews: a.renews}
	a.conn, a.phase, a.renews = 0, ended, nil
	return g.cur
}

// connected returns the attachment of a connection, or nil.
func (g *Client) connected(conn uint64) *attachment {
	if conn != 0 && conn == g.cur.conn {
		return g.cur
	}
	for _, a := range g.old {
		if conn != 0 && conn == a.conn {
			return a
		}
	}
	return nil
}

// Connected reports that a connection is established.
func (g *Client) Connected(now member.Instant, conn uint64) {
	g.begin(now)
	if a := g.connected(conn); a != nil && a.phase == dialing {
		g.greet(a)
	}
	g.end()
}

// Disconnected reports that a connection has broken, or cannot be established.
func (g *Client) Disconnected(now member.Instant, conn uint64) {
	g.begin(now)
	if a := g.connected(conn); a != nil && (a.phase == dialing || a.phase == greeting || a.phase == open) {
		a.conn = 0
		g.fail(a, false)
	}
	g.end()
}

// Receive handles a frame that arrived on a connection. After an error the host must
// close the connection and call Disconnected.
func (g *Client) Receive(now member.Instant, conn uint64, b []byte) error {
	g.begin(now)
	defer g.end()
	a := g.connected(conn)
	if a == nil || a.phase != greeting && a.phase != open {
		return nil
	}
	f, err := Parse(b)
	switch {
	case err == errOptional:
		return nil
	case err != nil:
		return err
	}
	if f.Cause > member.Changed { // of a later version
		f.Cause = member.NoCause
	}
	switch {
	case !f.Kind.OfNodes():
		return fmt.Errorf("%w: only clients send %v", ErrFrame, f.Kind)
	case f.Kind == Answer:
		f.Bytes = slices.Clone(f.Bytes)
		g.Out.Answers = append(g.Out.Answers, f)
	case f.Kind == Welcome:
		return g.welcomed(a, &f)
	case f.Kind == Bye:
		g.dismissed(a, &f)
	case f.Kind == Redirect:
		g.asked(a, &f)
	case a.phase == open: // otherwise it is of the previous session
		if err := g.believe(a, &f); err != nil {
			return err
		}
		g.heard(a, &f)
	}
	return nil
}

// welcomed handles the answer to HELLO. If it names another session than the client's,
// the node has restarted and forgotten that one. Locks held in it stay held until its
// deadline, because other members wait for that, but it cannot be renewed.
func (g *Client) welcomed(a *attachment, f *Frame) error {
	if a.phase != greeting || f.Number != a.hello {
		return nil // it answers an older HELLO
	}
	if !g.belongs(f) {
		g.send(a, &Frame{Kind: Close})
		return &OtherCluster{g.cluster, f.Cluster}
	}
	if len(f.Nodes) > 0 { // those that were learned before may no longer be nodes of the cluster
		g.nodes = slices.Clone(g.config.Nodes)
		g.learn(f.Nodes)
	}
	if a.session != 0 && a.session != f.Session {
		if a = g.forgotten(a); a == nil {
			return nil
		}
	}
	fresh := a.session == 0
	if fresh && g.shuns(a, f) {
		return nil
	}
	a.phase, a.parting = open, false
	a.session, a.secret, a.length, a.act, a.inc, a.cluster = f.Session, f.Secret, f.Length, f.Act, f.Inc, f.Cluster
	g.renewed(a, f)
	if g.now >= a.limit() { // in flight for too long to be of use
		g.hangUp(a)
		a.session = 0
		g.fail(a, false)
		return nil
	}
	a.fails = 0
	for _, number := range a.owed {
		g.send(a, &Frame{Kind: Unlock, Number: number})
	}
	for _, t := range g.requests {
		switch {
		case t.on == a && t.state == idle:
			g.letGo(t)
		case t.on == a, a == g.cur && t.state == wanted:
			g.repeat(t)
		case t.claim == a:
			g.assert(t)
		}
	}
	if fresh {
		g.claims()
	}
	return nil
}

// belongs reports whether a node belongs to the client's cluster, which is that of the first
// node, or one that was recovered from it. Other clusters grant the same locks to others.
func (g *Client) belongs(f *Frame) bool {
	if g.cluster != f.Cluster {
		if g.cluster != 0 && !slices.Contains(f.Earlier, g.cluster) {
			return false
		}
		g.cluster = f.Cluster
	}
	return true
}

// forgotten handles that a node does not know an attachment's session. It returns the
// attachment to which the session that the node has begun instead belongs, or nil if
// that is not wanted, because the client is elsewhere.
func (g *Client) forgotten(a *attachment) *attachment {
	n := a
	if a == g.cur {
		n = g.succeed()
	} else {
		g.send(a, &Frame{Kind: Close})
		g.hangUp(a)
		a.phase, n = ended, nil
	}
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		if t.claim == a {
			t.claim = nil
		}
		switch {
		case t.on != a:
		case t.state == wanted:
			g.unask(t)
		case t.state == inside:
			g.keep(t)
		default:
			a.holds--
			g.left(t, false)
			g.depart(t)
			return true
		}
		return false
	})
	a.owed = nil
	if n != nil && a.holds > 0 {
		g.old = append(g.old, a)
	}
	return n
}

// learn adds addresses to the known ones.
func (g *Client) learn(nodes []string) {
	for _, a := range nodes {
		if a != "" && len(g.nodes) < MaxNodes && !slices.Contains(g.nodes, a) {
			g.nodes = append(g.nodes, a)
		}
	}
}

// dismissed handles a BYE.
func (g *Client) dismissed(a *attachment, f *Frame) {
	g.learn(f.Nodes)
	switch {
	case a.phase == greeting && f.Why == Expired: // of the previous session, on this connection
	case a.phase == greeting:
		g.hangUp(a)
		g.fail(a, false)
	case f.Why == Leaving: // at the end of this call it goes elsewhere
		a.parting = true
		for _, t := range g.requests {
			if t.on == a {
				g.unask(t)
			}
		}
	case a != g.cur:
		g.hangUp(a)
		g.lose(a, causeOf(f.Why))
	case f.Why == Expired:
		g.over(member.Session)
	default:
		g.hangUp(a)
		a.phase, a.parting = resting, false
		g.over(causeOf(f.Why))
		g.fail(g.cur, false)
	}
}

// asked handles a REDIRECT. If the client knows another node, it attaches there, as if it had
// lost this one: but this one is not lost, so what rests on it stays until it has moved, and
// if no other node accepts the client, it comes back.
func (g *Client) asked(a *attachment, f *Frame) {
	g.learn(f.Nodes)
	if a != g.cur || a.phase != open {
		return
	}
	if a.asked = true; g.elsewhere() {
		g.shunned = a.inc
		g.start()
	}
}

// shuns reports whether a session that has begun at the current node is not wanted: the node
// has asked the client to move, and the client has come back to it by another address. It
// goes on to the next one, once.
func (g *Client) shuns(a *attachment, f *Frame) bool {
	again := g.shunned != 0 && g.shunned == f.Inc
	if g.shunned = 0; again {
		g.send(a, &Frame{Kind: Close})
		g.hangUp(a)
		g.fail(a, false)
	}
	return again
}

// causeOf returns the cause of the losses, by a node's reason for ending a session.
func causeOf(why Why) member.Cause {
	switch why {
	case Expired, Full, Foreign, Crowded, Denied:
		return member.Session
	case Leaving:
		return member.Leaving
	case Evicted:
		return member.Evicted
	case NoLease:
		return member.Lease
	case Finished:
		return member.Closed
	}
	return member.NoCause // of a later version
}
