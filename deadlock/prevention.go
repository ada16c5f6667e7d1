package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/core"
)

// None does nothing: transactions deadlock.
func None() Method {
	return Method{
		Name: "none", Title: "Nothing is done", Family: Ignore, Exact: always,
		Paper: "The four conditions of a deadlock: E. G. Coffman, M. J. Elphick, A. Shoshani: System Deadlocks. Computing Surveys 3(2), 1971",
		make:  only(func(*Layout) method { return plain{} }),
	}
}

// Ordered is ordered acquisition: all transactions ask for locks in ascending
// order, so nobody who waits for a lock is waited for by the holder of a later
// one. A request out of order is refused.
func Ordered() Method {
	return Method{
		Name: "ordered", Title: "Ordered acquisition", Family: Prevent, Sorted: true, Exact: always,
		Paper: "J. W. Havender: Avoiding deadlock in multitasking systems. IBM Systems Journal 7(2), 1968",
		make:  only(func(*Layout) method { return ordered{} }),
	}
}

type ordered struct{ plain }

func (ordered) allows(t *transaction, k int) bool {
	return len(t.has) == 0 || k > slices.Max(t.has)
}

// A preempting method is one in which a requester of higher rank makes the
// holder abort, and one of lower rank waits. Nobody ever waits for somebody of
// lower rank, so there is no cycle.
type preempting struct {
	plain
	above func(a, b node) bool // a ranks above b
}

func (p preempting) meet(s *site, k int, who node, o *out) {
	s.enqueue(k, who)
	p.preempt(s, k, o)
}

// preempt makes the holder abort if somebody of higher rank waits for it.
func (p preempting) preempt(s *site, k int, o *out) {
	l := &s.locks[k]
	if l.free() || l.wounded || !slices.ContainsFunc(l.queue, func(w node) bool { return p.above(w, l.holder) }) {
		return
	}
	l.wounded = true
	s.tell(wound, l.holder, nil, o)
}

// turn: the one of highest rank goes first, so that the others again wait for
// somebody of higher rank.
func (p preempting) turn(queue []node) int {
	best := 0
	for i := range queue {
		if p.above(queue[i], queue[best]) {
			best = i
		}
	}
	return best
}

// Priority is prevention by plain priorities: a small number ranks above a
// large one, for ever. The last one may never get through.
func Priority() Method {
	return Method{
		Name: "priority", Title: "Plain priorities", Family: Prevent, Starves: true, Exact: always,
		Paper: "The naive form of: D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis: System Level Concurrency Control for Distributed Database Systems. ACM TODS 3(2), 1978",
		make: only(func(*Layout) method {
			return preempting{above: func(a, b node) bool { return a.tx < b.tx }}
		}),
	}
}

// WoundWait is prevention by age: an older requester wounds the younger
// holder, a younger one waits. A restarted transaction keeps its stamp, so it
// grows old, and the oldest is never wounded.
func WoundWait() Method {
	return Method{
		Name: "wound-wait", Title: "Wound-wait", Family: Prevent, Exact: always,
		Paper: "D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis: System Level Concurrency Control for Distributed Database Systems. ACM TODS 3(2), 1978",
		make:  only(func(*Layout) method { return preempting{above: node.older} }),
	}
}

// WaitDie is prevention by age without preemption: an older requester waits,
// a younger one dies. A restarted transaction keeps its stamp.
func WaitDie() Method {
	return Method{
		Name: "wait-die", Title: "Wait-die", Family: Prevent, Exact: always,
		Paper: "D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis: System Level Concurrency Control for Distributed Database Systems. ACM TODS 3(2), 1978",
		make:  only(func(*Layout) method { return waitDie{} }),
	}
}

type waitDie struct{ plain }

func (waitDie) meet(s *site, k int, who node, o *out) {
	if who.older(s.locks[k].holder) {
		s.enqueue(k, who)
	} else {
		s.tell(die, who, nil, o)
	}
}

// turn: the youngest goes first, so that who still waits is older than the new
// holder. Holders of a lock that somebody waits for only get older, until it
// is that one's turn.
func (waitDie) turn(queue []node) int {
	return slices.IndexFunc(queue, youngest(queue).same)
}

// Banker is avoidance: transactions claim beforehand what they may ask for,
// and a lock is given only if there is still an order in which all can get
// what they claim and end. One site, the banker, decides for all locks; when
// it dies, the next one does.
func Banker() Method {
	return Method{
		Name: "banker", Title: "Banker's algorithm", Family: Avoid, Claims: true, Exact: always,
		Paper: "E. W. Dijkstra: Co-operating sequential processes. EWD 123, 1965",
		make:  only(func(l *Layout) method { return &banker{claimed: make([][]int, len(l.Home))} }),
	}
}

type banker struct {
	plain
	claimed [][]int // of each transaction that has asked
}

func (b *banker) fields(s *site, c *core.Coder) {
	c.When(s.lowest() == s.self)
	for tx := range b.claimed {
		c.Indexes("claims", &b.claimed[tx], maxIndex)
	}
	c.Always()
}

func (b *banker) keeper(s *site, _ int) core.ID { return s.lowest() }

func (b *banker) claims(t *transaction) []int { return t.claims }

// allows: who has claimed nothing gets nothing.
func (b *banker) allows(t *transaction, k int) bool { return slices.Contains(t.claims, k) }

func (b *banker) heard(s *site, who node, m *message) {
	b.claimed[who.tx] = slices.DeleteFunc(slices.Clone(m.claims), func(k int) bool { return !s.layout.hasLock(k) })
}

func (b *banker) ended(_ *site, who node) { b.claimed[who.tx] = nil }

func (b *banker) died(s *site, d core.ID, _ *out) {
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
	for again := true; again; {
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
