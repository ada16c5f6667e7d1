package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// Protocol is the highest version of the protocol that this package speaks, and
// OldestProtocol the lowest. A client and a node speak the highest that both know. What they
// need to find that out never changes: the fields of a Hello up to the range, and a Bye that
// refuses it. So do Ask and Answer, which need no session.
const (
	Protocol       = 1
	OldestProtocol = 1
)

// agree returns the highest version that both sides speak; 0 if there is none.
func agree(oldest, newest uint64) uint64 {
	if v := min(newest, Protocol); v >= max(oldest, OldestProtocol) {
		return v
	}
	return 0
}

// Bounds of frames.
const (
	MaxFrame = 1 << 16       // bytes of a whole frame
	MaxBytes = MaxFrame - 64 // bytes in an Ask, or in one part of an Answer
	MaxNodes = 64            // addresses that a node sends
	MaxLabel = 128           // bytes of a client's label
	MaxValue = 256           // bytes of the value of a lock
	MaxText  = 4096          // bytes of a reason in words

	maxEarlier = 16 // clusters that a Welcome names besides its own; a record names as many

	shortest = 10 * member.Millisecond // minimum length of a session
)

// Errors of frames.
var (
	// ErrFrame is the error for bytes that no client and no node can have sent.
	ErrFrame = errors.New("malformed frame")

	errOptional = errors.New("unknown frame of an optional kind") // ignored
)

// A Kind is the type of a frame.
type Kind uint8

// The frames, those of clients first, apart from the last one.
const (
	Hello     Kind = iota // begin a session, or resume this one, on this connection
	Renew                 // renew the session
	Lock                  // acquire a lock
	Check                 // this lock is held, as far as the client knows: is it?
	Unlock                // the lock is released, or no longer wanted
	Close                 // the client has stopped, or has moved as it was asked to: end the session
	Claim                 // this lock is held through another node, as the ticket says: hold it through this one
	Ask                   // something unrelated to sessions
	Welcome               // the session; counts as a Renewed too
	Renewed               // the client may act for this long, counted from before it asked
	Held                  // the lock is granted, still held, or now held through this node as claimed
	Over                  // the lock is not held, and will not be
	Lost                  // the lock was held, and no longer is; or a claim was refused
	Done                  // the lock is released
	Bye                   // the session is over, or about to end, and why
	Answer                // answer to an Ask, or a part of it
	Value                 // from a client: what lists show for a lock that it holds or claims
	Abort                 // the lock is held, but its transaction must abort: release it
	Redirect              // use another node; the session goes on meanwhile
	Delegated             // as Held, and the client may enter by itself with the counts up to this one
	Recall                // the lock is delegated, and wanted: answer with Keep or Return
	Keep                  // from a client: the lock is in use with this count, and no longer delegated
	Return                // from a client: the lock is released, and this was the count of the last entry
	kinds

	// Kinds is the number of kinds. A frame's first byte is its kind.
	Kinds = int(kinds)
)

var kindNames = [...]string{
	"HELLO", "RENEW", "LOCK", "CHECK", "UNLOCK", "CLOSE", "CLAIM", "ASK",
	"WELCOME", "RENEWED", "HELD", "OVER", "LOST", "DONE", "BYE", "ANSWER", "VALUE", "ABORT", "REDIRECT",
	"DELEGATED", "RECALL", "KEEP", "RETURN",
}

// String returns the name of a kind.
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// OfNodes reports whether nodes send frames of this kind, and not clients.
func (k Kind) OfNodes() bool { return k >= Welcome && k != Value && k != Keep && k != Return }

// A Why is the reason why a request or a session ended.
type Why uint8

// Why requests and sessions end.
const (
	Busy        Why = iota // a try: the lock is held, or has waiters
	Recovering             // a try: not known yet whether the lock is held
	BadName                // not a valid name of a lock
	ManyNames              // the client uses too many locks
	ManyWaiters            // too many requests wait for this lock at the node

	Expired  // a session: it was silent for too long
	Leaving  // the node leaves the cluster: release what is held, and move to another node
	Evicted  // the cluster evicted the node
	NoLease  // the node is not a member at present, or cannot reach the others
	Full     // the node has too many sessions
	Foreign  // the node does not support this protocol
	Finished // the client has ended the session

	Denied    // the client may not have this lock; a session: it may have none
	OverQuota // the client's identity has as many requests, or uses as many locks, as it may
	Crowded   // a session: the client's identity has as many as its quota, or its share of the node's, allows

	Deadlock    // the transaction must abort, because of a deadlock or to prevent one
	OtherUnits  // the semaphore is in use with another number of units
	OtherKind   // another kind of lock has been chosen for the name
	Ordinary    // the lock is not a kept one
	BadMode     // the lock cannot be requested in this mode
	Aborting    // the transaction must abort, and has been notified of that
	Ended       // the transaction has released a lock while the request waited
	Waiting     // the transaction already waits for a lock
	Reentrant   // the transaction already has the lock
	OtherMethod // the transaction holds locks with another method against deadlock
	OutOfOrder  // the transaction holds a lock with a later name

	Moved       // reported only by the client: the transaction has lost a lock, or has one that another node cannot take over
	Late        // the same: its maximum wait is over
	Unreachable // no node was reachable for too long
	whys
)

