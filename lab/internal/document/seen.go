package document

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

// A waiter tracks a process that may be waiting.
type waiter struct {
	waits bool
	heard bool // since it asked, at some moment none of its messages was in flight
	sent  int  // its messages in flight
	seen  int  // entries of other processes since it was heard
}

// seenWaiting returns the maximum number of entries, by all other processes together, that
// a waiting process saw once everything it had sent had arrived. This is what theory
// bounds: a request still in flight can be overtaken any number of times. The bypass in a
// sim result is a different number: how often one and the same process went first, counted
// from the moment of asking.
func seenWaiting(events []trace.Event, section string, n int) int {
	most, all := 0, make([]waiter, n)
	for i := range events {
		e := &events[i]
		if e.Section != section || e.Proc == algorithm.None {
			continue
		}
		if e.Kind == trace.Ask || e.Kind == trace.Exit || e.Kind == trace.Receive || e.Kind == trace.Expire {
			for p := range all { // a step begins
				all[p].heard = all[p].waits && (all[p].heard || all[p].sent == 0)
			}
		}
		p := &all[e.Proc]
		switch e.Kind {
		case trace.Ask:
			p.waits, p.heard, p.seen = true, false, 0
		case trace.Send:
			p.sent++
		case trace.Receive:
			all[e.Peer].sent--
		case trace.Deny, trace.Exit:
			p.waits = false
		case trace.Enter:
			p.waits = false
			for q := range all {
				if w := &all[q]; w.waits && w.heard {
					w.seen++
					most = max(most, w.seen)
				}
			}
		}
	}
	return most
}
