package process

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// says hands in a frame of a client that the host does not run, and returns what the
// process answers on its connection.
func (n *node) says(conn uint64, f session.Frame) []session.Frame {
	n.c.t.Helper()
	n.step(Input{Kind: Frame, Number: conn, Bytes: f.AppendTo(nil)})
	return n.answers(conn)
}

// answers returns the frames of the last step to a connection.
func (n *node) answers(conn uint64) (all []session.Frame) {
	n.c.t.Helper()
	for i := range n.effects {
		if e := &n.effects[i]; e.Kind == Reply && e.Conn == conn && len(e.Bytes) > 0 {
			f, err := session.Parse(slices.Clone(e.Bytes))
			if err != nil {
				n.c.t.Fatal(err)
			}
			all = append(all, f)
		}
	}
	return all
}

// hello begins a session on a connection.
func (n *node) hello(conn uint64) session.Frame {
	n.c.t.Helper()
	all := n.says(conn, session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol, Name: "by hand"})
	if len(all) != 1 || all[0].Kind != session.Welcome {
		n.c.t.Fatalf("%+v", all)
	}
	return all[0]
}

// A client locks, waits, is granted what another releases, and is notified when its node
// loses the lease.
func TestClientLocks(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	g, h := c.call("g", "a"), c.call("h", "b")
	x := g.lock("x")
	waits := h.ask("x")
	c.pass(3 * lease) // sessions are prolonged
	if g.held[x] == nil || h.held[waits] != nil {
		t.Fatalf("%+v, %+v", g.told, h.told)
	}
	g.unlock(x)
	c.until("the other one holds it", func() bool { return h.held[waits] != nil })
	n := c.nodes[1]
	c.isolate(n, true)
	c.until("the lock is lost", func() bool { return len(h.held) == 0 })
	if len(n.told) > 0 {
		t.Errorf("an application of the node is told what is a client's business: %+v", n.told)
	}
	c.until("it goes to another node", func() bool { _, at, up := h.Session(); return at != "b" && up })
	h.lock("x")
}

// Sessions through frames: a session continues on another connection, the previous one is
// closed, and the session expires if it is not renewed.
func TestSessions(t *testing.T) {
	c := formed(t, 1, "a", "b")
	n := c.nodes[1]
	w := n.hello(1000)
	if got, ok := n.Client(w.Session); !ok || got.Label != "by hand" || got.Conn != 1000 || !n.Bound(1000) || n.Bound(1001) {
		t.Errorf("%+v", got)
	}
	n.says(1000, session.Frame{Kind: session.Lock, Number: 7, Name: "x"})
	if c.pass(20 * ms); n.clients.Holds() != 1 || n.Member().Inside() != 1 {
		t.Fatalf("%d holds", n.clients.Holds())
	}
	again := session.Frame{Kind: session.Hello, Number: 2, Protocol: session.Protocol, Session: w.Session, Secret: w.Secret}
	if all := n.says(1001, again); len(all) != 1 || all[0].Session != w.Session {
		t.Fatalf("%+v", all)
	}
	closed := slices.ContainsFunc(n.effects, func(e Effect) bool { return e.Kind == Reply && e.Conn == 1000 && e.Last && len(e.Bytes) == 0 })
	if !closed || n.Bound(1000) || !n.Bound(1001) {
		t.Errorf("the connection before is not closed: %s", list(n.effects))
	}
	n.step(Input{Kind: Closed, Number: 1000}) // which says nothing of the session
	if all := n.says(1001, session.Frame{Kind: session.Check, Number: 7}); len(all) != 1 || all[0].Kind != session.Held {
		t.Errorf("%+v", all)
	}
	n.step(Input{Kind: Closed, Number: 1001})
	if c.pass(lease / 2); n.clients.Holds() != 1 {
		t.Error("a session ends with its connection")
	}
	guess := again
	guess.Number, guess.Secret[0] = 3, guess.Secret[0]^1
	if all := n.says(1002, guess); len(all) != 1 || all[0].Session == w.Session {
		t.Errorf("a session is taken over without its secret: %+v", all)
	}
	c.pass(lease)
	if _, ok := n.Client(w.Session); ok || n.clients.Holds() != 0 || n.Member().Inside() != 0 {
		t.Error("a session that is silent for a lease goes on")
	}
	c.nodes[0].lock("x")
	count := 0
	if n.Clients(func(session.ClientInfo) { count++ }); count > 1 {
		t.Errorf("%d sessions", count)
	}
}