var whyNames = [...]string{
	"the lock is held or waited for",
	"the cluster does not know yet whether the lock is held: try again soon",
	"invalid lock name: want 1 to 512 bytes of UTF-8",
	"the client uses too many locks: release some first",
	"too many requests wait for this lock at the node: try again later",
	"the session expired",
	"the node is leaving the cluster",
	"the cluster evicted the node",
	"the node is not a member of the cluster at present, or cannot reach a majority",
	"the node has too many sessions: use another node",
	"the client and the node have no version of the protocol in common: upgrade the older one",
	"the client ended its session",
	"the rights of this client do not allow it",
	"this client's quota of locks at the node is used up: release some first",
	"this client's quota of sessions at the node, or its share of them, is used up: close some first",
	"the transaction must abort, because of a deadlock or to prevent one: release its locks, and begin again",
	"the semaphore is in use with another number of units: use the same number everywhere",
	"another kind of lock has been chosen for this name: try again",
	member.ErrOrdinary.Error(),
	"the lock cannot be requested in this mode",
	member.ErrDoomed.Error(),
	"the transaction has released a lock, so it cannot acquire others: begin another one",
	member.ErrWaits.Error(),
	member.ErrReentrant.Error(),
	member.ErrMethods.Error(),
	member.ErrOrder.Error(),
	"the client has lost its node, and another one cannot take over the transaction's locks: abort it, and begin again",
	"the maximum wait is over",
	"no node could be reached",
}

// String returns the reason as text.
func (w Why) String() string {
	if w >= whys {
		return fmt.Sprintf("reason %d", uint8(w))
	}
	return whyNames[w]
}

// A Secret is known only to a session's node and its client. The client that presents
// it on a new connection takes the session over.
type Secret [16]byte

// equal compares in a time that does not depend on where the secrets differ.
func (s *Secret) equal(o *Secret) bool {
	diff := byte(0)
	for i := range s {
		diff |= s[i] ^ o[i]
	}
	return diff == 0
}

// A Frame is one message on a connection. The fields in use depend on its kind.
type Frame struct {
	Kind     Kind
	Number   uint64         // of the renewal: Hello, Renew, Welcome, Renewed; of the question: Ask, Answer; else of the request
	Protocol uint64         // Hello, and a Bye that refuses it: highest version that the sender speaks; Welcome: the agreed one
	Oldest   uint64         // Hello, and a Bye that refuses it: lowest version that the sender speaks
	Session  uint64         // Hello, 0 for a new session; Welcome
	Secret   Secret         // Hello, Welcome
	Name     string         // Hello: the client's own label; Lock, Claim
	Length   member.Span    // Hello: wanted length of the session, 0 for the maximum; Welcome: its actual length
	Span     member.Span    // Welcome, Renewed; 0: not renewed
	Again    member.Span    // Welcome, Renewed: how long the client should wait before it renews again
	Act      member.Span    // Welcome: how long before its deadline the session's locks count as lost at the client
	Try      bool           // Lock: do not wait behind other requests
	Terms    member.Terms   // Lock
	Token    member.Token   // Held, Delegated
	Count    uint64         // Delegated: the last one of the block; Claim, Keep, Return: of the present or the last entry
	Ticket   []byte         // Held, Delegated, Claim: see package ticket
	Inc      uint64         // Welcome: incarnation of the node
	Why      Why            // Over, Bye
	Cause    member.Cause   // Lost; NoCause if the node no longer knows
	Born     uint64         // Held, Over: stamp of the transaction; 0 if it has none
	Text     string         // Over: the reason in words; empty if Why says it all
	Victim   *member.Victim // Abort, and an Over because of a deadlock
	OK       bool           // Done: the request was held, or waited, until now; Answer
	Last     bool           // Answer: no part follows
	Denied   bool           // Answer that is not OK: the client may not ask this
	What     uint64         // Ask
	Bytes    []byte         // Ask, Answer
	Nodes    []string       // Welcome, Bye, Redirect: addresses of nodes
	Cluster  uint64         // Welcome: the node's
	Earlier  []uint64       // Welcome: clusters that this one was recovered from
	Value    string         // Value
}

// AppendTo appends the encoded frame.
func (f *Frame) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, byte(f.Kind))}
	f.fields(&c)
	return c.B
}

