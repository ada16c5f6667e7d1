// Package family defines what a family of algorithms - locks, elections, transactions
// over several locks - is to the hosts that run it: one pure environment around a group
// of machines, never a world of its own. The simulator and the checker run every family
// with the same kernel and the same model of a group; only the [Env] differs.
//
// An Env is the applications, and what can be seen of them from outside: what they may do
// next, what an output and its notices mean to them, which of them wait, which properties
// are violated, and how that is worded. It decides nothing that a network or an adversary
// decides, and it never inspects the state of a machine, except as described at
// [Host.Machine].
package family

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A Tag marks a message or a timer in flight: what its sender knew, or which round it
// belongs to. Hosts keep it with the message and hand it back; only the Env knows its
// meaning.
type Tag uint32

// An Act is something that an application does, in the words of scenarios.
type Act struct {
	Kind script.ActionKind
	Proc algorithm.ID // the application
	Peer algorithm.ID // Tell: receiver
	Fair bool         // an application that can do it forever eventually does it
}

// A Host runs the machines of a group for an Env. It is used only within a call of the
// Env.
type Host interface {
	// Step gives the machine of a seat an input, and carries out its output: it calls
	// Env.Took, and then sends messages and sets timers with the Tag of the seat. Within
	// Took, the messages of the previous step go first; only an Env whose tags are all 0
	// calls Step there. A dead seat takes no step.
	Step(seat algorithm.ID, in host.Input)
	// Moves reports whether such a step would change anything at all.
	Moves(seat algorithm.ID, in host.Input) bool
	// Dead reports whether a seat is dead.
	Dead(seat algorithm.ID) bool
	// Machine returns the current machine of a seat, valid until the next step. An Env
	// inspects it only for what cannot be seen from outside, such as the age by which a
	// victim is chosen.
	Machine(seat algorithm.ID) algorithm.Machine
	// ClockOf returns the logical clock of a seat, which an application sends along.
	ClockOf(seat algorithm.ID) uint64
	// Retag changes the tags of all messages and timers in flight.
	Retag(f func(t Tag) Tag)
	// Break reports that p violates a property, and which other process is involved.
	Break(property string, p, other algorithm.ID)
	// Tell records an event for the user to see. Hosts that record nothing ignore it;
	// Hears reports whether this one records.
	Tell(e trace.Event)
	Hears() bool
}

// An Env is the applications around one group of machines. The order of calls is always:
// the cause of the step (Do, or Caused), the step itself, Took.
type Env interface {
	// New returns an Env for the same group, in any state, to Copy or Load into.
	New() Env
	// Copy makes the Env equal to another one of the same group.
	Copy(from Env)
	// Append appends the canonical encoding of the state of the applications.
	Append(b []byte) []byte
	// Load replaces the state with what Append wrote, and returns the bytes that follow
	// it.
	Load(b []byte) []byte

	// Begin is called once, when all machines have been created.
	Begin(h Host, v algorithm.View)
	// Acts calls yield with everything that applications may do now. It reports whether
	// one of these must be done before anything else happens.
	Acts(h Host, yield func(a Act)) (first bool)
	// May returns why an application cannot do something now, in words that follow its
	// name, or nil. It considers only the application itself, not whether its process is
	// alive.
	May(a Act) error
	// Do performs an act that the application may do.
	Do(h Host, a Act)
	// Action returns an act that may be done now as a line of a scenario.
	Action(a Act) script.Action

	// Caused says that the next step of a seat is caused by a message or a timer with
	// this tag.
	Caused(seat algorithm.ID, t Tag)
	// Tag returns the mark for messages and timers of the seat's last step.
	Tag(seat algorithm.ID) Tag
	// Took receives the output of the machine of a seat in a step. If there was none, a
	// host may omit the call for an Env whose tags are all 0.
	Took(h Host, seat algorithm.ID, in host.Input, entered bool, notices []host.Notice)

	// Crashed reports that a seat has died, and Returned that it is back and remembers
	// nothing. Trusted reports that a seat is about to be notified that a peer is alive
	// after all.
	Crashed(h Host, seat algorithm.ID)
	Returned(h Host, seat algorithm.ID)
	Trusted(h Host, seat, peer algorithm.ID)

	// Look reports, by Break, what the state as a whole violates; Ended reports what it
	// violates given that nothing more need happen.
	Look(h Host)
	Ended(h Host)
	// Waits reports whether an application waits for something, and Inside whether it has
	// what only one may have.
	Waits(p algorithm.ID) bool
	Inside(p algorithm.ID) bool
}
