package trace

import (
	"strconv"

	"github.com/stile-lock/stile/algorithm"
)

// A Kind says what happened.
type Kind uint8

// What can happen.
const (
	Ask       Kind = iota // a process wants in
	Enter                 // it is in
	Exit                  // it leaves
	Deny                  // its request was refused
	Send                  // a message leaves
	Receive               // a message arrives
	Drop                  // a message is lost
	Duplicate             // a message is copied
	Expire                // a timer runs out
	Suspect               // a peer is believed dead
	Trust                 // a peer is believed to be back
	Crash                 // a process stops for good
	Restart               // a new process takes its seat, with nothing remembered
	Pause                 // a process stands still
	Resume                // it goes on
	Partition             // the network is cut
	Heal                  // and whole again
	Lead                  // a process knows its leader
	Abort                 // a victim is chosen to break a deadlock
	Violation             // a property is broken
	Note                  // something a reader should know
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

// parseKind returns the kind of that name.
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

// HasPeer reports whether Peer says something: where it does not, it is 0.
func (e *Event) HasPeer() bool { return e.Kind.peer() || e.Kind == Violation && e.Peer >= 0 }

// placeless reports whether an event of this kind may be at no process.
func (k Kind) placeless() bool {
	return k == Partition || k == Heal || k == Violation || k == Note
}

// An Event is one thing that happened at one process.
type Event struct {
	Step   int   // its place in the run, from 0
	At     int64 // when, in ticks; a step number in runs without time
	Kind   Kind
	Proc   algorithm.ID      // where; None for Partition and Heal
	Peer   algorithm.ID      // Send, Drop, Duplicate: the receiver. Receive: the sender. Suspect, Trust, Lead, Abort: whom. Violation: who else is part of it, or None.
	Msg    int               // Send, Receive, Drop, Duplicate: the number of the message, from 1; 0 otherwise
	Name   string            // the kind of message, the property broken, or the text of a note
	Fields []algorithm.Field // what the message says
	Words  string            // Violation: how the property was broken

	Section string // of which critical section this is, if there are several
}
