package process

import (
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// A caller is a client process and its connections.
type caller struct {
	*session.Client
	c     *cluster
	name  string
	lines []*line
	asked uint64 // the number of the last request
	told  []session.Event
	names map[uint64]string // of requests that have not ended
	held  map[uint64]*hold
	last  map[uint64]member.Instant // until when each hold could be acted on
	act   map[uint64]member.Span    // how long after it was checked
	gone  bool
	only  string // if not empty: it reaches no other node
}

// A line is a connection of a client.
type line struct {
	g      *caller
	node   *node
	conn   uint64 // as the host counts
	number uint64 // as the client counts
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
	v := &caller{Client: g, c: c, name: name, names: map[uint64]string{}, held: map[uint64]*hold{}, last: map[uint64]member.Instant{}, act: map[uint64]member.Span{}}
	c.callers = append(c.callers, v)
	v.take()
	return v
}

// line returns a connection, or nil.
func (c *cluster) line(conn uint64) *line {
	for _, g := range c.callers {
		for _, l := range g.lines {
			if l.conn == conn {
				return l
			}
		}
	}
	return nil
}

// line returns the client's connection of this number, or nil.
func (g *caller) line(number uint64) *line {
	for _, l := range g.lines {
		if l.number == number {
			return l
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
			g.act[r] = g.Act(r)
			g.last[r] = end + member.Instant(g.act[r])
		}
	}
	for _, d := range g.Out.Dials {
		g.dial(d)
	}
	for _, f := range g.Out.Frames {
		if l := g.line(f.Conn); l != nil {
			l.post(slices.Clone(f.Bytes))
		}
	}
	for _, number := range g.Out.HangUps {
		if l := g.line(number); l != nil {
			l.end()
		}
	}
	g.Out.Reset()
}

// dial makes a connection.
func (g *caller) dial(d session.Dial) {
	c := g.c
	n := c.at(d.Address)
	if n == nil || n.down || g.gone || g.only != "" && g.only != n.name {
		c.after(ms, func() {
			g.Disconnected(c.now, d.Conn)
			g.take()
		})
		return
	}
	c.conns++
	l := &line{g, n, c.conns, d.Conn}
	g.lines = append(g.lines, l)
	c.after(ms, func() {
		if g.line(d.Conn) == l {
			g.Connected(c.now, d.Conn)
			g.take()
		}
	})
}

// post sends a frame to the node.
func (l *line) post(b []byte) {
	n, life := l.node, l.node.life
	l.g.c.after(ms, func() {
		if !n.down && n.life == life {
			n.step(Input{Kind: Frame, Number: l.conn, Bytes: b})
		}
	})
}

// reply sends a frame to a client.
func (n *node) reply(e *Effect) {
	c := n.c
	l := c.line(e.Conn)
	if l == nil {
		return
	}
	g, b, last := l.g, slices.Clone(e.Bytes), e.Last
	c.after(ms, func() {
		if g.line(l.number) == nil {
			return
		}
		if len(b) > 0 {
			if err := g.Receive(c.now, l.number, b); err != nil {
				c.t.Fatalf("%s refuses a frame: %v", g.name, err)
			}
			g.take()
		}
		if last {
			l.breaks()
		}
	})
}

// end closes a connection of a client. Its node hears of it.
func (l *line) end() {
	n, life := l.node, l.node.life
	l.g.lines = slices.DeleteFunc(l.g.lines, func(o *line) bool { return o == l })
	l.g.c.after(ms, func() {
		if !n.down && n.life == life {
			n.step(Input{Kind: Closed, Number: l.conn})
		}
	})
}

// breaks breaks a connection of a client. Both ends hear of it.
func (l *line) breaks() {
	g := l.g
	if g.line(l.number) == nil {
		return
	}
	l.end()
	g.c.after(ms, func() {
		g.Disconnected(g.c.now, l.number)
		g.take()
	})
}

// disconnect breaks all connections of a client.
func (g *caller) disconnect() {
	for len(g.lines) > 0 {
		g.lines[0].breaks()
	}
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
		h.until = func() member.Instant { return g.Deadline(r) + member.Instant(g.Act(r)) }
		g.held[r] = h
		c.grant(h)
	case session.Taken:
		until := c.now
		if e.Cause == member.Session || e.Cause == member.Lease { // one that looked just before may still act
			until = min(g.last[e.Request], c.now+member.Instant(g.act[e.Request]))
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
