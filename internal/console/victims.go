package console

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/node"
)

// maxVictims is the number of victims that a document shows.
const maxVictims = 50

// A victim is a transaction that had to abort, or a request outside of transactions that counts
// as one.
type victim struct {
	party
	At     int64      `json:"at_ms"`
	Tx     uint64     `json:"tx"`
	Single bool       `json:"single,omitempty"` // outside of transactions
	Lock   string     `json:"lock"`
	Waits  bool       `json:"waits"` // it waited for the lock; otherwise it held it
	How    string     `json:"how"`
	Why    string     `json:"why"`
	Cycle  []waitedIn `json:"cycle"`
	More   int        `json:"more,omitempty"` // number of transactions in the cycle that are left out
}

// waitedIn is a transaction in a cycle, and the lock that it waits for.
type waitedIn struct {
	Node string `json:"node"`
	Tx   uint64 `json:"tx"`
	Lock string `json:"lock"`
}

// victims adds the victims that a member reported at some time, without those at locks that the
// caller may not read.
func (m *moments) victims(to map[string]victim, p *node.Pulse, at time.Time, reads func(string) bool) {
	for i := range p.Victims {
		x := &p.Victims[i]
		if !reads(x.Lock) || slices.ContainsFunc(x.Cycle, func(c node.CycleInfo) bool { return !reads(c.Lock) }) {
			continue
		}
		key := fmt.Sprintf("%s/%d/%d", x.Node, x.Tx, x.At)
		v := victim{party: partyOf(&x.Party, x.Node), Tx: x.Tx, Single: x.Single, Lock: x.Lock, Waits: x.Waits, How: x.How, Why: x.Why, More: x.More, Cycle: []waitedIn{}}
		v.At = m.at("victim\x00"+key, x.At+at.UnixMilli()-p.At) // on this node's clock
		for _, c := range x.Cycle {
			v.Cycle = append(v.Cycle, waitedIn{c.Node, c.Tx, c.Lock})
		}
		to[key] = v
	}
}

// lastVictims leaves only the last ones.
func lastVictims(all map[string]victim) {
	var keys []string
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(all[b].At, all[a].At), cmp.Compare(a, b)) })
	for _, key := range keys[min(len(keys), maxVictims):] {
		delete(all, key)
	}
}
