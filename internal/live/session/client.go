package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/live/member"
)

// A ClientConfig configures a Client. Zero values stand for the defaults.
type ClientConfig struct {
	Name     string      // display name
	Nodes    []string    // addresses, at least one; nodes report others
	Length   member.Span // how long the session may be silent; at most, and by default, a lease of the nodes
	Dial     member.Span // timeout for a connection and a session, before another attempt
	Retry    member.Span // pause after a failed attempt; grows with each
	MaxRetry member.Span // maximum pause
	Patience member.Span // time without a node after which waiting requests fail (default: never)
	Requests int         // maximum number of requests at once
	Seed     uint64      // drawn by the host, so that clients do not all reconnect at the same time
}

func (c ClientConfig) usual() ClientConfig {
	c.Dial = cmp.Or(c.Dial, 2*member.Second)
	c.Retry = cmp.Or(c.Retry, 20*member.Millisecond)
	c.MaxRetry = max(c.Retry, cmp.Or(c.MaxRetry, member.Second))
	c.Patience = min(c.Patience, member.MaxSpan)
	c.Requests = cmp.Or(c.Requests, 100_000)
	return c
}

// Errors of an application's calls.
var (
	ErrClosed   = errors.New("the client is closed: create another one")
	ErrRequests = errors.New("too many requests at once: wait for some to finish")
)

// A Client is a client of the cluster. It keeps a session with a node, and uses it to
// request the locks that the applications of its process want. Its methods must be
// called one at a time. Its effects are in Out; take them after each call.
type Client struct {
	Out    ClientOut
	config ClientConfig
	now    member.Instant
	chance uint64

	nodes []string
	at    int    // index of the node that it is connected to, or tries
	conn  uint64 // number of the connection, or of the attempt at one
	phase phase
	since member.Instant // start of the phase; resting: its end
	fails int            // failed attempts in a row

	session uint64 // 0 if there is none
	secret  Secret
	length  member.Span
	act     member.Span
	until   member.Instant // deadline of the session
	parting bool           // the node leaves
	renewal uint64         // number of the last renewal
	hello   uint64         // number of the HELLO that began, or will begin, the session on this connection
	renews  []renewal      // not answered yet
	renewAt member.Instant
	alone   member.Instant // since when there is no session

	requests []*task // by number
	last     uint64  // number of the last request
	soonest  member.Instant
}

// A phase is how far a client has got with its node.
type phase uint8

const (
	resting phase = iota
	dialing
	greeting // connected, but HELLO is not answered yet
	open
	closed
)

// A renewal is one that was sent, and when.
type renewal struct {
	number uint64
	at     member.Instant
}

// ClientOut holds the effects that a Client wants. The host that takes them resets it.
type ClientOut struct {
	Dial    Dial     // unless zero: close the connection, if there is one, and open this one
	Frames  [][]byte // to send on the connection, in this order; valid until Out is reset
	Events  []Event  // for applications
	Answers []Frame  // to the host's questions
	Wake    member.Instant
	arena   []byte
}

// Reset empties it.
func (o *ClientOut) Reset() {
	o.Dial = Dial{}
	o.Frames, o.Events, o.Answers, o.arena = o.Frames[:0], o.Events[:0], o.Answers[:0], o.arena[:0]
}

// A Dial is an attempt to connect. The host reports its outcome, and everything that
// arrives on the connection, with its number.
type Dial struct {
	Conn    uint64
	Address string
}

// An Event notifies an application of what happened to its request.
type Event struct {
	Request uint64
	Kind    EventKind
	Token   member.Token // Granted, Taken
	Cause   member.Cause // Taken; NoCause if the node did not know
	Why     Why          // Refused
	OK      bool         // Left: the node has confirmed that the request was held, or waited, until then
}

// An EventKind is what happened to a request.
type EventKind uint8

// What can happen to a request. All but Granted and Again are its last event.
const (
	Granted EventKind = iota // the lock is held, until further notice
	Taken                    // the lock was held, and is lost
	Refused                  // the request ended without holding the lock
	Left                     // the lock is released, or the request withdrawn, as asked
	Again                    // the request waits, has lost its place, and is sent again in another session
)

// NewClient returns a Client that wants to dial at once.
func NewClient(now member.Instant, c ClientConfig) (*Client, error) {
	if len(c.Nodes) == 0 || len(c.Nodes) > MaxNodes {
		return nil, fmt.Errorf("%d node addresses: want 1 to %d", len(c.Nodes), MaxNodes)
	}
	if len(c.Name) > MaxLabel || !utf8.ValidString(c.Name) {
		return nil, fmt.Errorf("client name of %d bytes: want up to %d bytes of UTF-8", len(c.Name), MaxLabel)
	}
	if c.Length < 0 || c.Length > member.MaxSpan {
		return nil, fmt.Errorf("session length of %v: want up to 24h", c.Length)
	}
	g := &Client{config: c.usual(), now: now, chance: c.Seed, nodes: slices.Clone(c.Nodes), soonest: member.Never, alone: now}
	g.dial()
	g.end()
	return g, nil
}

// Wake reports that time has passed. It must be called when Out.Wake is due.
func (g *Client) Wake(now member.Instant) {
	g.begin(now)
	g.end()
}

