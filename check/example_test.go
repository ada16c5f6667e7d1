package check_test

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family/transactions"
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

func (w *word) Fields(c *core.Coder) { c.Kind(&w.Kind, 0) }

func (t *till) Fields(c *core.Coder) {
	for i := range t.queues {
		c.Of(deadlock.LockName(i), i)
		c.Indexes("queue", &t.queues[i], 2)
	}
}

func (t *till) Claim(core.ID, int) {}

func (t *till) Acquire(tx core.ID, lock int, out *core.Out[word]) {
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

func (t *till) Finish(tx core.ID, out *core.Out[word]) {
	for i, q := range t.queues {
		if len(q) == 0 || q[0] != int(tx) {
			continue
		}
		if t.queues[i] = q[1:]; len(q) > 1 {
			out.Grant(core.ID(q[1]))
		}
	}
}

func (t *till) Abort(core.ID, *core.Out[word])          {} // nobody is told to
func (t *till) Receive(core.ID, *word, *core.Out[word]) {}

// A method against deadlock of one's own is a core.Spec whose sites core.NewSite makes,
// and a deadlock.Method that says what it is. Two transactions take two locks, one of
// them the other way round.
func ExampleRun_method() {
	for _, shy := range []bool{false, true} {
		c := transactions.Dinner(deadlock.Method{Name: "till", Title: "One till", Family: deadlock.Prevent}, "", 1, 2)
		spec := core.Spec{Name: "till", Family: core.Transactions, Kinds: []string{"WORD"}, Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			return core.NewSite(self, v, &till{queues: make([][]int, 2), shy: shy}, 2)
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
