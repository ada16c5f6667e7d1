package sim

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// BenchmarkDeadlockEvents is the speed of a run with each method, among 10,
// 100 and 1,000 processes, with ten locks and ten transactions for each and a
// site for every 20: one op is a whole run. An event is a message that is
// delivered, a step of a process, or a timer.
func BenchmarkDeadlockEvents(b *testing.B) {
	for _, m := range deadlock.Methods() {
		for _, mode := range modesOf(m) {
			for _, n := range []int{10, 100, 1000} {
				b.Run(fmt.Sprintf("%s/n=%d", full(m, mode), n), func(b *testing.B) { wholeRun(b, m, mode, n) })
			}
		}
	}
}

func wholeRun(b *testing.B, m deadlock.Method, mode string, n int) {
	c := UsualTransactions()
	c.Method, c.Mode, c.Number = m, mode, 10*n
	c.Layout = deadlock.Spread(max(2, n/20), n, 10*n)
	events, committed := 0, 0
	for b.Loop() {
		r, err := RunTransactions(c)
		if err != nil {
			b.Fatal(err)
		}
		events, committed = events+r.Events, committed+r.Committed
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(committed)/b.Elapsed().Seconds(), "commits/s")
}
