package station

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/peer"
)

// A Begin is what a station begins with, as far as it can be written down.
type Begin struct {
	At       member.Instant
	Name     string
	Address  string   // where others find it
	Contacts []string // addresses of nodes that may know the cluster
	Cluster  uint64   // of which it was a member before; 0 joins whichever it finds
	Seed     uint64   // of what the voter's log needs chance for
	Settings member.Settings
	Limits   member.Limits
}

// A Config says what a station is, and what it has.
type Config struct {
	Begin
	Store engine.Store
	// Spec returns an algorithm by its name.
	Spec func(algorithm string, version int) (core.Spec, error)
	Host Host
	// Draw returns the number of a new session of a client, and its secret.
	Draw func() (session uint64, secret client.Secret)
	Tape Tape // nil if nobody records
}

// A Host is the world around a station. Its methods are called in the middle of
// things: none may call the station back.
type Host interface {
	// Send sends a message to a node. It may get lost. The bytes are valid during the
	// call alone.
	Send(to string, b []byte)
	// Told is what the member tells an application. It reports whether the ticket is
	// one of the own process; else it is that of a client.
	Told(e *member.Event) bool
	// Post sends a frame to a client, and closes its connection behind the last one. The
	// bytes, of which there may be none, are valid during the call alone.
	Post(conn uint64, b []byte, last bool)
	// Installed tells that the member has begun a view.
	Installed(r *engine.Record)
	// Ended tells that the node is a member no more. It may Join again.
	Ended(how engine.Ending)
}

// A Station is a node without its machine. Its methods are called one at a time. When
// Err is not nil the node must end: its store has failed, and nothing may be sent.
type Station struct {
	config Config
	peer   *peer.Peer
	desk   *client.Desk
	linked map[string]bool // by address: there is a connection
	asks   []client.Question

	in  Input // the one that is being taken, if there is a tape
	out Outcome
}

// New makes a station. If its store is that of a voter, the voter runs from now on.
func New(c Config) (*Station, error) {
	s := &Station{config: c, linked: map[string]bool{}}
	s.desk = client.NewDesk(client.DeskConfig{Draw: s.draw})
	s.desk.Nodes = c.Contacts
	p := peer.Config{
		Name: c.Name, Address: c.Address, Contacts: c.Contacts, Cluster: c.Cluster, Store: c.Store, Seed: c.Seed,
		Spec: c.Spec, Host: host{s}, Fit: peer.Fit, Limits: c.Limits,
	}
	p.Tick, p.Links = peer.Fit(c.Settings)
	var err error
	if s.peer, err = peer.New(c.At, p); err != nil {
		return nil, err
	}
	return s, nil
}

// Err returns why the node must end, or nil.
func (s *Station) Err() error { return s.peer.Err }

// Due returns when Wake is to be called, if nothing happens before.
func (s *Station) Due() member.Instant { return min(s.peer.Due(), s.desk.Out.Wake) }

// Member returns the member, or nil. It is to be looked at alone.
func (s *Station) Member() *member.Member { return s.peer.Member() }

// Record returns the newest record that the node knows.
func (s *Station) Record() *engine.Record { return s.peer.Record() }

// Clerk returns the voter's, or nil. It is to be looked at alone.
func (s *Station) Clerk() *engine.Clerk { return s.peer.Clerk() }

// Linked reports whether there is a connection to a node.
func (s *Station) Linked(address string) bool { return s.linked[address] }

// Holds returns how many locks clients hold, as far as the node knows.
func (s *Station) Holds() int { return s.desk.Holds() }

// Bound reports whether a connection has a session.
func (s *Station) Bound(conn uint64) bool { return s.desk.Bound(conn) }

// Clients tells all sessions of clients.
func (s *Station) Clients(f func(client.Client)) { s.desk.Each(f) }

// Client tells one.
func (s *Station) Client(session uint64) (client.Client, bool) { return s.desk.Find(session) }

// Answer answers a question of a client, or a part of it. What is answered is no
// business of the station: it is no input.
func (s *Station) Answer(q *client.Question, ok bool, b []byte, last bool) error {
	err := s.desk.Answer(q.Conn, q.Number, ok, b, last)
	for _, f := range s.desk.Out.Frames {
		s.config.Host.Post(f.Conn, f.Bytes, f.Last)
	}
	s.desk.Out.Reset()
	return err
}

// rest does what the desk wants, after each input: what is due, and what is to be
// sent.
func (s *Station) rest(now member.Instant) {
	for s.desk.Out.Wake <= now && s.peer.Err == nil {
		if !s.peer.Do(now, func(m *member.Member) { s.desk.Wake(now, m) }) {
			s.desk.Wake(now, nil)
		}
	}
	if len(s.desk.Out.Frames)+len(s.desk.Out.Asks) > 0 {
		s.post()
	}
}

// post sends what the desk wants sent.
func (s *Station) post() {
	for i := range s.desk.Out.Frames {
		f := &s.desk.Out.Frames[i]
		if s.config.Tape != nil {
			s.out.Frames.frame(f)
		}
		s.config.Host.Post(f.Conn, f.Bytes, f.Last)
	}
	s.asks = append(s.asks, s.desk.Out.Asks...)
	s.desk.Out.Reset()
}

// draw draws a session.
func (s *Station) draw() (session uint64, secret client.Secret) {
	session, secret = s.config.Draw()
	if s.config.Tape != nil {
		s.out.Draws = append(s.out.Draws, Draw{session, secret})
	}
	return session, secret
}

// A host is what the peer knows of a station.
type host struct{ *Station }

// Send implements peer.Host.
func (h host) Send(to string, b []byte) {
	if h.config.Tape != nil {
		h.out.Sends.message(to, b)
	}
	h.config.Host.Send(to, b)
}

// Told implements peer.Host.
func (h host) Told(e *member.Event) {
	if h.config.Tape != nil {
		h.out.Told.event(e)
	}
	if !h.config.Host.Told(e) {
		h.desk.Told(e)
	}
}

// Installed implements peer.Host.
func (h host) Installed(r *engine.Record) {
	if h.config.Tape != nil {
		h.out.Views.view(r)
	}
	nodes := make([]string, 0, len(r.Members))
	for _, m := range r.Members {
		nodes = append(nodes, m.Address)
	}
	h.desk.Nodes = nodes
	h.config.Host.Installed(r)
}

// Ended implements peer.Host. Clients hear of it before the host, which may end now.
func (h host) Ended(how engine.Ending) {
	if h.config.Tape != nil {
		h.out.Views.ending(how)
	}
	why := client.Evicted
	if how == engine.Left {
		why = client.Leaving
	}
	h.desk.End(why)
	h.post()
	h.config.Host.Ended(how)
}
