package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Messages go both ways over one connection, and both sides know who is there.
func TestMessages(t *testing.T) {
	both(t, func(t *testing.T, a, b *node) {
		if err := a.say(b.addr, "too early"); !errors.Is(err, ErrDown) {
			t.Errorf("without a link: %v", err)
		}
		if p := take(t, "link", a.ups); p.Name != "b" || p.Addr != b.addr || p.Version != MaxVersion {
			t.Errorf("linked to %+v", p)
		}
		if p := take(t, "link", b.ups); p.Name != "a" || p.Addr != a.addr {
			t.Errorf("linked to %+v", p)
		}
		for i := range 3 {
			if err := errors.Join(a.say(b.addr, fmt.Sprint(i)), b.say(a.addr, fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			if got := take(t, "message", b.got); got != fmt.Sprint("a: ", i) {
				t.Errorf("b got %q", got)
			}
			if got := take(t, "message", a.got); got != fmt.Sprint("b: ", i) {
				t.Errorf("a got %q", got)
			}
		}
		if ties(a, b) != 1 {
			t.Error("there is more than one connection")
		}
	})
}

// Many messages of all sizes come whole and in order.
func TestOrder(t *testing.T) {
	both(t, func(t *testing.T, a, b *node) {
		const count = 3000
		var wrong error
		done, next := make(chan struct{}), uint32(0)
		b.on = func(_ *Peer, m []byte) error {
			if n := binary.BigEndian.Uint32(m); n != next || len(m) != size(n) || wrong == nil && !bytes.Equal(m[4:], bytes.Repeat([]byte{byte(n)}, len(m)-4)) {
				wrong = fmt.Errorf("message %d of %d bytes, where %d would be right", n, len(m), next)
			}
			if next++; next == count {
				close(done)
			}
			return nil
		}
		link(t, a, b)
		line := best(a, b)
		for n := range uint32(count) {
			m := binary.BigEndian.AppendUint32(nil, n)
			if err := a.pool.Send(b.addr, append(m, bytes.Repeat([]byte{byte(n)}, size(n)-4)...), false); err != nil {
				t.Fatal(err)
			}
			if n%7 == 0 {
				a.pool.Flush()
			}
			if line.Waits() > a.pool.c.Queue/2 {
				eventually(t, "b reads", func() bool { return line.Waits() < a.pool.c.Queue/4 })
			}
		}
		a.pool.Flush()
		take(t, "last message", done)
		if wrong != nil {
			t.Error(wrong)
		}
	})
}

func size(n uint32) int {
	if n%500 == 0 {
		return 1 << 20
	}
	return 4 + int(n*n)%3000
}

// Both dial at once, again and again: one connection stays, and nothing is lost.
func TestBothDial(t *testing.T) {
	ca := newAuthority(t)
	keys := [][2]func(*plan){{func(*plan) {}, func(*plan) {}}, {ca.keyed(t, "a"), ca.keyed(t, "b")}}
	doubled := 0
	for round := range 60 {
		a, b := newNode(t, "a", keys[round%2][0]), newNode(t, "b", keys[round%2][1])
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, pair := range [][2]*node{{a, b}, {b, a}} {
			wg.Go(func() { <-start; pair[0].pool.Dial(pair[1].addr) })
		}
		close(start)
		wg.Wait()
		take(t, "link", a.ups)
		take(t, "link back", b.ups)
		const count = 200
		for i := range count {
			if err := errors.Join(a.say(b.addr, fmt.Sprint(i)), b.say(a.addr, fmt.Sprint(i))); err != nil {
				t.Fatal(round, err)
			}
			doubled = max(doubled, ties(a, b), ties(b, a))
		}
		for range count {
			take(t, "message", a.got)
			take(t, "message back", b.got)
		}
		eventually(t, "one connection stays", func() bool { return ties(a, b) == 1 && ties(b, a) == 1 && same(a, b) })
		if len(a.ups)+len(b.ups)+len(a.downs)+len(b.downs) > 0 {
			t.Fatalf("round %d: links came and went", round)
		}
		a.pool.Close()
		b.pool.Close()
	}
	if doubled != 2 {
		t.Errorf("at most %d connections at a time: this has tested nothing", doubled)
	}
}

// same reports whether two nodes speak over the same connection.
func same(a, b *node) bool {
	ends := func(from, to *node) [2]string {
		from.pool.mu.Lock()
		defer from.pool.mu.Unlock()
		if pr := from.pool.peers[to.addr]; pr != nil && pr.best != nil {
			return [2]string{pr.best.sock.LocalAddr().String(), pr.best.sock.RemoteAddr().String()}
		}
		return [2]string{}
	}
	one, other := ends(a, b), ends(b, a)
	return one[0] == other[1] && one[1] == other[0]
}

// best returns the link that a node sends on.
func best(from, to *node) *tie {
	from.pool.mu.Lock()
	defer from.pool.mu.Unlock()
	return from.pool.peers[to.addr].best
}

// ties counts the links from one node to another.
func ties(from, to *node) int {
	from.pool.mu.Lock()
	defer from.pool.mu.Unlock()
	if pr := from.pool.peers[to.addr]; pr != nil {
		return len(pr.links)
	}
	return 0
}

// A node that comes back is linked again, as another process.
func TestReconnect(t *testing.T) {
	ca := newAuthority(t)
	a, key := newNode(t, "a", ca.keyed(t, "a")), ca.keyed(t, "b")
	b := newNode(t, "b", key)
	link(t, a, b)
	first := b.pool.c.Nonce
	b.mux.Close()
	b.pool.Close()
	take(t, "end", a.downs)
	for !errors.Is(a.say(b.addr, "hello?"), ErrDown) {
		t.Fatal("it is still there")
	}
	says(t, take(t, "failure to dial", a.downs), "cannot connect to "+b.addr)
	m, err := Listen(b.addr, MuxConfig{TLS: b.mux.c.TLS})
	if err != nil {
		t.Fatal(err)
	}
	b2 := &node{ups: make(chan *Peer, 9), downs: make(chan error, 9), got: make(chan string, 9)}
	c := b.pool.c
	c.Nonce = 0
	if b2.pool, err = NewPool(c, b2); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer b2.pool.Close()
	m.Handle(PeerProto, b2.pool.Serve)
	m.Start()
	eventually(t, "it is dialled again", func() bool { return a.say(b.addr, "back") == nil })
	if p := take(t, "link", a.ups); p.Nonce == first {
		t.Error("it is the same process")
	}
	if got := take(t, "message", b2.got); got != "a: back" {
		t.Error(got)
	}
}

// A new process at an address replaces the one before, which is reported as down before the
// new one is up.
func TestReplaced(t *testing.T) {
	a := newNode(t, "a")
	old := fake(t, a, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 1})
	if p := take(t, "link", a.ups); p.Nonce != 1 {
		t.Errorf("%+v", p)
	}
	fake(t, a, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 2})
	says(t, take(t, "end", a.downs), "replaced by")
	if p := take(t, "link", a.ups); p.Nonce != 2 {
		t.Errorf("%+v", p)
	}
	if _, _, err := old.r.next(); err == nil {
		t.Error("the old connection is still there")
	}
	// The same process dials twice if it knows the first link to be dead.
	fake(t, a, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 2})
	says(t, take(t, "end", a.downs), "replaced by")
	take(t, "link", a.ups)
}

