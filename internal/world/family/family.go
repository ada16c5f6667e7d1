// Package family says what a family of algorithms - locks, elections,
// transactions over several locks - is to the hosts that run it: one pure
// environment around a group of machines, never a world of its own. The
// simulator and the checker run every family with the same kernel and the same
// model of a group; all that differs is the [Env].
//
// An Env is the applications, and what can be seen of them from outside: what
// they may do next, what an output and its notices mean to them, who waits, what
// is broken, and how it is told in words. It decides nothing that a network or
// an adversary decides, and it never asks a machine how it is, but for what is
// said at [Host.Machine].
package family

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A Tag is what an Env marks a message or a timer under way with: what its
// sender knew, or which round it belongs to. Hosts keep it with the message and
// hand it back; it means something to the Env alone.
type Tag uint32

// An Act is something that an application does, in the words of scenarios.
type Act struct {
	Kind scenario.ActionKind
	Proc algorithm.ID // the application
	Peer algorithm.ID // Tell: whom
	Fair bool         // whoever can do it for ever does it in the end
}

// A Host runs the machines of a group for an Env. It is only used within a call
// of the Env.
type Host interface {
	// Step gives the machine of a seat an input, and does what it wants done:
	// Env.Took is called, and then messages are sent and timers set with the
	// Tag of the seat. Within Took, what the step before wants sent goes first;
	// only an Env whose tags are all 0 calls it there. A dead seat takes no step.
	Step(seat algorithm.ID, in algorithm.Input)
	// Moves reports whether such a step would change anything at all.
	Moves(seat algorithm.ID, in algorithm.Input) bool
	// Dead reports whether a seat is dead.
	Dead(seat algorithm.ID) bool
	// Machine returns the machine of a seat as it is now, until the next step.
	// An Env looks at it only for what cannot be seen from outside, such as the
	// age that a victim is chosen by.
	Machine(seat algorithm.ID) algorithm.Machine
	// ClockOf returns what the logical clock of a seat shows, which an application
	// sends along.
	ClockOf(seat algorithm.ID) uint64
	// Retag changes the tags of all messages and timers under way.
	Retag(f func(t Tag) Tag)
	// Break says that a property is broken, by whom, and who else is part of it.
	Break(property string, p, other algorithm.ID)
	// Tell records what people are to see. Hosts that record nothing ignore it,
	// and Hears reports whether this one does not.
	Tell(e trace.Event)
	Hears() bool
}

// An Env is the applications around one group of machines. The order of calls
// is always: what caused the step (Do, or Caused), the step itself, Took.
type Env interface {
	// New returns an Env for the same group, in any state, to Copy or Load into.
	New() Env
	// Copy makes the Env equal to another one of the same group.
	Copy(from Env)
	// Append appends the canonical encoding of the state of the applications.
	Append(b []byte) []byte
	// Load replaces the state by what Append wrote, and returns what follows it.
	Load(b []byte) []byte

	// Begin is called once, when all machines are born.
	Begin(h Host, v algorithm.View)
	// Acts calls yield with everything that applications may do now. It reports
	// whether one of these is to be done before anything else happens.
	Acts(h Host, yield func(a Act)) (first bool)
	// May reports why an application cannot do something now, in words that
	// follow its name, or nil. Only what the application itself does is asked
	// about, not whether it is alive.
	May(a Act) error
	// Do lets an application do something that it may do.
	Do(h Host, a Act)
	// Action returns an act that may be done now as a line of a scenario.
	Action(a Act) scenario.Action

	// Caused is told what the next step of a seat is caused by: a message or a
	// timer with this tag.
	Caused(seat algorithm.ID, t Tag)
	// Tag returns what messages and timers of the seat's last step are marked
	// with.
	Tag(seat algorithm.ID) Tag
	// Took is told what the machine of a seat said in a step. If that was
	// nothing, a host may leave it out for an Env whose tags are all 0.
	Took(h Host, seat algorithm.ID, in algorithm.Input, entered bool, notices []algorithm.Notice)

	// Crashed and Returned are told that a seat has died, or is back and
	// remembers nothing; Trusted that a seat is about to be told that a peer is
	// alive after all.
	Crashed(h Host, seat algorithm.ID)
	Returned(h Host, seat algorithm.ID)
	Trusted(h Host, seat, peer algorithm.ID)

	// Look says by Break what the state as a whole breaks, and Ended what it
	// breaks that nothing need happen any more.
	Look(h Host)
	Ended(h Host)
	// Waits reports whether an application waits for something, and Inside
	// whether it has what only one may have.
	Waits(p algorithm.ID) bool
	Inside(p algorithm.ID) bool
}
