package member

import "math/bits"

// Bulk frames. At a view change a member may have to inform others about tens of
// thousands of locks: a REPORT to each home, and QUERYs to all survivors. At any time the
// coordinator of deadlock detection may ask it for a GRAPH, whose length grows with the
// square of the number of requests that wait. It makes these frames part by part, when the
// host asks for more, so that a link never keeps more of them than fit a window. More has
// the rules.

// A report is the REPORT to one member that is not complete yet.
type report struct {
	owed  bool    // its last part has not been made
	locks []int32 // carried over, homed at that member, and not visited yet
	parts []*part // the same for kept locks, those for one lock together
}

// What the REPORT to a lock's home must still say about the lock.
type owed uint8

const (
	owedHold owed = 1 << iota // it is held here by an older epoch
	owedWait                  // it has been waited for here since an older epoch
)

// Bulk reports whether a bulk frame must still be made for some member.
func (m *Member) Bulk() bool {
	e := m.epoch
	return e != nil && (e.reporting > 0 || len(e.queries) > 0 || e.graph != nil) && !m.ghost
}

// More appends the next bulk frame for another member to Out, and reports whether there
// was one: first the parts of the REPORT to it, then QUERYs, then those of the GRAPH. It
// does nothing else, whatever the time is.
//
// Which locks a REPORT may list is decided when the view is installed, but a part
// describes the state when it is made. It lists a hold that was carried over only if
// that has not been released since; for a hold that was never listed there is no
// RELEASED. It lists a lock as waited for only if a request from an older epoch is
// left. So parts may be arbitrarily late: until the last one has arrived, the sender is
// a suspect for every lock of the receiver.
func (m *Member) More(now Instant, to uint64) bool {
	m.now = max(m.now, now)
	if !m.Bulk() {
		return false
	}
	rank := m.epoch.view.Rank(to)
	if rank < 0 || rank == m.epoch.me {
		return false
	}
	return m.reportPart(rank) || m.queryPart(rank) || m.graphPart(rank)
}

// reportPart makes the next part of the REPORT to a member.
func (m *Member) reportPart(rank int) bool {
	e := m.epoch
	r := &e.reports[rank]
	if !r.owed {
		return false
	}
	f := frame{kind: reportFrame}
	left := m.Limits.Part
	for ; len(r.locks) > 0; r.locks = r.locks[1:] {
		n := r.locks[0]
		u := e.found(n)
		if u == nil || u.owed == 0 {
			continue // released or cancelled meanwhile
		}
		if left -= (e.cost(n) + len(u.who)) * bits.OnesCount8(uint8(u.owed)); left < 0 && len(f.held)+len(f.waits) > 0 {
			f.more = true
			break
		}
		name := string(e.table.name(n))
		if u.owed&owedHold != 0 {
			f.held = append(f.held, holding{name, u.olderHold()})
		}
		if u.owed&owedWait != 0 && e.older(u.first) {
			f.waits = append(f.waits, wanted{name, u.first.stamp})
		}
		u.owed = 0
	}
	if !f.more {
		f.kept, f.more = m.keptPart(r, left, len(f.held)+len(f.waits) > 0)
	}
	if !f.more {
		*r = report{}
		e.reporting--
	}
	m.send(rank, &f)
	if !r.owed {
		m.pursueAll(rank)
	}
	return true
}

// cost is the approximate number of bytes of a lock in a bulk frame.
func (e *epoch) cost(n int32) int { return len(e.table.name(n)) + 8 }

// older reports whether a request was first made in an older epoch.
func (e *epoch) older(w *waiter) bool { return w != nil && w.stamp.Epoch < e.view.Epoch }

// owe notes that a REPORT must list a lock, as far as its use says so. The member
// itself needs no report.
func (m *Member) owe(e *epoch, n int32) {
	u := e.found(n)
	if u == nil || u.owed == 0 {
		return
	}
	home := int(e.table.lock(n).home)
	if home != e.me {
		e.reports[home].locks = append(e.reports[home].locks, n)
		return
	}
	if u.owed&owedHold != 0 {
		u.held.add(e.place(m.Inc))
		e.note(n, u.olderHold())
	}
	u.owed = 0
}

// cancelled notes that a request was withdrawn. If it was the last from an older epoch
// and its home has not heard of it, the home will neither lend nor send DONE: later
// requests ask through the algorithm.
func (m *Member) cancelled(u *use) {
	if u.owed&owedWait != 0 && !m.epoch.older(u.first) {
		u.owed &^= owedWait
		u.back = false
	}
}

// ask queues a query about a lock to all other survivors.
func (e *epoch) ask(u *use) {
	if e.witnesses == 0 {
		return
	}
	if len(e.queries) > 2*e.busy+1000 {
		e.compact()
	}
	e.queries = append(e.queries, u.lock)
	u.query = int32(len(e.queries))
}

// useful reports whether a query is still worth sending: its lock has suspects, and it
// is not queued again later.
func (m *Member) useful(at int) bool {
	e := m.epoch
	n := e.queries[at]
	u := e.found(n)
	return u != nil && u.query == int32(at+1) && e.isHome(e.table.lock(n)) && !m.suspects(e, u).empty()
}

// queryPart makes the next QUERY to a member.
func (m *Member) queryPart(rank int) bool {
	e := m.epoch
	if len(e.queries) == 0 || !e.survivor(rank) {
		return false
	}
	f := frame{kind: queryFrame}
	left, at := m.Limits.Part, e.asked[rank]
	for ; at < len(e.queries); at++ {
		if !m.useful(at) {
			continue
		}
		n := e.queries[at]
		if left -= e.cost(n); left < 0 && len(f.names) > 0 {
			break
		}
		f.names = append(f.names, string(e.table.name(n)))
	}
	if e.asked[rank] = at; at == len(e.queries) {
		e.forgetAsked()
	}
	if len(f.names) == 0 {
		return false
	}
	m.send(rank, &f)
	return true
}

// survivor reports whether the member of a rank was in the previous view.
func (e *epoch) survivor(rank int) bool {
	return e.place(e.view.Members[rank].Inc) >= 0
}

// forgetAsked forgets the queries if all survivors have been asked them.
func (e *epoch) forgetAsked() {
	for rank, at := range e.asked {
		if at < len(e.queries) && rank != e.me && e.survivor(rank) {
			return
		}
	}
	e.queries = e.queries[:0]
	clear(e.asked)
}

// compact drops queries that are queued again later, or are void. Otherwise they would
// grow without bound while one survivor takes none.
func (e *epoch) compact() {
	all, asked := e.queries, make([]int, len(e.asked))
	e.queries = all[:0]
	for at, n := range all {
		u := e.found(n)
		if u == nil || u.query != int32(at+1) {
			continue
		}
		e.queries = append(e.queries, n)
		u.query = int32(len(e.queries))
		for rank := range asked {
			if at < e.asked[rank] {
				asked[rank]++
			}
		}
	}
	e.asked = asked
}
