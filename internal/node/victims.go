package node

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
)

// maxVictims is how many victims a node remembers.
const maxVictims = 50

// A VictimInfo is a transaction at a node that had to abort, because of a deadlock or to
// prevent one. A request outside of transactions counts as one.
type VictimInfo struct {
	Party
	TxInfo
	Single bool        `json:"single,omitempty"` // a request outside of transactions, which is made again by itself
	At     int64       `json:"at_ms"`            // Unix time, by the clock of the node's machine
	Lock   string      `json:"lock"`             // that it waited for; if Waits is false, one that it held
	Waits  bool        `json:"waits"`            // it waited for a lock
	How    string      `json:"how"`              // cycle, wound, die or timeout
	Why    string      `json:"why"`              // in words
	Cycle  []CycleInfo `json:"cycle"`            // cycle: the transactions that waited for each other; wound, die: the older one; timeout: none
	More   int         `json:"more,omitempty"`   // number of transactions that follow in the cycle, and are left out
}

// A CycleInfo is a transaction, and the lock that it waits for. If the victim had to die, the
// transaction holds the lock.
type CycleInfo struct {
	TxInfo
	Lock string `json:"lock"`
}

// hows names how transactions become victims.
var hows = [...]string{member.InCycle: "cycle", member.Wounded: "wound", member.Died: "die", member.TimedOut: "timeout"}

// A victim is a VictimInfo, and what tells it from others.
type victim struct {
	VictimInfo
	why *member.Victim
}

// noteVictims notes the transactions that must abort since the last step. The requests of one
// may fail in several steps.
func (n *Node) noteVictims() {
	for i := range n.meter.Victims {
		v := &n.meter.Victims[i]
		if slices.ContainsFunc(n.victims, func(o victim) bool { return o.why == v.Why && o.Tx == v.Tx }) {
			continue
		}
		if len(n.victims) == maxVictims {
			n.victims = slices.Delete(n.victims, 0, 1)
		}
		n.victims = append(n.victims, victim{n.victim(v), v.Why})
	}
}

// victim describes a victim.
func (n *Node) victim(v *meter.Victim) VictimInfo {
	why := v.Why.Clip() // or it would be as long as a cycle can be
	x := VictimInfo{
		Party: n.party(v.Owner), TxInfo: TxInfo{n.c.Name, v.Tx}, Single: v.Single, At: time.Now().UnixMilli(),
		Lock: v.Lock, Waits: v.Waits, How: hows[why.How], Why: why.String(), Cycle: []CycleInfo{}, More: why.More,
	}
	for i := range why.Cycle {
		x.Cycle = append(x.Cycle, CycleInfo{txOf(&why.Cycle[i]), why.Cycle[i].Lock})
	}
	return x
}

// txOf names a transaction.
func txOf(w *member.Wait) TxInfo { return TxInfo{cmp.Or(w.Node, fmt.Sprint(w.Inc)), w.Tx} }

// readable reports whether a caller may read all locks that a victim names.
func (v *victim) readable(may func(name []byte) bool) bool {
	return may([]byte(v.Lock)) && !slices.ContainsFunc(v.Cycle, func(c CycleInfo) bool { return c.Lock != "" && !may([]byte(c.Lock)) })
}
