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
		Name: "detect-distributed", Title: "Detection by path pushing", Family: Detection, Exact: always,
		Paper: "R. Obermarck: Distributed Deadlock Detection Algorithm. ACM TODS 7(2), 1982",
		make: only(func(l *Layout) method {
			return newPushing(l)
		}),
	}
}

func newPushing(l *Layout) *pushing {
	return &pushing{
		victim:  youngest,
		smaller: func(_ algorithm.ID, last, first node) bool { return last.tx < first.tx },
		latest:  make([]uint64, len(l.Home)), gone: make([]bool, len(l.Home)), told: make([]uint64, len(l.Home)),
		web: newWeb(len(l.Home)), news: news{all: true, is: make([]bool, len(l.Home))},
	}
}

type pushing struct {
	plain
	victim  func(cycle []node) node
	smaller func(at algorithm.ID, last, first node) bool // the rule that lets a path go on

	away  []wish   // holders here that wait elsewhere: Pn -> EXT
	paths []route  // received paths
	sent  []route  // sent paths
	told  []uint64 // attempt in which each was ordered to abort

	latest []uint64 // last known attempt of each transaction: those before it have ended
	gone   []bool   // whether that one has ended too

	// Not part of the state: memory of the search, and what it has not seen yet.
	web     *web
	news    news
	arrived bool // whether the last of paths is new
}

// A route is a path and the lock that its last node waits for.
type route struct {
	nodes []node
	lock  int
}

func (r *route) fields(c *algorithm.Coder) {
	list(c, "path", &r.nodes)
	c.Index("lock", &r.lock, maxIndex)
}

func (r *route) first() node { return r.nodes[0] }
func (r *route) last() node  { return r.nodes[len(r.nodes)-1] }

// equal reports whether two routes are the same.
func (r *route) equal(t route) bool {
	return r.lock == t.lock && slices.EqualFunc(r.nodes, t.nodes, node.same)
}

func (p *pushing) fields(_ *site, c *algorithm.Coder) {
	list(c, "away", &p.away)
	list(c, "paths", &p.paths)
	list(c, "sent", &p.sent)
	for tx := range p.latest {
		c.Of("P", tx)
		c.Seq("latest", algorithm.ID(tx), &p.latest[tx])
		c.Bool("gone", &p.gone[tx])
		c.Seq("told", algorithm.ID(tx), &p.told[tx])
	}
	c.Of("", 0)
	p.news.all = true // the state may be another now
}

// asked notifies the other sites where the transaction has locks that it now waits.
func (p *pushing) asked(s *site, who node, k int, o *out) {
	target := s.keeper(k)
	var told []algorithm.ID
	for _, h := range s.txs[who.tx].has {
		if to := s.keeper(h); to != target && !slices.Contains(told, to) {
			told = append(told, to)
			s.send(to, message{kind: waits, from: who, lock: k}, o)
		}
	}
}

