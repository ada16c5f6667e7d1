package storm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// Faults is a set of kinds of faults.
type Faults uint64

// The kinds of faults.
const (
	Crash      Faults = 1 << iota // a process stops, and another incarnation starts in its place
	Pause                         // a process is paused, sometimes for a lease or longer
	Loss                          // packets are lost
	Delay                         // packets are late
	Duplicate                     // packets arrive twice
	Break                         // connections break, with everything in flight, and are resumed
	Oneway                        // packets from one process to another are lost
	Partition                     // members are split, or single links are cut, or only the service is out of reach
	Slow                          // a process is late in everything it does
	Drift                         // clocks drift, up to the margin
	Beyond                        // clocks drift beyond the margin: exclusion is then left to fences
	Join                          // more processes join, and leave again
	Leave                         // members leave gracefully
	Roll                          // all members stop and start again, one after another
	Evict                         // a healthy member is evicted
	Skip                          // views follow each other fast, and some are never seen
	Switch                        // the algorithms change
	Forget                        // a view of the same members drops old names
	Client                        // clients are paused, cut off, crash or lose their connections
	Sever                         // two processes never hear each other again, though everything else heals
	Lead                          // the process whose voter leads crashes, is paused, or is cut off
	Broken                        // a voter's disk is full, does not sync, loses power during a write, or rots
	Wipe                          // a process crashes and its disk is lost
	Stall                         // a voter's disk is slow, up to several leases
	Late                          // the timers of a process fire late, up to what the settings allow for
	Jump                          // a process is suspended, and its timer or a message comes first when it resumes
	Gone                          // a member leaves and does not return, or crashes while it leaves
	Release                       // an operator takes a lock from its holder
	Garble                        // some of what a process sends is malformed, or of an unknown kind
	Restore                       // all processes end, all disks are lost, and a backup is restored
	Stop                          // a member, or all of them, stop gracefully and return with their disks, or crash meanwhile
	Rollback                      // a process crashes and starts again from an older copy of its disk
	Return                        // after a backup was restored, a process starts with a disk of the lost cluster
	Move                          // an operator asks a client to use another node
	faultKinds = iota
)

// AllFaults are all kinds except Beyond: what a member must tolerate without losing
// exclusion.
const AllFaults = 1<<faultKinds - 1 - Beyond

var faultNames = [faultKinds]string{
	"crash", "pause", "loss", "delay", "duplicate", "break", "oneway", "partition", "slow", "drift", "beyond",
	"join", "leave", "roll", "evict", "skip", "switch", "forget", "client", "sever", "lead", "disk", "wipe",
	"stall", "late", "jump", "gone", "release", "garble", "restore", "stop", "rollback", "return", "move",
}

// FaultNames returns the names of all kinds of faults.
func FaultNames() []string { return slices.Clone(faultNames[:]) }

// ParseFaults parses names of faults, separated by commas. All is everything that exclusion
// must tolerate; none is none.
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

// String returns the names, separated by commas.
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

// A Strike is one fault of a run: its kind, time, target and duration. A strike that turns
// out to be impossible when its time comes is skipped, so any of them may be removed from a
// run.
type Strike struct {
	At   member.Span // true time from the start
	For  member.Span // duration
	Kind Faults      // a single kind
	Who  int         // place of a process, from 0; clients come after all others
	Peer int         // Oneway, Break, Partition, Sever: the other end
	How  int         // kind of partition, number of views, algorithm, or amount
}

// String describes a strike.
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
	cutService        // one process and the service do not hear each other
	cutMembers        // one process hears only the service
	cutSplit          // processes on either side of one do not hear each other
	cutOff            // one process hears no other
	cutKinds
)
