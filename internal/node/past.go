package node

import (
	"encoding/json"
	"fmt"

	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/words"
)

// A PastQuery asks for the holds of a lock that have ended lately.
type PastQuery struct {
	Name string `json:"name"`
	For  string `json:"for,omitempty"` // path of an identity, for which another node asks: it must be allowed to read the lock, too
}

// A PastPage lists holds of a lock that have ended at one node, the last one first: up to
// meter.Lasting. It is empty if the node does not measure.
type PastPage struct {
	Node     string     `json:"node"`
	Measured bool       `json:"measured"` // the node notes holds that end
	Holds    []PastHold `json:"holds"`
}

// A PastHold is a hold that has ended.
type PastHold struct {
	Party
	Token    string  `json:"token"`
	Acquired float64 `json:"acquired_s"`      // time since it was acquired at this node
	Ended    float64 `json:"ended_s"`         // time since it ended there
	Moved    bool    `json:"moved,omitempty"` // the client had acquired it at another node before
	End      string  `json:"end"`             // how it ended: one of the constants below
	Cause    string  `json:"cause,omitempty"` // EndLost: as in the metrics
	Why      string  `json:"why,omitempty"`   // EndLost and EndForced: in words
}

// How holds end.
const (
	EndReleased = "released"
	EndForced   = "forced" // an operator has taken the lock from its holder
	EndLost     = "lost"
	EndMoved    = "moved" // the client holds it, or held it, through another node
)

// pastHolds answers a query for holds that have ended here.
func (n *Node) pastHolds(q *PastQuery, who *Caller) ([]byte, error) {
	may, err := n.mayRead(who, q.For)
	if err != nil {
		return nil, err
	}
	if !may([]byte(q.Name)) {
		return nil, fmt.Errorf("%w: lock %s may not be read", lock.ErrDenied, words.Quoted(q.Name))
	}
	page := PastPage{Node: n.c.Name, Measured: n.meter != nil, Holds: []PastHold{}}
	if n.meter != nil {
		for p := range n.meter.Past(q.Name) {
			page.Holds = append(page.Holds, n.pastHold(p))
		}
	}
	return json.Marshal(page)
}

// pastHold describes a hold that has ended.
func (n *Node) pastHold(p *meter.Past) PastHold {
	now := n.clock()
	h := PastHold{
		Party: n.party(p.Owner), Token: p.Token.String(), End: EndReleased, Moved: p.Moved,
		Acquired: seconds(until(p.Since, now)), Ended: seconds(until(p.Until, now)),
	}
	switch {
	case p.Lost && p.Cause == member.Released:
		h.End, h.Why = EndForced, lock.Why(p.Cause)
	case p.Lost && p.Cause == member.Moved:
		h.End = EndMoved
	case p.Lost:
		h.End, h.Cause, h.Why = EndLost, meter.LossNames()[p.Cause], lock.Why(p.Cause)
	}
	return h
}
