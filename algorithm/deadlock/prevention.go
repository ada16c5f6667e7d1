package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// None returns the method that does nothing: transactions deadlock.
func None() Method {
	return Method{
		Name: "none", Title: "No deadlock handling", Family: Ignore, Exact: always,
		Paper: "The four conditions of a deadlock: E. G. Coffman, M. J. Elphick, A. Shoshani: System Deadlocks. Computing Surveys 3(2), 1971",
		make:  only(func(*Layout) method { return plain{} }),
	}
}

// Ordered returns the method of ordered acquisition: all transactions request locks in
// ascending order, so no transaction that waits for a lock is waited for by the holder of
// a later one. A request out of order is refused.
func Ordered() Method {
	return Method{
		Name: "ordered", Title: "Ordered acquisition", Family: Prevent, Sorted: true, Exact: always,
		Paper: "J. W. Havender: Avoiding deadlock in multitasking systems. IBM Systems Journal 7(2), 1968",
		rules: orderedRules,
		make:  only(func(*Layout) method { return ordered{} }),
	}
}

type ordered struct{ plain }

func (ordered) allows(t *transaction, k int, _ Mode) bool {
	return len(t.has) == 0 || k > slices.Max(t.has)
}

// A ranked method goes by the rank of transactions.
type ranked struct {
	plain
	rank    policy
	forgets bool // whether an aborted transaction forgets when it began
}

func (r ranked) policy() policy { return r.rank }

func (r ranked) restarts(t *transaction) {
	if r.forgets {
		t.Stamp = algorithm.Time{}
	}
}

// preempting returns a method in which a requester of higher rank makes the holder abort,
// and one of lower rank waits. No transaction ever waits for one of lower rank, so there
// is no cycle. The highest rank goes first, so that the others again wait for a higher
// rank.
func preempting(above func(a, b Attempt) bool) ranked {
	return ranked{rank: policy{first: above, wounds: above}}
}

// dying returns a method in which a requester of higher rank than the holder waits, and
// one of lower rank dies. No transaction ever waits for one of higher rank, so there is
// no cycle. The lowest rank goes first, so that those that still wait rank above the new
// holder. For a waiting transaction, the holders of its lock only rise in rank, until it
// is its turn.
func dying(above func(a, b Attempt) bool) ranked {
	below := func(a, b Attempt) bool { return above(b, a) }
	return ranked{rank: policy{first: below, dies: below}}
}

// rosenkrantz is the paper that proposed ages instead of priorities.
const rosenkrantz = "D. J. Rosenkrantz, R. E. Stearns, P. M. Lewis: System Level Concurrency Control for Distributed Database Systems. ACM TODS 3(2), 1978"

// byNumber is the rank of plain priorities: a small number ranks above a large one,
// forever.
func byNumber(a, b Attempt) bool { return byIdentity(a, b) < 0 }

// Priority returns the method of prevention by plain priorities with preemption: a
// requester of higher rank takes the lock from the holder. The lowest rank may never get
// through.
func Priority() Method {
	return Method{
		Name: "priority", Title: "Plain priorities, the holder is preempted", Family: Prevent, Starves: true, Exact: always,
		Paper:  "The naive form of: " + rosenkrantz,
		Weaker: "a transaction of low rank may be preempted forever", Fixed: "wound-wait",
		Shown: "stile-lab replay lab/scenarios/priority-starves.stile",
		rules: woundRules(false),
		make:  only(func(*Layout) method { return preempting(byNumber) }),
	}
}

// PriorityRequester returns the method of prevention by plain priorities without
// preemption: a requester of lower rank than the holder is removed, one of higher rank
// waits. The lowest rank may never get through here either.
func PriorityRequester() Method {
	return Method{
		Name: "priority-requester", Title: "Plain priorities, the requester is removed", Family: Prevent, Starves: true, Exact: always,
		Paper:  "The naive form of: " + rosenkrantz,
		Weaker: "a transaction of low rank may be removed forever, at every request", Fixed: "wait-die",
		Shown: "stile-lab replay lab/scenarios/priority-requester-starves.stile",
		rules: dieRules(false),
		make:  only(func(*Layout) method { return dying(byNumber) }),
	}
}

// WoundWait returns the method of prevention by age: an older requester wounds the
// younger holder, a younger one waits. A restarted transaction keeps its stamp, so it
// grows old, and the oldest is never wounded.
func WoundWait() Method {
	return Method{
		Name: "wound-wait", Title: "Wound-wait", Family: Prevent, Exact: always,
		Paper: rosenkrantz,
		rules: woundRules(true),
		make:  only(func(*Layout) method { return preempting(Attempt.older) }),
	}
}

// WaitDie returns the method of prevention by age without preemption: an older requester
// waits, a younger one dies. A restarted transaction keeps its stamp.
func WaitDie() Method {
	return Method{
		Name: "wait-die", Title: "Wait-die", Family: Prevent, Exact: always,
		Paper: rosenkrantz,
		rules: dieRules(true),
		make:  only(func(*Layout) method { return dying(Attempt.older) }),
	}
}

// WoundWaitRestamped returns wound-wait with a new stamp for every attempt, which is
// wrong: a wounded transaction is the youngest again, and never grows old.
func WoundWaitRestamped() Method {
	return restamped(WoundWait(), "wounded")
}

// WaitDieRestamped returns wait-die with a new stamp for every attempt, which is wrong in
// the same way.
func WaitDieRestamped() Method {
	return restamped(WaitDie(), "ordered to die")
}

// restamped makes the wrong form of a method that goes by age; done is what happens to
// the younger transaction.
func restamped(m Method, done string) Method {
	born := m.make("")
	m.Wrong = "a transaction gets a new stamp after every abort, so it is the youngest again and may be " + done + " forever"
	m.Fixed, m.Starves, m.spreads = m.Name, true, true
	m.Name += "-restamped"
	m.Title += ", with a new stamp after every abort"
	m.Paper = "The wrong form of: " + rosenkrantz
	m.Shown = "stile-lab replay lab/scenarios/" + m.Name + "-starves.stile"
	m.make = only(func(l *Layout) method {
		r := born(l).(ranked)
		r.forgets = true
		return r
	})
	return m
}
