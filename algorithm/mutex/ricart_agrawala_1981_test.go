package mutex

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/sim"
)

// P2 asks with (1,2). P3 hears it and asks with (2,3). P1 hears P3, and then
// answers P2, which enters, leaves and asks again: after P3, as P1's answer
// shows.
func askAgain(r *rig) {
	r.ask(2)
	r.deliver(2, 3, "REQUEST")
	r.ask(3)
	r.deliver(3, 1, "REQUEST")
	r.deliver(2, 1, "REQUEST")
	r.deliver(1, 2, "OK")
	r.deliver(3, 2, "OK")
	r.leave(2)
	r.ask(2)
	r.finish()
}

func TestRicartAgrawala1981BreaksOrder(t *testing.T) {
	r := group(t, RicartAgrawala1981(), 3)
	askAgain(r)
	r.wantEntries(2, 2, 3)

	r = group(t, RicartAgrawala(), 3)
	askAgain(r)
	r.wantEntries(2, 3, 2)
}

func TestRicartAgrawala1981BreaksOrderInSimulation(t *testing.T) {
	c := busy(RicartAgrawala1981(), 3, 2)
	c.Think.A = 0
	r, err := sim.Run(c)
	if err != nil || r.Violations == 0 {
		t.Fatalf("seed 2 went well: %v", err)
	}
	for _, v := range r.Found {
		if v.Property != "order" {
			t.Errorf("only the order should break: %v", v)
		}
	}
	c.Spec, c.Network = RicartAgrawala(), algorithm.Unordered
	if r, err = sim.Run(c); err != nil || r.Violations != 0 {
		t.Errorf("ricart-agrawala, seed 2: %v %v", err, r.Found)
	}
}
