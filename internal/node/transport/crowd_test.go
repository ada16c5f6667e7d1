package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// visit connects as a client, and returns what its link ends with when the node sends
// something, or the test ends.
func visit(t *testing.T, addr string, c ClientConfig) (*Link, <-chan error) {
	t.Helper()
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), safety)
	defer cancel()
	l, err := DialClient(ctx, addr, c, &wg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	wg.Go(func() { ended <- l.Run(func([]byte) error { return nil }) })
	t.Cleanup(func() {
		l.Fail(errClosed)
		wg.Wait()
	})
	return l, ended
}

// There is a maximum number of clients. One more is refused with a reason, over TLS too;
// when one leaves another may come; and nodes can still be linked.
func TestManyClients(t *testing.T) {
	ca := newAuthority(t)
	for name, keyed := range map[string]func(name string) func(*plan){
		"tcp": func(string) func(*plan) { return func(*plan) {} },
		"tls": func(name string) func(*plan) { return ca.keyed(t, name) },
	} {
		t.Run(name, func(t *testing.T) {
			stay := make(chan struct{}, 9)
			a := newNode(t, "a", keyed("a"), func(p *plan) {
				p.mux.Budget = NewBudget(BudgetConfig{Clients: 2})
				p.client = func(c net.Conn) {
					io.WriteString(c, clientMagic)
					stay <- struct{}{}
					io.Copy(io.Discard, c)
				}
			})
			config := ClientConfig{TLS: a.pool.c.TLS}
			first, _ := visit(t, a.addr, config)
			visit(t, a.addr, config)
			take(t, "client", stay)
			take(t, "client", stay)
			_, third := visit(t, a.addr, config)
			err := take(t, "refusal", third)
			var r *Refused
			if !errors.As(err, &r) || !strings.Contains(r.Why, "it has 2, its maximum") {
				t.Errorf("the third is told %v", err)
			}
			logs(t, a, ErrCrowded.Error())
			link(t, newNode(t, "b", keyed("b")), a)
			first.Fail(errClosed)
			eventually(t, "one is gone", func() bool {
				clients, _ := a.mux.c.Budget.Used()
				return clients == 1
			})
			visit(t, a.addr, config)
			take(t, "client", stay)
		})
	}
}

// A called is a connection from an address, which may be closed.
type called struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (c *called) RemoteAddr() net.Addr { return c.from }
func (c *called) Close() error         { c.closed = true; return nil }

// Which connection must go when all places are taken, and which may come.
func TestPending(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls string        // an address each; in capitals if it has said something
		later time.Duration // before the last one
		want  string        // who is left, by their places in calls
	}{
		{"there is room", "aa", 0, "01"},
		{"the oldest that is silent goes", "aaab", 0, "123"},
		{"also for one of the same address", "aaaa", 0, "123"},
		{"who has said something stays", "Aaaa", 0, "023"},
		{"nobody goes for one more of the same address", "AAAA", 0, "012"},
		{"unless it is slow", "AAAA", slow, "123"},
		{"one of the greedy address goes for another one", "BAAC", 0, "023"},
		{"also if another one is silent", "bAAc", 0, "023"},
		{"nobody goes if all have as many", "ABCD", 0, "012"},
		{"but for the silent", "ABcD", 0, "013"},
		{"and the slow", "ABCD", slow, "123"},
		{"two networks of IPv6", "XXXY", 0, "123"},
		{"one network of IPv6", "XZXZ", 0, "012"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pending{most: 3}
				var all []*called
				got := ""
				for i, r := range c.calls {
					ip := map[rune]string{'a': "10.0.0.1", 'b': "10.0.0.2", 'c': "10.0.0.3", 'd': "10.0.0.4", 'x': "2001:db8::1", 'y': "2001:db8:0:1::2", 'z': "2001:db8::3"}[r|0x20]
					x := &called{from: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1000 + i}}
					all = append(all, x)
					if i == len(c.calls)-1 {
						time.Sleep(c.later)
					}
					var heard atomic.Bool
					x.closed = p.enter(x, x.from, &heard, 0) == nil
					heard.Store(r < 'a')
				}
				for i, x := range all {
					if !x.closed {
						got += string(rune('0' + i))
					}
				}
				if got != c.want || len(p.conns) != len(c.want) {
					t.Errorf("%s are left, of whom %d are known, and not %s", got, len(p.conns), c.want)
				}
			})
		})
	}
}

// One address that takes all places, and says enough not to be silent, does not keep
// out a node of another address.
func TestGreedyAddress(t *testing.T) {
	n := newNode(t, "a", func(p *plan) { p.mux.Budget, p.config.Pending = NewBudget(BudgetConfig{Strangers: 3}), 3 })
	for range 3 {
		connect(t, n.addr).write(t, []byte(peerMagic[:1]))
	}
	eventually(t, "all are pending", func() bool { return strangers(n) == 3 })
	b := newNode(t, "b", func(p *plan) {
		p.config.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
			return d.DialContext(ctx, "tcp", addr)
		}
		p.config.Backoff = time.Hour // it gets in at once, or not at all
	})
	link(t, b, n)
}

