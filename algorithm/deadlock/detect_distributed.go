package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// DetectDistributed returns the method of detection by path pushing. Each site has a
// graph of the transactions that wait at its locks, with one extra node, EXT, for the
// rest of the world: EXT -> P if P, which waits here, has locks elsewhere, and P -> EXT
// if P, which has a lock here, waits elsewhere. A cycle without EXT is a deadlock. A path
// EXT -> P1 -> .. -> Pn -> EXT may be part of one: it is sent to the site where Pn waits,
// but only if Pn has a smaller number than P1, so that of all the paths that make up a
// cycle not every one goes all the way round.
//
// R. Obermarck: Distributed Deadlock Detection Algorithm. ACM TODS 7(2), 1982. There
// sites look periodically; here a site looks whenever something changes, and the home of
// a transaction that begins to wait notifies the sites where it has locks. Nodes carry
// the number of the attempt, so that an ended attempt is not mistaken for the present
// one.
func DetectDistributed() Method {
	return Method{
		Name: "detect-distributed", Title: "Detection by path pushing", Family: Detection, single: true, Exact: always,
		Paper: "R. Obermarck: Distributed Deadlock Detection Algorithm. ACM TODS 7(2), 1982",
		rules: pathRules,
		make: only(func(l *Layout) method {
			return newPushing(l)
		}),
	}
}

func newPushing(l *Layout) *pushing {
	return &pushing{
		Paths:   newPaths(PathsConfig{}, len(l.Home)),
		smaller: func(_ algorithm.ID, last, first Attempt) bool { return last.Tx < first.Tx },
	}
}

type pushing struct {
	plain
	*Paths
	smaller func(at algorithm.ID, last, first Attempt) bool // the rule that lets a path go on
}

func (r *Path) fields(c *algorithm.Coder) {
	list(c, "path", &r.Nodes)
	c.Index("lock", &r.Lock, maxIndex)
}

// begins implements method.
func (p *pushing) begins(s *site) {
	p.Gone = s.buried
	p.Away = func(k int) bool { return s.keeper(k) != s.self && !s.dead.Has(s.keeper(k)) }
	p.Paths.smaller = func(last, first Attempt) bool { return p.smaller(s.self, last, first) }
}

func (p *pushing) fields(_ *site, c *algorithm.Coder) {
	list(c, "away", &p.away)
	list(c, "paths", &p.paths)
	list(c, "sent", &p.sent)
	list(c, "asks", &p.asks.all)
	for tx := range p.known {
		c.Of("P", tx)
		k := &p.known[tx]
		c.Seq("latest", algorithm.ID(tx), &k.latest)
		c.Bool("gone", &k.gone)
		c.Int("past", &k.past, maxIndex)
	}
	c.Of("", 0)
	p.news.all = true // the state may be another now
}

// asked notifies the other sites where the transaction has locks that it now waits.
func (p *pushing) asked(s *site, who Attempt, k int, o *out) {
	for _, to := range p.others(s, who, k) {
		o.Because(pathWaits, facts{Who: algorithm.ID(who.Tx), Site: to, N: k})
		s.send(to, message{kind: waits, from: who, lock: k}, o)
	}
}

// cancelled notifies the same sites that it does not.
func (p *pushing) cancelled(s *site, who Attempt, k int, o *out) {
	for _, to := range p.others(s, who, k) {
		o.Because(pathCancel, facts{Who: algorithm.ID(who.Tx), Site: to, N: k})
		s.send(to, message{kind: cancel, from: who, lock: k}, o)
	}
}

// others returns the sites where a transaction has locks, but for that of lock k.
func (p *pushing) others(s *site, who Attempt, k int) []algorithm.ID {
	var all []algorithm.ID
	for _, h := range s.txs[who.Tx].has {
		if to := s.keeper(h); to != s.keeper(k) && !slices.Contains(all, to) && !s.dead.Has(to) {
			all = append(all, to)
		}
	}
	return all
}

func (p *pushing) receive(s *site, from algorithm.ID, m *message, o *out) {
	switch m.kind {
	case waits:
		if !s.layout.hasTx(m.from.Tx) || s.layout.Home[m.from.Tx] != from || !s.layout.hasLock(m.lock) {
			o.Because(siteVoid, facts{Site: from})
			return
		}
		o.Because(pathAway, facts{Who: algorithm.ID(m.from.Tx), N: m.lock})
		p.Waits(m.from, m.lock)
	case path:
		r := Path{slices.Clone(m.path), m.lock}
		if !p.useful(s, r) {
			o.Because(pathStale, facts{})
			return
		}
		o.Because(pathTake, facts{Who: algorithm.ID(r.last().Tx), Other: algorithm.ID(r.first().Tx)})
		p.Receive(r)
	case answer:
		if !s.layout.hasTx(m.from.Tx) {
			o.Because(siteVoid, facts{Site: from})
			return
		}
		o.Because(findAnswer, facts{Who: algorithm.ID(m.from.Tx), Site: from})
		if d := p.Answered(m.from, m.yes); d != nil {
			s.orderAbort(findAbort, facts{}, abort, d.Victim, numbers(d.Cycle), o)
		} else if !m.yes {
			o.Because(findSpare, facts{Who: algorithm.ID(m.from.Tx)})
		}
	default:
		o.Because(siteVoid, facts{Site: from})
		return
	}
	p.changed(s, o)
}

// useful reports whether a received path can still be part of a deadlock.
func (p *pushing) useful(s *site, r Path) bool {
	if len(r.Nodes) < 2 || !s.layout.hasLock(r.Lock) || s.keeper(r.Lock) != s.self {
		return false
	}
	if slices.ContainsFunc(r.Nodes, func(n Attempt) bool { return !s.layout.hasTx(n.Tx) }) || p.stale(r) {
		return false
	}
	return !slices.ContainsFunc(s.locks[r.Lock].holds, func(h Hold) bool { return h.same(r.last()) })
}

func (p *pushing) heard(_ *site, who Attempt, _ *message) { p.Requested(who) }

// pass implements method: a new request that waits here, and for whom, are news.
func (p *pushing) pass(s *site, changed []int, o *out) {
	p.plain.pass(s, changed, o)
	for _, k := range changed {
		if queue := s.locks[k].queue; len(queue) > 0 {
			p.Queued(queue[len(queue)-1])
		}
	}
}

func (p *pushing) ended(_ *site, who Attempt) { p.Ended(who) }

func (p *pushing) died(*site, algorithm.ID, *out) { p.Drop() }

// granted implements method: those that still wait now wait for the new holder.
func (p *pushing) granted(s *site, k int, who Attempt) {
	p.Granted(who, k)
	p.Queued(s.locks[k].queue...)
}

// changed looks for deadlocks and for paths to forward.
func (p *pushing) changed(s *site, o *out) {
	if !p.Due() {
		return
	}
	found, push := p.Search(s.local(), s.ext())
	for _, d := range found {
		because(d, o)
		s.ask(d, o)
	}
	for _, r := range push {
		to := s.keeper(r.Lock)
		o.Because(pathPush, facts{Who: algorithm.ID(r.last().Tx), Other: algorithm.ID(r.first().Tx), Site: to, N: r.Lock})
		s.send(to, message{kind: path, path: r.Nodes, lock: r.Lock}, o)
	}
}
