package process

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// left fails unless a node has left, and nothing else has happened to it.
func (n *node) left() {
	n.c.t.Helper()
	if !n.down || n.Phase() != Over || n.failed != nil || !slices.Equal(n.ended, []views.Ending{views.Left}) {
		n.c.t.Errorf("%s has not left: phase %d, %v, %v", n.name, n.Phase(), n.ended, n.failed)
	}
}

// The last one can leave, too. Its disk stays that of the only voter, and it can come
// back.
func TestLastLeaves(t *testing.T) {
	c := formed(t, 1, "a")
	n := c.nodes[0]
	n.step(Input{Kind: Leave})
	c.until("it has left", func() bool { return n.down })
	n.left()
	if n.drive.Voter() == 0 {
		t.Error("its disk is empty")
	}
	n.boot(false)
	c.until("it is back", c.whole)
}

// A process that never was a member has left at once.
func TestLeaveBeforeMember(t *testing.T) {
	for what, config := range map[string]func(n *node) Config{
		"joins":  func(n *node) Config { return n.config(false) },
		"founds": func(n *node) Config { n.stall(true); return n.config(true) },
	} {
		for _, pass := range []member.Instant{0, ms, lease} {
			c := newCluster(t, 1, "a", "b")
			n := c.nodes[0]
			n.bootWith(config(n))
			c.pass(pass)
			n.step(Input{Kind: Leave})
			if n.left(); t.Failed() {
				t.Fatal(what, pass)
			}
		}
	}
	c := newCluster(t, 1, "a", "b")
	p, err := New(c.nodes[1].config(false))
	if err != nil {
		t.Fatal(err)
	}
	if p.Step(&Input{Kind: Leave, At: 1}); p.Phase() != Over || len(p.Out.Effects) != 1 || p.Out.Effects[0].How != views.Left {
		t.Errorf("before it has started: %v, %s", p.Phase(), list(p.Out.Effects))
	}
}

// A process that leaves while it joins has left, though the others may have admitted it
// already: they evict it.
func TestLeaveWhileJoining(t *testing.T) {
	for pass := member.Instant(0); pass < 60*ms; pass += 3 * ms {
		c := formed(t, 1, "a", "b")
		n := c.add("d")
		n.boot(false)
		c.pass(pass)
		n.step(Input{Kind: Leave})
		c.until("it has left", func() bool { return n.down })
		n.left()
		c.until("the others are by themselves", c.whole)
	}
}

// A founder that leaves before its first state is on the disk stops, whatever the disk
// reports later; it can restart from what is there.
func TestLeaveBeforeFounded(t *testing.T) {
	c := newCluster(t, 1, "a")
	n := c.nodes[0]
	n.stall(true)
	n.boot(true)
	n.step(Input{Kind: Leave})
	n.left()
	s := n.saves[0]
	if err := n.do(s); err != nil {
		t.Fatal(err)
	}
	in := Input{Kind: Saved, Number: s.number, At: c.now}
	if n.Step(&in); n.Out.Err != ErrOver || len(n.Out.Effects) > 0 {
		t.Errorf("%v, %s", n.Out.Err, list(n.Out.Effects))
	}
	n.stalled = false
	n.boot(false)
	c.until("it is a member", c.whole)
}

// A process that leaves waits until its own applications have released their locks, grants
// no new requests, and refuses waiters.
func TestLeaveWaitsForApplications(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n, o := c.nodes[1], c.nodes[2]
	x, y := n.lock("x"), n.lock("y")
	o.lock("z")
	z, x2 := n.ask("z"), n.ask("x")
	c.pass(20 * ms)
	n.step(Input{Kind: Leave})
	if n.Phase() != Draining || n.Out.Err != nil {
		t.Fatalf("%v, %v", n.Phase(), n.Out.Err)
	}
	if !slices.Equal(n.lostOnes(member.Stopped), []member.Cause{member.Leaving, member.Leaving}) || n.requests[z] != "" || n.requests[x2] != "" {
		t.Errorf("those who wait are told %+v", n.told)
	}
	if n.step(Input{Kind: Lock, Text: "w"}); !errors.Is(n.Out.Err, ErrLeaving) {
		t.Errorf("a lock is requested: %v", n.Out.Err)
	}
	sent := 0
	c.sent = func(m *message) {
		if kind, ok := m.service(); ok && kind == views.Leave && m.from == n.name {
			sent++
		}
	}
	n.step(Input{Kind: Leave}) // again
	if c.pass(5 * lease); n.Phase() != Draining || n.held[x] == nil || n.held[y] == nil || sent > 0 {
		t.Fatalf("it does not wait: %v, %+v", n.Phase(), n.told)
	}
	n.unlock(x)
	if c.pass(lease); n.Phase() != Draining {
		t.Fatalf("it does not wait for the last one: %v", n.Phase())
	}
	n.unlock(y)
	if n.Phase() != Leaving {
		t.Errorf("it waits, and nothing is held: %v", n.Phase())
	}
	n.step(Input{Kind: Leave})
	if n.step(Input{Kind: Lock, Text: "w"}); !errors.Is(n.Out.Err, ErrLeaving) {
		t.Errorf("a lock is requested: %v", n.Out.Err)
	}
	c.until("it has left", func() bool { return n.down })
	n.left()
	if sent == 0 || len(n.lostOnes(member.Lost)) > 0 {
		t.Errorf("it has said so %d times, and lost %v", sent, n.lostOnes(member.Lost))
	}
	o.lock("x")
}

