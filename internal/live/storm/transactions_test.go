package storm

import (
	"testing"

	"github.com/stile-lock/stile/internal/live/member"
)

// Transactions end well and become victims, with each method.
func TestTransactions(t *testing.T) {
	for i, m := range member.KeptMethods() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			var sum Result
			for n := range uint64(6) {
				c := pick(uint64(i) + n*uint64(len(Methods())))
				kept(&c)
				r, err := Run(c)
				if err != nil || r.Violation != nil {
					t.Fatalf("seed %d: %v, %v", c.Seed, r.Violation, err)
				}
				sum.Add(r)
			}
			t.Logf("%d commits, %d victims, longest wait %v", sum.Commits, sum.Victims, sum.Longest)
		})
	}
}
