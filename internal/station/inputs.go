package station

import (
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

// Found begins a cluster in an empty store: first is what engine.Birth returned. The
// station is to Join with the nonce that is in it.
func (s *Station) Found(now member.Instant, first engine.Change) (err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Found, At: now, Bytes: first.AppendTo(nil)})
		defer s.end(&err)
	}
	return s.peer.Found(engine.Record{}, first)
}

// Join begins to ask for membership, with a nonce that is drawn for this attempt.
func (s *Station) Join(now member.Instant, nonce uint64) (err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Join, At: now, Number: nonce})
		defer s.end(&err)
	}
	err = s.peer.Join(now, nonce)
	s.rest(now)
	return err
}

// Leave promises never to enter again, and then asks to be let go. Host.Ended tells
// when it is.
func (s *Station) Leave(now member.Instant) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Leave, At: now})
		defer s.end(nil)
	}
	s.peer.Leave(now)
	s.rest(now)
}

// Wake is to be called when Due has come.
func (s *Station) Wake(now member.Instant) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Wake, At: now})
		defer s.end(nil)
	}
	s.peer.Wake(now)
	s.rest(now)
}

// Up tells that there is a connection to a node.
func (s *Station) Up(now member.Instant, address string) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Up, At: now, Text: address})
		defer s.end(nil)
	}
	s.linked[address] = true
	s.peer.Up(now, address)
	s.rest(now)
}

// Down tells that the connection to a node has broken.
func (s *Station) Down(now member.Instant, address string) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Down, At: now, Text: address})
		defer s.end(nil)
	}
	delete(s.linked, address)
	s.peer.Down(now, address)
	s.rest(now)
}

// Receive takes a message of another node. An error means that nobody correct can
// have sent it: the connection that it came by is to be closed.
func (s *Station) Receive(now member.Instant, from string, b []byte) (err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Message, At: now, Text: from, Bytes: b})
		defer s.end(&err)
	}
	err = s.peer.Receive(now, from, b)
	s.rest(now)
	return err
}

// Hear takes a frame of a client; the host numbers connections from 1, and never uses
// a number again. It returns what the client asks that is for the host to Answer,
// valid as long as the bytes are. After an error the connection is to be closed.
func (s *Station) Hear(now member.Instant, conn uint64, b []byte) (asks []client.Question, err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Frame, At: now, Number: conn, Bytes: b})
		defer s.end(&err)
	}
	s.asks = s.asks[:0]
	if !s.peer.Do(now, func(m *member.Member) { err = s.desk.Receive(now, m, conn, b) }) {
		err = s.desk.Receive(now, nil, conn, b)
	}
	s.rest(now)
	return s.asks, err
}

// Closed tells that the connection of a client is no more.
func (s *Station) Closed(now member.Instant, conn uint64) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Closed, At: now, Number: conn})
		defer s.end(nil)
	}
	s.desk.Closed(conn)
}

// Lock asks for a lock, for an application of the own process. Its ticket is told
// before what becomes of it is.
func (s *Station) Lock(now member.Instant, name string, try bool, seat func(t member.Ticket)) (err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Lock, At: now, Text: name, Try: try})
		defer s.end(&err)
	}
	s.peer.Do(now, func(m *member.Member) {
		var t member.Ticket
		if t, err = m.Lock(now, name, member.Ask{Deadline: member.Never, Try: try}); err == nil {
			s.out.Ticket = t
			seat(t)
		}
	})
	s.rest(now)
	return err
}

// Cancel takes back a request that waits. It may have been granted in this very step.
func (s *Station) Cancel(now member.Instant, t member.Ticket) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Cancel, At: now, Number: uint64(t)})
		defer s.end(nil)
	}
	s.peer.Do(now, func(m *member.Member) { m.Cancel(now, t) })
	s.rest(now)
}

// Unlock lets go of a lock. If it was held until now, freed is called before others
// hear of it.
func (s *Station) Unlock(now member.Instant, name string, t member.Token, freed func()) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Unlock, At: now, Text: name, Token: t})
		defer s.end(nil)
	}
	s.peer.Do(now, func(m *member.Member) {
		if m.Unlock(now, name, t) == nil {
			s.out.Freed = true
			freed()
		}
	})
	s.rest(now)
}

// Release takes a lock away from who holds it with this token.
func (s *Station) Release(now member.Instant, name string, t member.Token) (err error) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Release, At: now, Text: name, Token: t})
		defer s.end(&err)
	}
	if !s.peer.Do(now, func(m *member.Member) { err = m.Release(now, name, t) }) {
		err = member.ErrGone
	}
	s.rest(now)
	return err
}

// Drain tells all clients that the node is about to leave, and takes back these
// requests, if there is a member, and reports that.
func (s *Station) Drain(now member.Instant, waiting []member.Ticket) (done bool) {
	if s.config.Tape != nil {
		s.begin(Input{Kind: Drain, At: now, Tickets: waiting})
		defer s.end(nil)
	}
	done = s.peer.Do(now, func(m *member.Member) {
		s.desk.Drain(now, m)
		for _, t := range waiting {
			m.Cancel(now, t)
		}
	})
	s.rest(now)
	return done
}
