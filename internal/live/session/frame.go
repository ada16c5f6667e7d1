package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/live/member"
)

// Protocol is the version that is spoken here.
const Protocol = 1

// Bounds of frames.
const (
	MaxFrame = 1 << 16       // bytes of a whole one
	MaxBytes = MaxFrame - 64 // in an Ask, or one part of an Answer
	MaxNodes = 64            // addresses that a node tells
	MaxLabel = 128           // bytes of what a client calls itself

	shortest = 10 * member.Millisecond // a session may be silent for so long at least
)

// ErrFrame is the error for bytes that no client and no node can have sent.
var ErrFrame = errors.New("malformed frame")

// A Kind says what a frame is.
type Kind uint8

// The frames, those of clients first.
const (
	Hello   Kind = iota // begin a session, or go on with this one, on this connection
	Renew               // prolong it
	Lock                // a lock is wanted
	Check               // this one is held, as far as the client knows: is it?
	Unlock              // it is let go of, or wanted no more
	Close               // the client has stopped: end the session
	Ask                 // something that is no business of sessions
	Welcome             // this is the session; and a Renewed
	Renewed             // the client may act for so long, counted from before it asked
	Held                // the lock is granted, or still held
	Over                // it is not, and will not be
	Lost                // it was held, and is no more
	Done                // it is let go of
	Bye                 // the session is over, or about to be, and why
	Answer              // to an Ask, or a part of it
	kinds
)

var kindNames = [...]string{
	"HELLO", "RENEW", "LOCK", "CHECK", "UNLOCK", "CLOSE", "ASK",
	"WELCOME", "RENEWED", "HELD", "OVER", "LOST", "DONE", "BYE", "ANSWER",
}

// String names a kind for people.
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// A Why says why a request or a session is over.
type Why uint8

// Why requests are over, and sessions.
const (
	Busy        Why = iota // a try: somebody is inside, or waits
	Recovering             // a try: nobody knows yet whether somebody is inside
	BadName                // there can be no lock of this name
	ManyNames              // the client uses too many locks
	ManyWaiters            // too many wait for this lock at the node

	Expired  // a session: it was silent for too long
	Leaving  // the node leaves the cluster: let go of what is held, and go elsewhere
	Evicted  // the cluster has evicted the node
	NoLease  // the node is no member at present, or cannot reach the others
	Full     // the node has too many sessions
	Foreign  // the node does not speak this protocol
	Finished // the client has ended it

	Late        // told by the guest alone: the wait was limited
	Unreachable // there was no node for too long
	whys
)

var whyNames = [...]string{
	"somebody holds the lock, or waits for it",
	"nobody knows yet whether somebody holds the lock: try again soon",
	"the name of a lock is 1 to 512 bytes of UTF-8",
	"the client uses too many locks already: let some go first",
	"too many wait for this lock at the node already: try again later",
	"the session was silent for too long",
	"the node leaves the cluster",
	"the cluster has evicted the node",
	"the node is no member of the cluster at present, or does not reach the others",
	"the node has too many sessions already",
	"the node does not speak this protocol: use the same version of both",
	"the client has ended its session",
	"the time to wait for it is over",
	"no node could be reached",
}

// String says it for people.
func (w Why) String() string {
	if w >= whys {
		return fmt.Sprintf("reason %d", uint8(w))
	}
	return whyNames[w]
}

// A Secret is what only a session's node and its client know: whoever shows it on a
// new connection takes the session over.
type Secret [16]byte

// equal compares them in a time that does not tell where they differ.
func (s *Secret) equal(o *Secret) bool {
	diff := byte(0)
	for i := range s {
		diff |= s[i] ^ o[i]
	}
	return diff == 0
}

// A Frame is one message on a connection. Which fields it has depends on its kind.
type Frame struct {
	Kind     Kind
	Number   uint64       // of the renewal: Hello, Renew, Welcome, Renewed; of the question: Ask, Answer; else of the request
	Protocol uint64       // Hello
	Session  uint64       // Hello, where 0 is a new one; Welcome
	Secret   Secret       // Hello, Welcome
	Name     string       // Hello: of the client, for people; Lock
	Length   member.Span  // Hello: how long the session may be silent, as wanted, where 0 is as long as can be; Welcome: as it is
	Span     member.Span  // Welcome, Renewed; 0: not prolonged
	Act      member.Span  // Welcome: how long before its time is over the client has lost what it holds
	Try      bool         // Lock: do not wait behind anybody
	Token    member.Token // Held
	Why      Why          // Over, Bye
	Cause    member.Cause // Lost; NoCause if the node does not know any more
	OK       bool         // Done: it was held, or waited, until now; Answer
	Last     bool         // Answer: no part follows
	What     uint64       // Ask
	Bytes    []byte       // Ask, Answer
	Nodes    []string     // Welcome, Bye: addresses of nodes
}

// AppendTo appends the bytes of a frame.
func (f *Frame) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, byte(f.Kind))}
	f.fields(&c)
	return c.B
}

// Parse reads a frame. What it holds of b is valid as long as b is.
func Parse(b []byte) (Frame, error) {
	if len(b) == 0 || len(b) > MaxFrame || Kind(b[0]) >= kinds {
		return Frame{}, fmt.Errorf("%w: of no known kind, or more than %d bytes", ErrFrame, MaxFrame)
	}
	f := Frame{Kind: Kind(b[0])}
	c := codec.Coder{B: b[1:], Bad: ErrFrame}
	f.fields(&c)
	return f, c.End()
}

func (f *Frame) fields(c *codec.Coder) {
	if f.Kind != Close && f.Kind != Bye {
		c.Number(&f.Number)
	}
	switch f.Kind {
	case Hello:
		c.Number(&f.Protocol)
		c.Number(&f.Session)
		c.Fixed(f.Secret[:])
		c.Text(&f.Name, MaxLabel)
		f.Length.Code(c)
	case Lock:
		c.Text(&f.Name, member.MaxName)
		c.Flag(&f.Try)
	case Ask:
		c.Number(&f.What)
		c.Bytes(&f.Bytes, MaxBytes)
	default:
		f.answers(c)
	}
}

// answers is what only nodes say.
func (f *Frame) answers(c *codec.Coder) {
	switch f.Kind {
	case Welcome:
		if c.Number(&f.Session); c.Reads() && f.Session == 0 {
			c.Fail("a session without a number")
		}
		c.Fixed(f.Secret[:])
		codec.Within(c, &f.Length, uint64(shortest), uint64(member.MaxSpan))
		f.Span.Code(c)
		f.Act.Code(c)
		codec.List(c, &f.Nodes, MaxNodes, func(t *string) { c.Text(t, member.MaxAddress) })
	case Renewed:
		f.Span.Code(c)
	case Held:
		c.Number(&f.Token.Epoch)
		c.Number(&f.Token.Count)
	case Over:
		codec.Within(c, &f.Why, 0, uint64(ManyWaiters))
	case Lost:
		codec.Within(c, &f.Cause, 0, uint64(member.Released))
	case Done:
		c.Flag(&f.OK)
	case Bye:
		codec.Within(c, &f.Why, uint64(Expired), uint64(Finished))
		codec.List(c, &f.Nodes, MaxNodes, func(t *string) { c.Text(t, member.MaxAddress) })
	case Answer:
		c.Flag(&f.OK)
		c.Flag(&f.Last)
		c.Bytes(&f.Bytes, MaxBytes)
	}
}

// KindNames returns the names of all kinds.
func KindNames() []string { return slices.Clone(kindNames[:]) }
