package process

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// stops stops a node, and fails unless it ends as one that stopped.
func (n *node) stops() {
	n.c.t.Helper()
	n.step(Input{Kind: Stop})
	n.c.until(n.name+" has stopped", func() bool { return n.down })
	n.stopped()
}

// stopped fails unless a node has stopped, and nothing else has happened to it.
func (n *node) stopped() {
	n.c.t.Helper()
	if n.Phase() != Over || n.failed != nil || !slices.Equal(n.ended, []views.Ending{views.Stopped}) {
		n.c.t.Fatalf("%s has not stopped: phase %d, %v, %v", n.name, n.Phase(), n.ended, n.failed)
	}
}

// remembers returns what is on the disk of a node.
func (n *node) remembers() views.Past {
	n.c.t.Helper()
	p, err := views.ParsePast(n.past)
	if err != nil {
		n.c.t.Fatal(err)
	}
	return p
}

// seats returns the voters of the record, and fails if one of them leaves.
func (c *cluster) seats() []uint64 {
	c.t.Helper()
	var all []uint64
	for _, v := range c.leader().Record().Voters {
		if v.Leaves {
			c.t.Fatalf("voter %d leaves", v.ID)
		}
		all = append(all, v.ID)
	}
	return all
}

// soon fails unless a lock is granted to each node before a lease could have expired.
func (c *cluster) soon(name string) {
	c.t.Helper()
	from := c.now
	for _, n := range c.nodes {
		n.unlock(n.lock(name))
	}
	if c.now-from >= lease/2 {
		c.t.Errorf("%s is granted after %d ms", name, (c.now-from)/ms)
	}
}

// A rolling restart of three nodes changes no voter, makes no ghost, and no lock waits for a
// lease.
func TestStopKeepsSeat(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	c.soon("x")
	seats := c.seats()
	for round := range 2 {
		for _, n := range c.nodes {
			id, inc, nonce, held := n.Voter().ID(), n.Inc(), n.asks.Nonce(), n.drive.Voter()
			n.stops()
			c.until("another one leads", func() bool { return c.leader() != nil })
			if r := c.leader().Record(); r.Rank(inc) >= 0 || len(r.Ghosts) > 0 || !slices.Equal(c.seats(), seats) {
				t.Fatalf("round %d: %s has stopped: %+v", round, n.name, r)
			}
			if n.drive.Voter() != held || n.remembers().Stopped != nonce {
				t.Errorf("its disk is that of voter %d, and it remembers %+v", n.drive.Voter(), n.remembers())
			}
			from := c.now
			n.boot(false)
			c.until("it is back", c.whole)
			if c.now-from >= lease/2 || n.Voter().ID() != id || len(c.leader().Record().Ghosts) > 0 || n.remembers().Stopped != 0 {
				t.Errorf("%s is back after %d ms as voter %d: %+v", n.name, (c.now-from)/ms, n.Voter().ID(), n.remembers())
			}
			if !slices.Equal(c.seats(), seats) || !slices.Equal(c.leader().voters(), seats) {
				t.Fatalf("voters %d after %d", c.seats(), seats)
			}
			c.soon("x")
		}
	}
}

// A leader that stops hands leadership over first: nobody waits for an election.
func TestStoppingLeaderHandsOver(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.leader()
	n.step(Input{Kind: Stop})
	c.until("another one leads", func() bool { return c.leader() != nil && c.leader() != n })
	if n.down || c.leader().Record().Rank(n.Inc()) < 0 {
		t.Error("it has stopped before")
	}
	c.until("it has stopped", func() bool { return n.down })
	n.stopped()
}

// All nodes stop at the same time, and return without waiting for a lease.
func TestAllStop(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	c.soon("x")
	seats := c.seats()
	for _, n := range c.nodes {
		n.step(Input{Kind: Stop})
	}
	c.until("all have stopped", func() bool { return c.nodes[0].down && c.nodes[1].down && c.nodes[2].down })
	for _, n := range c.nodes {
		n.stopped()
	}
	for _, n := range c.nodes {
		n.boot(false)
	}
	c.until("all are back", c.whole)
	if !slices.Equal(c.seats(), seats) || len(c.leader().Record().Ghosts) > 0 {
		t.Errorf("%+v", c.leader().Record())
	}
	c.soon("x")
}

