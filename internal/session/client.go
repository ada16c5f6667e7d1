package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/member"
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
	Cluster  uint64      // to which its nodes belong; 0: that of the first one that it meets
	Newest   uint64      // highest epoch that any cluster can have when the client starts; 0: not known
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

// OtherCluster is the error about a node that belongs to another cluster than the client: its
// address was used before by a node of the client's cluster, or given by mistake.
type OtherCluster struct{ Own, Theirs uint64 }

func (o *OtherCluster) Error() string {
	return fmt.Sprintf("the node belongs to cluster %016x, and this client to cluster %016x: give addresses of the client's cluster, or start the client again to use the other one", o.Theirs, o.Own)
}

// A Client is a client of the cluster. It keeps a session with a node, and uses it to
// request the locks that the applications of its process want. If it loses the node, it
// attaches to another one and claims there what it holds. Its methods must be called one
// at a time. Its effects are in Out; take them after each call.
type Client struct {
	Out    ClientOut
	config ClientConfig
	now    member.Instant
	chance uint64

	cluster  uint64 // to which its nodes belong; 0 before it has met one that says so
	credible credible
	nodes    []string // addresses: the configured ones, then those that nodes have reported
	shunned  uint64   // incarnation of the node that has asked the client to move, until another one is found
	cur      *attachment
	old      []*attachment  // through which locks are still held
	conns    uint64         // number of the last connection
	renewal  uint64         // number of the last renewal
	alone    member.Instant // since when there is no session with the current node
	closed   bool

	requests []*task // by number
	last     uint64  // number of the last request
	txs      map[uint64]*attempt
	strays   bool // some requests of transactions may have to be sent or refused

	delegations map[string]*task // by name
	delegates   map[uint64]*task // those that nodes know by the number of another request, by that
	idle        idleTasks
	unqueued    bool // some requests no longer wait in a queue, and were not sent

	soonest member.Instant
}

// ClientOut holds the effects that a Client wants: connections to open, frames to send,
// connections to close, in this order. The host that takes them resets it.
type ClientOut struct {
	Dials   []Dial     // connections to open
	Frames  []Outgoing // to send, in this order
	HangUps []uint64   // connections to close when their frames are sent, or attempts to give up
	Events  []Event    // for applications
	Answers []Frame    // to the host's questions
	Wake    member.Instant
	arena   []byte
}

// Reset empties it.
func (o *ClientOut) Reset() {
	o.Dials, o.Frames, o.HangUps = o.Dials[:0], o.Frames[:0], o.HangUps[:0]
	o.Events, o.Answers, o.arena = o.Events[:0], o.Answers[:0], o.arena[:0]
}

// An Outgoing is a frame for a connection. Its bytes are valid until Out is reset.
type Outgoing struct {
	Conn  uint64
	Bytes []byte
}

// A Dial is an attempt to connect. The host reports its outcome, and everything that
// arrives on the connection, with its number. Numbers begin at 1 and are not reused.
type Dial struct {
	Conn    uint64
	Address string
}

// An Event notifies an application of what happened to its request.
type Event struct {
	Request uint64
	Kind    EventKind
	Token   member.Token   // Granted, Taken
	Born    uint64         // Granted, Refused: stamp of the transaction, of a kept lock; 0 if not known
	Cause   member.Cause   // Taken; NoCause if the node did not know
	Why     Why            // Refused
	Text    string         // Refused: the reason in words; empty if Why says it all
	Victim  *member.Victim // Doomed, and Refused because of a deadlock
	OK      bool           // Left: the node has confirmed that the request was held, or waited, until then
}

// An EventKind is what happened to a request.
type EventKind uint8

// What can happen to a request. All but Granted, Again and Doomed are its last event.
const (
	Granted EventKind = iota // the lock is held, until further notice
	Taken                    // the lock was held, and is lost
	Refused                  // the request ended without holding the lock
	Left                     // the lock is released, or the request withdrawn, as asked
	Again                    // the request waits, has lost its place, and is sent again in another session
	Doomed                   // the lock is held, but its transaction must abort: release it
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
	g := &Client{config: c.usual(), now: now, chance: c.Seed, cluster: c.Cluster, nodes: slices.Clone(c.Nodes), soonest: member.Never, alone: now}
	g.credible.start = now
	g.cur = &attachment{address: g.nodes[0]}
	g.dial(g.cur)
	g.end()
	return g, nil
}

