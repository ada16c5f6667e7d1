package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/node/rights"
	"github.com/stile-lock/stile/internal/node/transport"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/session"
)

// clientLimits bounds what the connection of one client may cost.
var clientLimits = transport.Limits{Frame: session.MaxBytes + 1<<10, Queue: 4 << 20}

// maxAnswer is the maximum size of an answer: what waits to be sent is bounded.
const maxAnswer = 2 << 20

// A clientConn is the connection of a client.
type clientConn struct {
	transport.Conn
	who    Caller
	inside bool          // the client is in this process, and uses no other node
	quota  session.Quota // as the process knows it
	known  bool          // the process knows who it is
	silent *time.Timer   // closes the connection if it has no session for long
	bound  bool          // it has a session, and the timer is stopped
	dirty  bool
	polls  int                // queries that wait
	lists  []session.Question // for locks in use, to be answered without the mutex
	last   atomic.Bool        // close it after what is queued
}

// serve runs the connection of a client, accepted by a mux.
func (n *Node) serve(c net.Conn) {
	n.mu.Lock()
	if n.over {
		n.mu.Unlock()
		return
	}
	n.visits.Add(1)
	n.mu.Unlock()
	defer n.visits.Done()
	l, err := transport.AcceptClient(c, clientLimits, 5*time.Second, 4*time.Duration(n.c.Settings.Renew), &n.visits)
	if err != nil {
		n.c.Log.Debug("client refused", "from", c.RemoteAddr(), "err", err)
		return
	}
	var chain []*x509.Certificate
	if t, ok := c.(*tls.Conn); ok {
		chain = t.ConnectionState().PeerCertificates
	}
	who, err := n.CallerOf(chain, l.Remote())
	if err != nil {
		n.audit.denied(who, "connect", err.Error())
		l.Fail(err)
		return
	}
	n.host(l, who, false)
}

// A Caller is a client, as its connection identifies it.
type Caller struct {
	cert.Identity
	From  string            // where it connects from
	Cert  *x509.Certificate // nil without one
	Until time.Time         // when its JWT expires; zero without one
}

// CallerOf returns the client that presents certificates, its own first. Without any it is
// anyone.
func (n *Node) CallerOf(chain []*x509.Certificate, from string) (who Caller, err error) {
	who.From = from
	if len(chain) > 0 {
		who.Cert = chain[0]
		who.Identity, err = n.present().Owner(who.Cert, n.c.RequireURI)
	}
	return who, err
}

// Bearer returns the client that presents a bearer token: one of 'stile token', or a JWT.
func (n *Node) Bearer(bearer, from string, now time.Time) (who Caller, err error) {
	who.From = from
	keys := n.jwks.Load()
	if keys == nil || !rights.IsJWT(bearer) {
		who.Identity, err = n.tokens.Load().Find(bearer, now)
		return who, err
	}
	subject, until, err := n.c.Issuer.Verify(keys, bearer, now)
	if err != nil {
		return who, err
	}
	who.Until = until
	who.Identity, err = n.present().Subject(subject)
	return who, err
}

// present returns the rights at present.
func (n *Node) present() *rights.Rules {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rules
}

// Connect returns a client in this process, which acts for a caller and uses this node
// only.
func (n *Node) Connect(ctx context.Context, who Caller, c client.Config) (*client.Client, error) {
	return client.Dial(ctx, n.inside(who, c))
}

// QueryFor asks this node a question for a caller, and returns the answer.
func (n *Node) QueryFor(ctx context.Context, who Caller, what uint64, b []byte) ([]byte, error) {
	answer, _, err := client.Query(ctx, n.inside(who, client.Config{}), what, b)
	return answer, err
}