func (p *pushing) receive(s *site, from algorithm.ID, m *message, o *out) {
	switch m.kind {
	case waits:
		if !s.layout.hasTx(m.from.tx) || s.layout.Home[m.from.tx] != from || !s.layout.hasLock(m.lock) || p.isOver(s, m.from) {
			return
		}
		p.see(s, m.from)
		p.away = slices.DeleteFunc(p.away, func(w wish) bool { return w.from.tx == m.from.tx })
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
	if slices.ContainsFunc(r.nodes, func(n node) bool { return !s.layout.hasTx(n.tx) }) || p.stale(s, r) {
		return false
	}
	return !s.locks[r.lock].holder.same(r.last())
}

// isOver reports that an attempt has ended, as far as is known here.
func (p *pushing) isOver(s *site, n node) bool {
	return n.attempt < p.latest[n.tx] || n.attempt == p.latest[n.tx] && p.gone[n.tx] ||
		n.attempt == p.told[n.tx] || s.dead.Has(s.layout.Home[n.tx])
}

// stale reports that an attempt on a path has ended.
func (p *pushing) stale(s *site, r route) bool {
	return slices.ContainsFunc(r.nodes, func(n node) bool { return p.isOver(s, n) })
}

// forget drops everything about ended attempts. The web identifies a transaction by its
// number, so a later attempt would become part of an old path.
func (p *pushing) forget(s *site) {
	stale := func(r route) bool { return p.stale(s, r) }
	p.away = slices.DeleteFunc(p.away, func(w wish) bool { return p.isOver(s, w.from) })
	p.paths = slices.DeleteFunc(p.paths, stale)
	p.sent = slices.DeleteFunc(p.sent, stale)
}

// see records attempts: those before them have ended.
func (p *pushing) see(s *site, nodes ...node) {
	more := false
	for _, n := range nodes {
		if n.attempt > p.latest[n.tx] {
			p.latest[n.tx], p.gone[n.tx] = n.attempt, false
			more = true
		}
	}
	if more {
		p.forget(s)
	}
}

func (p *pushing) heard(s *site, who node, _ *message) { p.see(s, who) }

func (p *pushing) ended(s *site, who node) {
	if who.attempt >= p.latest[who.tx] {
		p.latest[who.tx], p.gone[who.tx] = who.attempt, true
	}
	p.forget(s)
}

func (p *pushing) died(s *site, _ algorithm.ID, _ *out) { p.forget(s) }

// meet implements method: a new waiter here, and its holder, are news.
func (p *pushing) meet(s *site, k int, who node, o *out) {
	p.plain.meet(s, k, who, o)
	p.news.add(who)
}

// granted implements method: paths that ended with who waiting lead nowhere from here
// now, and need not be stored until its attempt ends. Those that still wait now wait for
// it.
func (p *pushing) granted(s *site, k int, who node) {
	p.paths = slices.DeleteFunc(p.paths, func(r route) bool { return r.lock == k && r.last().same(who) })
	for _, w := range s.locks[k].queue {
		p.news.add(w)
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
		victim := p.victim(cycle)
		p.told[victim.tx] = victim.attempt
		s.orderAbort(abort, victim, numbers(cycle), o)
		p.forget(s)
		p.look(s)
	}
	p.web.walk(&p.news, func(nodes []node) { p.push(s, nodes, o) })
	p.news.clear()
}

// look builds the web of what is known about who waits for whom: here, and on the
// received paths. After an abort some of it may be stale, so more than one edge may leave
// a node. EXT -> P1 exists for a transaction that waits here and has locks elsewhere, and
// where a received path begins.
func (p *pushing) look(s *site) {
	w := p.web
	w.clear()
	for _, k := range s.kept {
		l := &s.locks[k]
		if l.free() {
			continue
		}
		for _, from := range l.queue {
			if p.isOver(s, from) {
				continue
			}
			if from.ext {
				w.enter(from)
			}
			if !p.isOver(s, l.holder) {
				w.add(hold{from, l.holder, k})
			}
		}
	}
	for k, r := range p.paths {
		fresh := p.arrived && k == len(p.paths)-1
		for i, to := range r.nodes[1:] {
			if from := r.nodes[i]; !w.has(from, to) {
				w.add(hold{from, to, -1})
				p.news.addIf(fresh, from)
			}
		}
		if !w.entered[r.first().tx] {
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
func (p *pushing) push(s *site, nodes []node, o *out) {
	last := nodes[len(nodes)-1]
	i := p.web.exit[last.tx] - 1
	if i < 0 || !p.smaller(s.self, last, nodes[0]) {
		return
	}
	r := route{nodes, p.away[i].lock}
	to := s.keeper(r.lock)
	if to == s.self || s.dead.Has(to) || slices.ContainsFunc(p.sent, r.equal) {
		return
	}
	r.nodes = slices.Clone(nodes)
	p.sent = append(p.sent, r)
	s.send(to, message{kind: path, path: r.nodes, lock: r.lock}, o)
}
