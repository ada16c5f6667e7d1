package storm

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
)

// Transactions of processes and clients end well with each method, and those that may
// deadlock have victims.
func TestTransactions(t *testing.T) {
	for i, m := range member.KeptMethods() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			var sum Result
			for n := range uint64(2) {
				c := pick(uint64(i) + n*uint64(len(Methods())))
				deals(&c)
				r, err := Run(c)
				if err != nil || r.Violation != nil {
					t.Fatalf("seed %d: %v, %v", c.Seed, r.Violation, err)
				}
				sum.Add(r)
			}
			ends := m.Name != deadlock.None().Name && m.Name != deadlock.Ordered().Name && m.Name != deadlock.Timeout().Name // which takes seconds
			if sum.Commits < 100 || ends && sum.Victims < 10 {
				t.Errorf("%d transactions have ended well, and %d were victims: that was no storm", sum.Commits, sum.Victims)
			}
		})
	}
}
