package process

import (
	"slices"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/session"
)

// A caller is a client process and its connection.
type caller struct {
	*session.Client
	c      *cluster
	name   string
	node   *node // that it is connected to, or nil
	conn   uint64
	number uint64 // of the connection, as the client counts
	asked  uint64 // the number of the last request
	told   []session.Event
	names  map[uint64]string // of requests that have not ended
	held   map[uint64]*hold
	last   map[uint64]member.Instant // until when each hold could be acted on
	gone   bool
}

// call starts a client that knows some nodes.
func (c *cluster) call(name string, nodes ...string) *caller {
	c.t.Helper()
	g, err := session.NewClient(c.now, session.ClientConfig{
		Name: name, Nodes: nodes, Retry: 10 * member.Millisecond, MaxRetry: 50 * member.Millisecond, Dial: 50 * member.Millisecond, Seed: uint64(len(c.callers)),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	v := &caller{Client: g, c: c, name: name, names: map[uint64]string{}, held: map[uint64]*hold{}, last: map[uint64]member.Instant{}}
	c.callers = append(c.callers, v)
	v.take()
	return v
}

// caller returns the client of a connection, or nil.
func (c *cluster) caller(conn uint64) *caller {
	for _, g := range c.callers {
		if conn != 0 && g.conn == conn {
			return g
		}
	}
	return nil
}

// take does what a client wants done.
func (g *caller) take() {
	c := g.c
	c.t.Helper()
	for i := range g.Out.Events {
		g.event(&g.Out.Events[i])
	}
	for r := range g.held {
		if end := g.Deadline(r); end != 0 {
			g.last[r] = end + member.Instant(g.Act())
		}
	}
	if d := g.Out.Dial; d != (session.Dial{}) {
		g.disconnect()
		g.dial(d)
	}
	for _, b := range g.Out.Frames {
		g.post(slices.Clone(b))
	}
	g.Out.Reset()
}

// dial makes a connection.
func (g *caller) dial(d session.Dial) {
	c := g.c
	g.number = d.Conn
	n := c.at(d.Address)
	if n == nil || n.down || g.gone {
		c.after(ms, func() {
			g.Disconnected(c.now, d.Conn)
			g.take()
		})
		return
	}
	c.conns++
	g.node, g.conn = n, c.conns
	c.after(ms, func() {
		if g.number == d.Conn && g.node != nil {
			g.Connected(c.now, d.Conn)
			g.take()
		}
	})
}

// post sends a frame to the node.
func (g *caller) post(b []byte) {
	n, conn := g.node, g.conn
	if n == nil {
		return
	}
	life := n.life
	g.c.after(ms, func() {
		if !n.down && n.life == life && g.conn == conn {
			n.step(Input{Kind: Frame, Number: conn, Bytes: b})
		}
	})
}

// reply sends a frame to a client.
func (n *node) reply(e *Effect) {
	c := n.c
	g := c.caller(e.Conn)
	if g == nil {
		return
	}
	b, last, conn, number := slices.Clone(e.Bytes), e.Last, e.Conn, g.number
	c.after(ms, func() {
		if g.conn != conn {
			return
		}
		if len(b) > 0 {
			if err := g.Receive(c.now, number, b); err != nil {
				c.t.Fatalf("%s refuses a frame: %v", g.name, err)
			}
			g.take()
		}
		if last && g.conn == conn {
			g.disconnect()
		}
	})
}

// disconnect breaks the connection of a client. Both ends hear of it.
func (g *caller) disconnect() {
	n, c, conn, number := g.node, g.c, g.conn, g.number
	if n == nil {
		return
	}
	g.node, g.conn = nil, 0
	life := n.life
	c.after(ms, func() {
		if !n.down && n.life == life {
			n.step(Input{Kind: Closed, Number: conn})
		}
		g.Disconnected(c.now, number)
		g.take()
	})
}

// event takes what a client tells its application.
func (g *caller) event(e *session.Event) {
	c := g.c
	g.told = append(g.told, *e)
	h := g.held[e.Request]
	switch e.Kind {
	case session.Granted:
		h = &hold{who: g.name, name: g.names[e.Request], token: e.Token}
		r := e.Request
		h.until = func() member.Instant { return g.Deadline(r) + member.Instant(g.Act()) }
		g.held[r] = h
		c.grant(h)
	case session.Taken:
		until := c.now
		if e.Cause == member.Session || e.Cause == member.Lease { // one that looked just before may still act
			until = min(g.last[e.Request], c.now+member.Instant(g.Act()))
		}
		h.until = func() member.Instant { return until }
		delete(g.held, e.Request)
		delete(g.names, e.Request)
	case session.Refused, session.Left:
		delete(g.names, e.Request)
	}
}

// ask requests a lock.
func (g *caller) ask(name string) uint64 {
	g.c.t.Helper()
	return g.request(name, session.Opts{})
}

func (g *caller) request(name string, o session.Opts) uint64 {
	g.c.t.Helper()
	r, err := g.Lock(g.c.now, name, o)
	if err != nil {
		g.c.t.Fatal(err)
	}
	g.names[r], g.asked = name, r
	g.take()
	return r
}

// lock requests a lock, and waits until it is held.
func (g *caller) lock(name string) uint64 {
	g.c.t.Helper()
	r := g.ask(name)
	g.c.until(g.name+" holds "+name, func() bool { return g.held[r] != nil })
	return r
}

// unlock releases a lock, or takes a request back.
func (g *caller) unlock(r uint64) {
	if h := g.held[r]; h != nil {
		g.c.over(h)
		delete(g.held, r)
	}
	_ = g.Unlock(g.c.now, r)
	g.take()
}
