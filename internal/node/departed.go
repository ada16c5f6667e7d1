package node

import (
	"encoding/json"

	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// LeaveReport makes the answer to AskLeave wait until the node has left, or ends without
// having left.
const LeaveReport = "report"

// A Departed says how a node has ended that was asked to leave. Without one it is not known:
// the process may have been killed.
type Departed struct {
	Left bool   `json:"left"`
	Why  string `json:"why,omitempty"` // why it has not left
}

// awaitsEnd notes a question that is answered when the node ends. It reports false if the
// question is another one.
func (n *Node) awaitsEnd(q *session.Question) bool {
	v := n.conns[q.Conn]
	if q.What != AskLeave || string(q.Bytes) != LeaveReport || v == nil || len(n.leavers) >= maxPolls {
		return false
	}
	if _, err := n.tellAbout(q, &v.who); err != nil {
		return false // it cannot fail
	}
	v.silent.Stop()
	n.leavers = append(n.leavers, *q)
	return true
}

// tellEnd answers what awaits the end of the node. The connections are closed next, after what
// they send.
func (n *Node) tellEnd() {
	d := Departed{Left: n.left && n.how == views.Left}
	switch {
	case d.Left:
	case n.failed != nil:
		d.Why = n.failed.Error()
	case n.left && n.how == views.Stopped:
		d.Why = "it was stopped meanwhile, and keeps its place"
	case n.left:
		d.Why = "the others evicted it meanwhile"
	default:
		d.Why = "it was ended before it had left"
	}
	b, err := json.Marshal(&d)
	for i := range n.leavers {
		n.sendAnswer(&n.leavers[i], b, err)
	}
	n.leavers = nil
}