// inside makes a client connect to this node only, within this process.
func (n *Node) inside(who Caller, c client.Config) client.Config {
	c.Nodes = []string{n.address}
	c.Connect = func(_ context.Context, address string) (transport.Conn, error) {
		if address != n.address {
			return nil, fmt.Errorf("%s is another node: sessions over HTTP stay at the node that opened them", address)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.over {
			return nil, ErrEnded
		}
		theirs, ours := transport.Pipe()
		n.visits.Go(func() { n.host(ours, who, true) })
		return theirs, nil
	}
	return c
}

// host runs the connection of a client until it ends, one inside this process or from outside.
func (n *Node) host(l transport.Conn, who Caller, inside bool) {
	if err := n.barred(&who, time.Now()); err != nil {
		n.audit.denied(who, "connect", err.Error())
		l.Fail(fmt.Errorf("%w: %w", lock.ErrDenied, err))
		return
	}
	if !inside {
		n.audit.connected(who)
	}
	n.enter()
	n.conn++
	conn := n.conn
	v := &clientConn{Conn: l, who: who, inside: inside, silent: time.AfterFunc(n.c.silence, func() { l.Fail(errSilent) })}
	n.conns[conn] = v
	over := n.over
	if over {
		n.mu.Unlock()
	} else {
		n.introduce(conn, v)
		n.leave()
	}
	var err error
	if !over {
		err = l.Run(func(b []byte) error { return n.heard(conn, v, b) })
	}
	n.enter()
	n.endPolls(conn)
	delete(n.conns, conn)
	v.silent.Stop() // nothing sets it again
	if n.over {
		n.mu.Unlock()
	} else {
		n.step(process.Input{Kind: process.Closed, Number: conn})
		n.leave()
	}
	l.Fail(errClosed)
	var malformed *transport.Malformed
	if errors.As(err, &malformed) || errors.Is(err, session.ErrFrame) {
		n.c.Log.Warn("client disconnected", "from", who.From, "err", err)
	}
}

// silence is how long a connection may go without a session or a question.
const silence = 10 * time.Second

var (
	errClosed = errors.New("the node closed the connection")
	errSilent = errors.New("the client opened no session and asked nothing")
)

// heard handles a frame from a client. It is the only door for clients: whatever they may
// not do is refused here.
func (n *Node) heard(conn uint64, v *clientConn, b []byte) error {
	n.enter()
	if n.over {
		n.mu.Unlock()
		return errClosed
	}
	n.cut = nil
	if answer := n.refusal(conn, v, b); answer != nil {
		n.post(conn, answer, session.Kind(answer[0]) == session.Bye)
	} else {
		n.step(process.Input{Kind: process.Frame, Number: conn, Bytes: b})
		n.carryOut()
	}
	err, lists := n.cut, v.lists
	v.lists = nil
	n.leave()
	for i := range lists {
		n.sendList(&lists[i], &v.who)
	}
	return err
}

// sendList answers a question for locks in use. The client's next frame waits: who asks for more
// than a node can list is slowed down, and no one else.
func (n *Node) sendList(q *session.Question, who *Caller) {
	b, err := n.list(q.Bytes, who)
	if len(b) > maxAnswer {
		b, err = nil, errLong
	}
	for more := true; more; {
		n.enter()
		if n.over {
			n.mu.Unlock()
			return
		}
		b, err, more = n.sendPart(q, b, err)
		n.leave()
	}
}

// reply queues a frame for a client.
func (n *Node) reply(e *process.Effect) { n.post(e.Conn, e.Bytes, e.Last) }

func (n *Node) post(conn uint64, b []byte, last bool) {
	v := n.conns[conn]
	if v == nil {
		return
	}
	if len(b) > 0 {
		_ = v.Send(b, false) // its reader sees the error
	}
	if last {
		v.last.Store(true)
	}
	if !n.p.Bound(conn) {
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

// dirtied returns the first connection with something to send, and the others. There must be
// one, and the mutex must be held.
func (n *Node) dirtied() (first *clientConn, others []*clientConn) {
	for _, v := range n.dirty {
		v.dirty = false
	}
	first, others = n.dirty[0], n.dirty[1:]
	if len(others) > 0 {
		n.dirty = nil
		return first, others
	}
	n.dirty[0] = nil
	n.dirty = n.dirty[:0]
	return first, nil
}

func (v *clientConn) flush() {
	if v.last.Load() {
		v.Close(errClosed)
		return
	}
	v.Flush()
}

// dismiss closes all connections of clients and waits for their goroutines.
func (n *Node) dismiss(ctx context.Context) {
	n.mu.Lock()
	all := make([]*clientConn, 0, len(n.conns))
	for _, v := range n.conns {
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
			n.mux.Close() // some may not have identified themselves as clients yet
		}
	})
	defer stop()
	n.visits.Wait()
}
