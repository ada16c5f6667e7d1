package trace

import (
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Kind is the kind of an Event.
type Kind uint8

// The kinds of event.
const (
	Ask       Kind = iota // a process wants to enter
	Enter                 // it enters
	Exit                  // it leaves
	Deny                  // its request was refused
	Send                  // a message leaves
	Receive               // a message arrives
	Drop                  // a message is lost
	Duplicate             // a message is copied
	Expire                // a timer expires
	Suspect               // a peer is believed dead
	Trust                 // a peer is believed to be back
	Crash                 // a process stops for good
	Restart               // a new process takes its seat, and remembers nothing
	Pause                 // a process stops for a while
	Resume                // it continues
	Partition             // the network is cut
	Heal                  // the network is whole again
	Lead                  // a process learns its leader
	Abort                 // a victim is chosen to break a deadlock
	Violation             // a property is violated
	Note                  // a remark for the reader
)

var kindNames = [...]string{
	"ask", "enter", "exit", "deny", "send", "receive", "drop", "duplicate", "expire", "suspect", "trust",
	"crash", "restart", "pause", "resume", "partition", "heal", "lead", "abort", "violation", "note",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "kind " + strconv.Itoa(int(k))
	}
	return kindNames[k]
}

// parseKind returns the kind with the given name.
func parseKind(s string) (Kind, bool) {
	for i, name := range kindNames {
		if name == s {
			return Kind(i), true
		}
	}
	return 0, false
}

// message reports whether an event of this kind is about a message.
func (k Kind) message() bool {
	return k == Send || k == Receive || k == Drop || k == Duplicate
}

// peer reports whether an event of this kind needs a peer.
func (k Kind) peer() bool {
	return k.message() || k == Suspect || k == Trust || k == Lead || k == Abort
}

// HasPeer reports whether Peer is meaningful: where it is not, it is 0.
func (e *Event) HasPeer() bool { return e.Kind.peer() || e.Kind == Violation && e.Peer >= 0 }

// placeless reports whether an event of this kind may belong to no process.
func (k Kind) placeless() bool {
	return k == Partition || k == Heal || k == Violation || k == Note
}

// An Event is one thing that happened at one process.
type Event struct {
	Step   int   // position in the run, from 0
	At     int64 // time in ticks; a step number in runs without time
	Kind   Kind
	Proc   algorithm.ID // process; None for Partition and Heal
	Peer   algorithm.ID // Send, Drop, Duplicate: the receiver; Receive: the sender; Suspect, Trust, Lead, Abort: the process meant; Violation: the other process involved, or None
	Msg    int          // Send, Receive, Drop, Duplicate: number of the message, from 1; 0 otherwise
	Name   string       // kind of message, property violated, or text of a note
	Fields []host.Field // fields of the message
	Words  string       // Violation: how the property was violated

	Section string // critical section, if there are several

	Why []Why // of an event after which a process decides: by which rules, if the host was asked
}

// A Why is one reason for what a process does: the rule of its algorithm, and what the rule
// says in this case.
type Why struct {
	Rule string `json:"rule"`
	Text string `json:"text"`

	Waits int `json:"waits,omitempty"` // number of the process that waits because of it, from 1; 0 if none
}
