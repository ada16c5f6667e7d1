package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// The promises of voters are checked wherever the host carries out a step: see
// node.promised.

// works checks that applications and clients of all nodes acquire locks, and that what
// they held before is still held.
func (c *cluster) works(d member.Instant) {
	c.t.Helper()
	var held []func() bool
	for i, n := range c.nodes {
		if n.down {
			continue
		}
		t := n.lock(fmt.Sprint("kept by ", n.name))
		held = append(held, func() bool { return n.held[t] != nil })
		g := c.call(fmt.Sprint("client ", len(c.callers)), n.name)
		r := g.lock(fmt.Sprint("kept by ", g.name))
		held = append(held, func() bool { return g.held[r] != nil })
		for end := c.now + d/member.Instant(len(c.nodes)); c.now < end; {
			n.unlock(n.lock("shared"))
			g.unlock(g.lock("shared"))
			o := c.nodes[(i+1)%len(c.nodes)]
			if !o.down {
				o.unlock(o.lock("shared"))
			}
			c.pass(10 * ms)
		}
	}
	for i, so := range held {
		if !so() {
			c.t.Fatalf("lock %d of those that were held is lost", i)
		}
	}
}

// With a disk that acknowledges nothing for several leases, a voter that follows keeps
// its locks and its lease, and serves applications and clients.
func TestStalledFollower(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	n.stall(true)
	c.works(6 * lease)
	c.leader().step(Input{Kind: Refresh}) // which the other two can agree on
	epoch := n.view
	c.until("it installs a view", func() bool { return n.view > epoch })
	c.pass(2 * lease)
	if !n.Member().Usable(c.now) || len(n.ended) > 0 || len(n.saves) == 0 {
		t.Errorf("usable %t, ended %v, %d saves pending", n.Member().Usable(c.now), n.ended, len(n.saves))
	}
	n.stall(false)
	c.until("the saves are done", func() bool { return len(n.saves) == 0 })
	c.leader().crash() // now it is needed
	c.until("the others go on", func() bool { return c.leader() != nil && len(c.leader().Record().Members) == 2 })
}

// So does one that leads: it hands over.
func TestStalledLeader(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.leader()
	n.stall(true)
	n.step(Input{Kind: Refresh}) // so that there is something to be saved
	c.works(6 * lease)
	lead := c.leader()
	if lead == n || lead == nil {
		t.Fatal("it still leads")
	}
	lead.step(Input{Kind: Refresh})
	epoch := n.view
	c.until("it installs a view", func() bool { return n.view > epoch })
	if len(n.ended) > 0 || !n.Member().Usable(c.now) || n.failed != nil {
		t.Errorf("%v, %v", n.ended, n.failed)
	}
	n.stall(false)
	c.pass(2 * lease)
	if len(n.saves) > 0 || n.failed != nil || !c.whole() {
		t.Errorf("%d saves pending: %v", len(n.saves), n.failed)
	}
}

// The only voter confirms renewals while its disk stalls. Its decisions are known only when
// the disk has them.
func TestStalledOnlyVoter(t *testing.T) {
	c := formed(t, 1, "a", "b", "c")
	a := c.nodes[0]
	a.stall(true)
	a.step(Input{Kind: Refresh})
	epoch := a.view
	c.works(6 * lease)
	for _, n := range c.nodes {
		if n.view != epoch || !n.Member().Usable(c.now) {
			t.Errorf("%s is in epoch %d after %d", n.name, n.view, epoch)
		}
	}
	a.stall(false)
	c.until("the view that was asked for is there", func() bool { return a.view > epoch && c.whole() })
}

// All disks can stall for some leases. Only requests for a new view are delayed.
func TestAllDisksStall(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for _, n := range c.nodes {
		n.stall(true)
	}
	c.leader().step(Input{Kind: Refresh})
	c.works(3 * lease)
	for _, n := range c.nodes {
		n.stall(false)
	}
	c.until("all is well", c.whole)
}

