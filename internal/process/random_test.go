package process

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/nightly"
	"github.com/stile-lock/stile/internal/session"
)

var (
	seeds = flag.Int("seeds", nightly.Pick(80, 250), "random runs")
	from  = flag.Uint64("from", 0, "seed of the first of them")
)

// Whatever happens to a few processes, each step keeps what the host checks: the order
// of effects, the epoch of packets, what is durable before it is promised, that no lock
// is held twice, and that a process that has ended has no effects. When the faults
// have ended, all are members again and acquire locks.
func TestRandom(t *testing.T) {
	grants, crashes := 0, 0
	for seed := *from; seed < *from+uint64(*seeds); seed++ {
		c := randomRun(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		grants += c.grants
		for _, n := range c.nodes {
			crashes += n.life - 1
		}
	}
	t.Logf("%d runs: %d locks granted, %d processes started again", *seeds, grants, crashes)
	if *seeds >= 80 && (grants < 50**seeds || crashes < *seeds) {
		t.Error("too little has happened")
	}
}

// The same seed gives the same effects, byte by byte.
func TestDeterministic(t *testing.T) {
	other := 0
	for seed := range uint64(20) {
		a, b := randomRun(t, seed), randomRun(t, seed)
		for i := range a.nodes {
			if a.nodes[i].sums != b.nodes[i].sums {
				t.Errorf("seed %d: %s does not do the same again", seed, a.nodes[i].name)
			}
			if a.nodes[i].sums != a.nodes[0].sums {
				other++
			}
		}
	}
	if other == 0 {
		t.Error("all nodes do the same: nothing is compared")
	}
}

// randomRun runs a cluster by chance.
func randomRun(t *testing.T, seed uint64) *cluster {
	rng := rand.New(rand.NewPCG(seed, 11))
	c := newCluster(t, 1+2*rng.IntN(3), names(3+rng.IntN(3))...)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d at %d ms", seed, c.now/ms)
		}
	}()
	c.rng, c.observe, c.calm = rng, seed%2 == 1, 1+rng.IntN(15)
	c.delay = func(m *message) member.Instant {
		d := ms/4 + member.Instant(rng.Int64N(int64(2*ms)))
		if rng.IntN(40) == 0 {
			d += member.Instant(rng.Int64N(int64(60 * ms)))
		}
		return d
	}
	for i, n := range c.nodes {
		n.digests = true
		n.slow = member.Instant(rng.Int64N(int64(4 * ms)))
		n.boot(i == 0)
	}
	for i := range 2 + rng.IntN(3) {
		c.call(fmt.Sprint("client ", i), c.nodes[rng.IntN(len(c.nodes))].name, c.nodes[0].name)
	}
	for end := c.now + 1200*ms; c.now < end; {
		c.act()
		c.pass(member.Instant(rng.Int64N(int64(8 * ms))))
	}
	c.heal()
	return c
}

// act lets something happen by chance.
func (c *cluster) act() {
	rng := c.rng
	n := c.nodes[rng.IntN(len(c.nodes))]
	o := c.nodes[rng.IntN(len(c.nodes))]
	k := rng.IntN(100)
	if k >= 75 && rng.IntN(c.calm) > 0 {
		k = rng.IntN(75)
	}
	switch {
	case k < 45:
		if !n.down {
			c.use(n)
		}
	case k < 75:
		c.callers[rng.IntN(len(c.callers))].use()
	case k < 79:
		c.callers[rng.IntN(len(c.callers))].disconnect()
	case k < 83:
		if n != o && c.cut[pair(n.name, o.name)] {
			c.join(n, o)
		} else if n != o && rng.IntN(2) == 0 {
			c.part(n, o)
		}
	case k < 86:
		c.restart(n)
	case k < 89:
		n.stalled = !n.stalled && rng.IntN(2) == 0
		n.runDisk()
	case k < 91:
		if l := c.leader(); l != nil {
			l.step(c.order())
		}
		c.moveOne(n)
	case k < 92:
		if !n.down {
			n.step(Input{Kind: Leave})
		}
	case k < 93:
		if !n.down {
			n.drive.SyncErrorAfter(rng.IntN(20))
		}
	case k < 96:
		if !n.down {
			n.garbage(o)
		}
	case k < 98:
		if !n.down {
			n.step(c.stray())
		}
	}
}

// use has an application of a node do something.
func (c *cluster) use(n *node) {
	rng := c.rng
	for _, t := range sorted(n.held) {
		if h := n.held[t]; rng.IntN(2) == 0 {
			n.release(t)
			n.step(Input{Kind: Unlock, Text: h.name, Token: h.token})
			return
		} else if rng.IntN(10) == 0 {
			n.step(Input{Kind: Release, Text: h.name, Token: h.token})
			return
		}
	}
	for _, t := range sorted(n.requests) {
		if n.held[t] == nil && rng.IntN(10) == 0 {
			delete(n.requests, t)
			if n.step(Input{Kind: Cancel, Number: uint64(t)}); rng.IntN(2) == 0 {
				return
			}
		}
	}
	in := Input{Kind: Lock, Text: fmt.Sprint("lock ", rng.IntN(4)), Try: rng.IntN(5) == 0}
	if rng.IntN(5) == 0 {
		in.Late = c.now + member.Instant(rng.Int64N(int64(100*ms)))
	}
	if len(n.requests) < 10 {
		n.step(in)
	}
}