// Two connections, one dialled by each side, and the one to send on is dead, which
// only the other side knows: it is probed at once, and the other one is used.
func TestProbe(t *testing.T) {
	a := newNode(t, "a", func(p *plan) { p.config.Nonce, p.config.Heartbeat = 1, time.Hour })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x := Hello{1, 1, "x", l.Addr().String(), 2, nil}
	a.pool.Dial(x.Addr)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(safety))
	old := &stranger{c, newReader(c, 1<<20)}
	g := &greeter{self: x, check: func(*Peer) error { return nil }}
	if _, err := g.accept(old, old.r); err != nil {
		t.Fatal(err)
	}
	if p := take(t, "link", a.ups); p.Dialled != x.Addr {
		t.Errorf("dialled %q", p.Dialled)
	}
	fresh := fake(t, a, x)
	if k, _, err := old.r.next(); k != kindBeat || err != nil {
		t.Fatalf("the old link is not probed: kind %d, %v", k, err)
	}
	c.(*net.TCPConn).SetLinger(0) // a reset, as of a host that does not know it
	c.Close()
	to := &node{addr: x.Addr}
	eventually(t, "one link is left", func() bool { return ties(a, to) == 1 })
	if err := a.say(x.Addr, "here"); err != nil {
		t.Fatal(err)
	}
	if k, b, err := fresh.r.next(); k != kindData || string(b) != "here" || err != nil {
		t.Errorf("kind %d, %q, %v", k, b, err)
	}
	if len(a.downs)+len(a.ups) > 0 {
		t.Error("the address was down")
	}
}

