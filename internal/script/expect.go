package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// An ExpectKind is the kind of an Expectation.
type ExpectKind uint8

// The kinds of expectation.
const (
	Entries     ExpectKind = iota // processes that enter, in this order, in the whole run
	EntersAt                      // a process enters at exactly this time
	Messages                      // number of messages sent, of one kind or in all
	Bypass                        // how often, at most, one process overtakes a waiting one
	FieldIs                       // a field of the state of a process
	PhaseIs                       // whether a process waits, is inside or is idle
	Violated                      // a property is violated
	NotViolated                   // a property, or every property, holds
	Deadlock                      // processes wait for each other forever

	// Of transactions:
	Commits      // processes that commit, in this order, in the whole run
	Aborts       // processes ordered to abort, in this order, in the whole run
	CommitsAt    // a process commits at exactly this time
	AbortsAt     // a process is ordered to abort at exactly this time
	Stuck        // processes whose transactions never end
	Deadlocks    // number of deadlocks that arise
	Cycle        // this deadlock arises: each waits for the next, and the last for the first
	FalseCycle   // this deadlock is reported, but never existed
	NoFalseCycle // no deadlock is reported that never existed
	Phantom      // this deadlock is reported, but an abort or a death has just broken it
	WaitsFor     // a process waits for a lock that another has

	// Of a graph of resources, beside Cycle:
	NoCycle    // there is no cycle
	Deadlocked // exactly the processes that can never proceed
	EndOrder   // processes that can end, in this order
)

// A Phase is the state of a process as seen from outside.
type Phase uint8

// The phases.
const (
	Idle Phase = iota
	Waits
	Inside
)

// String returns the word that files use.
func (p Phase) String() string { return [...]string{"idle", "waits", "inside"}[p] }

// The properties that a run can violate.
const (
	MutualExclusion = "mutual-exclusion"
	Order           = "order"
	LostRequest     = "lost-request"
	UnaskedEntry    = "unasked-entry"
	OneLeader       = "one-leader" // elections: at most one process wins in each round
	Agreement       = "agreement"  // elections: when all is quiet every live process follows the highest
)

// Properties returns the names of all properties.
func Properties() []string {
	return []string{MutualExclusion, Order, LostRequest, UnaskedEntry, OneLeader, Agreement}
}

// A MomentKind is the way in which a Moment is given.
type MomentKind uint8

// The kinds of moment.
const (
	AtEnd        MomentKind = iota // when the run has ended
	AtTime                         // timed: when everything at that time has happened
	OnEntry                        // when a process enters
	AfterActions                   // steps: after a number of actions
	AtStart                        // timed, of a caption: before anything has happened
)

// A Moment is when FieldIs, PhaseIs and WaitsFor must be true, or a Caption appears.
type Moment struct {
	Kind    MomentKind
	At      int64        // AtTime: ticks
	Proc    algorithm.ID // OnEntry: the entering process
	Nth     int          // OnEntry: number of the entry; 0 means the first
	Section string       // OnEntry: the section, if there are several
	Count   int          // AfterActions: number of actions
}

// An Expectation is one condition that a run, or a graph of resources, must meet.
type Expectation struct {
	Kind    ExpectKind
	When    Moment
	Procs   []algorithm.ID // Entries, Commits, Aborts, Stuck, Cycle, FalseCycle, Phantom, Deadlocked, EndOrder
	Proc    algorithm.ID   // EntersAt, FieldIs, PhaseIs, CommitsAt, AbortsAt, WaitsFor
	Peer    algorithm.ID   // WaitsFor: the process waited for
	At      int64          // EntersAt, CommitsAt, AbortsAt
	Name    string         // Messages: the kind, empty for all; FieldIs: the field; Violated, NotViolated: the property, empty for all
	Value   string         // FieldIs, as Machine.Describe shows it
	Phase   Phase          // PhaseIs
	N       int            // Messages, Bypass, Deadlocks
	Section string         // Entries, EntersAt, FieldIs, PhaseIs: the section, if there are several; Messages, Bypass: if only that one is meant
	Line    int            // line in the file; 0 if there is none
}

// String returns the expectation as it is written in a file.
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

// String returns the moment as it is written in a file before the condition, with a space
// after it, and nothing where the line's place determines it.
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
