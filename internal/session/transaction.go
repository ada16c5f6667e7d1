package session

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// Transactions of clients. A transaction exists at one node: a request of it that another
// node received would begin another one there, and no method against deadlock would know
// that the two are one. So its requests go to the node through which it holds all its
// locks. If the client loses that one, it claims them at another, and requests that wait
// meanwhile are sent when all claims are honoured. If one is refused, or a lock is lost, or
// no view comes that lets the claims be decided, they are refused too: the application
// aborts the transaction, and begins again.

// An attempt is the attempt of a transaction that has requests.
type attempt struct {
	tasks []*task
	lost  bool // it has lost a lock
}

// away reports whether a transaction holds a lock through another attachment.
func (x *attempt) away(a *attachment) bool {
	return x != nil && slices.ContainsFunc(x.tasks, func(t *task) bool { return t.state == inside && t.on != a })
}

// stranded reports whether a transaction has lost a lock, or holds one that an attachment
// has refused to take over.
func (x *attempt) stranded(a *attachment) bool {
	return x != nil && (x.lost || slices.ContainsFunc(x.tasks, func(t *task) bool { return t.state == inside && t.on != a && t.refused == a }))
}

// partake adds a request to its transaction.
func (g *Client) partake(t *task) {
	if g.txs == nil {
		g.txs = map[uint64]*attempt{}
	}
	t.tx = g.txs[t.terms.Tx]
	if t.tx == nil {
		t.tx = &attempt{}
		g.txs[t.terms.Tx] = t.tx
	}
	t.tx.tasks = append(t.tx.tasks, t)
}

// depart removes a request that has ended from its transaction, and the last trace of a
// delegated lock.
func (g *Client) depart(t *task) {
	g.scatter(t)
	delete(g.delegates, t.wire)
	if t.tx == nil {
		return
	}
	t.tx.tasks = slices.DeleteFunc(t.tx.tasks, func(o *task) bool { return o == t })
	if len(t.tx.tasks) == 0 {
		delete(g.txs, t.terms.Tx)
	}
	g.strays = g.strays || slices.ContainsFunc(t.tx.tasks, (*task).unsent) // for which it need not wait any longer
}

// unsent reports whether a request waits, and no node knows of it.
func (t *task) unsent() bool { return t.state == wanted && t.on == nil }

// resume sends the requests of a transaction that have waited for its claims.
func (g *Client) resume(x *attempt) {
	if x == nil {
		return
	}
	for _, t := range x.tasks {
		if t.unsent() {
			g.repeat(t)
		}
	}
}

// settleStrays settles what becomes of the requests of transactions that are not sent.
// They are sent if all locks of the transaction are held through the current node, and
// refused if one of them will not be, or is lost.
func (g *Client) settleStrays() {
	g.strays = false
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		if !t.unsent() || t.tx == nil {
			return false
		}
		late := t.stray != 0 && g.now >= t.stray+member.Instant(g.cur.length/2)
		if !t.tx.stranded(g.cur) && !(late && t.tx.away(g.cur)) {
			g.repeat(t)
			return false
		}
		g.tell(Event{Request: t.number, Kind: Refused, Why: Moved})
		g.depart(t)
		return true
	})
}
