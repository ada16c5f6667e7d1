package model

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/internal/explore"
)

var room = flag.Int64("memory", 0, "bytes that BenchmarkExplore fills, instead of taking some time")

// BenchmarkExplore is the speed of the checker: Ricart-Agrawala among four
// with an unbounded number of requests, for mutual exclusion and deadlock,
// with one worker and with two. The state space is too large for a benchmark,
// so each run ends after some time, and rates are what counts; with -memory it
// ends after the same work every time.
func BenchmarkExplore(b *testing.B) {
	limits := explore.Limits{Time: 15 * time.Second}
	if *room > 0 {
		limits = explore.Limits{Memory: *room}
	}
	var one float64
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("ricart-agrawala/n=4/workers=%d", workers), func(b *testing.B) {
			var transitions, states, memory int64
			limits.Workers = workers
			for b.Loop() {
				h := mustModel(b, setup{Spec: mutex.RicartAgrawala(), Nodes: 4})
				e, err := explore.Explore(h, limits)
				if err != nil {
					b.Fatal(err)
				}
				transitions += e.Transitions
				states, memory = e.States, e.Table
				runtime.GC()
			}
			rate := float64(transitions) / b.Elapsed().Seconds()
			b.ReportMetric(rate/1e6, "Mtransitions/s")
			b.ReportMetric(float64(memory)/float64(states), "bytes/state")
			if workers == 1 {
				one = rate
			} else if one > 0 {
				b.ReportMetric(rate/one, "speed-up")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