// stopOneByOne stops three nodes, the last one without a majority, so that no view can
// be made without it. It held a lock until its lease expired.
func stopOneByOne(t *testing.T) *cluster {
	c := formed(t, 3, "a", "b", "c")
	c.nodes[2].lock("x")
	c.nodes[0].stops()
	c.until("there is a leader", func() bool { return c.leader() != nil })
	c.nodes[1].stops()
	n := c.nodes[2]
	n.step(Input{Kind: Stop})
	if n.Phase() != Draining {
		t.Fatalf("phase %d while a lock is held", n.Phase())
	}
	if n.remembers().Stopped != 0 {
		t.Error("the mark is made while a lock is held")
	}
	c.until("the last has stopped", func() bool { return n.down })
	n.stopped()
	return c
}

// returns starts all nodes, and returns the most ghosts that a record has had.
func (c *cluster) returns() (ghosts int) {
	c.t.Helper()
	for _, n := range c.nodes {
		n.boot(false)
	}
	c.until("all are back", func() bool {
		for _, n := range c.nodes {
			ghosts = max(ghosts, len(n.Record().Ghosts))
		}
		return c.whole()
	})
	return ghosts
}

// The last node stops without a majority. Its mark says that its lease need not be waited
// for.
func TestLastStops(t *testing.T) {
	c := stopOneByOne(t)
	if n := c.returns(); n > 0 {
		t.Errorf("%d ghosts", n)
	}
	c.soon("x")
}

// Without the mark, with that of another incarnation, or with that of another cluster,
// the lease is waited for.
func TestMarkNamesIncarnation(t *testing.T) {
	for what, change := range map[string]func(p *views.Past){
		"no mark":             func(p *views.Past) { p.Stopped = 0 },
		"another incarnation": func(p *views.Past) { p.Stopped-- },
		"another cluster":     func(p *views.Past) { p.Cluster++ },
	} {
		c := stopOneByOne(t)
		p := c.nodes[2].remembers()
		change(&p)
		c.nodes[2].past = p.AppendTo(nil)
		if n := c.returns(); n == 0 {
			t.Errorf("%s: no ghost", what)
		}
	}
}

// A ghost whose process returns with its mark is no longer one.
func TestMarkEndsGhost(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	c.soon("x")
	n := c.follower()
	c.isolate(n, true)
	n.stops()
	c.until("it is evicted", func() bool { return !c.leader().knows(n.name) })
	c.isolate(n, false)
	if len(c.leader().Record().Ghosts) != 1 {
		t.Fatal("it is not a ghost")
	}
	n.boot(false)
	c.until("it is back", c.whole)
	if len(c.leader().Record().Ghosts) > 0 {
		t.Error("it is still a ghost")
	}
}

// A node that stops asks for a view of the same members, and waits for holders.
func TestStopRefreshes(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	x := n.lock("x")
	epoch := n.view
	from := c.now
	n.step(Input{Kind: Stop})
	c.until("there is another view", func() bool { return n.view > epoch })
	if c.now-from > lease/2 || len(n.Record().Members) != 3 || n.Phase() != Draining {
		t.Errorf("after %d ms: phase %d, %+v", (c.now-from)/ms, n.Phase(), n.Record())
	}
	epoch = n.view
	c.pass(3 * lease)
	if n.view > epoch+1 || n.Phase() != Draining {
		t.Errorf("epoch %d after %d, phase %d", n.view, epoch, n.Phase())
	}
	n.unlock(x)
	c.until("it has stopped", func() bool { return n.down })
	n.stopped()
}

// A node that is asked to leave while it stops leaves.
func TestLeaveInsteadOfStop(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.follower()
	x := n.lock("x")
	id := n.Voter().ID()
	n.step(Input{Kind: Stop})
	n.step(Input{Kind: Leave})
	n.step(Input{Kind: Stop})
	n.unlock(x)
	c.until("it has left", func() bool { return n.down })
	n.left()
	if slices.Contains(c.leader().voters(), id) {
		t.Error("it still votes")
	}
}

// Voters that are down are never replaced by fewer, and by a spare member only after the
// time that the settings say.
func TestDownVotersStay(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	seats := c.seats()
	n := c.follower()
	n.crash()
	c.until("it is evicted", func() bool { return !c.leader().knows(n.name) })
	replace := member.Instant(settings().Replace)
	c.pass(2 * replace)
	if !slices.Equal(c.leader().voters(), seats) {
		t.Fatalf("voters %d after %d", c.leader().voters(), seats)
	}
	n.boot(false)
	c.until("it is back", c.whole)
	n.stops()
	from := c.now
	d := c.add("d")
	d.boot(false)
	c.until("d is a member", func() bool { return d.Inc() != 0 })
	c.until("d votes", func() bool { return d.Voter() != nil })
	if c.now-from < replace || c.now-from > 2*replace {
		t.Errorf("d votes after %d ms", (c.now-from)/ms)
	}
	c.until("three vote", func() bool {
		return len(c.leader().voters()) == 3 && slices.Contains(c.leader().voters(), d.Voter().ID())
	})
}

