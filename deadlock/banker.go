package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/core"
)

// Banker is avoidance: transactions claim beforehand what they may ask for,
// and a lock is given only if there is still an order in which all can get
// what they claim and end. One site, the banker, decides for all locks. When
// it dies the next one does, as soon as every other site has said that its
// transactions have let go of what the dead one gave them.
func Banker() Method {
	return Method{
		Name: "banker", Title: "Banker's algorithm", Family: Avoid, Claims: true, Exact: always,
		Paper: "E. W. Dijkstra: Co-operating sequential processes. EWD 123, 1965",
		make:  only(func(l *Layout) method { return &banker{claimed: make([][]int, len(l.Home))} }),
	}
}

type banker struct {
	plain
	claimed [][]int  // of each transaction that has asked
	ready   core.Set // which sites hold nothing of an earlier banker
}

func (b *banker) fields(_ *site, c *core.Coder) {
	c.Set("ready", &b.ready)
	for tx := range b.claimed {
		c.Indexes("claims", &b.claimed[tx], maxIndex)
	}
}

func (b *banker) keeper(s *site, _ int) core.ID { return s.lowest() }

// keeps: a request may come before the site has heard that it is the banker.
func (b *banker) keeps(*site, int) bool { return true }

func (b *banker) claims(t *transaction) []int { return t.claims }

// allows: who has claimed nothing gets nothing.
func (b *banker) allows(t *transaction, k int) bool { return slices.Contains(t.claims, k) }

func (b *banker) heard(s *site, who node, m *message) {
	b.claimed[who.tx] = slices.DeleteFunc(slices.Clone(m.claims), func(k int) bool { return !s.layout.hasLock(k) })
}

func (b *banker) ended(_ *site, who node) { b.claimed[who.tx] = nil }

// opens reports whether the bank is open.
func (b *banker) opens(s *site) bool {
	for id := range s.self { // the bankers before are dead
		if !s.dead.Has(id) {
			return false
		}
	}
	for id := range core.ID(s.layout.Sites) {
		if s.self > 0 && id != s.self && !s.dead.Has(id) && !b.ready.Has(id) {
			return false
		}
	}
	return true
}

func (b *banker) receive(s *site, from core.ID, m *message, o *out) {
	if m.kind == demand {
		b.ready.Add(from)
		b.pass(s, o)
	}
}

func (b *banker) died(s *site, d core.ID, o *out) {
	if next := s.lowest(); d < next && next != s.self {
		s.send(next, message{kind: demand}, o)
	}
	for tx, home := range s.layout.Home {
		if home == d {
			b.claimed[tx] = nil
		}
	}
}

// may: the state after giving the lock must be safe, and somebody who has
// nothing yet must not overtake an older one that waits and claims the lock
// too.
func (b *banker) may(s *site, k int, who node) bool {
	if !b.opens(s) {
		return false
	}
	if !b.holds(s, who.tx) && b.overtakes(s, k, who) {
		return false
	}
	s.locks[k].holder = who
	safe := b.safe(s)
	s.locks[k].holder = nobody()
	return safe
}

func (b *banker) holds(s *site, tx int) bool {
	return slices.ContainsFunc(s.locks, func(l lock) bool { return l.holder.tx == tx })
}

func (b *banker) overtakes(s *site, k int, who node) bool {
	for i := range s.locks {
		for _, w := range s.locks[i].queue {
			if w.older(who) && w.tx != who.tx && slices.Contains(b.claimed[w.tx], k) {
				return true
			}
		}
	}
	return false
}

// safe is Safe for single instances: transactions end one after the other, as
// long as what they claim is free or their own.
func (b *banker) safe(s *site) bool {
	gone := make([]bool, len(b.claimed))
	for again := true; again; {
		again = false
		for tx := range b.claimed {
			if gone[tx] || slices.ContainsFunc(b.claimed[tx], func(k int) bool {
				h := s.locks[k].holder.tx
				return h >= 0 && h != tx && !gone[h]
			}) {
				continue
			}
			gone[tx], again = true, true
		}
	}
	return !slices.Contains(gone, false)
}

// pass: whenever something changes any lock may have become safe to give; the
// oldest are looked at first.
func (b *banker) pass(s *site, o *out) {
	for again := s.lowest() == s.self; again; {
		again = false
		for _, w := range b.waiting(s) {
			if l := &s.locks[w.lock]; l.free() && b.may(s, w.lock, w.from) {
				l.queue = slices.DeleteFunc(l.queue, w.from.same)
				s.give(w.lock, w.from, o)
				again = true
				break
			}
		}
	}
}

// waiting returns all who wait, the oldest first.
func (b *banker) waiting(s *site) []wish {
	var all []wish
	for k := range s.locks {
		for _, w := range s.locks[k].queue {
			all = append(all, wish{w, k})
		}
	}
	slices.SortFunc(all, func(a, b wish) int {
		if a.from.older(b.from) {
			return -1
		}
		return 1
	})
	return all
}