// begin runs at the start of every call and handles what has become due. The session
// ends when the client's own clock says so, before anything that has just arrived can
// renew it.
func (g *Client) begin(now member.Instant) {
	g.now = max(g.now, now)
	if g.session != 0 && g.now >= g.limit() {
		g.over(member.Session)
	}
	if g.now >= g.soonest {
		g.pass()
	}
	switch {
	case g.phase == resting && g.now >= g.since:
		g.dial()
	case (g.phase == dialing || g.phase == greeting) && g.now >= g.since+member.Instant(g.config.Dial):
		g.fail()
	case g.phase == open && g.silent() <= g.now:
		g.fail()
	}
}

// end runs at the end of every call: it sends what is due, and sets when to wake.
func (g *Client) end() {
	if g.parting && !g.granted() {
		g.move()
	}
	if g.phase == open && !g.parting && g.now >= g.renewAt {
		g.renew()
	}
	wake := g.soonest
	if g.session != 0 && g.now < g.limit() {
		wake = min(wake, g.limit())
	}
	switch g.phase {
	case resting:
		wake = min(wake, g.since)
	case dialing, greeting:
		wake = min(wake, g.since+member.Instant(g.config.Dial))
	case open:
		if wake = min(wake, g.silent()); !g.parting {
			wake = min(wake, g.renewAt)
		}
	}
	g.Out.Wake = wake
}

// limit is when everything held is lost, unless the session is renewed before. It is
// some time before others can acquire it, so that an application that has just checked
// may still act.
func (g *Client) limit() member.Instant { return g.until - member.Instant(g.act) }

// silent is when the connection counts as broken, unless a renewal is answered.
func (g *Client) silent() member.Instant {
	if len(g.renews) == 0 {
		return member.Never
	}
	return g.renews[0].at + member.Instant(g.length/3)
}

// renew renews the session. The new span counts from now, which is before the frame is
// sent.
func (g *Client) renew() {
	g.renewAt = g.now + member.Instant(g.length/5)
	g.send(&Frame{Kind: Renew, Number: g.count()})
}

// count numbers a renewal.
func (g *Client) count() uint64 {
	g.renewal++
	g.renews = append(g.renews, renewal{g.renewal, g.now})
	return g.renewal
}

// renewed handles the answer to a renewal.
func (g *Client) renewed(number uint64, span member.Span) {
	i := slices.IndexFunc(g.renews, func(r renewal) bool { return r.number == number })
	if i < 0 {
		return // of another connection, or never sent
	}
	from := g.renews[i].at
	g.renews = slices.Delete(g.renews, 0, i+1)
	if span > 0 {
		g.until = max(g.until, from+member.Instant(span))
	}
	// Retry soon if the node could not give much: it will when its own lease is
	// renewed.
	wait := min(g.length/5, max((span-g.act)/3, g.length/50))
	g.renewAt = min(g.renewAt, g.now+member.Instant(wait))
}

// over ends the session: locks held in it are lost, and waiting requests are sent in
// the next one. The node need not hear of it, because an application that has just
// checked the clock may still act until the node itself ends the session.
func (g *Client) over(why member.Cause) {
	if g.parting && why == member.Session {
		why = member.Leaving // that is why it was not renewed
	}
	g.drop(func(t *task) bool {
		g.tell(Event{Request: t.number, Kind: Taken, Token: t.token, Cause: why})
		return false
	})
	switch {
	case g.parting:
		g.move()
	case g.phase == greeting || g.phase == open:
		g.greet()
	}
}

// drop ends the session for all requests. Held locks are kept if keep says so.
func (g *Client) drop(keep func(t *task) bool) {
	g.session, g.renews, g.hello = 0, g.renews[:0], 0
	g.alone = g.now
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		switch {
		case t.state == inside && t.until == 0:
			return !keep(t)
		case t.state == leaving:
			g.left(t, false)
			return true
		}
		g.unask(t)
		return false
	})
	g.soonest = member.Never
	for _, t := range g.requests {
		g.soonest = min(g.soonest, g.due(t))
	}
}

// Close ends the session, and with it every hold and every waiting request. It asserts
// that the applications of this process have stopped: they must have.
func (g *Client) Close(now member.Instant) {
	g.begin(now)
	for _, t := range g.requests {
		switch t.state {
		case inside:
			g.tell(Event{Request: t.number, Kind: Taken, Token: t.token, Cause: member.Closed})
		case wanted:
			g.tell(Event{Request: t.number, Kind: Refused, Why: Finished})
		case leaving:
			g.left(t, false)
		}
	}
	if g.phase == open {
		g.send(&Frame{Kind: Close})
	}
	g.requests, g.session, g.phase, g.parting, g.soonest = nil, 0, closed, false, member.Never
	g.end()
}

// Ask asks the node something unrelated to sessions: see Out.Answers. It reports false
// if there is no node now.
func (g *Client) Ask(number, what uint64, b []byte) bool {
	if g.phase != open || len(b) > MaxBytes {
		return false
	}
	g.send(&Frame{Kind: Ask, Number: number, What: what, Bytes: b})
	return true
}

// Session returns the session, 0 if there is none; the node that it is with, or that
// the client tries; and whether there is a connection.
func (g *Client) Session() (session uint64, node string, connected bool) {
	return g.session, g.nodes[g.at], g.phase == open
}

// Parting reports whether the node is about to leave, and no longer renews the session.
func (g *Client) Parting() bool { return g.parting }

func (g *Client) tell(e Event) { g.Out.Events = append(g.Out.Events, e) }

func (g *Client) send(f *Frame) {
	from := len(g.Out.arena)
	g.Out.arena = f.AppendTo(g.Out.arena)
	g.Out.Frames = append(g.Out.Frames, g.Out.arena[from:len(g.Out.arena):len(g.Out.arena)])
}
