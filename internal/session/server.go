package session

import (
	"errors"
	"fmt"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/share"
	"github.com/stile-lock/stile/internal/ticket"
)

// A ServerConfig configures a Server.
type ServerConfig struct {
	Sessions int // maximum number of sessions (default 100,000)
	// Draw returns the number of a new session and its secret. They cannot be guessed,
	// and do not repeat.
	Draw  func() (session uint64, secret Secret)
	Watch Watcher // nil if no observer is needed
}

// usualSessions is the default bound on the sessions of a node.
const usualSessions = 100_000

// A Watcher observes what a Server does with the member.
type Watcher interface {
	Asked(of *Owner, t member.Ticket, name string, try bool, terms member.Terms)
	Claimed(of *Owner, t member.Ticket, name string, token member.Token, terms member.Terms)
	Cancelled(t member.Ticket) // the request was waiting
	// Kept and Unlocked: the lock was held.
	Kept(t member.Ticket, token member.Token) // it was delegated, and is in use with this token
	Unlocked(t member.Ticket, count uint64)   // the count is that of the last entry of a delegated lock, 0 if the client has not named it
}

// A Server serves the clients of a node: it keeps their sessions, and asks the member
// for the locks that they request. Its methods must be called one at a time, and those
// that take the member only within a step of its process. Its effects are in Out; take
// them after each call.
type Server struct {
	Out     ServerOut
	Nodes   []string // addresses of the cluster's nodes, sent to clients
	Cluster uint64   // the same: its number
	Earlier []uint64 // the same: those of the clusters that it was recovered from

	config   ServerConfig
	office   ticket.Office
	through  [1]uint64 // incarnation of the node
	proof    []byte    // the ticket that was made last
	sessions map[uint64]*session
	all      []*session // the same sessions
	conns    map[uint64]*session
	callers  map[uint64]caller // of connections that Opened has reported
	usages   map[string]*usage // of identities with sessions
	requests map[key]*request
	tickets  map[member.Ticket]*request
	due      []*request // granted, but no longer wanted
	streaks  streaks
	holds    int
	leaves   bool
	sweepAt  member.Instant
}

// ServerOut holds the effects that a Server wants. The host that takes them resets it.
type ServerOut struct {
	Frames []Sent         // to send, in this order
	Asks   []Question     // for the host, which calls Answer
	Shown  []string       // names of locks whose holder or its value is another, if a value was attached
	Claims []Claimed      // that have been honoured or refused
	Wake   member.Instant // when to call Wake, if nothing happens before
	arena  []byte         // backs Frames
}

// Reset empties it.
func (o *ServerOut) Reset() {
	clear(o.Shown)
	clear(o.Claims)
	o.Frames, o.Asks, o.Shown, o.Claims, o.arena = o.Frames[:0], o.Asks[:0], o.Shown[:0], o.Claims[:0], o.arena[:0]
}

// A Sent is a frame for a connection, or only its end. Its bytes are valid until Out is
// reset.
type Sent struct {
	Conn  uint64
	Bytes []byte
	Last  bool // close the connection after it
}

// A Question is a client's Ask. Its bytes are valid as long as the received frame is.
type Question struct {
	Conn, Number uint64
	Session      uint64 // session of the connection; 0 if there is none
	What         uint64
	Bytes        []byte
}

// An Owner is the client whose a session is. It never changes, and may be kept for longer
// than the session.
type Owner struct {
	Session uint64
	Who     string // identity, as Opened was told; empty if it has none
	Label   string // what it calls itself
}

// A session is the node's record of a client.
type session struct {
	Owner
	secret Secret
	quota  Quota
	usage  *usage // of its identity
	conn   uint64 // 0 if not connected at present
	asked  bool   // to use another node
	place  int    // index in Server.all
	hello  uint64 // number of the last HELLO
	length member.Span
	since  member.Instant
	until  member.Instant // when the member ends it, unless it is renewed
	first  *request
	holds  int       // number of its requests that are held
	waits  int       // number of those that wait
	over   bool      // it has ended
	freed  [8]uint64 // last requests released: clients may not have received the answer
	frees  int       // number of releases so far

	prev, next *session // in the list of its identity's sessions
}

// NewServer returns a Server without sessions.
func NewServer(c ServerConfig) *Server {
	if c.Sessions <= 0 {
		c.Sessions = usualSessions
	}
	d := &Server{config: c, callers: map[uint64]caller{}}
	d.clear()
	return d
}