// Strangers that say they are nodes are so many at most, and do not keep out a node
// that is wanted.
func TestManyStrangers(t *testing.T) {
	n := newNode(t, "a", func(p *plan) { p.config.Peers = 2 })
	fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7})
	fake(t, n, Hello{Name: "y", Addr: "127.0.0.1:2", Nonce: 8})
	take(t, "link", n.ups)
	take(t, "link", n.ups)
	s := connect(t, n.addr)
	h := Hello{MinVersion, MaxVersion, "z", "127.0.0.1:3", 9, nil}
	s.write(t, appendFrame([]byte(peerMagic), kindHello, h.append(nil)))
	if k, text := s.answer(t); k != kindRefuse || !strings.Contains(text, "2 nodes are connected") {
		t.Errorf("kind %d: %s", k, text)
	}
	n.pool.Dial("127.0.0.1:3") // where no process is: it has to connect by itself
	fake(t, n, h)
	if p := take(t, "link", n.ups); p.Name != "z" {
		t.Error(p.Name)
	}
}

// A full is a listener that has no file for a connection, so many times.
type full struct {
	net.Listener
	times int
}

func (f *full) Accept() (net.Conn, error) {
	if f.times--; f.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, net.ErrClosed
}

func (f *full) Addr() net.Addr { return &net.TCPAddr{} }

// When no more files can be opened, a node neither stops nor spins nor fills its log, and
// silent connections make room.
func TestNoFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		silent, speaks := &called{from: &net.TCPAddr{}}, &called{from: &net.TCPAddr{}}
		m := &Mux{c: MuxConfig{Log: slog.New(slog.NewTextHandler(&log, nil)), Budget: NewBudget(BudgetConfig{})}, listener: &full{times: 100}}
		var heard, other atomic.Bool
		m.c.Budget.Enter(speaks, &heard)
		heard.Store(true)
		m.c.Budget.Enter(silent, &other)
		since := time.Now()
		m.accept()
		if d := time.Since(since); d < 90*time.Second || d > 100*time.Second {
			t.Errorf("a hundred attempts take %v", d)
		}
		if !silent.closed || speaks.closed {
			t.Errorf("the silent one is closed: %t, and the other one: %t", silent.closed, speaks.closed)
		}
		if lines := strings.Count(log.String(), "\n"); lines > 95 || lines < 10 || !strings.Contains(log.String(), "too many open files") {
			t.Errorf("%d lines:\n%s", lines, &log)
		}
	})
}

// Frequent events are logged a few times in each period, and counted.
func TestRefrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var r Refrain
		logger := slog.New(slog.NewTextHandler(&log, nil))
		for range 1000 {
			r.Log(logger, slog.LevelWarn, "x")
		}
		time.Sleep(RefrainPeriod)
		r.Log(logger, slog.LevelWarn, "x")
		if lines := strings.Count(log.String(), "\n"); lines != refrainLines+1 || !strings.Contains(log.String(), "suppressed=990") {
			t.Errorf("%d lines:\n%s", lines, &log)
		}
	})
}

// A connection that says nothing, or half of what TLS begins with, costs little.
func TestSilentCostsLittle(t *testing.T) {
	const count, most = 100, 20 << 10
	n := newNode(t, "a", newAuthority(t).keyed(t, "a"), func(p *plan) { p.mux.Handshake = time.Hour })
	hello := []byte{0x16, 3, 1, 2, 0, 1} // a record of which the rest does not come
	before := inUse()
	for i := range count {
		s := connect(t, n.addr)
		if i%2 == 0 {
			s.write(t, hello)
		}
	}
	eventually(t, "all are pending", func() bool { return strangers(n) == count })
	if each := (inUse() - before) / count; each > most {
		t.Errorf("each takes %d bytes, its other end included: want at most %d", each, most)
	} else {
		t.Logf("each takes %d bytes, its other end included", each)
	}
}

// inUse returns the bytes of the heap and of stacks.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// That no process is at an address is logged once, however often it is tried, until there
// was a link.
func TestMissedIsToldOnce(t *testing.T) {
	n := newNode(t, "a", func(p *plan) { p.config.Backoff, p.config.MaxBackoff = time.Millisecond, time.Millisecond })
	lines := func() int { return strings.Count(n.log.String(), "no link") }
	for range 20 {
		n.pool.Dial("127.0.0.1:1")
		take(t, "failure", n.downs)
		eventually(t, "it gives up", func() bool {
			n.pool.mu.Lock()
			defer n.pool.mu.Unlock()
			return n.pool.peers["127.0.0.1:1"] == nil
		})
	}
	if lines() != 1 {
		t.Errorf("told %d times:\n%s", lines(), n.log)
	}
	fake(t, n, Hello{Name: "x", Addr: "127.0.0.1:1", Nonce: 7}).Close()
	take(t, "link", n.ups)
	take(t, "end", n.downs)
	n.pool.Dial("127.0.0.1:1")
	take(t, "failure", n.downs)
	if lines() != 2 {
		t.Errorf("told %d times after a link", lines())
	}
}
