package node

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node/wire"
)

// clientLimits is what the connection of one client may cost.
var clientLimits = wire.Limits{Frame: client.MaxBytes + 1<<10, Queue: 4 << 20}

// maxAnswer is how long an answer may be: what waits to be sent is bounded.
const maxAnswer = 2 << 20

// newDesk makes the desk that serves clients.
func newDesk() *client.Desk {
	return client.NewDesk(client.DeskConfig{Draw: func() (uint64, client.Secret) {
		var s client.Secret
		_, _ = rand.Read(s[:]) // which never fails
		return random(), s
	}})
}

// A visitor is the connection of a client.
type visitor struct {
	*wire.Link
	silent *time.Timer // ends it if it stays without a session for long
	bound  bool        // it has one, and the timer does not run
	dirty  bool
	last   atomic.Bool // close it behind what is queued
}

// serve has the connection of a client, from a mux.
func (n *Node) serve(c net.Conn) {
	n.mu.Lock()
	if n.over {
		n.mu.Unlock()
		return
	}
	n.visits.Add(1)
	n.mu.Unlock()
	defer n.visits.Done()
	l, err := wire.AcceptClient(c, clientLimits, 5*time.Second, 4*time.Duration(n.c.Settings.Renew), &n.visits)
	if err != nil {
		n.c.Log.Debug("refused a client", "from", c.RemoteAddr(), "err", err)
		return
	}
	n.mu.Lock()
	n.conn++
	conn := n.conn
	v := &visitor{Link: l, silent: time.AfterFunc(n.c.silence, func() { l.Fail(errSilent) })}
	n.visitors[conn] = v
	over := n.over
	n.mu.Unlock()
	if !over {
		err = l.Run(func(b []byte) error { return n.heard(conn, b) })
	}
	n.mu.Lock()
	delete(n.visitors, conn)
	v.silent.Stop() // nobody sets it again
	n.desk.Closed(conn)
	n.mu.Unlock()
	l.Fail(errClosed)
	var malformed *wire.Malformed
	if errors.As(err, &malformed) || errors.Is(err, client.ErrFrame) {
		n.c.Log.Warn("a client is cut off", "from", l.Remote(), "err", err)
	}
}

// silence is how long a connection may be without a session, and ask nothing.
const silence = 10 * time.Second

var (
	errClosed = errors.New("the node has closed the connection")
	errSilent = errors.New("the client has no session, and asks nothing")
)

// heard takes a frame of a client.
func (n *Node) heard(conn uint64, b []byte) (err error) {
	n.enter()
	if n.over {
		n.mu.Unlock()
		return errClosed
	}
	now := clock()
	if !n.peer.Do(now, func(m *member.Member) { err = n.desk.Receive(now, m, conn, b) }) {
		err = n.desk.Receive(now, nil, conn, b)
	}
	n.answer()
	n.leave(now)
	return err
}

// answer answers what clients have asked that is no business of sessions.
func (n *Node) answer() {
	asks := n.desk.Out.Asks
	for i := range asks {
		q := asks[i]
		b, err := n.tellAbout(&q)
		if len(b) > maxAnswer {
			err = errAnswer
		}
		if err != nil {
			b = []byte(err.Error())
		}
		for {
			part := b[:min(len(b), client.MaxBytes)]
			b = b[len(part):]
			if n.desk.Answer(q.Conn, q.Number, err == nil, part, len(b) == 0) != nil || len(b) == 0 {
				break
			}
		}
	}
}

// clerical does what the desk wants, with the mutex: what is due, and what is to be
// sent.
func (n *Node) clerical(now member.Instant) {
	for n.desk.Out.Wake <= now {
		if !n.peer.Do(now, func(m *member.Member) { n.desk.Wake(now, m) }) {
			n.desk.Wake(now, nil)
		}
		if n.over {
			return
		}
	}
	n.post()
}

// post queues what the desk wants sent.
func (n *Node) post() {
	for i := range n.desk.Out.Frames {
		f := &n.desk.Out.Frames[i]
		v := n.visitors[f.Conn]
		if v == nil {
			continue
		}
		if len(f.Bytes) > 0 {
			_ = v.Send(f.Bytes, false) // its reader hears of an error
		}
		if f.Last {
			v.last.Store(true)
		}
		if bound := n.desk.Bound(f.Conn); !bound {
			v.bound = false
			v.silent.Reset(n.c.silence)
		} else if !v.bound {
			v.bound = true
			v.silent.Stop()
		}
		if !v.dirty {
			v.dirty = true
			n.dirty = append(n.dirty, v)
		}
	}
	n.desk.Out.Reset()
}

// dirtied returns the connections on which something is to be sent, with the mutex.
func (n *Node) dirtied() []*visitor {
	if len(n.dirty) == 0 {
		return nil
	}
	all := n.dirty
	n.dirty = nil
	for _, v := range all {
		v.dirty = false
	}
	return all
}

func (v *visitor) flush() {
	if v.last.Load() {
		v.Close(errClosed)
		return
	}
	v.Flush()
}

// knows tells clients where the nodes are.
func (n *Node) knows(r *engine.Record) {
	var all []string
	for _, m := range r.Members {
		all = append(all, m.Address)
	}
	n.desk.Nodes = all
}

// dismiss ends all connections of clients, and waits for their goroutines.
func (n *Node) dismiss(ctx context.Context) {
	n.mu.Lock()
	all := make([]*visitor, 0, len(n.visitors))
	for _, v := range n.visitors {
		all = append(all, v)
	}
	n.mu.Unlock()
	for _, v := range all {
		v.Close(errClosed)
	}
	stop := context.AfterFunc(ctx, func() {
		for _, v := range all {
			v.Fail(errClosed)
		}
		if n.mux != nil {
			n.mux.Close() // some may not have said yet that they are clients
		}
	})
	defer stop()
	n.visits.Wait()
}