// Saves that take as long as an election do not keep a cluster from forming, nor do
// those of one node, and views follow.
func TestSlowDisks(t *testing.T) {
	for _, slow := range []member.Instant{3 * ms, 15 * ms, 40 * ms} {
		for _, all := range []bool{false, true} {
			c := newCluster(t, 3, "a", "b", "c")
			for i, n := range c.nodes {
				if all || i == 1 {
					n.slow = slow
				}
			}
			c.form()
			for _, n := range c.nodes {
				n.unlock(n.lock("x"))
			}
			c.nodes[1].crash()
			c.until("the others go on", func() bool { return c.leader() != nil && len(c.leader().Record().Members) == 2 })
			c.nodes[1].boot(false)
			c.until("it is back", c.whole)
		}
	}
}

// Disks that take longer than the interval between renewals, and than an election, delay
// evictions by a few saves, however many there were before.
func TestSlowDisksEvict(t *testing.T) {
	for _, slow := range []member.Instant{40 * ms, 60 * ms, 80 * ms} {
		for _, size := range []int{3, 5} {
			c := formed(t, size, names(size)...)
			for _, n := range c.nodes {
				n.slow = slow
			}
			for k := range 6 {
				n := c.nodes[k%size]
				from := c.now
				n.crash()
				c.until("it is evicted", func() bool { return c.leader() != nil && !c.leader().knows(n.name) })
				evicted := c.now
				n.boot(false)
				c.until("it is back", c.whole)
				if c.now-evicted > 2*lease || evicted-from > 3*lease {
					t.Errorf("%d nodes, saves of %d ms, crash %d: evicted after %d ms, and back after %d", size, slow/ms, k, (evicted-from)/ms, (c.now-evicted)/ms)
				}
				for _, n := range c.nodes {
					if len(n.saves) > 4 {
						t.Errorf("%d nodes, saves of %d ms, crash %d: %s waits for %d saves", size, slow/ms, k, n.name, len(n.saves))
					}
				}
			}
		}
	}
}

// A founder says nothing, and is a member of nothing, before its first state is on its
// disk.
func TestFoundWaitsForDisk(t *testing.T) {
	c := newCluster(t, 1, "a", "b")
	a, b := c.nodes[0], c.nodes[1]
	c.sent = func(m *message) {
		if m.from == "a" {
			t.Errorf("a sends %x", m.bytes)
		}
	}
	a.stall(true)
	a.boot(true)
	b.boot(false)
	if c.pass(5 * lease); a.Phase() != Joining || a.Voter() != nil || a.Out.Wake != member.Never || len(a.saves) != 1 {
		t.Errorf("%v, voter %v, %d saves pending", a.Phase(), a.Voter(), len(a.saves))
	}
	if len(a.Record().Members) > 0 || a.Inc() != 0 {
		t.Errorf("%+v", a.Record())
	}
	c.sent = nil
	a.stall(false)
	c.until("both are members", c.whole)
}

// A member that will vote is a voter when its first state is on its disk: until then it
// sends nothing to voters, which cannot count on it, and is still a member.
func TestPromotionWaitsForDisk(t *testing.T) {
	c := newCluster(t, 3, "a", "b", "c")
	n := c.nodes[2]
	n.stall(true)
	for i, o := range c.nodes {
		o.boot(i == 0)
	}
	c.until("it is to vote", func() bool { return len(n.saves) > 0 })
	c.sent = func(m *message) {
		if m.from == n.name && m.bytes[0] == voterMessage {
			t.Errorf("it speaks to voters: %x", m.bytes)
		}
	}
	for range 10 {
		c.pass(lease)
		if n.Voter() != nil || n.Phase() != Member || !n.Member().Usable(c.now) {
			t.Fatalf("%v, voter %v", n.Phase(), n.Voter())
		}
		if v := c.leader().Voter().Lead().Voters; len(v) != 1 {
			t.Fatalf("the voters are %d", v)
		}
	}
	c.sent = nil
	n.stall(false)
	c.until("three vote", func() bool { return c.leader() != nil && len(c.leader().voters()) == 3 })
}

