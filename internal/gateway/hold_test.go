package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	pb "github.com/stile-lock/stile/internal/gateway/stilev1"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/clock"
)

// protocols are those that the gateway speaks, with the version of HTTP that they need.
func (a *api) protocols() map[string]pb.LocksClient {
	plain := &http.Transport{Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	a.t.Cleanup(plain.CloseIdleConnections)
	two := &http.Client{Transport: plain}
	return map[string]pb.LocksClient{
		"gRPC":         pb.NewLocksClient(two, a.url, connect.WithGRPC()),
		"gRPC-Web":     pb.NewLocksClient(a.client, a.url, connect.WithGRPCWeb()),
		"JSON":         pb.NewLocksClient(a.client, a.url, connect.WithProtoJSON()),
		"JSON, HTTP/2": pb.NewLocksClient(two, a.url, connect.WithProtoJSON()),
	}
}

// next returns the next message of a stream.
func next(t *testing.T, s *connect.ServerStreamForClient[pb.HoldResponse]) *pb.HoldResponse {
	t.Helper()
	if !s.Receive() {
		t.Fatalf("the stream ended: %v", s.Err())
	}
	return s.Msg()
}

// acquired returns the next message of a stream that does not report that it waits, which any
// request may do for a moment.
func acquired(t *testing.T, s *connect.ServerStreamForClient[pb.HoldResponse]) *pb.Held {
	t.Helper()
	for {
		if m := next(t, s); m.GetWaiting() == nil {
			return m.GetHeld()
		}
	}
}

// A stream reports what happens to a lock. A client that ends it frees the lock at once,
// long before the lease ends.
func TestHold(t *testing.T) {
	a := serve(t, func(c *node.Config) { c.Lease = time.Minute })
	for name, c := range a.protocols() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first, err := c.Hold(ctx, &pb.HoldRequest{Name: "x", Label: name})
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			held := acquired(t, first)
			if v := held.GetValidFor().AsDuration(); held.GetToken() == "" || v <= 0 || v > 30*time.Second {
				t.Fatalf("held: %v", held)
			}
			out, err := c.KeepAlive(t.Context(), &pb.KeepAliveRequest{Session: held.GetSession()})
			if err != nil || out.GetValidFor().AsDuration() < held.GetValidFor().AsDuration() {
				t.Errorf("kept alive: %v, %v", out, err)
			}
			second, err := c.Hold(t.Context(), &pb.HoldRequest{Name: "x"})
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			if w := next(t, second).GetWaiting(); w.GetPosition() != 1 {
				t.Errorf("waits: %v", w)
			}
			cancel()
			if next := acquired(t, second); next.GetToken() == held.GetToken() || next == nil {
				t.Errorf("held: %v after %v", next, held)
			}
			a.call("Cluster/ForceRelease", object{"name": "x"})
			if lost := next(t, second).GetLost(); lost.GetName() != "x" {
				t.Errorf("lost: %v", lost)
			}
			if second.Receive() || second.Err() != nil {
				t.Errorf("after the loss: %v, %v", second.Msg(), second.Err())
			}
		})
	}
}

// Messages come before what the last one granted has passed, and none grants more than half
// a lease.
func TestHoldRenews(t *testing.T) {
	const lease = 3 * time.Second
	a := serve(t, func(c *node.Config) { c.Lease = lease })
	s, err := a.protocols()["gRPC"].Hold(t.Context(), &pb.HoldRequest{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	valid := next(t, s).GetHeld().GetValidFor().AsDuration()
	for range 3 {
		if valid <= 0 || valid > lease/2 {
			t.Errorf("valid for %v of a lease of %v", valid, lease)
		}
		valid = next(t, s).GetRenewed().GetValidFor().AsDuration()
	}
}

func TestHoldRefused(t *testing.T) {
	a := serve(t, nil)
	a.call("Locks/Acquire", object{"session": a.open(nil), "name": "x"})
	c := a.protocols()["gRPC"]
	for _, x := range []struct {
		want problem
		in   string
		wait time.Duration
	}{
		{badRequest, "", 0},
		{badRequest, strings.Repeat("x", 513), 0},
		{tooLate, "x", time.Millisecond},
	} {
		in := &pb.HoldRequest{Name: x.in}
		if x.wait > 0 {
			in.Wait = asProto(x.wait)
		}
		s, err := c.Hold(t.Context(), in)
		for err == nil && s.Receive() {
		}
		if err == nil {
			err = s.Err()
		}
		var e *connect.Error
		if !errors.As(err, &e) || e.Code() != x.want.code || e.Meta().Get(ReasonHeader) != x.want.reason {
			t.Errorf("%v: %v, want %s %s", in, err, x.want.code, x.want.reason)
		}
	}
}

// If the connection breaks, the client may not know: the lock is free only when the client
// has counted to the end, for every way in which a connection can break. If the client
// ended it, the lock is free at once.
func TestBrokenStream(t *testing.T) {
	const lease = time.Second
	n := startNode(t, func(c *node.Config) { c.Lease = lease })
	for _, x := range []struct {
		name string
		end  error
		free bool // at once
	}{
		{"timeout", syscall.ETIMEDOUT, false},
		{"unreachable", syscall.EHOSTUNREACH, false},
		{"closed here", errClosedHere, false},
		{"reset", syscall.ECONNRESET, true},
		{"only the stream", nil, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := newGateway(n, Config{})
			defer g.sessions.kill()
			broken := &conn{end: x.end}
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), connKey{}, broken))
			r := httptest.NewRequestWithContext(ctx, "POST", "/stile.v1.Locks/Hold", strings.NewReader("\x00\x00\x00\x00\x0c"+`{"name":"x"}`))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/connect+json")
			w := &whenHeld{ResponseRecorder: httptest.NewRecorder(), then: cancel}
			start := clock.Now() // before anything was granted
			g.door.ServeHTTP(w, r)
			g.sessions.mu.Lock()
			left := len(g.sessions.all)
			g.sessions.mu.Unlock()
			if !strings.Contains(w.Body.String(), "held") || (left == 0) != x.free {
				t.Fatalf("%d sessions are left after %s", left, w.Body)
			}
			eventually(t, "the lock is free", func() bool { return n.Status().Held == 0 })
			if held := time.Duration(clock.Now() - start); !x.free && held < lease/2 {
				t.Errorf("free after %v, but half a lease was granted", held)
			}
		})
	}
}

