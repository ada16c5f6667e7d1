package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/live/member"
)

// A ClientConfig says who a client is and which nodes it knows. Zeros stand for what
// is usual.
type ClientConfig struct {
	Name     string      // what it calls itself, for people
	Nodes    []string    // addresses, of one node at least; nodes tell of others
	Length   member.Span // how long its session may be silent; at most a lease of the nodes, which is usual
	Dial     member.Span // how long a connection and a session may take, before another attempt
	Retry    member.Span // how long it rests after a failed attempt: longer each time
	MaxRetry member.Span // but no longer than this
	Patience member.Span // after how long without a node those who wait are told so; 0 is never
	Requests int         // at once, at most
	Seed     uint64      // drawn by the host: so that not all clients come back at the same time
}

func (c ClientConfig) usual() ClientConfig {
	c.Dial = cmp.Or(c.Dial, 2*member.Second)
	c.Retry = cmp.Or(c.Retry, 20*member.Millisecond)
	c.MaxRetry = max(c.Retry, cmp.Or(c.MaxRetry, member.Second))
	c.Patience = min(c.Patience, member.MaxSpan)
	c.Requests = cmp.Or(c.Requests, 100_000)
	return c
}

// Errors of what applications ask for.
var (
	ErrClosed   = errors.New("the client is closed: make another one")
	ErrRequests = errors.New("too many requests at once: wait until some have ended")
)

// A Client is a client of the cluster: it keeps a session with a node, and asks in it
// for what the applications of its process want. Its methods are called one at a
// time. What it wants done is in Out, to be taken after each of them.
type Client struct {
	Out    ClientOut
	config ClientConfig
	now    member.Instant
	chance uint64

	nodes []string
	at    int    // of them is the one that it is with, or tries
	conn  uint64 // the number of the connection, or of the attempt at one
	phase phase
	since member.Instant // when that began; resting: when it ends
	fails int            // attempts in a row

	session uint64 // 0 if it has none
	secret  Secret
	length  member.Span
	act     member.Span
	until   member.Instant // its time is over
	parting bool           // the node leaves
	renewal uint64         // the number of the last one
	hello   uint64         // the one that began the session on this connection, or is to
	renews  []renewal      // that were not answered yet
	renewAt member.Instant
	alone   member.Instant // since when there is no session

	requests []*task // by their numbers
	last     uint64  // number
	soonest  member.Instant
}

// A phase says how far a guest is with its node.
type phase uint8

const (
	resting phase = iota
	dialing
	greeting // there is a connection, and no answer to HELLO yet
	open
	closed
)

// A renewal is one that was sent, and when.
type renewal struct {
	number uint64
	at     member.Instant
}

// ClientOut is what a guest wants done. Whoever takes it resets it.
type ClientOut struct {
	Dial    Dial     // if not the zero one: close the connection, if there is one, and open this one
	Frames  [][]byte // to be sent on the connection, in this order; valid until Out is reset
	Events  []Event  // to be told to applications
	Answers []Frame  // to what the host has asked
	Wake    member.Instant
	arena   []byte
}

// Reset empties it.
func (o *ClientOut) Reset() {
	o.Dial = Dial{}
	o.Frames, o.Events, o.Answers, o.arena = o.Frames[:0], o.Events[:0], o.Answers[:0], o.arena[:0]
}

// A Dial is an attempt at a connection. What becomes of it, and all that comes on it,
// is handed in with its number.
type Dial struct {
	Conn    uint64
	Address string
}

// An Event tells an application what has become of its request.
type Event struct {
	Request uint64
	Kind    EventKind
	Token   member.Token // Granted, Taken
	Cause   member.Cause // Taken; NoCause if the node did not know
	Why     Why          // Refused
	OK      bool         // Left: the node has confirmed that it was held, or waited, until then
}

// An EventKind says what has become of a request.
type EventKind uint8