func (d *Server) clear() {
	d.sessions, d.conns = map[uint64]*session{}, map[uint64]*session{}
	d.requests, d.tickets = map[key]*request{}, map[member.Ticket]*request{}
	d.usages = map[string]*usage{}
	d.all, d.due, d.holds, d.leaves = nil, nil, 0, false
	d.sweepAt, d.Out.Wake = member.Never, member.Never
}

// Receive handles a frame that arrived on a connection. The host numbers connections
// from 1, and never reuses a number. The member is nil if there is none. After an error
// the host must close the connection.
func (d *Server) Receive(now member.Instant, m *member.Member, conn uint64, b []byte) error {
	f, err := Parse(b)
	switch {
	case err == errOptional:
		return nil
	case err != nil:
		return err
	}
	if f.Kind.OfNodes() {
		return fmt.Errorf("%w: only nodes send %v", ErrFrame, f.Kind)
	}
	s := d.conns[conn]
	switch {
	case f.Kind == Hello:
		d.hello(now, m, conn, &f)
	case f.Kind == Ask:
		q := Question{Conn: conn, Number: f.Number, What: f.What, Bytes: f.Bytes}
		if s != nil {
			q.Session = s.Session
		}
		d.Out.Asks = append(d.Out.Asks, q)
	case s != nil && m != nil: // otherwise the connection was superseded, or the session is over
		return d.serve(now, m, s, &f)
	}
	return nil
}

// hello begins a session, or resumes one.
func (d *Server) hello(now member.Instant, m *member.Member, conn uint64, f *Frame) {
	by := d.callers[conn]
	s := d.resumed(by.who, f)
	fresh, version := s == nil, agree(f.Oldest, f.Protocol)
	switch {
	case version == 0:
		d.put(conn, &Frame{Kind: Bye, Why: Foreign, Protocol: Protocol, Oldest: OldestProtocol}, true)
		return
	case m == nil:
		d.bye(conn, NoLease, true)
		return
	case fresh && d.leaves:
		d.bye(conn, Leaving, true)
		return
	case fresh && len(d.all) >= d.config.Sessions:
		d.bye(conn, Full, true)
		return
	case fresh && by.who != "" && !share.Allows(d.config.Sessions, len(d.all), d.sessionsOf(by.who), 1):
		d.bye(conn, Crowded, true)
		return
	case fresh && by.quota.Sessions > 0 && d.sessionsOf(by.who) >= by.quota.Sessions:
		d.bye(conn, Crowded, true)
		return
	case !fresh && f.Number <= s.hello:
		d.Out.Frames = append(d.Out.Frames, Sent{Conn: conn, Last: true}) // late: the client has a newer connection
		return
	case fresh:
		s = &session{since: now, length: length(m, f.Length), place: -1}
		s.Session, s.secret = d.config.Draw()
		s.Who, s.Label = by.who, f.Name
	}
	span := d.prolong(now, m, s)
	act := s.length / 100 * member.Span(m.Settings.Act)
	if fresh && span <= act { // of no use: the node's own lease is about to expire
		m.Close(now, s.Session)
		d.bye(conn, NoLease, true)
		return
	}
	s.hello = f.Number
	if fresh {
		s.place = len(d.all)
		d.all = append(d.all, s)
		d.sessions[s.Session] = s
		d.enlist(s)
	}
	s.quota = by.quota
	d.bind(conn, s)
	d.send(s, &Frame{Kind: Welcome, Number: f.Number, Protocol: version, Session: s.Session, Secret: s.secret, Inc: m.Inc, Length: s.length, Span: span,
		Again: m.Again(now, s.length), Act: act, Nodes: d.nodes(), Cluster: d.Cluster, Earlier: d.Earlier})
	if d.leaves {
		d.bye(conn, Leaving, false)
	}
}

// resumed returns the session that a HELLO of an identity resumes; nil if there is none. A wrong
// secret is as good as an unknown session, to reveal nothing to a client that guesses.
func (d *Server) resumed(who string, f *Frame) *session {
	if s := d.sessions[f.Session]; s != nil && s.secret.equal(&f.Secret) && s.Who == who {
		return s
	}
	return nil
}

// Resumes reports whether a HELLO of an identity resumes a session.
func (d *Server) Resumes(who string, f *Frame) bool { return d.resumed(who, f) != nil }

// length returns how long a session may be silent. No client may act for longer than
// its node may, so a session longer than a lease would only keep others waiting for a
// dead client.
func length(m *member.Member, wanted member.Span) member.Span {
	lease := m.Settings.Lease
	if wanted == 0 {
		return lease
	}
	return min(max(wanted, shortest), lease)
}

