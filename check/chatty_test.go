//go:build !race

// The race detector would take minutes for this, and has enough to look at in
// other explorations.

package check

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/mutex"
)

// Applications talk only right before a request: see tell. That they need not
// talk at other times is validated here for every algorithm, with and without
// the claim, and for some that do not take over the clock: the verdict is the
// same, and so is the length of the shortest counterexample.
func TestTalkRightBeforeRequests(t *testing.T) {
	specs := append(catalog.All(), deaf(mutex.RicartAgrawala()), deaf(mutex.Lamport()))
	saved := int64(0)
	for _, spec := range specs {
		for n := 2; n <= 3; n++ {
			requests, network := 0, spec.Network
			if n == 3 {
				requests, network = 1, core.FIFO // or bakery takes too long
			}
			if spec.Accepts(n) != nil || n == 3 && testing.Short() {
				continue
			}
			found := func(chatty bool) (depth int, states int64) {
				h := mustHost(t, group{Spec: spec, Nodes: n, Requests: requests, Network: network, Order: true, Open: true, Chatty: chatty})
				e, err := explore.Explore(h, Limits{Stop: brokenOrder})
				if err != nil {
					t.Fatalf("%s among %d: %v", spec.Name, n, err)
				}
				if e.Unfinished != "" {
					t.Errorf("%s among %d: %s", spec.Name, n, e.Unfinished)
				}
				s, ok := e.Broken[brokenOrder]
				if !ok {
					return -1, e.States
				}
				return s.Depth, e.States
			}
			all, allStates := found(true)
			few, fewStates := found(false)
			if all != few {
				t.Errorf("%s among %d: broken at depth %d if applications talk at any time, at %d if right before requests (-1: not)", spec.Name, n, all, few)
			}
			if all < 0 {
				saved += allStates - fewStates
			}
		}
	}
	if saved < 1000 {
		t.Errorf("%d states saved: the reduction does nothing", saved)
	}
}
