package session

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
)

// Which node a client uses. It stays with its node, or returns to it, while it holds a
// lock there, because only that node can renew the session. Otherwise it moves to the
// next node after some attempts, and sends its waiting requests there, behind others.

// stubborn is the number of attempts at the same node while there is a session in which
// nothing is held.
const stubborn = 2

// dial tries to connect to the current node.
func (g *Client) dial() {
	g.conn++
	g.phase, g.since = dialing, g.now
	g.renews, g.hello = g.renews[:0], 0
	g.Out.Frames, g.Out.arena = g.Out.Frames[:0], g.Out.arena[:0]
	g.Out.Dial = Dial{g.conn, g.nodes[g.at]}
}

// fail handles a failed attempt or a broken connection.
func (g *Client) fail() {
	g.fails++
	if g.session == 0 || g.fails > stubborn && !g.granted() {
		g.next()
	}
	g.rest()
}

// rest waits before the next attempt: longer each time, and not equally long at all
// clients.
func (g *Client) rest() {
	longest := min(g.config.Retry<<min(max(g.fails-1, 0), 20), g.config.MaxRetry)
	g.chance = g.chance*6364136223846793005 + 1442695040888963407
	wait := longest/2 + member.Span(g.chance>>33)%(longest/2+1)
	g.phase, g.since = resting, g.now+member.Instant(wait)
	g.renews, g.hello = g.renews[:0], 0
}

// next gives up the session, if there is one, and the node.
func (g *Client) next() {
	if g.session != 0 {
		g.drop(func(*task) bool { return true }) // nothing is held
	}
	g.at = (g.at + 1) % len(g.nodes)
}

// move goes to the next node at once, because this one leaves.
func (g *Client) move() {
	g.parting = false
	g.next()
	g.dial()
}

// granted reports whether a lock is held in the session, or released but not confirmed.
func (g *Client) granted() bool {
	return slices.ContainsFunc(g.requests, func(t *task) bool { return t.state != wanted && t.until == 0 })
}

// Connected reports that a connection is established.
func (g *Client) Connected(now member.Instant, conn uint64) {
	g.begin(now)
	if conn == g.conn && g.phase == dialing {
		g.greet()
	}
	g.end()
}

// Disconnected reports that a connection has broken, or cannot be established.
func (g *Client) Disconnected(now member.Instant, conn uint64) {
	g.begin(now)
	if conn == g.conn && (g.phase == dialing || g.phase == greeting || g.phase == open) {
		g.fail()
	}
	g.end()
}

// greet sends HELLO, to resume the current session or to begin one.
func (g *Client) greet() {
	g.phase, g.since = greeting, g.now
	g.renews = g.renews[:0]
	g.hello = g.count()
	f := Frame{Kind: Hello, Number: g.hello, Protocol: Protocol, Session: g.session, Name: g.config.Name, Length: g.config.Length}
	if g.session != 0 {
		f.Secret = g.secret
	}
	g.send(&f)
}

// Receive handles a frame that arrived on a connection. After an error the host must
// close the connection and call Disconnected.
func (g *Client) Receive(now member.Instant, conn uint64, b []byte) error {
	g.begin(now)
	defer g.end()
	if conn != g.conn || g.phase != greeting && g.phase != open {
		return nil
	}
	f, err := Parse(b)
	if err != nil {
		return err
	}
	switch {
	case f.Kind < Welcome:
		return fmt.Errorf("%w: only clients send %v", ErrFrame, f.Kind)
	case f.Kind == Answer:
		f.Bytes = slices.Clone(f.Bytes)
		g.Out.Answers = append(g.Out.Answers, f)
	case f.Kind == Welcome:
		g.welcomed(&f)
	case f.Kind == Bye:
		g.dismissed(&f)
	case g.phase == open: // otherwise it is of the previous session
		g.heard(&f)
	}
	return nil
}

// welcomed handles the answer to HELLO. If it names another session than the client's,
// the node has restarted and forgotten that one. Locks held in it stay held until its
// deadline, because other members wait for that, but it cannot be renewed.
func (g *Client) welcomed(f *Frame) {
	if g.phase != greeting || f.Number != g.hello {
		return // it answers an older HELLO
	}
	g.learn(f.Nodes)
	sent := g.renews
	if g.session != 0 && g.session != f.Session {
		limit := g.limit()
		g.drop(func(t *task) bool {
			t.until = limit
			return true
		})
		g.until = 0
	} else if g.session == 0 {
		g.until = 0
	}
	g.renews = sent
	g.phase, g.parting = open, false
	g.session, g.secret, g.length, g.act = f.Session, f.Secret, f.Length, f.Act
	g.renewAt = member.Never
	g.renewed(f.Number, f.Span)
	if g.now >= g.limit() { // in flight for too long to be of use
		g.drop(func(*task) bool { return true })
		g.fail()
		return
	}
	g.fails = 0
	for _, t := range g.requests {
		g.repeat(t)
	}
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
func (g *Client) dismissed(f *Frame) {
	g.learn(f.Nodes)
	switch {
	case g.phase == greeting && f.Why == Expired: // of the previous session, on this connection
	case g.phase == greeting:
		g.fail()
	case f.Why == Expired:
		g.over(member.Session)
	case f.Why == Leaving && g.granted():
		g.parting = true // it moves when nothing is held any more
		for _, t := range g.requests {
			g.unask(t)
		}
	case f.Why == Leaving:
		g.move()
	default:
		g.phase, g.parting = resting, false
		g.over(causes[f.Why-Expired])
		g.fail()
	}
}

// causes maps a node's reason for ending a session to the cause of the losses.
var causes = [...]member.Cause{member.Session, member.Leaving, member.Evicted, member.Lease, member.Session, member.Session, member.Closed}