// A voter that returns under its name without its disk has lost it, and is replaced by
// itself at once.
func TestLostDiskIsReplacedAtOnce(t *testing.T) {
	c := formed(t, 3, names(5)...)
	n := c.follower()
	id := n.Voter().ID()
	n.crash()
	n.drive, n.past = raft.NewDrive(), nil
	n.boot(false)
	c.until("it is a member", func() bool { return n.Inc() != 0 })
	from := c.now
	c.until("it votes", func() bool { return n.Voter() != nil })
	if c.now-from >= member.Instant(settings().Replace) || n.Voter().ID() == id {
		t.Errorf("it votes after %d ms, as %d after %d", (c.now-from)/ms, n.Voter().ID(), id)
	}
}

// The mark is not made while a client can still act on a lock. A node that crashes while
// it stops is a ghost until its lease has expired; the host sees if a lock is held twice.
func TestMarkWaitsForClients(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	g := c.call("g", n.name)
	g.lock("x")
	g.only = n.name
	n.step(Input{Kind: Stop})
	c.pass(20 * ms)
	if n.remembers().Stopped != 0 {
		t.Error("the mark is made while a client holds a lock")
	}
	n.crash()
	n.boot(false)
	ghosts := 0
	c.until("it is back", func() bool {
		ghosts = max(ghosts, len(c.nodes[0].Record().Ghosts))
		return c.whole()
	})
	if ghosts == 0 {
		t.Error("its lease is not waited for")
	}
	for _, o := range c.nodes {
		o.unlock(o.lock("x"))
	}
}

// Clients of a node that stops claim their locks at another node, and lose none in a
// rolling restart, whoever is home or leads. Each node stops without waiting for a lease,
// and no voter changes.
func TestRollingRestart(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	var all []*caller
	var held []uint64
	for i := range 12 {
		g := c.call(fmt.Sprint("client ", i), c.nodes[i%3].name)
		all = append(all, g)
		held = append(held, g.lock(fmt.Sprint("lock ", i)))
	}
	voters := slices.Clone(c.leader().Voter().Lead().Voters)
	for range 2 {
		for _, n := range c.nodes {
			from := c.now
			n.step(Input{Kind: Stop})
			c.until("it has stopped", func() bool { return n.down })
			if d := c.now - from; d > lease {
				t.Errorf("%s stops after %d ms", n.name, d/ms)
			}
			for i, g := range all {
				if g.held[held[i]] == nil || !g.Valid(held[i], c.now) {
					t.Fatalf("%s has lost its lock when %s stops: %+v", g.name, n.name, g.told)
				}
			}
			n.boot(false)
			c.until("it is back", c.whole)
		}
	}
	c.until("there is a leader", func() bool { return c.leader() != nil })
	if now := c.leader().Voter().Lead().Voters; !slices.Equal(now, voters) {
		t.Errorf("the voters were %d and are %d", voters, now)
	}
	c.pass(2 * lease)
	for i, g := range all {
		if g.held[held[i]] == nil {
			t.Fatalf("%s has lost its lock: %+v", g.name, g.told)
		}
		g.unlock(held[i])
	}
}

// A client whose node crashes claims its lock at another one, and holds it on.
func TestCrashedNodeOfHolder(t *testing.T) {
	survived := 0
	for i := range 20 {
		c := formed(t, 3, "a", "b", "c")
		n := c.nodes[i%3]
		g := c.call("g", n.name)
		x := g.lock("x")
		c.pass(member.Instant(i) * 13 * ms)
		n.crash()
		c.pass(3 * lease)
		if g.held[x] != nil {
			survived++
			g.unlock(x)
		}
		o := c.nodes[(i+1)%3]
		o.unlock(o.lock("x"))
	}
	if survived < 20 { // a leader is evicted as fast as any other member
		t.Errorf("%d of 20 survive", survived)
	}
}

// A client that holds a lock through a node that stops moves to another node, and keeps
// the lock. The node stops when it has moved.
func TestStopMovesClients(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	g := c.call("g", n.name)
	x := g.lock("x")
	token := g.held[x].token
	n.stops()
	c.pass(2 * lease)
	if h := g.held[x]; h == nil || h.token != token {
		t.Fatalf("it is told %+v", g.told)
	}
	n.boot(false)
	c.until("it is back", c.whole)
	if g.held[x] == nil {
		t.Fatalf("it is told %+v", g.told)
	}
	g.unlock(x)
	c.soon("x")
}
