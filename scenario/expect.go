package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// An ExpectKind says what an expectation is about.
type ExpectKind uint8

// What can be expected.
const (
	Entries     ExpectKind = iota // who enters, in this order, in the whole run
	EntersAt                      // a process enters at this very time
	Messages                      // how many messages are sent, of one kind or in all
	Bypass                        // how often, at most, one process overtakes one that waits
	FieldIs                       // a field of the state of a process
	PhaseIs                       // whether a process waits, is inside or is idle
	Violated                      // a property is broken
	NotViolated                   // a property, or every property, holds
	Deadlock                      // processes wait for each other for ever

	// Of transactions:
	Commits      // who commits, in this order, in the whole run
	Aborts       // who is told to abort, in this order, in the whole run
	CommitsAt    // a process commits at this very time
	AbortsAt     // a process is told to abort at this very time
	Stuck        // whose transactions never end
	Deadlocks    // how many deadlocks arise
	Cycle        // this deadlock arises: each waits for the next, and the last for the first
	FalseCycle   // this deadlock is reported, but never was
	NoFalseCycle // no deadlock is reported that never was
	Phantom      // this deadlock is reported, but an abort or a death has just broken it
	WaitsFor     // a process waits for a lock that another has

	// Of a graph of resources, beside Cycle:
	NoCycle    // there is no cycle
	Deadlocked // who can never go on: these, and nobody else
	EndOrder   // who can end, in this order
)

// A Phase is what a process is doing, as seen from outside.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Waits
	Inside
)

// String returns the word that files use.
func (p Phase) String() string { return [...]string{"idle", "waits", "inside"}[p] }

// The properties that a run can break.
const (
	MutualExclusion = "mutual-exclusion"
	Order           = "order"
	LostRequest     = "lost-request"
	UnaskedEntry    = "unasked-entry"
	OneLeader       = "one-leader" // elections: at most one wins in each round
	Agreement       = "agreement"  // elections: when all is quiet everybody alive follows the highest
)

// Properties returns the names of all properties.
func Properties() []string {
	return []string{MutualExclusion, Order, LostRequest, UnaskedEntry, OneLeader, Agreement}
}

// A MomentKind says how a moment is found.
type MomentKind uint8

// The moments.
const (
	AtEnd        MomentKind = iota // when the run is over
	AtTime                         // timed: when everything of that time has happened
	OnEntry                        // when a process enters
	AfterActions                   // steps: after so many actions
)

// A Moment is when FieldIs, PhaseIs and WaitsFor are to be true.
type Moment struct {
	Kind    MomentKind
	At      int64        // AtTime: ticks
	Proc    algorithm.ID // OnEntry: who enters
	Nth     int          // OnEntry: for the how manieth time; 0 means the first
	Section string       // OnEntry: which, if there are several
	Count   int          // AfterActions: how many
}

// An Expectation is one thing that must come true.
type Expectation struct {
	Kind    ExpectKind
	When    Moment
	Procs   []algorithm.ID // Entries, Commits, Aborts, Stuck, Cycle, FalseCycle, Phantom, Deadlocked, EndOrder
	Proc    algorithm.ID   // EntersAt, FieldIs, PhaseIs, CommitsAt, AbortsAt, WaitsFor
	Peer    algorithm.ID   // WaitsFor: whom
	At      int64          // EntersAt, CommitsAt, AbortsAt
	Name    string         // Messages: the kind, empty for all. FieldIs: the field. Violated, NotViolated: the property, empty for all.
	Value   string         // FieldIs, as algorithm.Describe shows it
	Phase   Phase          // PhaseIs
	N       int            // Messages, Bypass, Deadlocks
	Section string         // Entries, EntersAt, FieldIs, PhaseIs: in which, if there are several; Messages, Bypass: if only that one is meant
	Line    int            // in the file; 0 if there is none
}

// String returns the expectation as a line of a file has it.
func (e Expectation) String() string { return "expect " + e.What() }

// What returns the expectation without the word expect.
func (e Expectation) What() string {
	switch e.Kind {
	case Entries:
		return "entries" + behind(e.Section) + " " + numbers(e.Procs)
	case EntersAt:
		return fmt.Sprintf("%v enters%s at %s", e.Proc, behind(e.Section), FormatTime(e.At))
	case Messages:
		return "messages" + behind(e.Section) + behind(e.Name) + " " + strconv.Itoa(e.N)
	case Bypass:
		return "bypass" + behind(e.Section) + " " + strconv.Itoa(e.N)
	case FieldIs:
		return fmt.Sprintf("%s%v%s %s %s", e.When, e.Proc, behind(e.Section), e.Name, e.Value)
	case PhaseIs:
		return fmt.Sprintf("%s%v %v%s", e.When, e.Proc, e.Phase, behind(e.Section))
	case Violated:
		return "violation " + e.Name
	case NotViolated:
		return strings.TrimSpace("no violation " + e.Name)
	case Deadlock:
		return "deadlock"
	}
	if e.Kind >= NoCycle {
		return e.ofGraph()
	}
	return e.transacts()
}

// String returns the moment as files have it before what is expected then,
// with a space behind it, and nothing where the line's place says it.
func (m Moment) String() string {
	switch m.Kind {
	case AtTime:
		return "at " + FormatTime(m.At) + " "
	case OnEntry:
		s := fmt.Sprintf("when %v enters%s ", m.Proc, behind(m.Section))
		if m.Nth > 1 {
			s += ordinal(m.Nth) + " "
		}
		return s
	}
	return ""
}

func numbers(ids []algorithm.ID) string {
	if len(ids) == 0 {
		return "none"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id) + 1)
	}
	return strings.Join(words, " ")
}