// Sessions are bounded, and none is drawn twice.
func TestSessionsBounded(t *testing.T) {
	c := newCluster(t, 1, "a")
	n := c.nodes[0]
	seen := map[uint64]bool{}
	secrets := map[session.Secret]bool{}
	for life := range 3 {
		config := n.config(life == 0)
		config.Sessions = 5
		n.bootWith(config)
		c.until("it has a lease", c.whole)
		for conn := range uint64(5) {
			w := n.hello(100 + conn)
			if seen[w.Session] || secrets[w.Secret] {
				t.Errorf("session %d comes twice", w.Session)
			}
			seen[w.Session], secrets[w.Secret] = true, true
		}
		full := n.says(200, session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol})
		if len(full) != 1 || full[0].Kind != session.Bye || full[0].Why != session.Full {
			t.Errorf("%+v", full)
		}
		n.crash()
	}
}

// A frame that no client sends closes its connection, and harms neither the session of
// that client nor another one.
func TestMalformedFrame(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[1]
	g := c.call("g", "b")
	x := g.lock("x")
	bad := [][]byte{
		nil, {}, {200}, {byte(session.Welcome)}, {byte(session.Hello)}, {byte(session.Lock), 1}, {byte(session.Close), 1},
		bytes.Repeat([]byte{255}, 50), make([]byte, session.MaxFrame+1),
		(&session.Frame{Kind: session.Held, Number: 1}).AppendTo(nil),
		append((&session.Frame{Kind: session.Renew, Number: 1}).AppendTo(nil), 0),
	}
	for i, b := range bad {
		conn := uint64(1000 + i)
		n.hello(conn)
		n.step(Input{Kind: Frame, Number: conn, Bytes: b})
		if len(n.effects) != 1 || n.effects[0].Kind != Cut || n.effects[0].Conn != conn || n.effects[0].Err == nil {
			t.Errorf("%x: %s", b, list(n.effects))
		}
		n.step(Input{Kind: Closed, Number: conn})
	}
	cuts := len(n.cuts)
	// The client's own connection is cut; it comes back to its session.
	session, _, _ := g.Session()
	n.step(Input{Kind: Frame, Number: g.lines[0].conn, Bytes: []byte{200}})
	if len(n.cuts) != cuts+1 {
		t.Fatalf("%d connections are cut", len(n.cuts)-cuts)
	}
	c.pass(lease / 2)
	if now, _, up := g.Session(); now != session || !up || g.held[x] == nil {
		t.Errorf("session %d after %d, connected %t", now, session, up)
	}
	if n.Phase() != Member || n.failed != nil {
		t.Error(n.failed)
	}
	g.unlock(x)
}

// A process that is not a member opens no sessions, and gives the reason. Questions are
// still handed out.
func TestClientsOutside(t *testing.T) {
	c := newCluster(t, 1, "a", "b")
	n := c.nodes[1]
	n.boot(false)
	all := n.says(1, session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol})
	if len(all) != 1 || all[0].Kind != session.Bye || all[0].Why != session.NoLease || !n.effects[len(n.effects)-1].Last || !slices.Equal(all[0].Nodes, []string{"a"}) {
		t.Errorf("%+v", all)
	}
	if all := n.says(1, session.Frame{Kind: session.Lock, Number: 1, Name: "x"}); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	n.says(1, session.Frame{Kind: session.Ask, Number: 5, What: 9, Bytes: []byte("what")})
	if len(n.asked) != 1 || n.asked[0].Conn != 1 || n.asked[0].Question.Session != 0 || n.asked[0].Question.What != 9 {
		t.Errorf("%+v", n.asked)
	}
}

// Questions of clients are for the host. They say which session asks.
func TestQuestions(t *testing.T) {
	c := formed(t, 1, "a")
	n := c.nodes[0]
	w := n.hello(1)
	for i := range uint64(3) {
		n.says(1, session.Frame{Kind: session.Ask, Number: i, What: 10 + i, Bytes: []byte{byte(i)}})
		q := n.asked[i].Question
		if n.asked[i].Conn != 1 || q.Conn != 1 || q.Number != i || q.What != 10+i || q.Session != w.Session || !bytes.Equal(q.Bytes, []byte{byte(i)}) {
			t.Errorf("%+v", q)
		}
	}
	if len(n.asked) != 3 || len(n.replies) != 1 {
		t.Errorf("%d questions, %d replies", len(n.asked), len(n.replies))
	}
}