// Wake reports that time has passed. It must be called when Out.Wake is due.
func (g *Client) Wake(now member.Instant) {
	g.begin(now)
	g.end()
}

// begin runs at the start of every call and handles what has become due. A session ends
// when the client's own clock says so, before anything that has just arrived can renew
// it, or move its locks to another.
func (g *Client) begin(now member.Instant) {
	g.now = max(g.now, now)
	for _, a := range g.old {
		if a.session != 0 && g.now >= a.limit() {
			g.hangUp(a)
			g.lose(a, member.Session)
		}
	}
	if a := g.cur; a.session != 0 && g.now >= a.limit() {
		g.over(member.Session)
	}
	if g.now >= g.soonest {
		g.pass()
	}
	for g.now >= g.idle.due() {
		g.letGo(g.idle.first)
	}
	for _, a := range g.old {
		g.tick(a)
	}
	g.tick(g.cur)
}

// end runs at the end of every call: it sends what is due, and sets when to wake.
func (g *Client) end() {
	if g.cur.parting {
		g.move()
	}
	if g.strays {
		g.settleStrays()
	}
	if g.unqueued {
		g.resend()
	}
	if len(g.old) > 0 {
		g.sweep()
	}
	wake := min(g.soonest, g.idle.due())
	for _, a := range g.old {
		if g.renewing(a) && g.now >= a.renewAt {
			g.renew(a)
		}
		wake = min(wake, g.due(a))
	}
	if g.renewing(g.cur) && g.now >= g.cur.renewAt {
		g.renew(g.cur)
	}
	g.Out.Wake = min(wake, g.due(g.cur))
}

// Close ends the client's sessions, and with them every hold and every waiting request.
// It asserts that the applications of this process have stopped: they must have.
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
		case idle:
			if t.on.phase == open {
				g.send(t.on, &Frame{Kind: Return, Number: t.wire, Count: t.token.Count})
			}
		}
	}
	for _, a := range append(g.old, g.cur) {
		if a.phase == open {
			g.send(a, &Frame{Kind: Close})
		}
		g.hangUp(a)
	}
	g.cur = &attachment{address: g.cur.address, phase: ended}
	g.requests, g.old, g.txs, g.closed, g.soonest = nil, nil, nil, true, member.Never
	g.delegations, g.delegates, g.idle = nil, nil, idleTasks{}
	g.end()
}

// Ask asks the current node something unrelated to sessions: see Out.Answers. It returns
// the number of the connection on which the answer will come, 0 if there is no node now.
func (g *Client) Ask(number, what uint64, b []byte) (conn uint64) {
	if g.cur.phase != open || len(b) > MaxBytes {
		return 0
	}
	g.send(g.cur, &Frame{Kind: Ask, Number: number, What: what, Bytes: b})
	return g.cur.conn
}

// Session returns the session with the current node, 0 if there is none; the node that
// it is with, or that the client tries; and whether there is a connection.
func (g *Client) Session() (session uint64, node string, connected bool) {
	return g.cur.session, g.cur.address, g.cur.phase == open
}

// Parting returns the address of a node through which locks are held and that is about
// to stop or to leave, and no longer renews its session; empty if there is none.
func (g *Client) Parting() string {
	if g.cur.parting {
		return g.cur.address
	}
	for _, a := range g.old {
		if a.parting {
			return a.address
		}
	}
	return ""
}

func (g *Client) tell(e Event) { g.Out.Events = append(g.Out.Events, e) }

// send sends a frame on an attachment's connection.
func (g *Client) send(a *attachment, f *Frame) {
	from := len(g.Out.arena)
	g.Out.arena = f.AppendTo(g.Out.arena)
	g.Out.Frames = append(g.Out.Frames, Outgoing{a.conn, g.Out.arena[from:len(g.Out.arena):len(g.Out.arena)]})
}
