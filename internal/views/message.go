package views

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
)

var (
	// errBytes is the error for bytes that no process can have written.
	errBytes = errors.New("malformed bytes")

	errOptional = errors.New("unknown message of an optional kind") // ignored
)

// A Kind is the type of a message.
type Kind uint8

// The messages between voters, members and joiners.
const (
	Join      Kind = iota // to a voter: request to join, with the members that the sender reaches
	Leave                 // the sender has promised never to enter again, and leaves or stops
	Renew                 // renew the sender's lease; with the members that it does not reach
	Fetch                 // request for a later view, if there is one, or for one to be made
	Status                // request for the current record
	Here                  // answer to a Call: the sender runs
	Wait                  // from a voter to a joiner: why it has to wait, and which members to reach
	Renewed               // a renewal is confirmed
	Gone                  // the receiver is no longer a member
	View                  // the record, which has a new view
	NotLeader             // ask another voter
	Other                 // this is not the receiver's cluster
	State                 // the record, read after Status arrived
	Probe                 // from a joiner to a member: does it hear the joiner?
	Probed                // yes, with the member's incarnation
	Call                  // from the voter that leads to a member: does it run?
	kinds
)

var kindNames = [...]string{"JOIN", "LEAVE", "RENEW", "FETCH", "STATUS", "HERE", "WAIT", "RENEWED", "GONE", "VIEW", "NOTLEADER", "OTHER", "STATE", "PROBE", "PROBED", "CALL"}

// String returns the name of a kind.
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// A Reason is why a joiner has to wait.
type Reason uint8

// The reasons.
const (
	Soon     Reason = iota // nothing is against it
	Reach                  // it does not reach all members
	NameUse                // a member has its name
	Full                   // the number of members is at its maximum
	Flaps                  // others of its name were evicted repeatedly
	VoterUse               // a member has its voter
	reasons
)

// A Message is exchanged between voters, members and joiners. The fields in use depend
// on its kind.
type Message struct {
	Kind    Kind
	Cluster uint64   // all; 0 from a sender that does not know it yet
	Inc     uint64   // sender or receiver; 0 for a joiner
	Nonce   uint64   // Join, Wait, Gone, Probe, Probed
	Number  uint64   // Renew, Renewed, Status, State, Call, Here: identifies it
	Epoch   uint64   // Join, Renew, Renewed, Fetch, NotLeader: the sender's
	Seen    uint64   // Join, Renew, Fetch, Leave: the highest epoch of the cluster that the sender has heard of
	Stopped uint64   // Join: nonce of the incarnation that has promised never to enter again, as the sender remembers; 0 if none
	Voter   uint64   // Join, Leave: number of the voter whose disk the sender has
	Name    string   // Join
	Address string   // Join: the sender's; NotLeader: the leader's, if known
	Who     []uint64 // Join: incarnations that the sender reaches; Renew: those that it does not
	Forget  bool     // Renew: a view of the same members would help
	Refresh bool     // Fetch: make a later view if there is none
	Stops   bool     // Leave: the sender keeps its vote, and will return
	Former  uint64   // Other: the receiver's cluster, as it was when it asked
	Newer   bool     // Other: that was recovered as this one
	Reason  Reason   // Wait
	Record  []byte   // View, State, and Wait to a joiner with an older epoch
}

// maxRecord is above the size of any record.
const maxRecord = 1 << 18

// AppendTo appends the encoded message.
func (m *Message) AppendTo(b []byte) []byte {
	c := codec.Coder{B: append(b, byte(m.Kind))}
	m.fields(&c)
	return c.B
}

// ParseMessage reads a message. The parts of it that point into b are valid as long as
// b is.
func ParseMessage(b []byte) (Message, error) {
	if len(b) > 0 && Kind(b[0]) >= kinds && codec.Optional(b[0]) {
		return Message{}, errOptional
	}
	if len(b) == 0 || Kind(b[0]) >= kinds {
		return Message{}, fmt.Errorf("%w: unknown kind", errBytes)
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
	switch m.Kind {
	case Join, Leave, Renew, Fetch:
		c.Number(&m.Seen)
	}
	m.rest(c)
}

// rest codes the fields that few kinds have.
func (m *Message) rest(c *codec.Coder) {
	switch m.Kind {
	case Join:
		c.Number(&m.Voter)
		c.Number(&m.Stopped)
		c.Text(&m.Name, maxName)
		c.Text(&m.Address, member.MaxAddress)
		c.Numbers(&m.Who, member.MaxMembers)
	case Leave:
		c.Number(&m.Voter)
		c.Flag(&m.Stops)
	case Fetch:
		c.Flag(&m.Refresh)
	case Renew:
		c.Flag(&m.Forget)
		c.Numbers(&m.Who, member.MaxMembers)
	case NotLeader:
		c.Text(&m.Address, member.MaxAddress)
	case Other:
		c.Number(&m.Former)
		c.Flag(&m.Newer)
	case Wait:
		codec.Within(c, &m.Reason, 0, uint64(reasons-1))
		c.Bytes(&m.Record, maxRecord)
	case View, State:
		c.Bytes(&m.Record, maxRecord)
	}
}

// An Envelope is a message to send: to an address, or back to where another one came
// from.
type Envelope struct {
	To    string
	Bytes []byte
}

// KindNames returns the names of all kinds.
func KindNames() []string { return slices.Clone(kindNames[:]) }
