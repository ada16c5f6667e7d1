package meter

import (
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// Lasting is how many holds that have ended are kept of the names that share a place in the
// table of busy locks. So the holds of a busy lock replace those of one other name in 512.
const Lasting = 20

// A Past is a hold that has ended.
type Past struct {
	Name  string
	Owner *session.Owner // nil: the node's own process
	Token member.Token
	Since member.Instant // when the lock was acquired here
	Until member.Instant
	Cause member.Cause // of Lost
	Lost  bool         // otherwise it was released
	Moved bool         // a client had acquired it at another node, and moved it here
}

// A ring keeps the last holds that have ended.
type ring struct {
	all  [Lasting]Past
	next uint8 // the one to replace
}

// add makes room for a hold. Memory is allocated once for each slot.
func (s *slot) add() *Past {
	r := s.past
	if r == nil {
		r = &ring{}
		s.past = r
	}
	p := &r.all[r.next]
	if r.next++; r.next == Lasting {
		r.next = 0
	}
	return p
}

// Past yields the holds of a lock that have ended and are still known, the last one first.
func (m *Meter) Past(name string) func(yield func(*Past) bool) {
	r := m.hot[hash(name)%slots].past
	return func(yield func(*Past) bool) {
		for i := 1; r != nil && i <= Lasting; i++ {
			p := &r.all[(int(r.next)+Lasting-i)%Lasting]
			if p.Name == name && !yield(p) {
				return
			}
		}
	}
}

// A Victim is a transaction that must abort. A request outside of transactions counts as
// one.
type Victim struct {
	Tx     uint64         // its number at this node
	Owner  *session.Owner // nil: the node's own process
	Single bool           // a request outside of transactions
	Waits  bool           // Lock is the one that it waited for; otherwise it waited for none, and holds Lock
	Lock   string
	Why    *member.Victim
}

// doomed notes that a request belongs to a transaction that must abort. There may be more
// such events for the other requests of the transaction.
func (m *Meter) doomed(r *request, e *member.Event) {
	waits := e.Kind == member.Stopped
	for i := range m.Victims {
		v := &m.Victims[i]
		if v.Tx == e.Tx {
			if waits {
				v.Waits, v.Lock = true, r.name
			}
			return
		}
	}
	m.Victims = append(m.Victims, Victim{e.Tx, r.owner, r.single, waits, r.name, e.Victim})
}
