package transport

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A net without a network: addresses are pools, connections are pipes.
type pipes struct {
	to   map[string]*node
	deaf bool // connections are established, but never answered

	mu    sync.Mutex
	times []time.Time
	conns []net.Conn
}

// dials records when an address was dialled.
func (p *pipes) dials() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.times)
}

// cut ends all connections.
func (p *pipes) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}

func (p *pipes) dial(_ context.Context, addr string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = append(p.times, time.Now())
	n := p.to[addr]
	if n == nil && !p.deaf {
		return nil, errors.New("nobody is there")
	}
	near, far := net.Pipe()
	p.conns = append(p.conns, near, far)
	if !p.deaf {
		go n.pool.Serve(far)
	}
	return near, nil
}

// join makes a node of it, in simulated time.
func (p *pipes) join(t *testing.T, name string, change func(c *Config)) *node {
	t.Helper()
	n := &node{addr: name + ":1", log: new(log), ups: make(chan *Peer, 100), downs: make(chan error, 1000), got: make(chan string, 100)}
	c := Config{Name: name, Addr: n.addr, Dial: p.dial, Seed: 1, Nonce: uint64(name[0]), Log: n.log.logger()}
	if change != nil {
		change(&c)
	}
	var err error
	if n.pool, err = NewPool(c, n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.pool.Close)
	p.to[n.addr] = n
	return n
}

// Links that have nothing to say stay, by their heartbeats.
func TestIdleLinkStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{to: map[string]*node{}}
		a, b := p.join(t, "a", nil), p.join(t, "b", nil)
		link(t, a, b)
		time.Sleep(time.Hour)
		if len(a.downs)+len(b.downs) > 0 {
			t.Fatal("the link is gone")
		}
		if err := a.say(b.addr, "still here"); err != nil {
			t.Fatal(err)
		}
		take(t, "message", b.got)
	})
}

// A link on which nothing is heard is dead after the timeout: the other end is
// there, but says nothing and closes nothing.
func TestSilentLinkIsDead(t *testing.T) {
	for name, set := range map[string]time.Duration{"default": 0, "shorter": 100 * time.Millisecond, "longer": 1500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) { silent(t, set) })
	}
}

// silent links a process that then says nothing to a pool, whose heartbeat is set unless it
// is 0.
func silent(t *testing.T, set time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{to: map[string]*node{}}
		a := p.join(t, "a", nil)
		beat := cmp.Or(set, a.pool.c.Heartbeat)
		near, far := net.Pipe()
		defer far.Close()
		go a.pool.Serve(near)
		r := newReader(far, 1<<20)
		g := &greeter{self: Hello{1, 1, "x", "x:1", 9, nil}, check: func(*Peer) error { return nil }}
		if _, err := g.dial(far, r); err != nil {
			t.Fatal(err)
		}
		if _, err := far.Write(appendFrame(nil, kindWelcome, nil)); err != nil {
			t.Fatal(err)
		}
		take(t, "link", a.ups)
		beats := make(chan int)
		go func() {
			n := 0
			for {
				k, _, err := r.next()
				if err != nil {
					beats <- n
					return
				}
				if k == kindBeat {
					n++
				}
			}
		}()
		since := time.Now()
		if set != 0 {
			time.Sleep(a.pool.c.Timeout - a.pool.c.Heartbeat/2) // silence that has not ended the link
			a.pool.SetHeartbeat(set / 2)                        // replaced at once
			a.pool.SetHeartbeat(set)
			since = time.Now()
		}
		says(t, take(t, "end", a.downs), "5 heartbeats")
		if d := time.Since(since); d < 4*beat || d > 6*beat {
			t.Errorf("it took %v", d)
		}
		if n := <-beats; n < 4 {
			t.Errorf("%d heartbeats", n)
		}
	})
}

// A process that is dialled and sends nothing does not keep the dialler forever, nor does
// one that dials and sends nothing.
func TestGreetingDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{to: map[string]*node{}, deaf: true}
		a := p.join(t, "a", nil)
		since := time.Now()
		a.pool.Dial("deaf:1")
		says(t, take(t, "failure", a.downs), "deaf:1 did not answer within 5s")
		if d := time.Since(since); d != a.pool.c.Handshake {
			t.Errorf("it took %v", d)
		}
		near, far := net.Pipe()
		go a.pool.Serve(near)
		for range 3 { // a byte now and then does not help
			if _, err := far.Write([]byte(peerMagic[:1])); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := far.Write([]byte("x")); err == nil {
			t.Error("the connection is still there")
		}
		if !strings.Contains(a.log.String(), "node refused") {
			t.Error(a.log.String())
		}
		far.Close()
		p.cut()
	})
}

// An unreachable address is dialled less and less often, and not at all when no message is
// waiting for it.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{to: map[string]*node{}}
		a := p.join(t, "a", nil)
		for range 60_000 {
			if err := a.say("gone:1", "x"); !errors.Is(err, ErrDown) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			for len(a.downs) > 0 {
				says(t, <-a.downs, "nobody is there")
			}
		}
		synctest.Wait()
		dials := p.dials()
		if n := len(dials); n < 30 || n > 70 {
			t.Errorf("dialled %d times in a minute", n)
		}
		same := 0
		for i := 1; i < len(dials); i++ {
			gap := dials[i].Sub(dials[i-1])
			least, most := min(a.pool.c.Backoff<<(i-1), a.pool.c.MaxBackoff)/2, min(a.pool.c.Backoff<<min(i-1, 30), a.pool.c.MaxBackoff)+time.Millisecond
			if i < 30 && (gap < least || gap > most) {
				t.Errorf("dial %d came %v after the one before, want %v to %v", i, gap, least, most)
			}
			if i > 10 && gap == dials[i-1].Sub(dials[i-2]) {
				same++
			}
		}
		if same > 5 {
			t.Error("there is no jitter")
		}
		if n := strings.Count(a.log.String(), "nobody is there"); n != 1 {
			t.Errorf("it is logged %d times", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		before := len(p.dials())
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(p.dials()) != before {
			t.Error("it is dialled though nobody wants to send")
		}
	})
}

// A link whose other end vanished is detected, and established again.
func TestCutAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{to: map[string]*node{}}
		a, b := p.join(t, "a", nil), p.join(t, "b", nil)
		for range 5 {
			a.pool.Dial(b.addr)
			take(t, "link", a.ups)
			take(t, "link back", b.ups)
			synctest.Wait()
			p.cut()
			take(t, "end", a.downs)
			take(t, "end there", b.downs)
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(a.pool.peers)+len(b.pool.peers) > 0 {
				t.Error("the address is not forgotten")
			}
		}
	})
}