// A member whose disk never takes the first state of its voter still renews when the
// leader changes, though the record says that a voter is here.
func TestPromotedWithoutDiskRenews(t *testing.T) {
	c := newCluster(t, 3, "a", "b", "c", "d")
	for i, n := range c.nodes {
		n.boot(i == 0)
	}
	c.until("three vote", c.whole)
	var n *node // is to vote instead of one that leaves, and cannot
	for _, o := range c.nodes {
		if o.Voter() == nil {
			n = o
		}
	}
	n.stall(true)
	c.follower().step(Input{Kind: Leave})
	c.until("it is to vote", func() bool { return len(n.saves) > 0 })
	n.lock("x")
	lead := c.leader()
	c.isolate(lead, true)
	c.pass(100 * ms)
	c.isolate(lead, false)
	c.pass(4 * lease)
	if len(n.ended) > 0 || len(n.lostOnes(member.Lost)) > 0 {
		t.Errorf("%v, %+v", n.ended, n.told)
	}
}

// A failed save ends the process: nothing is sent in that step or later, and the others
// continue.
func TestSaveFails(t *testing.T) {
	for what, fail := range map[string]func(n *node){
		"full":           func(n *node) { n.drive.FullAfter(0) },
		"sync":           func(n *node) { n.drive.SyncErrorAfter(0) },
		"stop":           func(n *node) { n.drive.StopAfter(0) },
		"later":          func(n *node) { n.drive.SyncErrorAfter(5) },
		"slow and fails": func(n *node) { n.drive.FullAfter(0); n.slow = 60 * ms },
	} {
		t.Run(what, func(t *testing.T) {
			c := formed(t, 3, "a", "b", "c")
			n := c.leader()
			g := c.call("g", n.name)
			g.lock("y")
			n.lock("x")
			fail(n)
			for range 10 {
				if !n.down {
					n.step(Input{Kind: Refresh})
				}
				c.pass(lease)
			}
			if n.failed == nil || n.Phase() != Over || n.Err() != n.failed {
				t.Fatalf("%v, %v", n.Phase(), n.failed)
			}
			for kind := range Kinds {
				in := Input{Kind: kind, At: c.now, Text: "b", Bytes: []byte{serviceMessage, byte(views.Status)}}
				if n.Step(&in); len(n.Out.Effects) > 0 || n.Out.Err != ErrOver || n.Out.Wake != member.Never {
					t.Errorf("%v: %s, %v", kind, list(n.Out.Effects), n.Out.Err)
				}
			}
			c.until("the others go on", func() bool { return c.leader() != nil && len(c.leader().Record().Members) == 2 })
		})
	}
}

// A save that fails is the end in every phase: of a founder, of one that is to vote, of
// one that leaves, and of one that erases its disk.
func TestSaveFailsInAnyPhase(t *testing.T) {
	t.Run("founding", func(t *testing.T) {
		c := newCluster(t, 1, "a")
		n := c.nodes[0]
		n.drive.FullAfter(0)
		n.boot(true)
		if c.pass(lease); n.failed == nil || len(n.ended) > 0 {
			t.Errorf("%v, %v", n.failed, n.ended)
		}
	})
	t.Run("promoted", func(t *testing.T) {
		c := newCluster(t, 3, "a", "b", "c")
		n := c.nodes[2]
		n.drive.SyncErrorAfter(0)
		for i, o := range c.nodes {
			o.boot(i == 0)
		}
		c.until("it fails", func() bool { return n.down })
		if n.failed == nil || n.Voter() != nil {
			t.Errorf("%v, voter %v", n.failed, n.Voter())
		}
		c.until("the others go on", func() bool { return len(c.leader().Record().Members) == 2 })
	})
	t.Run("erasing", func(t *testing.T) {
		c := formed(t, 3, "a", "b", "c")
		n := c.follower()
		c.leader().step(Input{Kind: Resize, Number: 1})
		c.until("one votes", func() bool { return c.leader() != nil && len(c.leader().voters()) == 1 })
		c.leader().step(Input{Kind: Refresh}) // by the next view it knows
		c.until("it is to erase its disk", func() bool {
			if k := len(n.saves); k > 0 && n.saves[k-1].erase {
				n.drive.StopAfter(0)
				return true
			}
			return n.down
		})
		c.until("it fails", func() bool { return n.down })
		if n.failed == nil {
			t.Errorf("%v", n.ended)
		}
	})
	t.Run("leaving", func(t *testing.T) {
		c := formed(t, 3, "a", "b", "c")
		n := c.follower()
		n.slow = 5 * ms
		n.step(Input{Kind: Leave})
		n.drive.FullAfter(0)
		c.until("it ends", func() bool { return n.down })
		if n.failed == nil && len(n.ended) == 0 {
			t.Error("it has neither failed nor left")
		}
	})
}

