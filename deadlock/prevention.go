package deadlock

import "slices"

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
