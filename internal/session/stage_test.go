package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A stage is a client among nodes that the test plays: it says what they answer. Renewals
// are answered on connections that are alive.
type stage struct {
	t      *testing.T
	g      *Client
	now    member.Instant
	last   uint64 // number of the last session
	dials  []Dial // not answered yet
	hung   []uint64
	sent   map[uint64][]Frame
	alive  map[uint64]bool
	events []Event
}

func newStage(t *testing.T, nodes ...string) *stage {
	t.Helper()
	g, err := NewClient(1, ClientConfig{Nodes: nodes, Retry: 2 * ms, MaxRetry: 4 * ms})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, g: g, now: 1, sent: map[uint64][]Frame{}, alive: map[uint64]bool{}}
	s.take()
	return s
}

// take takes what the client wants done, and checks its books.
func (s *stage) take() {
	s.t.Helper()
	out := s.g.Out
	s.g.Out = ClientOut{Wake: out.Wake}
	s.events = append(s.events, out.Events...)
	s.dials = append(s.dials, out.Dials...)
	s.hung = append(s.hung, out.HangUps...)
	s.dials = slices.DeleteFunc(s.dials, func(d Dial) bool { return slices.Contains(s.hung, d.Conn) })
	for _, o := range out.Frames {
		f, err := Parse(o.Bytes)
		if err != nil {
			s.t.Fatal(err)
		}
		if f.Kind == Renew && s.alive[o.Conn] {
			defer s.says(o.Conn, Frame{Kind: Renewed, Number: f.Number, Span: 900 * ms})
			continue
		}
		s.sent[o.Conn] = append(s.sent[o.Conn], f)
	}
	parts := map[*attempt]int{}
	for _, t := range s.g.requests {
		if t.tx != nil {
			parts[t.tx]++
		}
	}
	for number, tx := range s.g.txs {
		if len(tx.tasks) == 0 || len(tx.tasks) != parts[tx] {
			s.t.Errorf("transaction %d has %d requests, want %d", number, len(tx.tasks), parts[tx])
		}
	}
	for _, a := range append(slices.Clone(s.g.old), s.g.cur) {
		holds, moved := 0, 0
		for _, t := range s.g.requests {
			if t.on == a && t.state != wanted {
				holds++
			}
			if t.was(a) {
				moved++
			}
			if t.claim != nil && t.claim != s.g.cur {
				s.t.Errorf("request %d is claimed at %s, and not at the current node", t.number, t.claim.address)
			}
		}
		if a.holds != holds || a.moved != moved {
			s.t.Errorf("%d holds and %d moved at %s, want %d and %d", a.holds, a.moved, a.address, holds, moved)
		}
	}
}

func (s *stage) says(conn uint64, f Frame) {
	s.t.Helper()
	if err := s.g.Receive(s.now, conn, f.AppendTo(nil)); err != nil {
		s.t.Fatal(err)
	}
	s.take()
}

// pass lets time pass.
func (s *stage) pass(d member.Span) {
	s.t.Helper()
	for to := s.now + member.Instant(d); s.now < to; {
		s.now = min(to, max(s.now+1, s.g.Out.Wake))
		s.g.Wake(s.now)
		s.take()
	}
}

// dialled waits until the client dials an address, and returns the connection.
func (s *stage) dialled(address string) uint64 {
	s.t.Helper()
	for range 1000 {
		if i := slices.IndexFunc(s.dials, func(d Dial) bool { return d.Address == address }); i >= 0 {
			conn := s.dials[i].Conn
			s.dials = slices.Delete(s.dials, i, i+1)
			return conn
		}
		s.pass(ms)
	}
	s.t.Fatalf("%s is not dialled", address)
	return 0
}

// greets lets an attempt succeed, and returns the connection and its HELLO.
func (s *stage) greets(address string) (uint64, Frame) {
	s.t.Helper()
	conn := s.dialled(address)
	s.g.Connected(s.now, conn)
	s.take()
	all := s.sent[conn]
	delete(s.sent, conn)
	if len(all) != 1 || all[0].Kind != Hello {
		s.t.Fatalf("%s hears %+v", address, all)
	}
	return conn, all[0]
}

// opens lets an attempt succeed; the node resumes the session, or begins one.
func (s *stage) opens(address string, inc uint64) uint64 {
	s.t.Helper()
	conn, h := s.greets(address)
	if h.Session == 0 {
		s.last++
		h.Session = s.last
	}
	s.alive[conn] = true
	s.says(conn, Frame{Kind: Welcome, Number: h.Number, Session: h.Session, Inc: inc, Length: 1000 * ms, Span: 900 * ms, Act: 100 * ms})
	return conn
}

// refuses lets an attempt fail.
func (s *stage) refuses(address string) {
	s.t.Helper()
	s.g.Disconnected(s.now, s.dialled(address))
	s.take()
}

// breaks lets a connection break.
func (s *stage) breaks(conn uint64) {
	s.t.Helper()
	delete(s.alive, conn)
	s.g.Disconnected(s.now, conn)
	s.take()
}

// dies lets the node of a connection die: the next attempt fails too.
func (s *stage) dies(conn uint64, address string) {
	s.t.Helper()
	s.breaks(conn)
	s.refuses(address)
}

// hears checks what was sent on a connection since: kinds and numbers.
func (s *stage) hears(what string, conn uint64, want ...string) []Frame {
	s.t.Helper()
	all := s.sent[conn]
	delete(s.sent, conn)
	var got []string
	for _, f := range all {
		x := f.Kind.String()
		if f.Kind != Renew && f.Kind != Close {
			x = fmt.Sprint(x, " ", f.Number)
		}
		got = append(got, x)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: the node hears %q, want %q", what, got, want)
	}
	return all
}

func (s *stage) lock(name string) uint64 {
	s.t.Helper()
	r, err := s.g.Lock(s.now, name, Opts{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.take()
	return r
}

var token = member.Token{Epoch: 3, Count: 4}

// grants lets a lock be granted on a connection.
func (s *stage) grants(conn uint64) uint64 {
	s.t.Helper()
	r := s.lock("x")
	s.hears("asked", conn, fmt.Sprint("LOCK ", r))
	s.says(conn, Frame{Kind: Held, Number: r, Token: token, Ticket: []byte("granted")})
	s.wants("granted", r, Granted)
	return r
}

func (s *stage) unlock(r uint64) {
	s.t.Helper()
	if err := s.g.Unlock(s.now, r); err != nil {
		s.t.Error(err)
	}
	s.take()
}

// wants checks the events of a request since the last call.
func (s *stage) wants(what string, r uint64, want ...EventKind) (last Event) {
	s.t.Helper()
	var got []EventKind
	s.events = slices.DeleteFunc(s.events, func(e Event) bool {
		if e.Request == r {
			got, last = append(got, e.Kind), e
		}
		return e.Request == r
	})
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: told %v, want %v", what, got, want)
	}
	return last
}

// rests checks the addresses of the older attachments, and whether a lock is valid.
func (s *stage) rests(what string, r uint64, valid bool, old ...string) {
	s.t.Helper()
	var got []string
	for _, a := range s.g.old {
		got = append(got, a.address)
	}
	if s.g.Valid(r, s.now) != valid || !slices.Equal(got, old) {
		s.t.Errorf("%s: valid %t, older attachments %q: want %t, %q", what, !valid, got, valid, old)
	}
}