// It waits for clients, too. They are notified to move to another node; waiters do so, and
// a client that does not release its lock loses it with its session, which is not renewed.
func TestLeaveWaitsForClients(t *testing.T) {
	for _, slow := range []bool{false, true} {
		c := formed(t, 3, names(4)...)
		n, o := c.nodes[1], c.nodes[2]
		o.lock("z")
		g, waits := c.call("g", n.name), c.call("waits", n.name)
		x := g.lock("x")
		z := waits.ask("z")
		c.pass(20 * ms)
		g.only = n.name
		n.step(Input{Kind: Leave})
		began := c.now
		c.pass(30 * ms)
		if n.Phase() != Draining || g.held[x] == nil {
			t.Fatalf("%v, %+v", n.Phase(), g.told)
		}
		if !slices.ContainsFunc(waits.told, func(e session.Event) bool { return e.Kind == session.Again && e.Request == z }) {
			t.Errorf("the client that waits is told %+v", waits.told)
		}
		if !slow {
			g.unlock(x)
		}
		c.until("it has left", func() bool { return n.down })
		n.left()
		if waited := c.now - began; slow && (waited < 50*ms || waited > lease+50*ms) || !slow && waited > 100*ms {
			t.Errorf("slow %t: it has left after %d ms", slow, waited/ms)
		}
		if taken := slices.ContainsFunc(g.told, func(e session.Event) bool { return e.Kind == session.Taken }); taken != slow {
			t.Errorf("slow %t: the client is told %+v", slow, g.told)
		}
		g.only = ""
		for _, v := range []*caller{g, waits} { // both have gone to another node
			v.unlock(v.lock("elsewhere of " + v.name))
		}
		o.unlock(o.ticket("z"))
		c.until("the client that waited holds it", func() bool { return waits.held[z] != nil })
	}
}

// A lock that was lost because the lease was about to end may still be acted on until
// it has. A process that leaves or stops promises nothing before that, though nothing is held.
func TestLeaveWaitsForLapsed(t *testing.T) {
	for _, who := range []string{"application", "client"} {
		for _, kept := range []bool{false, true} {
			for _, how := range []Kind{Leave, Stop} {
				t.Run(fmt.Sprintf("%s, kept %t, %v", who, kept, how), func(t *testing.T) { leaveWaitsForLapsed(t, who, kept, how) })
			}
		}
	}
}

func leaveWaitsForLapsed(t *testing.T, who string, kept bool, how Kind) {
	c := newCluster(t, 3, names(4)...)
	if kept {
		c.choices = append(c.choices, member.Choice{Prefix: "x", Algorithm: member.Kept(deadlock.None()), Version: 1})
	}
	c.form()
	n, o := c.nodes[1], c.nodes[2]
	name := o.elsewhere("x")
	lost := func() bool { return len(n.lostOnes(member.Lost)) > 0 }
	if who == "client" {
		g := c.call("g", n.name)
		g.lock(name)
		g.only = n.name
		lost = func() bool { return n.clients.Holds() == 0 }
	} else {
		n.lock(name)
	}
	waits := o.ask(name)
	c.pass(20 * ms)
	// Its renewals come to the leader, and no answer comes to it.
	c.lost = func(m *message) bool {
		kind, ok := m.service()
		return ok && kind == views.Renewed && m.to == n.name
	}
	end := n.Member().Deadline() + act // of its lease
	promised := member.Instant(0)
	c.sent = func(m *message) {
		if kind, ok := m.service(); ok && kind == views.Leave && m.from == n.name && promised == 0 {
			promised = c.now
		}
	}
	n.step(Input{Kind: how})
	c.until("its lock is lost", lost)
	if c.now >= end || n.Phase() != Draining {
		t.Fatalf("the lock is lost %d ms before the lease ends, in phase %d", (end-c.now)/ms, n.Phase())
	}
	if n.remembers().Stopped != 0 {
		t.Error("it remembers its promise while the lock may be acted on")
	}
	c.until("it has ended", func() bool { return n.down })
	if how == Stop {
		n.stopped()
	} else {
		n.left()
	}
	if promised < end {
		t.Errorf("it promises never to enter again %d ms before the lease ends", (end-promised)/ms)
	}
	c.lost = nil
	c.until("the lock is free", func() bool { return o.held[waits] != nil })
}