// A message that the owner cannot read ends the link.
func TestOwnerComplains(t *testing.T) {
	both(t, func(t *testing.T, a, b *node) {
		b.on = func(_ *Peer, m []byte) error { return malformed("%q is no message", m) }
		link(t, a, b)
		if err := a.say(b.addr, "nonsense"); err != nil {
			t.Fatal(err)
		}
		var m *Malformed
		if err := take(t, "end", b.downs); !errors.As(err, &m) || m.Why != `"nonsense" is no message` {
			t.Error(err)
		}
		take(t, "end", a.downs)
	})
}

// Too long a message is refused, and the link stays.
func TestTooLong(t *testing.T) {
	a, b := newNode(t, "a", func(p *plan) { p.config.Frame = 100 }), newNode(t, "b")
	link(t, a, b)
	if err := a.say(b.addr, strings.Repeat("x", 101)); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
	if err := a.say(b.addr, strings.Repeat("x", 100)); err != nil {
		t.Error(err)
	}
	take(t, "message", b.got)
	// Here a frame may be longer than there: that is malformed there.
	if err := b.say(a.addr, strings.Repeat("x", 200)); err != nil {
		t.Fatal(err)
	}
	says(t, take(t, "end", a.downs), "malformed: frame of 201 bytes")
}

// Messages queued before the pool was closed are sent.
func TestCloseSends(t *testing.T) {
	both(t, func(t *testing.T, a, b *node) {
		link(t, a, b)
		for i := range 100 {
			if err := a.pool.Send(b.addr, fmt.Append(nil, i), false); err != nil {
				t.Fatal(err)
			}
		}
		a.pool.Close()
		for i := range 100 {
			if got := take(t, "message", b.got); got != fmt.Sprint("a: ", i) {
				t.Fatal(got)
			}
		}
		says(t, take(t, "end", b.downs), "closed the connection")
		if err := a.say(b.addr, "x"); !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
}

// Changed extra bytes are sent in the next greeting.
func TestExtra(t *testing.T) {
	a, b := newNode(t, "a", func(p *plan) { p.config.Extra = []byte("one") }), newNode(t, "b")
	a.pool.Dial(b.addr)
	if p := take(t, "link", b.ups); string(p.Extra) != "one" {
		t.Errorf("%q", p.Extra)
	}
	if err := a.pool.SetExtra([]byte("two")); err != nil {
		t.Fatal(err)
	}
	a.pool.Drop(b.addr)
	take(t, "end", b.downs)
	a.pool.Dial(b.addr)
	if p := take(t, "link", b.ups); string(p.Extra) != "two" {
		t.Errorf("%q", p.Extra)
	}
	if err := a.pool.SetExtra(make([]byte, MaxExtra+1)); err == nil {
		t.Error("too many extra bytes are fine")
	}
}

// An address that is wanted again is not forgotten while an earlier attempt to dial it,
// which is no longer wanted, has not returned.
func TestDropAndDial(t *testing.T) {
	dials, back := make(chan struct{}, 10), make(chan struct{})
	a := newNode(t, "a", func(p *plan) {
		p.config.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
			dials <- struct{}{}
			<-ctx.Done()
			<-back
			return nil, ctx.Err()
		}
	})
	for range 3 {
		a.pool.Dial("127.0.0.1:1")
		take(t, "attempt", dials)
		a.pool.Drop("127.0.0.1:1")
		a.pool.Dial("127.0.0.1:1")
		back <- struct{}{}
		take(t, "another attempt", dials)
		a.pool.Drop("127.0.0.1:1")
		back <- struct{}{}
		eventually(t, "nobody dials", func() bool {
			a.pool.mu.Lock()
			defer a.pool.mu.Unlock()
			return a.pool.peers["127.0.0.1:1"] == nil
		})
	}
	close(back)
}

func TestBadConfig(t *testing.T) {
	for want, c := range map[string]Config{
		"node name":           {Addr: "127.0.0.1:1"},
		"want host:port":      {Name: "a"},
		"at least two frames": {Name: "a", Addr: "127.0.0.1:1", Limits: Limits{Frame: 1000, Queue: 1500}},
		"several heartbeats":  {Name: "a", Addr: "127.0.0.1:1", Heartbeat: 2, Timeout: 1},
	} {
		_, err := NewPool(c, &node{})
		says(t, err, want)
	}
}
