package gateway

import (
	"github.com/stile-lock/stile/algorithm/deadlock"
	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	protocol "github.com/stile-lock/stile/internal/session"
)

// An ask is what a call asks of a lock.
type ask struct {
	name, key string // a call without a key is about that with the lock's name
	tx        string // the transaction; empty if it is none
	try       bool
	terms     member.Terms
	value     *string // to attach when the lock is held; nil if none
}

// A moded is a request for a lock, in any of the modes.
type moded interface {
	GetName() string
	GetShared() bool
}

// askOf returns what a call asks of a lock.
func askOf(in moded, key string, units, of *uint32, value *string) (a ask, err error) {
	a = ask{name: in.GetName(), key: key, value: value}
	if err := member.CheckName(a.name); err != nil {
		return a, badRequest.error(err)
	}
	if value != nil {
		if err := protocol.CheckValue(*value); err != nil {
			return a, badRequest.error(err)
		}
	}
	switch {
	case in.GetShared() && (units != nil || of != nil):
		return a, badRequest.errorf("lock %q: shared contradicts units and of: give shared, or the other two", a.name)
	case in.GetShared():
		a.terms.Mode = deadlock.Shared
	case (units == nil) != (of == nil):
		return a, badRequest.errorf("lock %q: units and of belong together: give the number of units to acquire, and of how many", a.name)
	case units != nil:
		if a.terms, err = member.UnitsOf(int(*units), int(*of)); err != nil {
			return a, badRequest.errorf("lock %q: %w", a.name, err)
		}
	}
	return a, nil
}

// unitsMode is the mode of a request for units, which are told by their number.
const unitsMode = "units"

// modeOf returns the name of a mode.
func modeOf(m deadlock.Mode) string {
	if m > deadlock.Exclusive {
		return unitsMode
	}
	return m.String()
}

// hows are the names of how transactions become victims.
var hows = map[member.How]string{member.InCycle: "cycle", member.Wounded: "wounded", member.Died: "died", member.TimedOut: "timeout"}

// describeDeadlock describes why a transaction must abort.
func describeDeadlock(d *lock.Deadlock) *pb.Deadlock {
	out := &pb.Deadlock{Why: d.Why}
	if v := d.Victim; v != nil {
		out.How, out.More = hows[v.How], uint32(v.More)
		for _, w := range v.Cycle {
			out.Waits = append(out.Waits, &pb.Wait{Node: w.Node, Tx: w.Tx, Lock: w.Lock})
		}
	}
	return out
}
