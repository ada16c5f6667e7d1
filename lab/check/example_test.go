package check_test

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family/transactions"
	"github.com/stile-lock/stile/lab/check"
)

// A till is a site with all transactions and all locks, as a method against deadlock
// of one's own has it. Each lock has a queue, whose first has the lock. A shy till
// lets nobody begin while somebody else has begun: then there is no deadlock.
type till struct {
	queues [][]int // of transactions, for each lock
	shy    bool
}

// A word is what sites say to each other: here there is but one.
type word struct{ Kind uint8 }

func (w *word) Fields(c *algorithm.Coder) { c.Kind(&w.Kind, 0) }

func (t *till) Fields(c *algorithm.Coder) {
	for i := range t.queues {
		c.Of(deadlock.LockName(i), i)
		c.Indexes("queue", &t.queues[i], 2)
	}
}

func (t *till) Claim(algorithm.ID, int) {}

func (t *till) Acquire(tx algorithm.ID, lock int, out *algorithm.Out[word]) {
	out.Hear(tx, 0) // of attempts nobody counts there is number 0
	if t.shy {
		lock = 0 // which stands for all of them
	}
	if !slices.Contains(t.queues[lock], int(tx)) {
		t.queues[lock] = append(t.queues[lock], int(tx))
	}
	if t.queues[lock][0] == int(tx) {
		out.Grant(tx)
	}
}

func (t *till) Finish(tx algorithm.ID, out *algorithm.Out[word]) {
	for i, q := range t.queues {
		if len(q) == 0 || q[0] != int(tx) {
			continue
		}
		if t.queues[i] = q[1:]; len(q) > 1 {
			out.Grant(algorithm.ID(q[1]))
		}
	}
}

func (t *till) Abort(algorithm.ID, *algorithm.Out[word])          {} // nobody is told to
func (t *till) Receive(algorithm.ID, *word, *algorithm.Out[word]) {}

// A method against deadlock of one's own is an algorithm.Spec whose sites algorithm.NewSite makes,
// and a deadlock.Method that says what it is. Two transactions take two locks, one of
// them the other way round.
func ExampleRun_method() {
	for _, shy := range []bool{false, true} {
		c := transactions.Dinner(deadlock.Method{Name: "till", Title: "One till", Family: deadlock.Prevent}, "", 1, 2)
		spec := algorithm.Spec{Name: "till", Family: algorithm.Transactions, Kinds: []string{"WORD"}, Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.NewSite(self, v, &till{queues: make([][]int, 2), shy: shy}, 2)
		})}
		r, err := check.Run(check.Config{Spec: spec, Family: c.Family(), Nodes: 2, Requests: 1, Properties: []string{check.MutualExclusion, check.Deadlock}})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range r.Properties {
			fmt.Println(p.Name, p.Verdict, p.Trace)
		}
	}
	// Output:
	// mutual-exclusion holds-bounded []
	// deadlock violated [P1 asks for L1 P2 asks for L2 P1 asks for L2 P2 asks for L1]
	// mutual-exclusion holds-bounded []
	// deadlock holds-bounded []
}