// Clients of an evicted process are notified that their locks are lost, and why their
// sessions have ended. None of the sessions exists when it is a member again.
func TestClientsOfEvicted(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[2]
	w := n.hello(1000)
	n.says(1000, session.Frame{Kind: session.Lock, Number: 1, Name: "x"})
	c.nodes[0].lock("y")
	n.says(1000, session.Frame{Kind: session.Lock, Number: 2, Name: "y"})
	other := n.hello(1001)
	n.hello(1002)
	n.step(Input{Kind: Closed, Number: 1002}) // it has no connection to be told on
	c.pass(20 * ms)
	c.leader().step(Input{Kind: Evict, Number: n.Inc()})
	was := len(n.replies)
	c.until("it is evicted", func() bool { return len(n.ended) > 0 })
	var kinds []session.Kind
	byes := map[uint64]int{}
	for _, e := range n.replies[was:] {
		f, err := session.Parse(e.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if kinds = append(kinds, f.Kind); f.Kind == session.Bye && f.Why == session.Evicted && e.Last {
			byes[e.Conn]++
		}
	}
	if byes[1000] != 1 || byes[1001] != 1 || len(byes) != 2 || !slices.Equal(kinds, []session.Kind{session.Lost, session.Bye, session.Bye}) {
		t.Errorf("clients are told %v", kinds)
	}
	c.until("it is back", c.whole)
	count := 0
	n.Clients(func(session.ClientInfo) { count++ })
	if count != 0 || n.Bound(1000) || n.clients.Holds() != 0 {
		t.Errorf("%d sessions are there again", count)
	}
	old := session.Frame{Kind: session.Hello, Number: 9, Protocol: session.Protocol, Session: w.Session, Secret: w.Secret}
	if all := n.says(1003, old); len(all) != 1 || all[0].Kind != session.Welcome || all[0].Session == w.Session || all[0].Session == other.Session {
		t.Errorf("%+v", all)
	}
	if all := n.says(1003, session.Frame{Kind: session.Check, Number: 1}); len(all) != 1 || all[0].Kind != session.Lost {
		t.Errorf("%+v", all)
	}
}

// All clients of a process that leaves are notified at once, and again when it has left.
func TestClientsOfLeaver(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[2]
	n.hello(1000)
	n.hello(1001)
	n.says(1000, session.Frame{Kind: session.Lock, Number: 1, Name: "x"})
	c.pass(20 * ms)
	n.step(Input{Kind: Leave})
	for conn := uint64(1000); conn < 1002; conn++ {
		if all := n.answers(conn); len(all) != 1 || all[0].Kind != session.Bye || all[0].Why != session.Leaving {
			t.Errorf("%d: %+v", conn, all)
		}
	}
	refused := n.says(1002, session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol})
	if len(refused) != 1 || refused[0].Why != session.Leaving {
		t.Errorf("%+v", refused)
	}
	if all := n.says(1001, session.Frame{Kind: session.Lock, Number: 1, Name: "y"}); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	if all := n.says(1000, session.Frame{Kind: session.Renew, Number: 2}); len(all) != 1 || all[0].Span != 0 {
		t.Errorf("a session is prolonged: %+v", all)
	}
	was := len(n.replies)
	if all := n.says(1000, session.Frame{Kind: session.Unlock, Number: 1}); len(all) != 1 || all[0].Kind != session.Done || !all[0].OK || n.Phase() != Leaving {
		t.Errorf("%+v, phase %d", all, n.Phase())
	}
	c.until("it has left", func() bool { return n.down })
	n.left()
	byes := 0
	for _, e := range n.replies[was:] {
		if session.Kind(e.Bytes[0]) == session.Bye && e.Last {
			byes++
		}
	}
	if byes != 2 {
		t.Errorf("%d clients are told that it has left", byes)
	}
}

// A grant that comes when a client has withdrawn is given back.
func TestWithdrawn(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n, o := c.nodes[1], c.nodes[2]
	for i := range 40 {
		name := n.elsewhere("x")
		held := o.lock(name)
		g := c.call("g", "b")
		r := g.ask(name)
		c.pass(10 * ms)
		o.unlock(held)
		c.pass(member.Instant(i) * ms / 10)
		g.unlock(r)
		c.pass(20 * ms)
		if n.Member().Inside() != 0 || n.clients.Holds() != 0 {
			t.Fatalf("%d: a lock that was withdrawn is held", i)
		}
		o.unlock(o.lock(name))
		g.gone = true
		g.Close(c.now)
		g.take()
	}
}

// A connection that is used again after a session was on it belongs to the new one.
func TestTwoSessionsOnOneConnection(t *testing.T) {
	c := formed(t, 1, "a")
	n := c.nodes[0]
	first := n.hello(1)
	second := n.hello(1)
	if first.Session == second.Session || !n.Bound(1) {
		t.Errorf("%d, %d", first.Session, second.Session)
	}
	if got, _ := n.Client(first.Session); got.Conn != 0 {
		t.Errorf("%+v", got)
	}
	c.pass(2 * lease)
	if n.Phase() != Member || len(n.ended) != 0 {
		t.Error(n.failed)
	}
}
