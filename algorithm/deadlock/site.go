package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// The phases of a transaction, as its home sees it.
const (
	idle    uint8 = iota // has nothing and wants nothing
	running              // has what it requested
	waiting              // waits for a lock
	doomed               // has been ordered to abort
)

// A transaction is what its home knows about it.
type transaction struct {
	Attempt // the present one, or the last; its Stamp is none between transactions
	phase   uint8
	wants   int   // waiting: the lock
	has     []int // locks, in the order in which it got them
	claims  []int // locks that it may request
}

// fieldNames are the names of the fields of a transaction: made once, because states are
// written and read far more often than shown.
type fieldNames struct{ phase, stamp, attempt, request, wants, has, claims string }

func namesOf(tx int) fieldNames {
	p := algorithm.ID(tx).String()
	return fieldNames{p, p + ".stamp", p + ".attempt", p + ".request", p + ".wants", p + ".has", p + ".claims"}
}

func (t *transaction) fields(c *algorithm.Coder, tx int, names *fieldNames) {
	c.Uint8(names.phase, &t.phase, "idle", "running", "waiting", "doomed")
	c.Time(names.stamp, &t.Stamp)
	c.Seq(names.attempt, algorithm.ID(tx), &t.Number)
	c.Int(names.request, &t.Seq, maxIndex)
	c.Index(names.wants, &t.wants, maxIndex)
	c.Indexes(names.has, &t.has, maxIndex)
	c.Indexes(names.claims, &t.claims, maxIndex)
}

// A site is one site: the home of some transactions, for which it requests locks, and the
// keeper of some locks, which it grants. What happens when a lock is taken is up to the
// method.
type site struct {
	self   algorithm.ID
	layout *Layout
	method method

	clock algorithm.Time
	dead  algorithm.Set
	txs   []transaction // only those at home here are in use
	locks []Keeper      // only those kept here are in use
	own   []int         // transactions at home here, in order
	kept  []int         // locks kept here, in order
	names []fieldNames  // names of the fields of own
}

type out = algorithm.Out[message]

func newSite(self algorithm.ID, l *Layout, m method) *site {
	s := &site{self: self, layout: l, method: m, txs: make([]transaction, len(l.Home)), locks: make([]Keeper, len(l.At))}
	for tx := range s.txs {
		s.txs[tx].Tx, s.txs[tx].wants = tx, -1
		if l.Home[tx] == self {
			s.own, s.names = append(s.own, tx), append(s.names, namesOf(tx))
		}
	}
	for k := range s.locks {
		s.locks[k] = *newKeeper(m.policy(), KeeperConfig{Units: l.UnitsOf(k)})
		if m.keeps(s, k) {
			s.kept = append(s.kept, k)
		}
	}
	m.begins(s)
	return s
}

func (s *site) Fields(c *algorithm.Coder) {
	c.Time("clock", &s.clock)
	c.Set("dead", &s.dead)
	for i, tx := range s.own {
		s.txs[tx].fields(c, tx, &s.names[i])
	}
	for _, k := range s.kept {
		c.Of("L", k)
		s.locks[k].fields(c)
	}
	c.Of("", 0)
	s.method.fields(s, c)
}

// keeper returns the site that grants a lock.
func (s *site) keeper(k int) algorithm.ID { return s.method.keeper(s, k) }

// atHome reports whether this is the home of tx.
func (s *site) atHome(tx int) bool { return s.layout.hasTx(tx) && s.layout.Home[tx] == s.self }

// attempt returns the present attempt of a transaction, or its last one, if it is at home
// here.
func (s *site) attempt(tx int) Attempt {
	if !s.atHome(tx) {
		return Attempt{}
	}
	return s.txs[tx].Attempt
}

func (s *site) send(to algorithm.ID, m message, o *out) {
	m.clock = s.clock
	o.Send(to, m)
}

// Clock implements algorithm.Hearer.
func (s *site) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *site) Hear(t algorithm.Time) { s.clock.See(t) }