// Parse reads a frame. The parts of it that point into b are valid as long as b is.
func Parse(b []byte) (Frame, error) {
	if len(b) > 0 && Kind(b[0]) >= kinds && codec.Optional(b[0]) {
		return Frame{}, errOptional
	}
	if len(b) == 0 || len(b) > MaxFrame || Kind(b[0]) >= kinds {
		return Frame{}, fmt.Errorf("%w: unknown kind, or more than %d bytes", ErrFrame, MaxFrame)
	}
	f := Frame{Kind: Kind(b[0])}
	c := codec.Coder{B: b[1:], Bad: ErrFrame}
	f.fields(&c)
	return f, c.End()
}

func (f *Frame) fields(c *codec.Coder) {
	if f.Kind != Close && f.Kind != Bye && f.Kind != Redirect {
		c.Number(&f.Number)
	}
	switch f.Kind {
	case Hello:
		c.Number(&f.Protocol)
		c.Number(&f.Oldest)
		if c.Reads() && agree(f.Oldest, f.Protocol) == 0 {
			c.B = c.B[:0] // the rest may be in a format unknown here
			return
		}
		c.Number(&f.Session)
		c.Fixed(f.Secret[:])
		c.Text(&f.Name, MaxLabel)
		f.Length.Code(c)
	case Lock:
		c.Text(&f.Name, member.MaxName)
		c.Flag(&f.Try)
		f.Terms.Code(c)
	case Claim:
		c.Text(&f.Name, member.MaxName)
		c.Number(&f.Count)
		c.Bytes(&f.Ticket, ticket.MaxBytes)
	case Value:
		c.Text(&f.Value, MaxValue)
	case Keep, Return:
		c.Number(&f.Count)
	case Ask:
		c.Number(&f.What)
		c.Bytes(&f.Bytes, MaxBytes)
	default:
		f.answers(c)
	}
}

// answers codes the fields of frames that only nodes send.
func (f *Frame) answers(c *codec.Coder) {
	switch f.Kind {
	case Welcome:
		if c.Number(&f.Session); c.Reads() && f.Session == 0 {
			c.Fail("session without a number")
		}
		c.Number(&f.Protocol)
		c.Fixed(f.Secret[:])
		c.Number(&f.Inc)
		codec.Within(c, &f.Length, uint64(shortest), uint64(member.MaxSpan))
		f.Span.Code(c)
		f.Again.Code(c)
		f.Act.Code(c)
		f.nodes(c)
		c.Number(&f.Cluster)
		c.Numbers(&f.Earlier, maxEarlier)
	case Renewed:
		f.Span.Code(c)
		f.Again.Code(c)
	case Held:
		c.Number(&f.Token.Epoch)
		c.Number(&f.Token.Count)
		c.Number(&f.Born)
		c.Bytes(&f.Ticket, ticket.MaxBytes)
	case Delegated:
		c.Number(&f.Token.Epoch)
		c.Number(&f.Token.Count)
		if c.Number(&f.Count); c.Reads() && f.Count < f.Token.Count {
			c.Fail("block that ends before it begins")
		}
		c.Bytes(&f.Ticket, ticket.MaxBytes)
	case Over:
		codec.Within(c, &f.Why, 0, 255)
		if c.Number(&f.Born); f.Why == Deadlock {
			f.victim(c)
		} else {
			c.Text(&f.Text, MaxText)
		}
	case Abort:
		f.victim(c)
	case Lost:
		codec.Within(c, &f.Cause, 0, 255)
	case Done:
		c.Flag(&f.OK)
	case Bye:
		codec.Within(c, &f.Why, 0, 255)
		if f.Why == Foreign {
			c.Number(&f.Protocol)
			c.Number(&f.Oldest)
		}
		f.nodes(c)
	case Redirect:
		f.nodes(c)
	case Answer:
		c.Flag(&f.OK)
		if c.Flag(&f.Last); !f.OK {
			c.Flag(&f.Denied)
		}
		c.Bytes(&f.Bytes, MaxBytes)
	}
}

// nodes codes addresses of nodes.
func (f *Frame) nodes(c *codec.Coder) {
	codec.List(c, &f.Nodes, MaxNodes, func(t *string) { c.Text(t, member.MaxAddress) })
}

// victim codes why a transaction must abort.
func (f *Frame) victim(c *codec.Coder) {
	if f.Victim == nil {
		f.Victim = &member.Victim{How: member.TimedOut}
	}
	f.Victim.Code(c)
}

// Reason returns the reason in a Bye as text. That of a node without a version in common
// names the versions.
func (f *Frame) Reason() string {
	switch f.Why {
	case Foreign:
	case Denied:
		return "permission denied: no rule of the node's rights file is about this client"
	default:
		return f.Why.String()
	}
	older := "client"
	if f.Protocol < OldestProtocol {
		older = "node"
	}
	return fmt.Sprintf("the node supports versions %d to %d of the client protocol, and this client %d to %d: upgrade the %s", f.Oldest, f.Protocol, OldestProtocol, Protocol, older)
}

// KindNames returns the names of all kinds.
func KindNames() []string { return slices.Clone(kindNames[:]) }
