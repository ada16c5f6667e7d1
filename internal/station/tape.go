package station

import (
	"encoding/binary"
	"fmt"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

// A Tape is shown what a station takes, and what came of it.
type Tape interface {
	// Took is shown an input after all that came of it. Both are valid during the call
	// alone.
	Took(in *Input, out *Outcome)
	// Crashed is shown an input in which the station panics, and what came of it before:
	// the process ends when it returns.
	Crashed(in *Input, out *Outcome)
}

// A Kind says what an input is.
type Kind uint8

// The inputs: the methods of a station.
const (
	Found Kind = iota
	Join
	Leave
	Wake
	Up
	Down
	Message
	Frame
	Closed
	Lock
	Cancel
	Unlock
	Release
	Drain
	Kinds // how many there are
)

var kindNames = [...]string{"found", "join", "leave", "wake", "up", "down", "message", "frame", "closed", "lock", "cancel", "unlock", "release", "drain"}

// String names a kind.
func (k Kind) String() string {
	if k >= Kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// An Input is one thing that happens to a station. Which fields it has depends on its
// kind.
type Input struct {
	Kind    Kind
	At      member.Instant
	Text    string          // Up, Down, Message: an address; Lock, Unlock, Release: the name of a lock
	Number  uint64          // Join: the nonce; Frame, Closed: the connection; Cancel: the ticket
	Try     bool            // Lock
	Token   member.Token    // Unlock, Release
	Tickets []member.Ticket // Drain
	Bytes   []byte          // Message, Frame; Found: the change
}

// A Draw is a session and its secret, which chance has made.
type Draw struct {
	Session uint64
	Secret  client.Secret
}

// An Outcome is what came of an input.
type Outcome struct {
	Draws   []Draw
	Ticket  member.Ticket // Lock
	Freed   bool          // Unlock: it was held until now
	Refused bool          // the input had an error
	Fault   string        // why the node must end; empty if it need not
	Due     member.Instant

	Sends  Digest // to other nodes
	Told   Digest // what the member has told
	Frames Digest // to clients
	Views  Digest // that were begun, and that it is a member no more
}

// Do takes an input that was written down.
func (s *Station) Do(in *Input) error {
	switch in.Kind {
	case Found:
		first, err := engine.ParseChange(in.Bytes)
		if err != nil {
			return fmt.Errorf("found a cluster: %w", err)
		}
		return s.Found(in.At, first)
	case Join:
		return s.Join(in.At, in.Number)
	case Leave:
		s.Leave(in.At)
	case Wake:
		s.Wake(in.At)
	case Up:
		s.Up(in.At, in.Text)
	case Down:
		s.Down(in.At, in.Text)
	case Message:
		return s.Receive(in.At, in.Text, in.Bytes)
	case Frame:
		_, err := s.Hear(in.At, in.Number, in.Bytes)
		return err
	case Closed:
		s.Closed(in.At, in.Number)
	case Lock:
		return s.Lock(in.At, in.Text, in.Try, func(member.Ticket) {})
	case Cancel:
		s.Cancel(in.At, member.Ticket(in.Number))
	case Unlock:
		s.Unlock(in.At, in.Text, in.Token, func() {})
	case Release:
		return s.Release(in.At, in.Text, in.Token)
	case Drain:
		s.Drain(in.At, in.Tickets)
	}
	return nil
}

// begin notes an input, for the tape.
func (s *Station) begin(in Input) {
	s.in, s.out = in, Outcome{Draws: s.out.Draws[:0]}
}

// end shows the tape what has come of it. It is deferred, so that the tape sees an
// input that the station does not survive, too.
func (s *Station) end(err *error) {
	if why := recover(); why != nil {
		s.config.Tape.Crashed(&s.in, &s.out)
		panic(why)
	}
	s.out.Refused = err != nil && *err != nil
	if s.peer.Err != nil {
		s.out.Fault = s.peer.Err.Error()
	}
	s.out.Due = s.Due()
	s.config.Tape.Took(&s.in, &s.out)
}

// A Digest is how many of something there were, and a sum of all their bytes.
type Digest struct {
	Count int
	Sum   uint32
}

// add begins the next one. The sum is that of FNV-1a.
func (d *Digest) add() {
	if d.Count++; d.Count == 1 {
		d.Sum = 2166136261
	}
}

func (d *Digest) bytes(b []byte) {
	for _, x := range b {
		d.Sum = (d.Sum ^ uint32(x)) * 16777619
	}
}

func (d *Digest) number(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	d.bytes(b[:])
}

func (d *Digest) message(to string, b []byte) {
	d.add()
	d.number(uint64(len(to)))
	d.bytes([]byte(to))
	d.bytes(b)
}

func (d *Digest) event(e *member.Event) {
	d.add()
	d.number(uint64(e.Ticket))
	d.number(uint64(e.Kind)<<8 | uint64(e.Cause))
	d.number(e.Token.Epoch)
	d.number(e.Token.Count)
}

func (d *Digest) frame(f *client.Sent) {
	d.add()
	d.number(f.Conn)
	if f.Last {
		d.number(1)
	}
	d.bytes(f.Bytes)
}

func (d *Digest) view(r *engine.Record) {
	d.add()
	d.bytes(r.AppendTo(nil))
}

func (d *Digest) ending(how engine.Ending) {
	d.add()
	d.number(uint64(how))
}
