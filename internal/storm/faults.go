package storm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// Faults is a set of kinds of faults.
type Faults uint32

// The kinds of faults.
const (
	Crash      Faults = 1 << iota // a process stops, and another incarnation starts in its place
	Pause                         // a process stands still, a lease or longer too
	Loss                          // packets are lost
	Delay                         // packets are late
	Duplicate                     // packets come twice
	Break                         // connections break, with all that is under way, and are resumed
	Oneway                        // packets from one process to another are lost
	Partition                     // members are split, or single links, or only the service is out of reach
	Slow                          // a process is late in all that it does
	Drift                         // clocks drift, up to the margin
	Beyond                        // clocks drift beyond the margin: exclusion is then left to fences
	Join                          // more processes join, and leave again
	Leave                         // members leave in good order
	Roll                          // all members are restarted, one after the other
	Evict                         // a healthy member is evicted
	Skip                          // views follow each other fast, and some are never seen
	Switch                        // the algorithms change
	Forget                        // a view of the same members lets old names go
	Client                        // clients are paused, cut off, crash or lose their connections
	Sever                         // two processes never hear each other again, though all else heals
	Lead                          // the process whose voter leads crashes, stands still, or is cut off
	Broken                        // a voter's disk is full, does not sync, loses power while it writes, or rots
	Wipe                          // a process crashes and its disk is lost
	Stall                         // a voter's disk takes long, up to several leases
	Late                          // the timers of a process fire late, up to what the settings allow for
	Jump                          // a process is suspended, and hears its timer or a message first when it goes on
	Gone                          // a member leaves and does not come back, or dies while it leaves
	Release                       // an operator takes a lock from its holder
	Garble                        // some of what a process sends is malformed, or of a kind that nobody knows
	Restore                       // all processes end, all disks are lost, and a backup is restored
	faultKinds = iota
)

// AllFaults are all kinds but Beyond: what a member must stand without losing
// exclusion.
const AllFaults = 1<<faultKinds - 1 - Beyond

var faultNames = [faultKinds]string{
	"crash", "pause", "loss", "delay", "duplicate", "break", "oneway", "partition", "slow", "drift", "beyond",
	"join", "leave", "roll", "evict", "skip", "switch", "forget", "client", "sever", "lead", "disk", "wipe",
	"stall", "late", "jump", "gone", "release", "garble", "restore",
}

// FaultNames returns the names of all kinds of faults.
func FaultNames() []string { return slices.Clone(faultNames[:]) }

// ParseFaults reads names of faults that are separated by commas. All is all
// that exclusion must stand, none is none.
func ParseFaults(s string) (Faults, error) {
	switch s {
	case "all":
		return AllFaults, nil
	case "none", "":
		return 0, nil
	}
	var f Faults
names:
	for name := range strings.SplitSeq(s, ",") {
		for i, known := range faultNames {
			if strings.TrimSpace(name) == known {
				f |= 1 << i
				continue names
			}
		}
		return 0, fmt.Errorf("unknown fault %q: want all, none, or some of %s", name, strings.Join(faultNames[:], ","))
	}
	return f, nil
}

// String writes the names, separated by commas.
func (f Faults) String() string {
	var names []string
	for i, name := range faultNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ",")
}

func (f Faults) has(x Faults) bool { return f&x != 0 }

// A Strike is one fault of a run: what, when, to whom, for how long. What a
// strike finds to be impossible when its time comes is left undone, so any of
// them may be taken out of a run.
type Strike struct {
	At   member.Span // true time from the start
	For  member.Span // how long it lasts
	Kind Faults      // one of them
	Who  int         // the place of a process, from 0; clients come after all others
	Peer int         // Oneway, Break, Partition, Sever: the other end
	How  int         // which kind of partition, how many views, which algorithm, how much
}

// String tells a strike.
func (s Strike) String() string {
	text := fmt.Sprintf("%8.1f ms  %-9v process %d", float64(s.At)/float64(member.Millisecond), s.Kind, s.Who)
	if s.Kind.has(Oneway | Partition | Break | Sever) {
		text += fmt.Sprintf(" peer %d", s.Peer)
	}
	if s.For > 0 {
		text += fmt.Sprintf(" for %.1f ms", float64(s.For)/float64(member.Millisecond))
	}
	if s.How > 0 {
		text += fmt.Sprintf(" (%d)", s.How)
	}
	return text
}

// The kinds of partitions, in Strike.How.
const (
	cutPair    = iota // two processes do not hear each other
	cutService        // one does not hear the service, nor it that process
	cutMembers        // one hears the service alone
	cutSplit          // all on either side of one do not hear each other
	cutOff            // one hears nobody
	cutKinds
)