// An acknowledgement that comes out of order, twice or of nothing is a mistake of the
// host that a process does not survive: it no longer knows what is on the disk.
func TestSavedOutOfOrder(t *testing.T) {
	for what, number := range map[string]func(n *node) uint64{
		"the second first": func(n *node) uint64 { return n.saves[1].number },
		"one before":       func(n *node) uint64 { return n.saves[0].number - 1 },
		"none":             func(n *node) uint64 { return n.number + 1 },
		"0":                func(n *node) uint64 { return 0 },
	} {
		t.Run(what, func(t *testing.T) {
			c := formed(t, 3, "a", "b", "c")
			n := c.follower()
			n.stall(true)
			c.until("two saves are pending", func() bool {
				c.leader().step(Input{Kind: Refresh})
				return len(n.saves) >= 2
			})
			n.step(Input{Kind: Saved, Number: number(n)})
			if n.failed == nil || !strings.Contains(n.failed.Error(), "out of order") {
				t.Errorf("%v", n.failed)
			}
		})
	}
	c := formed(t, 1, "a")
	n := c.nodes[0]
	if n.step(Input{Kind: Saved, Number: 1}); n.failed == nil {
		t.Error("a save is acknowledged twice")
	}
}

// A save is not durable before it is acknowledged: a process that crashes in between
// starts from what was.
func TestCrashBeforeSaved(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for range 10 {
		n := c.follower()
		n.stall(true)
		c.leader().step(Input{Kind: Refresh})
		epoch := n.view
		c.until("it installs a view", func() bool { return n.view > epoch })
		n.crash()
		n.stalled = false
		n.boot(false)
		c.until("it is back", c.whole)
	}
}

// A voter that is removed while a save is pending, and a new one in its place: the
// acknowledgements are those of the one they were made for.
func TestSavesOfFormerVoter(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.follower()
	id := n.Voter().ID()
	c.isolate(n, true)
	c.until("others vote", func() bool { return !slices.Contains(c.leader().Voter().Lead().Voters, id) })
	n.stall(true)
	c.isolate(n, false)
	c.until("it is back", func() bool { return n.Phase() == Member && n.Voter() == nil })
	c.leader().step(Input{Kind: Resize, Number: 5})
	c.add("e").boot(false)
	c.until("it is to vote again", func() bool {
		return len(n.saves) > 0 && !n.saves[len(n.saves)-1].erase && slices.ContainsFunc(n.saves, func(s save) bool { return s.erase })
	})
	n.stall(false)
	c.until("it votes", func() bool { return n.Voter() != nil && n.Voter().ID() > id && len(c.leader().voters()) == 5 })
	if n.failed != nil || n.drive.Voter() != n.Voter().ID() {
		t.Errorf("%v, disk of %d", n.failed, n.drive.Voter())
	}
}

// Clients' frames are handled while a disk stalls, those of new clients too.
func TestClientsWhileStalled(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.leader()
	n.stall(true)
	n.step(Input{Kind: Refresh})
	c.pass(lease)
	g := c.call("g", n.name)
	r := g.lock("x")
	c.pass(5 * lease)
	if g.held[r] == nil || slices.ContainsFunc(g.told, func(e session.Event) bool { return e.Kind == session.Taken }) {
		t.Errorf("%+v", g.told)
	}
	g.unlock(r)
}

// A member that is to vote, and is evicted before its first state is on its disk, comes
// back; the others have a voter in its place, or it votes after all.
func TestEvictedBeforeVoting(t *testing.T) {
	c := newCluster(t, 3, "a", "b", "c")
	n := c.nodes[2]
	n.stall(true)
	for i, o := range c.nodes {
		o.boot(i == 0)
	}
	c.until("it is to vote", func() bool { return len(n.saves) > 0 })
	c.leader().step(Input{Kind: Evict, Number: n.Inc()})
	c.until("it is evicted", func() bool { return len(n.ended) > 0 })
	c.until("it is back", func() bool { return n.Phase() == Member })
	c.pass(lease)
	n.stall(false)
	c.until("three vote", func() bool { return c.whole() && len(c.leader().voters()) == 3 })
}
