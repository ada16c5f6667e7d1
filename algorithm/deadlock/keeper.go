package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// The part of a site that keeps locks.

// keep handles a request for a lock, or the end of an attempt.
func (s *site) keep(m *message, o *out) {
	who := m.from
	if m.kind == release {
		s.method.ended(s, who)
		s.bury(who.same, o)
		s.method.changed(s, o)
		return
	}
	o.Hear(algorithm.ID(who.tx), who.attempt)
	if !s.layout.hasLock(m.lock) || !s.method.keeps(s, m.lock) {
		return
	}
	l := &s.locks[m.lock]
	if l.holder.tx == who.tx || slices.ContainsFunc(l.queue, func(n node) bool { return n.tx == who.tx }) {
		return
	}
	s.method.heard(s, who, m)
	if l.free() && s.method.may(s, m.lock, who) {
		s.give(m.lock, who, o)
	} else {
		s.method.meet(s, m.lock, who, o)
	}
	s.method.changed(s, o)
}

// give grants a lock.
func (s *site) give(k int, who node, o *out) {
	s.locks[k].holder, s.locks[k].wounded = who, false
	s.method.granted(s, k, who)
	s.send(s.layout.Home[who.tx], message{kind: grant, from: who, lock: k}, o)
}

// enqueue makes who wait.
func (s *site) enqueue(k int, who node) { s.locks[k].queue = append(s.locks[k].queue, who) }

// bury removes attempts from all locks here, and passes on what becomes free.
func (s *site) bury(gone func(n node) bool, o *out) {
	for _, k := range s.kept {
		l := &s.locks[k]
		l.queue = slices.DeleteFunc(l.queue, gone)
		if !l.free() && gone(l.holder) {
			l.holder, l.wounded = noTransaction(), false
		}
	}
	s.method.pass(s, o)
}

// passEach gives each free lock to the next request in turn.
func (s *site) passEach(o *out) {
	for _, k := range s.kept {
		l := &s.locks[k]
		if !l.free() || len(l.queue) == 0 {
			continue
		}
		i := s.method.turn(l.queue)
		who := l.queue[i]
		l.queue = slices.Delete(l.queue, i, i+1)
		s.give(k, who, o)
	}
}

// local returns the local wait-for graph: the waiters here, and their holders.
func (s *site) local() []hold {
	var edges []hold
	for _, k := range s.kept {
		l := &s.locks[k]
		if l.free() {
			continue
		}
		for _, w := range l.queue {
			edges = append(edges, hold{w, l.holder, k})
		}
	}
	return edges
}

// wishes returns the outstanding requests of the transactions at home here, including
// those to other sites.
func (s *site) wishes() []wish {
	var all []wish
	for _, tx := range s.own {
		if s.txs[tx].phase == waiting {
			all = append(all, wish{s.node(tx), s.txs[tx].wants})
		}
	}
	return all
}

// orderAbort orders a transaction to abort. The kind of the message says why.
func (s *site) orderAbort(kind uint8, who node, cycle []int, o *out) {
	if home := s.layout.Home[who.tx]; !s.dead.Has(home) {
		if kind != abort && home != s.self {
			o.Doom(algorithm.ID(who.tx), who.attempt)
		}
		s.send(home, message{kind: kind, from: who, cycle: cycle}, o)
	}
}

// youngest returns the node that began last.
func youngest(all []node) node {
	return slices.MinFunc(all, func(a, b node) int {
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