// prolong renews a session, and returns how long its client may act; 0 if the session
// is not renewed.
func (d *Server) prolong(now member.Instant, m *member.Member, s *session) member.Span {
	if d.leaves {
		return 0
	}
	span, err := m.Renew(now, s.Session, s.length)
	if err != nil {
		return 0
	}
	m.Identify(s.Session, s.Who)
	s.until = max(s.until, now+member.Instant(s.length))
	d.sweepAt = min(d.sweepAt, s.until)
	d.wake()
	return span
}

// bind binds a session to a connection. It unbinds the connection's former session, and
// closes the session's former connection.
func (d *Server) bind(conn uint64, s *session) {
	if old := d.conns[conn]; old != nil && old != s {
		old.conn = 0
	}
	if s.conn != 0 && s.conn != conn {
		delete(d.conns, s.conn)
		d.Out.Frames = append(d.Out.Frames, Sent{Conn: s.conn, Last: true})
	}
	s.conn = conn
	d.conns[conn] = s
}

// Closed reports to the Server that a connection is closed. Its session goes on until
// its deadline.
func (d *Server) Closed(conn uint64) {
	delete(d.callers, conn)
	if s := d.conns[conn]; s != nil {
		delete(d.conns, conn)
		if s.conn == conn {
			s.conn = 0
		}
	}
}

// Bound reports whether a connection has a session.
func (d *Server) Bound(conn uint64) bool { return d.conns[conn] != nil }

// forget ends a session. Its requests stay until the member has reported their
// outcomes.
func (d *Server) forget(s *session) {
	if d.sessions[s.Session] != s {
		return
	}
	delete(d.sessions, s.Session)
	d.uncount(s)
	if s.conn != 0 {
		delete(d.conns, s.conn)
		s.conn = 0
	}
	last := d.all[len(d.all)-1]
	d.all[s.place], last.place = last, s.place
	d.all[len(d.all)-1] = nil
	d.all = d.all[:len(d.all)-1]
}

// expire ends a session that has expired at the member.
func (d *Server) expire(s *session) {
	if s.conn != 0 {
		d.bye(s.conn, Expired, false)
	}
	d.forget(s)
}

// Wake must be called when Out.Wake is due.
func (d *Server) Wake(now member.Instant, m *member.Member) {
	due := d.due
	d.due = nil
	for _, r := range due {
		if d.tickets[r.ticket] == r && m != nil {
			_, _ = d.letGo(now, m, r, r.token.Count) // the client has made no other entry
		}
	}
	if now >= d.sweepAt {
		d.sweep(now)
	}
	d.wake()
}

// sweep forgets expired sessions. If a session holds or waits for locks, the member
// reports its end instead. A sweep visits all sessions, so it runs rarely.
func (d *Server) sweep(now member.Instant) {
	next, soon := member.Never, member.MaxSpan
	for i := len(d.all) - 1; i >= 0; i-- {
		if s := d.all[i]; s.first == nil && now >= s.until {
			d.expire(s)
		} else {
			next, soon = min(next, s.until), min(soon, s.length/4)
		}
	}
	d.sweepAt = max(next, now+member.Instant(soon))
	if len(d.all) == 0 {
		d.sweepAt = member.Never
	}
}

func (d *Server) wake() {
	if d.Out.Wake = d.sweepAt; len(d.due) > 0 {
		d.Out.Wake = 0
	}
}

// Drain notifies all clients that the node is about to leave: sessions are no longer
// renewed, no lock is granted, delegated locks are recalled, and clients send
// waiting requests to other nodes. When Holds is 0 the member may leave.
func (d *Server) Drain(now member.Instant, m *member.Member) {
	d.leaves = true
	for _, s := range d.all {
		for r := s.first; r != nil; {
			next := r.next
			switch {
			case r.state == waiting:
				d.withdraw(now, m, r)
			case r.state == held && r.block != 0:
				d.recall(r)
			}
			r = next
		}
		if s.conn != 0 {
			d.bye(s.conn, Leaving, false)
		}
	}
}

// Errors of Redirect.
var (
	ErrNoSession   = errors.New("the node has no such session: it has ended, or is at another node")
	ErrUnconnected = errors.New("the client of the session is not connected at present: ask again when it is")
)