// sorted returns the tickets of a map in order.
func sorted[V any](m map[member.Ticket]V) []member.Ticket {
	var all []member.Ticket
	for t := range m {
		all = append(all, t)
	}
	for i := range all { // they are few
		for k := i; k > 0 && all[k] < all[k-1]; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	return all
}

// use has a client do something.
func (g *caller) use() {
	rng := g.c.rng
	for r := uint64(1); r <= g.asked; r++ {
		if _, ok := g.names[r]; ok && rng.IntN(3) == 0 {
			g.unlock(r)
			return
		}
	}
	if len(g.names) < 5 {
		o := session.Opts{Try: rng.IntN(5) == 0}
		if rng.IntN(5) == 0 {
			o.Wait = member.Span(1 + rng.Int64N(int64(100*ms)))
		}
		g.request(fmt.Sprint("lock ", rng.IntN(4)), o)
	}
}

// restart crashes a process, or starts one that is not running.
func (c *cluster) restart(n *node) {
	if !n.down {
		n.crash()
		return
	}
	n.drive.Restart(c.rng.IntN(2) == 0, func() bool { return c.rng.IntN(2) == 0 })
	n.stalled, n.slow = false, member.Instant(c.rng.Int64N(int64(4*ms)))
	n.boot(n == c.nodes[0] && !c.founded)
}

// order returns something that an operator asks of a leader.
func (c *cluster) order() Input {
	switch c.rng.IntN(4) {
	case 0:
		n := c.nodes[c.rng.IntN(len(c.nodes))]
		if n.down {
			return Input{Kind: Refresh}
		}
		return Input{Kind: Evict, Number: n.Inc()}
	case 1:
		return Input{Kind: Choose, Choice: central()}
	case 2:
		return Input{Kind: Resize, Number: uint64(1 + 2*c.rng.IntN(3))}
	}
	return Input{Kind: Refresh}
}

// moveOne asks a client of a node to use another one.
func (c *cluster) moveOne(n *node) {
	if n.down {
		return
	}
	var all []uint64
	n.Clients(func(i session.ClientInfo) { all = append(all, i.Session) })
	if len(all) > 0 {
		n.step(Input{Kind: Move, Number: all[c.rng.IntN(len(all))]})
	}
}

// garbage hands in what no correct node or client sends.
func (n *node) garbage(o *node) {
	rng := n.c.rng
	b := make([]byte, rng.IntN(40))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	if len(b) > 0 {
		b[0] %= 4
	}
	if rng.IntN(2) == 0 && o != n {
		n.step(Input{Kind: Message, Text: o.name, Bytes: b})
	} else {
		n.step(Input{Kind: Frame, Number: 1<<32 + uint64(rng.IntN(4)), Bytes: b})
	}
	if n.failed != nil {
		n.c.t.Fatalf("%s fails by garbage: %v", n.name, n.failed)
	}
}

// stray returns an input that is out of place: of another phase, or of what is not
// there.
func (c *cluster) stray() Input {
	rng := c.rng
	kinds := []Kind{Start, Wake, Up, Down, Message, Frame, Closed, Cancel, Unlock, Release, Evict, Kinds}
	in := Input{Kind: kinds[rng.IntN(len(kinds))], Text: "lock 9", Number: 1<<40 + rng.Uint64N(1<<20), Token: member.Token{Epoch: rng.Uint64N(20), Count: rng.Uint64N(20)}}
	if in.Kind == Up || in.Kind == Down || in.Kind == Message {
		in.Text = "elsewhere"
	}
	return in
}

// heal ends all that is bad, starts all processes, and checks that they work.
func (c *cluster) heal() {
	c.t.Helper()
	c.delay = nil
	for _, n := range c.nodes {
		if n.Phase() >= Draining && !n.down {
			n.crash()
		}
		n.drive.Heal()
		n.slow = 0
		n.stall(false)
	}
	for i, n := range c.nodes {
		for _, o := range c.nodes[:i] {
			c.join(n, o)
		}
	}
	for _, n := range c.nodes {
		if n.down {
			c.restart(n)
			n.slow = 0
		}
	}
	c.pass(lease) // what was complained about before has its consequences
	c.until("all are members again", c.whole)
	for _, n := range c.nodes {
		for _, t := range sorted(n.requests) {
			if n.held[t] == nil {
				n.step(Input{Kind: Cancel, Number: uint64(t)})
				delete(n.requests, t)
			}
		}
		for _, t := range sorted(n.held) {
			n.unlock(t)
		}
	}
	for _, g := range c.callers {
		for r := range g.asked + 1 {
			if _, ok := g.names[r]; ok {
				g.unlock(r)
			}
		}
	}
	for _, n := range c.nodes {
		n.unlock(n.lock("lock 0"))
	}
	for _, g := range c.callers {
		g.unlock(g.lock("lock 1"))
	}
}
