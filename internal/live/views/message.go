package views

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/live/member"
)

// errBytes is the error for bytes that nobody can have written.
var errBytes = errors.New("malformed bytes")

// A Kind says what a message is.
type Kind uint8

// The messages between voters, members and those who want to be one.
const (
	Join      Kind = iota // to a voter: let me in; these members I reach
	Leave                 // I have promised never to enter again: let me go
	Renew                 // let me act for a lease; these members I do not reach
	Fetch                 // which is the view?
	Status                // what is the record, now?
	Here                  // I live, and have had your call
	Wait                  // from a voter: to one who wants to join: why not yet, and whom to reach
	Renewed               // a renewal is confirmed
	Gone                  // you are no member any more
	View                  // the record, which has a new view
	NotLeader             // ask another voter
	Other                 // this is another cluster than yours
	State                 // the record, as it was after Status came
	Probe                 // from one who wants to join to a member: do you hear me?
	Probed                // yes, and I am this incarnation
	Call                  // from the voter that leads: do you live?
	kinds
)

var kindNames = [...]string{"JOIN", "LEAVE", "RENEW", "FETCH", "STATUS", "HERE", "WAIT", "RENEWED", "GONE", "VIEW", "NOTLEADER", "OTHER", "STATE", "PROBE", "PROBED", "CALL"}

// String names a kind for people.
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// A Reason says why one who wants to join has to wait.
type Reason uint8

// The reasons.
const (
	Soon    Reason = iota // there is nothing against it
	Reach                 // it does not reach all members
	NameUse               // a member bears its name
	Full                  // there are as many members as there can be
	Flaps                 // others of its name were evicted again and again
	reasons
)

// A Message is one between a voter, a member and one who wants to be one. Which
// fields it has depends on its kind.
type Message struct {
	Kind    Kind
	Cluster uint64   // all; 0 from one who does not know yet
	Inc     uint64   // who it is from, or to; 0 for one who wants to join
	Nonce   uint64   // Join, Wait, Gone, Probe, Probed
	Number  uint64   // Renew, Renewed, Status, State, Call, Here: which one
	Epoch   uint64   // Join, Renew, Renewed, Fetch, NotLeader: the sender's
	Voter   uint64   // Join, Leave: the number of the voter whose disk it has
	Name    string   // Join
	Address string   // Join: its own; NotLeader: of who leads, if that is known
	Who     []uint64 // Join: incarnations that it reaches; Renew: those that it does not
	Forget  bool     // Renew: a view of the same members would help
	Reason  Reason   // Wait
	Record  []byte   // View, State, and Wait to one with an older epoch
}

// maxRecord is more than a record has bytes.
const maxRecord = 1 << 18

// AppendTo appends the bytes of a message.
func (m *Message) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, byte(m.Kind))}
	m.fields(&c)
	return c.B
}

// ParseMessage reads a message. What it holds of b is valid as long as b is.
func ParseMessage(b []byte) (Message, error) {
	if len(b) == 0 || Kind(b[0]) >= kinds {
		return Message{}, fmt.Errorf("%w: of no known kind", errBytes)
	}
	m := Message{Kind: Kind(b[0])}
	c := codec.Coder{B: b[1:], Bad: errBytes}
	m.fields(&c)
	return m, c.End()
}

func (m *Message) fields(c *codec.Coder) {
	c.Number(&m.Cluster)
	switch m.Kind {
	case Join, Wait, Probe, Status, State:
	default:
		c.Number(&m.Inc)
	}
	switch m.Kind {
	case Join, Wait, Gone, Probe, Probed:
		c.Number(&m.Nonce)
	}
	switch m.Kind {
	case Renew, Renewed, Status, State, Call, Here:
		c.Number(&m.Number)
	}
	switch m.Kind {
	case Join, Renew, Renewed, Fetch, NotLeader:
		c.Number(&m.Epoch)
	}
	m.rest(c)
}

// rest is what few kinds have.
func (m *Message) rest(c *codec.Coder) {
	switch m.Kind {
	case Join:
		c.Number(&m.Voter)
		c.Text(&m.Name, maxName)
		c.Text(&m.Address, member.MaxAddress)
		c.Numbers(&m.Who, member.MaxMembers)
	case Leave:
		c.Number(&m.Voter)
	case Renew:
		c.Flag(&m.Forget)
		c.Numbers(&m.Who, member.MaxMembers)
	case NotLeader:
		c.Text(&m.Address, member.MaxAddress)
	case Wait:
		codec.Within(c, &m.Reason, 0, uint64(reasons-1))
		c.Bytes(&m.Record, maxRecord)
	case View, State:
		c.Bytes(&m.Record, maxRecord)
	}
}

// A Envelope is a message to be sent: to an address, or back to where something
// came from.
type Envelope struct {
	To    string
	Bytes []byte
}

// KindNames returns the names of all kinds.
func KindNames() []string { return slices.Clone(kindNames[:]) }
