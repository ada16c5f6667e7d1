package member

import (
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Detection of deadlocks among transactions. The coordinator is the first member of the
// view. A transaction that holds locks and has waited for another one for some time demands
// a round: the coordinator collects the local graphs of all homes, looks for deadlocks, and
// asks the members of those in one whether they still wait. Only if all do must one of them
// abort. Everything of this ends with the view; requests that go on waiting then demand
// another round.

const (
	coordinator = 0 // rank

	DetectAfter = 50 * Millisecond // how long a request waits before it demands the first round; the storm judges by it
	detectMost  = 5 * Second       // and the longest before it demands another one
	DetectPause = 10 * Millisecond // shortest time from the beginning of a round to that of the next

	// giveUp is how long a transaction waits for a lock whose choice is the timeout.
	giveUp = 2 * Second
)

// A detector is the coordinator's state, and what members need to describe deadlocks.
type detector struct {
	round   uint64
	missing uint64 // ranks whose graphs of this round have not arrived
	again   bool   // a round has been demanded since this one began
	arcs    []deadlock.Arc
	locks   []string // names of those in arcs
	asks    deadlock.Inquiries
	waits   map[deadlock.Attempt]string // what those wait for who have been asked
}

// A localGraph is the answer to the coordinator that is not complete yet: the graph as it
// was when the coordinator asked for it. If a wait in it ends before the last part is sent,
// its member says so before any transaction must abort.
type localGraph struct {
	round uint64
	arcs  []arc // not sent yet
}

// An arc is an edge of a local graph, as frames carry it.
type arc struct {
	from, to     deadlock.Attempt
	lock         string
	units, spare int
}

// nudgeLater sets when something must be done about a request that waits.
func (m *Member) nudgeLater(p *part) {
	s := m.epoch.schoolOf(p.name)
	switch {
	case s.method == nil || p.try:
	case s.method.Name == deadlock.DetectCentral().Name:
		if !p.tx.holdsOther(p) {
			return // every deadlock has a transaction that holds something
		}
		after := min(DetectAfter<<min(p.waits, 20), detectMost)
		m.schedule.put(&p.nudge, m.now+Instant(after))
	case s.method.Name == deadlock.Timeout().Name:
		m.schedule.put(&p.nudge, p.w.since+Instant(giveUp)) // over view changes, too
	}
}

// holdsOther reports whether a transaction holds a lock other than that of a request.
func (t *transaction) holdsOther(than *part) bool {
	return slices.ContainsFunc(t.parts, func(o *part) bool { return o != than && o.state >= holds })
}

// nudged does something about a request that waits.
func (m *Member) nudged(p *part) {
	m.schedule.remove(&p.nudge)
	if m.epoch.schoolOf(p.name).method.Name == deadlock.Timeout().Name {
		m.doom(p.Attempt, &Victim{How: TimedOut})
		return
	}
	p.waits++
	m.nudgeLater(p)
	if m.epoch.me == coordinator {
		m.demanded()
	} else {
		m.send(coordinator, &frame{kind: demandFrame})
	}
}

// demanded handles, at the coordinator, the demand of a round.
func (m *Member) demanded() {
	d := m.detector()
	d.again = true
	m.resume(d)
}

// resume begins a round if one is demanded, but not before the last one has ended, nor just
// after it began: a round serves all who demand it until then.
func (m *Member) resume(d *detector) {
	if d.again && d.missing == 0 && m.rest.place == 0 {
		m.collect(d)
	}
}

// detector returns the state of the coordinator.
func (m *Member) detector() *detector {
	if m.epoch.detector == nil {
		m.epoch.detector = &detector{}
	}
	return m.epoch.detector
}

// collect begins a round.
func (m *Member) collect(d *detector) {
	e := m.epoch
	d.round++
	m.schedule.put(&m.rest, m.now+Instant(DetectPause))
	d.again, d.arcs, d.locks = false, nil, nil
	d.missing = 1<<len(e.view.Members) - 1
	for rank := range e.view.Members {
		if rank != e.me {
			m.send(rank, &frame{kind: collectFrame, round: d.round})
		}
	}
	m.graph(e.me, d.round, m.localArcs(), false)
}

// localArcs returns the graph of the kept locks whose home is here.
func (m *Member) localArcs() []arc {
	e := m.epoch
	var all []arc
	for _, b := range e.bookList {
		if e.schools[e.table.lock(b.lock).alg].method.Name != deadlock.DetectCentral().Name {
			continue
		}
		for _, a := range b.keeper.Arcs() {
			all = append(all, arc{a.From, a.To, string(e.table.name(b.lock)), a.Units, a.Spare})
		}
	}
	return all
}

// graphPart makes the next part of the answer to the coordinator.
func (m *Member) graphPart(rank int) bool {
	g := m.epoch.graph
	if g == nil || rank != coordinator {
		return false
	}
	left, n := m.Limits.Part, 0
	for ; n < len(g.arcs); n++ {
		if left -= len(g.arcs[n].lock) + 40; left < 0 && n > 0 {
			break
		}
	}
	f := frame{kind: graphFrame, round: g.round, arcs: g.arcs[:n], more: n < len(g.arcs)}
	if g.arcs = g.arcs[n:]; !f.more {
		m.epoch.graph = nil
	}
	m.send(rank, &f)
	return true
}

// graph handles, at the coordinator, a part of a member's graph.
func (m *Member) graph(rank int, round uint64, arcs []arc, more bool) {
	d := m.detector()
	if round != d.round || d.missing&(1<<rank) == 0 {
		return
	}
	for _, a := range arcs {
		if len(d.locks) == 0 || d.locks[len(d.locks)-1] != a.lock {
			d.locks = append(d.locks, a.lock)
		}
		d.arcs = append(d.arcs, deadlock.Arc{From: a.from, To: a.to, Lock: len(d.locks) - 1, Units: a.units, Spare: a.spare})
	}
	if more {
		return
	}
	if d.missing &^= 1 << rank; d.missing == 0 {
		m.search(d)
	}
}

// search ends a round: it asks about the deadlocks that it has found.
func (m *Member) search(d *detector) {
	found := deadlock.Deadlocks(d.arcs)
	d.arcs, d.locks = nil, nil
	for _, x := range found {
		if !d.asks.About(x.Victim) {
			d.asks.Open(x)
			m.inquire(x, false)
		}
	}
	m.resume(d)
}

// inquire asks the members of the transactions in a deadlock whether they still wait. The
// answers are for the coordinator's detector, or for that of paths.
func (m *Member) inquire(x deadlock.Deadlock, paths bool) {
	for _, who := range x.Behind {
		switch rank := m.epoch.view.Rank(who.Origin); rank {
		case -1:
			m.confirmed(who, "", paths) // its member has left: so has the transaction
		case m.epoch.me:
			m.confirmed(who, m.stillWaits(who), paths)
		default:
			m.send(rank, &frame{kind: confirmFrame, who: who, ext: paths})
		}
	}
}

// stillWaits returns the name of the lock for which a transaction here waits with this
// request; empty if it does not.
func (m *Member) stillWaits(who deadlock.Attempt) string {
	if p := m.partOf(who); p != nil && p.state == wants && p.tx.doomed == nil {
		return p.name
	}
	return ""
}

// confirmed handles the answer of a transaction's member: what it still waits for.
func (m *Member) confirmed(who deadlock.Attempt, lock string, paths bool) {
	d := m.detector()
	if lock != "" {
		if len(d.waits) >= maxWaits || d.waits == nil {
			d.waits = map[deadlock.Attempt]string{}
		}
		d.waits[who] = lock
	}
	var x *deadlock.Deadlock
	all := false
	if paths {
		if m.epoch.paths != nil {
			x = m.epoch.paths.Answered(who, lock != "")
			all = x != nil
			defer m.push()
		}
	} else {
		x, all = d.asks.Answered(who, lock != "")
	}
	if !all {
		return // if there is a deadlock after all, it will be found again
	}
	v := &Victim{How: InCycle}
	for _, a := range x.Cycle {
		v.Cycle = append(v.Cycle, Wait{Inc: a.Origin, Tx: uint64(a.Tx), Lock: d.waits[a]})
	}
	if rank := m.epoch.view.Rank(x.Victim.Origin); rank >= 0 {
		m.order(rank, x.Victim, v)
	}
}

// maxWaits is how many names of locks are kept for descriptions of deadlocks. After that they
// are forgotten, and a description may lack some.
const maxWaits = 10_000
