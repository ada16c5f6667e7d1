package trial

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// crash kills a site, with its transactions. Every other site is told.
func (w *world) crash(d core.ID) {
	if w.dead.Has(d) {
		return
	}
	w.dead.Add(d)
	w.event(trace.Event{Kind: trace.Crash, Proc: d})
	for i := range w.procs {
		if w.Layout.Home[i] == d {
			w.oracle.free(i)
			w.procs[i].dead = true
			w.lane(trace.Crash, i)
			if w.procs[i].active {
				w.result.Lost++
			}
		}
	}
	w.oracle.broken(func(m int) bool { return w.procs[m].dead })
	if w.live() == 0 {
		w.result.Lost = w.Transactions - w.result.Committed
	}
	for s := range core.ID(w.Layout.Sites) {
		if !w.dead.Has(s) {
			w.queue.push(event{at: w.now + w.slowest + w.rand.Sample(w.Latency), kind: bury, site: s, from: d})
		}
	}
}

func (w *world) live() int {
	n := 0
	for i := range w.procs {
		if !w.procs[i].dead {
			n++
		}
	}
	return n
}

func (w *world) violate(what string, i int) {
	w.result.Violations = append(w.result.Violations, fmt.Sprintf("%s: %v at %s", what, core.ID(i), scenario.FormatTime(w.now)))
	w.event(trace.Event{Kind: trace.Violation, Proc: w.Layout.Home[i], Peer: core.None, Name: what})
}
