package document

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/trace"
)

// A waiter is one that waits, or does not.
type waiter struct {
	waits bool
	heard bool // since it asked there was a moment at which nothing that it had sent was under way
	sent  int  // messages of its own under way
	seen  int  // entries of others since it was heard
}

// seenWaiting returns how many entries of others, of all of them together, one that
// waited saw at most, once all that it had sent had arrived. This is what theory
// bounds: a request that is still under way can be overtaken any number of times.
// The bypass of a result of sim is another number: how often one and the same
// process went first, from the asking on.
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