// Redirect asks the client of a session to use another node, and reports whether it holds locks
// through this one. It can claim them elsewhere in later views only, so the host must ask for
// one. The session goes on: if the client finds no other node, it stays. When the client ends
// it, that does not say that the client has stopped: it holds its locks elsewhere.
func (d *Server) Redirect(session uint64) (holds bool, err error) {
	s := d.sessions[session]
	switch {
	case s == nil:
		return false, ErrNoSession
	case s.conn == 0:
		return false, ErrUnconnected
	}
	s.asked = true
	d.send(s, &Frame{Kind: Redirect, Nodes: d.nodes()})
	return s.holds > 0, nil
}

// Holds returns how many locks clients hold, as far as the node knows.
func (d *Server) Holds() int { return d.holds }

// End reports that the member is no longer one, after it has reported what is lost. It
// ends all sessions.
func (d *Server) End(why Why) {
	for _, s := range d.all {
		if s.conn != 0 {
			d.bye(s.conn, why, true)
		}
	}
	d.clear()
}

// Answer answers a Question, or a part of it.
func (d *Server) Answer(conn, number uint64, ok bool, b []byte, last bool) error {
	if len(b) > MaxBytes {
		return fmt.Errorf("answer a client: part of %d bytes: want up to %d", len(b), MaxBytes)
	}
	d.put(conn, &Frame{Kind: Answer, Number: number, OK: ok, Bytes: b, Last: last}, false)
	return nil
}

// send sends a frame to the client of a session, if it is connected.
func (d *Server) send(s *session, f *Frame) {
	if s.conn != 0 {
		d.put(s.conn, f, false)
	}
}

func (d *Server) bye(conn uint64, why Why, last bool) {
	d.put(conn, &Frame{Kind: Bye, Why: why, Nodes: d.nodes()}, last)
}

func (d *Server) nodes() []string { return d.Nodes[:min(len(d.Nodes), MaxNodes)] }

func (d *Server) put(conn uint64, f *Frame, last bool) {
	from := len(d.Out.arena)
	d.Out.arena = f.AppendTo(d.Out.arena)
	d.Out.Frames = append(d.Out.Frames, Sent{conn, d.Out.arena[from:len(d.Out.arena):len(d.Out.arena)], last})
}

// Rekey sets the incarnation of the node and the keys for tickets. If they are made with another one from now on, all holds get
// new tickets.
func (d *Server) Rekey(inc uint64, keys []ticket.Key) {
	d.through[0] = inc
	if !d.office.Set(d.Cluster, keys) {
		return
	}
	for _, s := range d.all {
		for r := s.first; r != nil; r = r.next {
			if r.state == held {
				d.grant(r)
			}
		}
	}
}

// Sessions returns the number of sessions.
func (d *Server) Sessions() int { return len(d.all) }

// A ClientInfo describes a session for display.
type ClientInfo struct {
	Owner
	Conn         uint64 // 0 if not connected at present
	Since, Until member.Instant
	Holds, Waits int
}

// Each calls f for all sessions.
func (d *Server) Each(f func(ClientInfo)) {
	for _, s := range d.all {
		f(s.tell())
	}
}

// Find returns the description of one session.
func (d *Server) Find(session uint64) (ClientInfo, bool) {
	s := d.sessions[session]
	if s == nil {
		return ClientInfo{}, false
	}
	return s.tell(), true
}

func (s *session) tell() ClientInfo {
	return ClientInfo{Owner: s.Owner, Conn: s.conn, Since: s.since, Until: s.until, Holds: s.holds, Waits: s.waits}
}

// Value returns the value that a client has attached to a lock that it holds; false if it
// has attached none.
func (d *Server) Value(t member.Ticket) (string, bool) {
	if r := d.tickets[t]; r != nil && r.value != nil && r.state == held {
		return *r.value, true
	}
	return "", false
}

// refusals are the errors of the member that have reasons of their own.
var refusals = [...]struct {
	err error
	why Why
}{
	{member.ErrName, BadName},
	{member.ErrNames, ManyNames},
	{member.ErrWaiters, ManyWaiters},
	{member.ErrOrdinary, Ordinary},
	{member.ErrMode, BadMode},
	{member.ErrDoomed, Aborting},
	{member.ErrWaits, Waiting},
	{member.ErrReentrant, Reentrant},
	{member.ErrMethods, OtherMethod},
	{member.ErrOrder, OutOfOrder},
}

// refusal returns why the member refuses a request, with the words for it if the reason has
// details; false if the session is over.
func refusal(err error) (why Why, text string, alive bool) {
	for _, r := range refusals {
		switch {
		case r.why == BadMode && errors.Is(err, r.err):
			return r.why, clip(err.Error()), true
		case errors.Is(err, r.err):
			return r.why, "", true
		}
	}
	return Expired, "", false
}