// What becomes of requests. All but Granted and Again are the last that is told.
const (
	Granted EventKind = iota // it is held, until further notice
	Taken                    // it was held, and is no more: it is lost
	Refused                  // it is over, without having been held
	Left                     // it is let go of, or taken back, as was wanted
	Again                    // it waits, has lost its place, and is asked for again in another session
)

// NewClient makes a guest, which wants to dial at once.
func NewClient(now member.Instant, c ClientConfig) (*Client, error) {
	if len(c.Nodes) == 0 || len(c.Nodes) > MaxNodes {
		return nil, fmt.Errorf("a client that knows %d nodes: want the addresses of 1 to %d", len(c.Nodes), MaxNodes)
	}
	if len(c.Name) > MaxLabel || !utf8.ValidString(c.Name) {
		return nil, fmt.Errorf("a client with a name of %d bytes: want up to %d of UTF-8", len(c.Name), MaxLabel)
	}
	if c.Length < 0 || c.Length > member.MaxSpan {
		return nil, fmt.Errorf("a session of %v: want up to 24h", c.Length)
	}
	g := &Client{config: c.usual(), now: now, chance: c.Seed, nodes: slices.Clone(c.Nodes), soonest: member.Never, alone: now}
	g.dial()
	g.end()
	return g, nil
}

// Wake tells that time has passed. It is to be called when Out.Wake has come.
func (g *Client) Wake(now member.Instant) {
	g.begin(now)
	g.end()
}

// begin is called before anything is done: it does what time brings. The session ends
// when the guest's own clock says so, before anything else that comes can prolong it.
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

// end is called when all is done: it says what is due, and when to be woken.
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

// limit is when all that is held is lost, unless the session is prolonged before: some
// time before others can have it, so that who has looked just before may still act.
func (g *Client) limit() member.Instant { return g.until - member.Instant(g.act) }

// silent is when the connection counts as broken, unless something is answered.
func (g *Client) silent() member.Instant {
	if len(g.renews) == 0 {
		return member.Never
	}
	return g.renews[0].at + member.Instant(g.length/3)
}

// renew prolongs the session. Its time will count from now, which is before it is
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

// renewed takes the answer to a renewal.
func (g *Client) renewed(number uint64, span member.Span) {
	i := slices.IndexFunc(g.renews, func(r renewal) bool { return r.number == number })
	if i < 0 {
		return // it is of another connection, or never was
	}
	from := g.renews[i].at
	g.renews = slices.Delete(g.renews, 0, i+1)
	if span > 0 {
		g.until = max(g.until, from+member.Instant(span))
	}
	// Soon if the node could not give much: it will when its own lease is renewed.
	wait := min(g.length/5, max((span-g.act)/3, g.length/50))
	g.renewAt = min(g.renewAt, g.now+member.Instant(wait))
}

// over ends the session: what is held in it is lost, and what waits is asked for in
// the next one. The node need not hear of it: who has looked at its clock just before
// may still act, until the session is over there.
func (g *Client) over(why member.Cause) {
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

// drop ends the session for all requests. What is held is kept if keep says so.
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

// Close ends the session, and with it all that is held and waited for. It says that
// the applications of this process have stopped: they must have.
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

// Ask asks the node something that is no business of sessions: see Out.Answers. It
// reports false if there is no node now.
func (g *Client) Ask(number, what uint64, b []byte) bool {
	if g.phase != open || len(b) > MaxBytes {
		return false
	}
	g.send(&Frame{Kind: Ask, Number: number, What: what, Bytes: b})
	return true
}

// Session returns the session, 0 if there is none; the node that it is with, or that
// is tried; and whether there is a connection.
func (g *Client) Session() (session uint64, node string, connected bool) {
	return g.session, g.nodes[g.at], g.phase == open
}

func (g *Client) tell(e Event) { g.Out.Events = append(g.Out.Events, e) }

func (g *Client) send(f *Frame) {
	from := len(g.Out.arena)
	g.Out.arena = f.AppendTo(g.Out.arena)
	g.Out.Frames = append(g.Out.Frames, g.Out.arena[from:len(g.Out.arena):len(g.Out.arena)])
}
