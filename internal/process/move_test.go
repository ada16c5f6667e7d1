package process

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// moves asks a client to use another node than its own.
func (g *caller) moves() {
	g.c.t.Helper()
	number, at, _ := g.Session()
	n := g.c.at(at)
	if n.step(Input{Kind: Move, Number: number}); n.Out.Err != nil {
		g.c.t.Fatalf("%s is not asked: %v", g.name, n.Out.Err)
	}
}

// A client that is asked to move takes its locks along, in a view of the same members. A
// request that waits at the node that it has left gets a lock when the client releases it,
// and not before: the host looks.
func TestMoveClient(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b := c.nodes[0], c.nodes[1]
	g, h := c.call("g", "b", "a"), c.call("h", "b")
	x, y := g.lock("x"), g.lock("y")
	z := c.nodes[2].lock("z")
	waits, next := g.ask("z"), h.ask("x")
	c.pass(20 * ms)
	members, epoch := b.Record().Members, b.view
	g.moves()
	c.until("a has its locks", func() bool { return a.clients.Holds() == 2 })
	if b.view != epoch+1 || len(b.Record().Members) != len(members) || len(b.Record().Ghosts) > 0 {
		t.Errorf("epoch %d after %d: %+v", b.view, epoch, b.Record())
	}
	if _, at, up := g.Session(); at != "a" || !up || g.held[x] == nil || g.held[y] == nil {
		t.Errorf("it is at %s, connected %t: %+v", at, up, g.told)
	}
	c.until("b has ended its session", func() bool { return b.Sessions() == 1 && b.clients.Holds() == 0 })
	c.pass(3 * lease)
	if b.clients.Holds() != 0 || b.Sessions() != 1 || h.held[next] != nil || g.held[x] == nil {
		t.Errorf("%d sessions, %d holds at b: %+v", b.Sessions(), b.clients.Holds(), g.told)
	}
	c.nodes[2].unlock(z)
	c.until("it has what it waited for", func() bool { return g.held[waits] != nil })
	from := c.now
	g.unlock(x)
	c.until("the other client has the lock", func() bool { return h.held[next] != nil })
	if c.now-from > lease/2 {
		t.Errorf("after %d ms", (c.now-from)/ms)
	}
	if slices.ContainsFunc(g.told, func(e session.Event) bool { return e.Kind == session.Taken || e.Kind == session.Refused }) {
		t.Errorf("%+v", g.told)
	}
}

// A node that was evicted, and does not know, ends the session of a client that it has asked to
// move, and passes nothing on: the client holds its locks elsewhere. The host looks.
func TestMoveFromEvicted(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b := c.nodes[0], c.follower()
	if b == a {
		b = c.nodes[1]
	}
	g, h := c.call("g", b.name, "a"), c.call("h", b.name)
	h.only = b.name
	x := g.lock("x")
	next := h.ask("x")
	c.pass(20 * ms)
	c.isolate(b, true)
	g.moves()
	c.until("its lock has moved", func() bool { return b.clients.Holds() == 0 && a.clients.Holds() == 1 })
	if c.leader().knows(b.name) || b.Phase() != Member {
		t.Fatal("it is not evicted, or knows that it is")
	}
	c.pass(2 * lease)
	c.isolate(b, false)
	c.until("it is back", c.whole)
	if c.pass(lease); g.held[x] == nil || h.held[next] != nil {
		t.Errorf("%+v, %+v", g.told, h.told)
	}
	g.unlock(x)
	c.until("the other client has the lock", func() bool { return h.held[next] != nil })
}

// A lock that is released right after the move is released at both nodes.
func TestMoveThenRelease(t *testing.T) {
	for wait := range member.Instant(30) {
		c := formed(t, 3, "a", "b", "c")
		g := c.call("g", "b", "a")
		x := g.lock("x")
		g.moves()
		c.pass(wait * ms)
		g.unlock(x)
		from := c.now
		c.nodes[2].lock("x")
		if c.now-from > lease/2 {
			t.Fatalf("after %d ms: free after %d ms", wait, (c.now-from)/ms)
		}
	}
}

// A client that holds nothing moves without a view. One that reaches no other node stays, and
// loses nothing.
func TestMoveWithoutLocks(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	b := c.nodes[1]
	g, h := c.call("g", "b", "a"), c.call("h", "b")
	x := h.lock("x")
	c.until("it is connected", func() bool { _, _, up := g.Session(); return up })
	epoch := b.view
	g.moves()
	c.until("it is elsewhere", func() bool { _, at, up := g.Session(); return at != "b" && up })
	c.pass(3 * lease)
	if _, at, _ := g.Session(); at == "b" || b.view != epoch {
		t.Errorf("it is at %s, epoch %d after %d", at, b.view, epoch)
	}
	h.only = "b"
	h.moves()
	c.pass(3 * lease)
	if h.held[x] == nil {
		t.Fatalf("%+v", h.told)
	}
	if _, at, up := h.Session(); at != "b" || !up {
		t.Errorf("it is at %s, connected %t", at, up)
	}
	h.lock("y")
}

// A node does not ask a client that has nowhere to go, or that it does not know.
func TestMoveRefused(t *testing.T) {
	c := formed(t, 1, "a", "b")
	a, b := c.nodes[0], c.nodes[1]
	g := c.call("g", "a")
	x := g.lock("x")
	number, _, _ := g.Session()
	refuses := func(n *node, number uint64, want error) {
		t.Helper()
		if n.step(Input{Kind: Move, Number: number}); !errors.Is(n.Out.Err, want) {
			t.Errorf("%s: %v, want %v", n.name, n.Out.Err, want)
		}
	}
	refuses(b, number, session.ErrNoSession)
	refuses(a, number+1, session.ErrNoSession)
	b.step(Input{Kind: Leave})
	c.until("b has left", func() bool { return b.down && !a.knows("b") })
	refuses(a, number, ErrAlone)
	c.pass(2 * lease)
	if g.held[x] == nil {
		t.Error("its lock is lost")
	}
	b.boot(false)
	c.until("b is back", c.whole)
	a.step(Input{Kind: Stop})
	refuses(a, number, ErrLeaving)
}
