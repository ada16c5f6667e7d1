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
		make: only(func(l *Layout) method {
			return newPushing(l)
		}),
	}
}

func newPushing(l *Layout) *pushing {
	return &pushing{
		victim:  youngest,
		smaller: func(_ algorithm.ID, last, first Attempt) bool { return last.Tx < first.Tx },
		latest:  make([]uint64, len(l.Home)), gone: make([]bool, len(l.Home)), past: make([]int, len(l.Home)),
		web: newWeb(len(l.Home)), news: news{all: true, is: make([]bool, len(l.Home))},
	}
}

type pushing struct {
	plain
	victim  func(cycle []Attempt) Attempt
	smaller func(at algorithm.ID, last, first Attempt) bool // the rule that lets a path go on

	away  []wish  // holders here that wait elsewhere: Pn -> EXT
	paths []route // received paths
	sent  []route // sent paths

	latest []uint64 // last known attempt of each transaction: those before it have ended
	gone   []bool   // whether that one has ended too
	past   []int    // requests of that one up to this are over

	asks Inquiries // deadlocks that are being confirmed

	// Not part of the state: memory of the search, and what it has not seen yet.
	web     *web
	news    news
	arrived bool // whether the last of paths is new
}

// A route is a path and the lock that its last node waits for.
type route struct {
	nodes []Attempt
	lock  int
}

func (r *route) fields(c *algorithm.Coder) {
	list(c, "path", &r.nodes)
	c.Index("lock", &r.lock, maxIndex)
}

func (r *route) first() Attempt { return r.nodes[0] }
func (r *route) last() Attempt  { return r.nodes[len(r.nodes)-1] }

// equal reports whether two routes are the same.
func (r *route) equal(t route) bool {
	return r.lock == t.lock && slices.Equal(r.nodes, t.nodes)
}

func (p *pushing) fields(_ *site, c *algorithm.Coder) {
	list(c, "away", &p.away)
	list(c, "paths", &p.paths)
	list(c, "sent", &p.sent)
	list(c, "asks", &p.asks.all)
	for tx := range p.latest {
		c.Of("P", tx)
		c.Seq("latest", algorithm.ID(tx), &p.latest[tx])
		c.Bool("gone", &p.gone[tx])
		c.Int("past", &p.past[tx], maxIndex)
	}
	c.Of("", 0)
	p.news.all = true // the state may be another now
}

// asked notifies the other sites where the transaction has locks that it now waits.
func (p *pushing) asked(s *site, who Attempt, k int, o *out) {
	for _, to := range p.others(s, who, k) {
		s.send(to, message{kind: waits, from: who, lock: k}, o)
	}
}

// cancelled notifies the same sites that it does not.
func (p *pushing) cancelled(s *site, who Attempt, k int, o *out) {
	for _, to := range p.others(s, who, k) {
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
		if !s.layout.hasTx(m.from.Tx) || s.layout.Home[m.from.Tx] != from || !s.layout.hasLock(m.lock) || p.isOver(s, m.from) {
			return
		}
		p.see(s, m.from)
		p.away = slices.DeleteFunc(p.away, func(w wish) bool { return w.from.Tx == m.from.Tx })
		p.away = append(p.away, wish{m.from, m.lock})
		p.news.add(m.from)
	case path:
		r := route{slices.Clone(m.path), m.lock}
		if !p.useful(s, r) {
			return
		}
		p.see(s, r.nodes...)
		if p.stale(s, r) {
			return // two attempts of one transaction, which no correct site sends
		}
		p.paths = append(slices.DeleteFunc(p.paths, r.equal), r)
		p.arrived = true
	case answer:
		if d, confirmed := p.asks.Answered(m.from, m.yes); confirmed {
			s.orderAbort(abort, d.Victim, numbers(d.Cycle), o)
			p.ended(s, d.Victim) // it waits no longer, whatever it does
		} else if d != nil {
			p.ended(s, m.from)
			p.news.all = true // the victim is spared, and may be part of another deadlock
		}
	default:
		return
	}
	p.changed(s, o)
}

// useful reports whether a received path can still be part of a deadlock.
func (p *pushing) useful(s *site, r route) bool {
	if len(r.nodes) < 2 || !s.layout.hasLock(r.lock) || s.keeper(r.lock) != s.self {
		return false
	}
	if slices.ContainsFunc(r.nodes, func(n Attempt) bool { return !s.layout.hasTx(n.Tx) }) || p.stale(s, r) {
		return false
	}
	return !slices.ContainsFunc(s.locks[r.lock].holds, func(h Hold) bool { return h.same(r.last()) })
}

// isOver reports that an attempt has ended, as far as is known here.
func (p *pushing) isOver(s *site, n Attempt) bool {
	return n.Number < p.latest[n.Tx] || n.Number == p.latest[n.Tx] && (p.gone[n.Tx] || n.Seq > 0 && n.Seq <= p.past[n.Tx]) ||
		s.dead.Has(s.layout.Home[n.Tx])
}

// stale reports that an attempt on a path has ended.
func (p *pushing) stale(s *site, r route) bool {
	return slices.ContainsFunc(r.nodes, func(n Attempt) bool { return p.isOver(s, n) })
}

