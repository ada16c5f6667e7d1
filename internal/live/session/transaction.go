package session

import "slices"

// Transactions of clients. A transaction exists at one node: a request of it that another
// node received would begin another one there, and no method against deadlock would know
// that the two are one. So from its first lock on, all its requests go to one attachment.
// If the client loses that, the others are refused: the application aborts the transaction,
// and begins again.

// An attempt is the attempt of a transaction that has requests.
type attempt struct {
	at    *attachment // at which it holds its first lock; nil before
	parts int         // number of its requests
}

// bound returns the attachment to which a request must be sent; nil if to any.
func (t *task) bound() *attachment {
	if t.tx == nil {
		return nil
	}
	return t.tx.at
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
	t.tx.parts++
}

// depart removes a request that has ended from its transaction.
func (g *Client) depart(t *task) {
	if t.tx == nil {
		return
	}
	if t.tx.parts--; t.tx.parts == 0 {
		delete(g.txs, t.terms.Tx)
	}
}

// refuseStrays refuses the requests that must be sent to an attachment that is no longer
// the current one.
func (g *Client) refuseStrays() {
	g.strays = false
	g.requests = slices.DeleteFunc(g.requests, func(t *task) bool {
		if t.state != wanted || t.on != nil || t.bound() == nil {
			return false
		}
		g.tell(Event{Request: t.number, Kind: Refused, Why: Moved})
		g.depart(t)
		return true
	})
}
