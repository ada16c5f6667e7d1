package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// The part of a site that keeps locks.

// keep handles a request for a lock, the end of an attempt, or that of a request.
func (s *site) keep(m *message, o *out) {
	who, tx := m.from, algorithm.ID(m.from.Tx)
	if m.kind != request {
		o.Because(lockFree, facts{Who: tx})
		if who.Seq = 0; m.kind == cancel {
			who.Seq = m.from.Seq
		}
		s.method.ended(s, who)
		s.bury(func(a Attempt) bool { return a.same(who) && (who.Seq == 0 || who.Seq == a.Seq) }, o)
		s.method.changed(s, o)
		return
	}
	o.Hear(tx, who.Number)
	if !s.layout.hasLock(m.lock) || !s.method.keeps(s, m.lock) || !s.locks[m.lock].add(Request{who, m.mode, m.ext}) {
		o.Because(siteVoid, facts{Site: s.layout.Home[who.Tx]})
		return
	}
	s.method.heard(s, who, m)
	s.method.pass(s, []int{m.lock}, o)
	k := &s.locks[m.lock]
	switch i := k.place(who.Tx); {
	case i < 0: // it has the lock, or must abort
	case len(k.holds) > 0 && !k.fits(&k.queue[i]):
		o.Because(lockHeld, facts{Who: tx, Other: algorithm.ID(k.holds[0].Tx), N: m.lock})
	default:
		o.Because(lockBehind, facts{Who: tx, N: m.lock})
	}
	s.method.changed(s, o)
}

// do carries out what a keeper wants done.
func (s *site) do(k int, effects []Effect, o *out) {
	for _, e := range effects {
		switch e.Kind {
		case Grant:
			s.method.granted(s, k, e.Attempt)
			home := s.layout.Home[e.Tx]
			o.Because(lockGrant, facts{Who: algorithm.ID(e.Tx), Site: home, N: k})
			s.send(home, message{kind: grant, from: e.Attempt, lock: k}, o)
		case Wound:
			s.orderAbort(lockWound, facts{Other: algorithm.ID(e.By.Tx), A: e.By.stamp(), B: e.stamp(), N: k}, wound, e.Attempt, nil, o)
		case Die:
			s.orderAbort(lockDie, facts{Other: algorithm.ID(e.By.Tx), A: e.By.stamp(), B: e.stamp(), N: k}, die, e.Attempt, nil, o)
		}
	}
}

// bury removes requests and holds from all locks here, and passes on what becomes free.
func (s *site) bury(gone func(a Attempt) bool, o *out) {
	var changed []int
	for _, k := range s.kept {
		if s.locks[k].end(gone) {
			changed = append(changed, k)
		}
	}
	s.method.pass(s, changed, o)
}

// settle makes a judgement at each of these locks.
func (s *site) settle(changed []int, o *out) {
	for _, k := range changed {
		s.do(k, s.locks[k].settle(), o)
	}
}

// local returns the local wait-for graph: the requests that wait here, and for whom.
func (s *site) local() []Arc {
	var all []Arc
	for _, k := range s.kept {
		first := len(all)
		all = append(all, s.locks[k].Arcs()...)
		for i := first; i < len(all); i++ {
			all[i].Lock = k
		}
	}
	return all
}

// ext returns the requests here of transactions that hold locks elsewhere.
func (s *site) ext() []Attempt {
	var all []Attempt
	for _, k := range s.kept {
		for _, r := range s.locks[k].queue {
			if r.Ext {
				all = append(all, r.Attempt)
			}
		}
	}
	return all
}

// wishes returns the outstanding requests of the transactions at home here, including
// those to other sites.
func (s *site) wishes() []wish {
	var all []wish
	for _, tx := range s.own {
		if s.txs[tx].phase == waiting {
			all = append(all, wish{s.txs[tx].Attempt, s.txs[tx].wants})
		}
	}
	return all
}

// orderAbort orders a transaction to abort, by the given rule. The kind of the message says
// why.
func (s *site) orderAbort(rule int, f facts, kind uint8, who Attempt, cycle []int, o *out) {
	if home := s.layout.Home[who.Tx]; !s.dead.Has(home) {
		f.Who, f.Site = algorithm.ID(who.Tx), home
		o.Because(rule, f)
		if kind != abort && home != s.self {
			o.Doom(algorithm.ID(who.Tx), who.Number)
		}
		s.send(home, message{kind: kind, from: who, cycle: cycle}, o)
	}
}

// youngest returns the node that began last.
func youngest(all []Attempt) Attempt {
	return slices.MinFunc(all, func(a, b Attempt) int {
		if b.older(a) {
			return -1
		}
		return 1
	})
}

// lowest returns the live site with the smallest number.
func (s *site) lowest() algorithm.ID {
	for id := range algorithm.ID(s.layout.Sites) {
		if !s.dead.Has(id) {
			return id
		}
	}
	return s.self
}