// Claim records that tx may request a lock.
func (s *site) Claim(tx algorithm.ID, k int) {
	if s.atHome(int(tx)) && s.layout.hasLock(k) && !slices.Contains(s.txs[tx].claims, k) {
		s.txs[tx].claims = append(s.txs[tx].claims, k)
	}
}

// Acquire requests a lock for tx alone.
func (s *site) Acquire(tx algorithm.ID, k int, o *out) { s.AcquireAs(tx, k, int(Exclusive), o) }

// AcquireAs requests a lock in a Mode. The first request begins an attempt, and gives the
// transaction its stamp unless it has one from an earlier attempt.
func (s *site) AcquireAs(tx algorithm.ID, k, mode int, o *out) {
	if !s.atHome(int(tx)) || !s.layout.hasLock(k) {
		return
	}
	t := &s.txs[tx]
	if t.phase == waiting || t.phase == doomed || slices.Contains(t.has, k) {
		return
	}
	m := Mode(mode)
	if rule := s.forbids(t, k, m); rule >= 0 {
		o.Because(rule, facts{Who: tx, N: k})
		o.Refuse(tx)
		return
	}
	if t.phase == idle {
		t.Number++
		t.Seq = 0
		if t.Stamp.IsNone() {
			s.clock = s.clock.Next()
			t.Stamp = s.clock
		}
	}
	t.phase, t.wants = waiting, k
	t.Seq++
	to := s.keeper(k)
	ext := slices.ContainsFunc(t.has, func(h int) bool { return s.keeper(h) != to })
	o.Because(homeAsk, facts{Who: tx, Site: to, N: k})
	s.send(to, message{kind: request, from: t.Attempt, lock: k, mode: m, ext: ext, claims: s.method.claims(t)}, o)
	s.method.asked(s, t.Attempt, k, o)
}

// forbids returns the rule that forbids a request, or -1.
func (s *site) forbids(t *transaction, k int, m Mode) int {
	switch {
	case s.dead.Has(s.keeper(k)):
		return homeDead
	case m.Check(s.layout.UnitsOf(k)) != nil:
		return homeMode
	case !s.method.allows(t, k, m):
		return homeForbidden
	}
	return -1
}

// Cancel gives up the request with which tx waits. It goes on with what it has.
func (s *site) Cancel(tx algorithm.ID, o *out) {
	if !s.atHome(int(tx)) || s.txs[tx].phase != waiting {
		return
	}
	t := &s.txs[tx]
	k := t.wants
	t.phase, t.wants = running, -1
	if to := s.keeper(k); !s.dead.Has(to) {
		o.Because(homeCancel, facts{Who: tx, Site: to, N: k})
		s.send(to, message{kind: cancel, from: t.Attempt, lock: k}, o)
	}
	s.method.cancelled(s, t.Attempt, k, o)
}

// Finish commits tx: all its locks are free.
func (s *site) Finish(tx algorithm.ID, o *out) {
	if !s.atHome(int(tx)) || s.txs[tx].phase != running {
		return
	}
	s.letGo(int(tx), o)
	s.txs[tx].Stamp, s.txs[tx].claims = algorithm.Time{}, nil
}

// Abort ends the attempt of tx. It keeps its stamp for the next one.
func (s *site) Abort(tx algorithm.ID, o *out) {
	if !s.atHome(int(tx)) || s.txs[tx].phase == idle {
		return
	}
	s.letGo(int(tx), o)
	s.method.restarts(&s.txs[tx])
}

// letGo frees what tx has or wants: one message to each site.
func (s *site) letGo(tx int, o *out) {
	t := &s.txs[tx]
	var to []algorithm.ID
	for _, k := range append(slices.Clone(t.has), t.wants) {
		if k >= 0 && !slices.Contains(to, s.keeper(k)) && !s.dead.Has(s.keeper(k)) {
			to = append(to, s.keeper(k))
		}
	}
	o.Because(homeEnd, facts{Who: algorithm.ID(tx)})
	who := t.Attempt
	t.phase, t.wants, t.has, t.Seq, who.Seq = idle, -1, nil, 0, 0
	for _, site := range to {
		o.Because(homeRelease, facts{Who: algorithm.ID(tx), Site: site})
		s.send(site, message{kind: release, from: who}, o)
	}
}

