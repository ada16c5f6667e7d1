package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// An ActionKind is the kind of an Action, mostly one of an adversary.
type ActionKind uint8

// The kinds of action. An action on a message applies to one that is in flight on a link
// or, in a timed schedule, if there is none, to the next one sent.
const (
	Ask         ActionKind = iota // a process wants to enter
	Leave                         // it leaves
	Start                         // the group runs, as far as this process knows
	Deliver                       // a message arrives now
	DeliverAll                    // messages arrive, in order of sending, until none is in flight
	Drop                          // a message is lost
	Duplicate                     // a message will arrive twice
	Delay                         // a message takes longer
	Reorder                       // a message is overtaken by the one behind it
	Crash                         // a process stops for good
	Restart                       // a new process takes its seat, in its initial state
	Pause                         // a process stops for a while
	Resume                        // it continues
	Partition                     // only processes in the same part hear each other
	Heal                          // all hear each other again
	Suspect                       // a process is notified that a peer is dead
	Expire                        // a timer expires now
	Tell                          // an application talks to another, at once, sending the clock along
	Trust                         // a process is notified that a peer is back
	Take                          // a process runs a transaction, which takes locks one after the other
	CrashSite                     // a site stops for good, with its transactions and locks
	Proceed                       // a process requests the next lock, tries again after an abort, or commits
	SuspectSite                   // a site is notified that another is dead
	ExpireSite                    // a timer of a site expires now
	Cancel                        // a process gives up the lock that it waits for, and goes on without it
	Abandon                       // a process that waits for a lock aborts its transaction
)

// An Action is one line of a schedule.
type Action struct {
	At        int64 // timed: time of the action, in ticks
	Kind      ActionKind
	Proc      algorithm.ID     // process that acts; for a message the sender; CrashSite: the site
	Peer      algorithm.ID     // for a message the receiver; Suspect, Trust, Tell: the peer
	Message   string           // kind of message; empty means any
	Nth       int              // index among those in flight, from 1; 0 means the first
	By        int64            // Delay: additional latency, in ticks
	Overtakes bool             // Deliver: whether it also overtakes messages that it must not overtake
	Now       bool             // Leave: whether before its time, and only this once
	Hold      *Dist            // Ask: length of the stay; Take: stay after each lock; nil means the scenario's
	Locks     []int            // Take: locks, from 0, in this order
	Modes     []int            // Take: their modes, as in algorithm.Sharer; nil if all are exclusive
	Timer     int              // Expire: the timer
	Section   string           // Ask, Leave, Expire: the section, if there are several
	Parts     [][]algorithm.ID // Partition: the parts; processes not named are one more part
	Line      int              // line in the file; 0 if there is none
}

// verbs are the actions of one process: P2 asks.
var verbs = [...]struct {
	word string
	kind ActionKind
}{
	{"asks", Ask}, {"leaves", Leave}, {"starts", Start}, {"suspects", Suspect}, {"trusts", Trust}, {"timer", Expire}, {"tells", Tell},
	{"crashes", Crash}, {"restarts", Restart}, {"pauses", Pause}, {"resumes", Resume},
}

// orders are the actions on a process, link or group: drop 1 -> 2.
var orders = [...]struct {
	word string
	kind ActionKind
}{
	{"deliver", Deliver}, {"drop", Drop}, {"duplicate", Duplicate}, {"delay", Delay}, {"reorder", Reorder},
	{"crash", Crash}, {"restart", Restart}, {"pause", Pause}, {"resume", Resume},
	{"partition", Partition}, {"heal", Heal},
}

func (k ActionKind) word() string {
	for _, o := range orders {
		if o.kind == k {
			return o.word
		}
	}
	for _, v := range verbs {
		if v.kind == k {
			return v.word
		}
	}
	return fmt.Sprintf("action %d", uint8(k))
}

// OnLink reports whether the action applies to a message on a link.
func (k ActionKind) OnLink() bool { return k >= Deliver && k <= Reorder && k != DeliverAll }

// String returns the action as it is written in a file, without its time.
func (a Action) String() string {
	switch a.Kind {
	case Ask:
		s := a.Proc.String() + " asks" + behind(a.Section)
		if a.Hold != nil {
			s += fmt.Sprintf(" for %v", *a.Hold)
		}
		return s
	case Take:
		s := fmt.Sprintf("%v takes %s", a.Proc, takenNames(a.Locks, a.Modes))
		if a.Hold != nil {
			s += fmt.Sprintf(" for %v", *a.Hold)
		}
		return s
	case Proceed:
		return a.Proc.String() + " goes on"
	case Cancel:
		return a.Proc.String() + " cancels"
	case Abandon:
		return a.Proc.String() + " aborts"
	case CrashSite:
		return fmt.Sprintf("crash site %d", a.Proc+1)
	case SuspectSite:
		return fmt.Sprintf("site %d suspects site %d", a.Proc+1, a.Peer+1)
	case ExpireSite:
		return fmt.Sprintf("site %d timer %d expires", a.Proc+1, a.Timer)
	case Leave, Start:
		s := a.Proc.String() + " " + a.Kind.word() + behind(a.Section)
		if a.Now {
			s += " now"
		}
		return s
	case Suspect, Trust, Tell:
		return fmt.Sprintf("%v %s %v", a.Proc, a.Kind.word(), a.Peer)
	case Expire:
		return fmt.Sprintf("%v timer %d expires", a.Proc, a.Timer) + behind(a.Section)
	case DeliverAll:
		return "deliver all"
	case Crash, Restart, Pause, Resume:
		return a.Kind.word() + " " + a.Proc.String()
	case Partition:
		return "partition " + parts(a.Parts)
	case Heal:
		return "heal"
	}
	s := fmt.Sprintf("%s %d -> %d", a.Kind.word(), a.Proc+1, a.Peer+1)
	if a.Message != "" {
		s += " " + a.Message
	}
	if a.Nth > 1 {
		s += " " + ordinal(a.Nth)
	}
	if a.By > 0 {
		s += " by " + FormatTime(a.By)
	}
	if a.Overtakes {
		s += " overtaking"
	}
	return s
}

func parts(parts [][]algorithm.ID) string {
	sides := make([]string, len(parts))
	for i, p := range parts {
		words := make([]string, len(p))
		for j, id := range p {
			words[j] = strconv.Itoa(int(id) + 1)
		}
		sides[i] = strings.Join(words, ",")
	}
	return strings.Join(sides, " | ")
}

// ordinal formats 1st, 2nd, 3rd, 4th, 11th, 21st.
func ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}
