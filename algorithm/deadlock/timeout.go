package deadlock

import "slices"

// Timeout returns the method in which a transaction that has waited at a lock for longer
// than a bound aborts. It breaks every deadlock, and also aborts transactions that are in
// none. If two restart together they may time out together, again and again.
func Timeout() Method {
	return Method{
		Name: "timeout", Title: "Timeouts", Family: Detection, Starves: true, Exact: always,
		Paper:  "J. N. Gray: Notes on Data Base Operating Systems. Operating Systems: An Advanced Course, LNCS 60, 1978",
		Weaker: "a transaction that waits for long aborts even if there is no deadlock, and may do so forever", Fixed: "detect-central",
		Shown: "stile-lab replay lab/scenarios/timeout-no-deadlock.stile",
		rules: timeoutRules,
		make:  only(func(*Layout) method { return &timeout{arrived: -1} }),
	}
}

// waitBound is the longest wait at a lock, in units of a latency.
const waitBound = 15

type timeout struct {
	plain
	arrived int // not part of the state: the transaction whose request has just arrived, or -1
}

func (m *timeout) heard(_ *site, who Attempt, _ *message) { m.arrived = who.Tx }

// pass implements method: the timer of a request that has to wait begins. Each transaction
// has one at each site, because it has one request at a time.
func (m *timeout) pass(s *site, changed []int, o *out) {
	m.plain.pass(s, changed, o)
	if tx := m.arrived; tx >= 0 && slices.ContainsFunc(changed, func(k int) bool { return s.locks[k].place(tx) >= 0 }) {
		o.SetTimer(tx, waitBound)
	}
	m.arrived = -1
}

// expire implements method: if the transaction still waits here, it must abort.
func (m *timeout) expire(s *site, timer int, o *out) {
	for _, k := range s.kept {
		l := &s.locks[k]
		if i := l.place(timer); i >= 0 {
			who := l.queue[i].Attempt
			s.orderAbort(lockTimeout, facts{N: k}, die, who, nil, o)
			s.bury(func(a Attempt) bool { return a == who }, o)
			return
		}
	}
}

// place returns where a transaction is in the queue, or -1.
func (k *Keeper) place(tx int) int {
	return slices.IndexFunc(k.queue, func(r Request) bool { return r.Tx == tx })
}
