package process

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A leader crashes long after another member was evicted and has returned. The record still
// names that ghost, whose lease has expired, and no claim waits for it: the clients of the
// leader keep their locks.
func TestOldGhostsDelayNoClaim(t *testing.T) {
	for at := member.Instant(0); at < 40*ms; at += 5 * ms { // between two renewals
		c := formed(t, 3, "a", "b", "c")
		n := c.follower()
		n.crash()
		n.boot(false)
		c.until("it is back", c.whole)
		c.pass(3*lease + at)
		lead := c.leader()
		if len(lead.Record().Ghosts) != 1 {
			t.Fatalf("want a record with a ghost: %+v", lead.Record())
		}
		var all []*caller
		for i := range 6 {
			g := c.call(fmt.Sprint("client ", i), lead.name, "a", "b", "c")
			g.lock(fmt.Sprint("lock ", i))
			all = append(all, g)
		}
		lead.crash()
		c.until("it is evicted", func() bool { return c.leader() != nil && !c.leader().knows(lead.name) })
		c.pass(2 * lease)
		for _, g := range all {
			if len(g.held) != 1 {
				t.Errorf("the leader crashes after %d ms: %s has lost its lock", at/ms, g.name)
			}
		}
	}
}