// A process that is evicted while it waits for its applications has ended: it does not
// join again.
func TestEvictedWhileDraining(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.nodes[3]
	n.lock("x")
	g := c.call("g", n.name)
	g.lock("y")
	n.step(Input{Kind: Leave})
	c.leader().step(Input{Kind: Evict, Number: n.Inc()})
	c.until("it has ended", func() bool { return n.down })
	if n.Phase() != Over || !slices.Equal(n.ended, []views.Ending{views.Evicted}) || n.failed != nil {
		t.Errorf("phase %d, %v, %v", n.Phase(), n.ended, n.failed)
	}
	if !slices.Equal(n.lostOnes(member.Lost), []member.Cause{member.Evicted}) {
		t.Errorf("its application is told %+v", n.told)
	}
	if last := n.replies[len(n.replies)-1]; !last.Last || session.Kind(last.Bytes[0]) != session.Bye {
		t.Errorf("its client is told %+v", last)
	}
	c.until("the others go on", c.whole)
}

// A process that leaves and does not reach the others keeps asking, and leaves when it
// reaches them; or it is evicted, which is then the same.
func TestLeaveIsolated(t *testing.T) {
	for _, apart := range []member.Instant{10 * ms, lease, 5 * lease} {
		c := formed(t, 3, names(4)...)
		n := c.nodes[3]
		c.isolate(n, true)
		n.step(Input{Kind: Leave})
		if c.pass(apart); n.down {
			t.Fatalf("it has ended by itself: %v", n.ended)
		}
		c.isolate(n, false)
		c.until("it has left", func() bool { return n.down })
		n.left()
	}
}

// A voter whose disk stalls can leave: its promises are no longer needed.
func TestLeaveStalled(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.follower()
	n.stall(true)
	n.step(Input{Kind: Leave})
	c.until("it has left", func() bool { return n.down })
	n.left()
}

// allLeave makes all nodes leave, so many milliseconds apart. It returns those that wait in
// vain. The last one, if it is hasty, does not wait for the others.
func (c *cluster) allLeave(apart member.Instant, hasty bool) []string {
	c.t.Helper()
	gone := func() {
		for _, n := range c.nodes {
			if hasty && !n.down && n.Inc() != 0 && len(n.Record().Members) == 1 {
				n.crash()
			}
		}
	}
	for _, n := range c.nodes {
		if !n.down {
			n.step(Input{Kind: Leave})
		}
		end := c.now + apart
		for c.next(end) {
			gone()
		}
		c.now = end
	}
	var stay []string
	for _, n := range c.nodes {
		for end := c.now + 4000*ms; !n.down && c.next(end); {
			gone()
		}
		if !n.down {
			stay = append(stay, n.name)
		}
	}
	return stay
}

// each tries several numbers of voters and members, which leave at several intervals.
func each(try func(what string, form func(t *testing.T) *cluster, apart member.Instant)) {
	for _, n := range [][2]int{{1, 2}, {1, 5}, {3, 3}, {3, 5}, {5, 5}} {
		for apart := member.Instant(0); apart < 40*ms; apart += 2 * ms {
			what := fmt.Sprintf("%d voters of %d members, %d ms apart", n[0], n[1], apart/ms)
			try(what, func(t *testing.T) *cluster { return formed(t, n[0], names(n[1])...) }, apart)
		}
	}
}

// All nodes can leave at once, or one after the other at any interval, and none of them
// waits for one that has stopped.
func TestAllLeave(t *testing.T) {
	each(func(what string, form func(t *testing.T) *cluster, apart member.Instant) {
		c := form(t)
		if stay := c.allLeave(apart, false); stay != nil {
			t.Fatalf("%s: %q stay forever", what, stay)
		}
		for _, n := range c.nodes {
			if n.left(); t.Failed() {
				t.Fatal(what)
			}
		}
	})
}

// The same holds if the first notification of each, of a view or of its end, is lost.
func TestAllLeaveLossy(t *testing.T) {
	for _, kind := range []views.Kind{views.View, views.Gone} {
		each(func(what string, form func(t *testing.T) *cluster, apart member.Instant) {
			c := form(t)
			lost := map[string]bool{}
			c.lost = func(m *message) bool {
				k, ok := m.service()
				first := ok && k == kind && !lost[m.to]
				lost[m.to] = lost[m.to] || first
				return first
			}
			if stay := c.allLeave(apart, false); stay != nil {
				t.Fatalf("%s, without a %v: %q stay forever", what, kind, stay)
			}
		})
	}
}

// The check itself: if the last one does not wait for the others, some stay.
func TestHastyLast(t *testing.T) {
	found := 0
	each(func(what string, form func(t *testing.T) *cluster, apart member.Instant) {
		if found < 5 && form(t).allLeave(apart, true) != nil {
			found++
		}
	})
	if found < 5 {
		t.Errorf("found %d times", found)
	}
}