// forget drops everything about ended attempts. The web identifies a transaction by its
// number, so a later attempt would become part of an old path.
func (p *pushing) forget(s *site) {
	stale := func(r route) bool { return p.stale(s, r) }
	p.away = slices.DeleteFunc(p.away, func(w wish) bool { return p.isOver(s, w.from) })
	p.paths = slices.DeleteFunc(p.paths, stale)
	p.sent = slices.DeleteFunc(p.sent, stale)
}

// see records attempts: those before them have ended, and so have the waits of earlier
// requests.
func (p *pushing) see(s *site, nodes ...Attempt) {
	more := false
	for _, n := range nodes {
		if n.Number > p.latest[n.Tx] {
			p.latest[n.Tx], p.gone[n.Tx], p.past[n.Tx] = n.Number, false, 0
			more = true
		}
		if n.Number == p.latest[n.Tx] && n.Seq-1 > p.past[n.Tx] {
			p.past[n.Tx] = n.Seq - 1
			more = true
		}
	}
	if more {
		p.forget(s)
	}
}

func (p *pushing) heard(s *site, who Attempt, _ *message) { p.see(s, who) }

// pass implements method: a new request that waits here, and for whom, are news.
func (p *pushing) pass(s *site, changed []int, o *out) {
	p.plain.pass(s, changed, o)
	for _, k := range changed {
		if queue := s.locks[k].queue; len(queue) > 0 {
			p.news.add(queue[len(queue)-1].Attempt)
		}
	}
}

func (p *pushing) ended(s *site, who Attempt) {
	switch {
	case who.Number < p.latest[who.Tx]:
	case who.Seq == 0:
		p.latest[who.Tx], p.gone[who.Tx], p.past[who.Tx] = who.Number, true, 0
	default:
		p.see(s, who)
		p.past[who.Tx] = max(p.past[who.Tx], who.Seq)
	}
	p.forget(s)
}

func (p *pushing) died(s *site, _ algorithm.ID, _ *out) {
	p.forget(s)
	p.news.all = len(p.asks.Drop(s.buried)) > 0 || p.news.all
}

// granted implements method: paths that ended with who waiting lead nowhere from here
// now, and need not be stored until its attempt ends. Those that still wait now wait for
// it.
func (p *pushing) granted(s *site, k int, who Attempt) {
	p.paths = slices.DeleteFunc(p.paths, func(r route) bool { return r.lock == k && r.last().same(who) })
	for _, w := range s.locks[k].queue {
		p.news.add(w.Attempt)
	}
}

// changed examines the graph: deadlocks first, then paths to forward. What has
// disappeared since the last look makes no cycle and no path.
func (p *pushing) changed(s *site, o *out) {
	if p.news.none() && !p.arrived {
		return
	}
	if p.look(s); p.news.none() {
		return // a path with nothing new
	}
	for cycle := p.web.cycle(); cycle != nil; cycle = p.web.cycle() {
		s.inquire(&p.asks, Deadlock{p.victim(cycle), cycle, cycle}, o)
		p.look(s)
	}
	p.web.walk(&p.news, func(nodes []Attempt) { p.push(s, nodes, o) })
	p.news.clear()
}

// look builds the web of what is known about who waits for whom: here, and on the
// received paths. After an abort some of it may be stale, so more than one edge may leave
// a node. EXT -> P1 exists for a transaction that waits here and has locks elsewhere, and
// where a received path begins. Victims of deadlocks that are being confirmed do not wait.
func (p *pushing) look(s *site) {
	w := p.web
	w.clear()
	for _, k := range s.kept {
		for _, r := range s.locks[k].queue {
			if r.Ext && !p.isOver(s, r.Attempt) {
				w.enter(r.Attempt)
			}
		}
	}
	for _, a := range s.local() {
		if !p.isOver(s, a.From) && !p.isOver(s, a.To) && !p.asks.About(a.From) {
			w.add(a)
		}
	}
	for k, r := range p.paths {
		fresh := p.arrived && k == len(p.paths)-1
		for i, to := range r.nodes[1:] {
			if from := r.nodes[i]; !w.has(from, to) && !p.asks.About(from) {
				w.add(Arc{From: from, To: to, Lock: -1})
				p.news.addIf(fresh, from)
			}
		}
		if !w.entered[r.first().Tx] {
			w.enter(r.first())
			p.news.addIf(fresh, r.first())
		}
	}
	p.arrived = false
	for i, a := range p.away {
		w.leave(a.from, i)
	}
}

// push forwards a path if it leads to another site, and the rule allows it.
func (p *pushing) push(s *site, nodes []Attempt, o *out) {
	last := nodes[len(nodes)-1]
	i := p.web.exit[last.Tx] - 1
	if i < 0 || !p.smaller(s.self, last, nodes[0]) {
		return
	}
	nodes[len(nodes)-1] = p.away[i].from // with the request that waits there
	r := route{nodes, p.away[i].lock}
	to := s.keeper(r.lock)
	if to == s.self || s.dead.Has(to) || slices.ContainsFunc(p.sent, r.equal) {
		return
	}
	r.nodes = slices.Clone(r.nodes)
	p.sent = append(p.sent, r)
	s.send(to, message{kind: path, path: r.nodes, lock: r.lock}, o)
}