// A whenHeld calls a function when it is written that a lock is held.
type whenHeld struct {
	*httptest.ResponseRecorder
	then func()
}

func (w *whenHeld) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "held") {
		defer w.then()
	}
	return w.ResponseRecorder.Write(b)
}

// However long a message takes, up to what it grants, and however often the lease is
// renewed, its reader never counts further than the lock is held, nor to the end before the
// next message.
func TestPromise(t *testing.T) {
	const lease = 10 * time.Second
	for left := time.Duration(0); left <= lease; left += 7 * time.Millisecond {
		now, until := member.Instant(1000), member.Instant(1000)+member.Instant(left)
		v := streamed(now, until)
		if counted := now + member.Instant(2*v); counted > until {
			t.Fatalf("with %v left, %v is granted", left, v)
		}
		if !tooShort(lease, v) && beat(lease, v) >= v {
			t.Fatalf("%v is granted, and the next message comes after %v", v, beat(lease, v))
		}
		if v > lease/2 {
			t.Fatalf("%v is granted", v)
		}
	}
	if g := granted(100, 50, 1000, 0); g != 0 {
		t.Errorf("%v is granted after the end", g)
	}
	if g := granted(100, 5000, 1100, 1000); g != 900 {
		t.Errorf("%v is granted of a session of 1000", g)
	}
	if g := granted(100, 500, 1100, 1000); g != 400 {
		t.Errorf("%v is granted of 400 left", g)
	}
}

// A node that stops tells streams that their locks are lost, and does not wait for them
// longer than a lease. Its sessions can release locks meanwhile, and no other is opened.
func TestStop(t *testing.T) {
	a := serve(t, func(c *node.Config) { c.Lease = 2 * time.Second })
	session := a.open(nil)
	held := a.acquire(session, "y")
	s, err := a.protocols()["JSON"].Hold(t.Context(), &pb.HoldRequest{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	next(t, s)
	stopped := make(chan error)
	go func() { stopped <- a.g.node.Stop(t.Context()) }()
	eventually(t, "the node stops", func() bool { return a.g.node.Status().State == "draining" })
	a.release(session, held)
	for s.Receive() && s.Msg().GetLost() == nil {
	}
	if s.Err() != nil || s.Msg().GetLost().GetName() != "x" {
		t.Errorf("the stream ends with %v, %v", s.Msg(), s.Err())
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	a.fails(noNode, "Locks/OpenSession", nil)
}

func TestWatch(t *testing.T) {
	a := serve(t, nil)
	c := pb.NewClusterClient(a.client, a.url, connect.WithProtoJSON())
	w, err := c.WatchLocks(t.Context(), &pb.WatchLocksRequest{Prefix: "x/", Interval: asProto(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	receive := func() *pb.WatchLocksResponse {
		if !w.Receive() {
			t.Fatal(w.Err())
		}
		return w.Msg()
	}
	if m := receive(); len(m.GetChanged())+len(m.GetGone()) != 0 {
		t.Errorf("at first: %v", m)
	}
	s := a.open(object{"label": "one"})
	a.call("Locks/Acquire", object{"session": s, "name": "other"})
	held := a.acquire(s, "x/1")
	if m := receive(); len(m.GetChanged()) != 1 || m.GetChanged()[0].GetName() != "x/1" || m.GetChanged()[0].GetHolder().GetLabel() != "one" {
		t.Errorf("acquired: %v", m)
	}
	a.release(s, held)
	if m := receive(); len(m.GetGone()) != 1 || m.GetGone()[0] != "x/1" {
		t.Errorf("released: %v", m)
	}
	own, err := a.g.node.Lock(t.Context(), "x/2", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := receive(); len(m.GetChanged()) != 1 || m.GetChanged()[0].GetHolder().GetValue() != "" {
		t.Errorf("acquired by the node: %v", m)
	}
	if err := own.SetValue("row 7"); err != nil {
		t.Fatal(err)
	}
	if m := receive(); len(m.GetChanged()) != 1 || m.GetChanged()[0].GetHolder().GetValue() != "row 7" {
		t.Errorf("with a value: %v", m)
	}
}