// Receive handles a message. A message from a dead site is void, and so is one about its
// transactions: it would leave a ghost in the graph.
func (s *site) Receive(from algorithm.ID, m *message, o *out) {
	s.clock.See(m.clock)
	if s.dead.Has(from) {
		o.Because(siteDead, facts{Site: from})
		return
	}
	switch m.kind {
	case request, release, cancel:
		if !s.layout.hasTx(m.from.Tx) || s.layout.Home[m.from.Tx] != from {
			o.Because(siteVoid, facts{Site: from})
			return
		}
		s.keep(m, o)
	case grant, die, wound, abort, confirm:
		if !s.atHome(m.from.Tx) {
			o.Because(siteVoid, facts{Site: from})
			return
		}
		s.notified(from, m, o)
	default:
		s.method.receive(s, from, m, o)
	}
}

// notified handles, at a transaction's home, a message about the transaction. A
// message about another attempt is void. A transaction that is ordered to abort does so even
// if it runs again, unless only a request of it was in a deadlock and waits no longer.
func (s *site) notified(from algorithm.ID, m *message, o *out) {
	t, tx := &s.txs[m.from.Tx], algorithm.ID(m.from.Tx)
	if m.kind == confirm {
		waits := t.phase == waiting && t.Attempt == m.from
		if waits {
			o.Because(homeWaits, facts{Who: tx, Site: from})
		} else {
			o.Because(homeWaitsNot, facts{Who: tx, Site: from})
		}
		s.send(from, message{kind: answer, from: m.from, yes: waits}, o)
		return
	}
	ofRequest := m.kind == grant || m.kind == abort && m.from.Seq > 0
	switch {
	case t.Number != m.from.Number || ofRequest && (t.phase != waiting || t.Seq != m.from.Seq):
		o.Because(homeVoid, facts{Who: tx})
	case m.kind == grant && t.phase == waiting && t.wants == m.lock && s.keeper(m.lock) == from:
		t.phase, t.wants = running, -1
		t.has = append(t.has, m.lock)
		o.Because(homeGranted, facts{Who: tx, N: m.lock})
		o.Grant(tx)
	case m.kind != grant && (t.phase == waiting || t.phase == running):
		o.Because(homeAbort, facts{Who: tx, Site: from})
		s.doom(m.from.Tx, m.cycle, o)
	default:
		o.Because(homeVoid, facts{Who: tx})
	}
}

// doom orders a transaction to abort.
func (s *site) doom(tx int, cycle []int, o *out) {
	s.txs[tx].phase = doomed
	var ids []algorithm.ID
	for _, c := range cycle {
		ids = append(ids, algorithm.ID(c))
	}
	o.Abort(algorithm.ID(tx), ids)
}

// Expire handles a timer of the method.
func (s *site) Expire(timer int, o *out) { s.method.expire(s, timer, o) }

// Suspect buries a dead site: its transactions end, and so must those that have or want
// locks there. In a lock service they go on, because another member becomes the home of
// these locks and is told of their holds: see Keeper.Report. Here a lock has one site, which
// does not come back, so what was held there is lost.
func (s *site) Suspect(d algorithm.ID, o *out) {
	if d == s.self || s.dead.Has(d) {
		return
	}
	var lost []int
	for _, tx := range s.own {
		t := &s.txs[tx]
		touches := func(k int) bool { return s.keeper(k) == d }
		if slices.ContainsFunc(t.has, touches) || t.wants >= 0 && touches(t.wants) {
			lost = append(lost, tx)
		}
	}
	s.dead.Add(d)
	for _, tx := range lost {
		if s.txs[tx].phase != doomed {
			o.Because(homeLost, facts{Who: algorithm.ID(tx), Site: d})
			s.doom(tx, nil, o)
		}
	}
	s.method.died(s, d, o)
	o.Because(lockBury, facts{Site: d})
	s.bury(func(a Attempt) bool { return s.layout.Home[a.Tx] == d }, o)
	s.method.changed(s, o)
}
