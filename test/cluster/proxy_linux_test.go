package cluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// A proxy is a bad way to a node: slow, silent without being closed, or cut.
type proxy struct {
	target   string
	listener net.Listener

	mu     sync.Mutex
	delay  time.Duration
	frozen chan struct{} // closed when all flows again; nil if it does
	conns  map[net.Conn]bool
}

// passage makes a proxy to a node.
func passage(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: target, listener: l, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		p.freeze(false)
		p.cut()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.join(c)
		}
	}()
	return p
}

// join joins a connection to the node, until either side ends.
func (p *proxy) join(c net.Conn) {
	p.flows()
	d, err := net.Dial("tcp", p.target)
	if err != nil {
		c.Close()
		return
	}
	p.mu.Lock()
	p.conns[c], p.conns[d] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pump(c, d) })
	both.Go(func() { p.pump(d, c) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, c)
	delete(p.conns, d)
	p.mu.Unlock()
}

// pump takes what comes on one side to the other one, late and if all flows.
func (p *proxy) pump(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			time.Sleep(p.flows())
			_, werr := to.Write(b[:n])
			err = errors.Join(err, werr)
		}
		if err != nil && !errors.Is(err, io.ErrNoProgress) {
			p.flows() // nor does the end come through
			return
		}
	}
}

// flows waits until something gets through, and returns how late it is.
func (p *proxy) flows() time.Duration {
	for {
		p.mu.Lock()
		frozen, delay := p.frozen, p.delay
		p.mu.Unlock()
		if frozen == nil {
			return delay
		}
		<-frozen
	}
}

// freeze lets nothing through, closes nothing, and takes new connections in.
func (p *proxy) freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on && p.frozen == nil:
		p.frozen = make(chan struct{})
	case !on && p.frozen != nil:
		close(p.frozen)
		p.frozen = nil
	}
}

// slow delays all that goes through.
func (p *proxy) slow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// cut breaks all connections that there are, without a word.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // it is reset
		}
		c.Close()
	}
}

// proxyFaults returns what proxies can do.
func proxyFaults(all []*proxy) []fault {
	pick := func(n *nemesis) *proxy { return all[n.drawNode().index] }
	each := func(f func(p *proxy)) {
		for _, p := range all {
			f(p)
		}
	}
	return []fault{
		{"delay to one", func(n *nemesis) error {
			p := pick(n)
			p.slow(n.span(1, 8))
			n.lasts(n.span(5, 30))
			p.slow(0)
			return nil
		}},
		{"delay to all", func(n *nemesis) error {
			d := n.span(0, 2)
			each(func(p *proxy) { p.slow(d) })
			n.lasts(n.span(5, 30))
			each(func(p *proxy) { p.slow(0) })
			return nil
		}},
		{"connections are lost, again and again", func(n *nemesis) error {
			for range 5 {
				pick(n).cut()
				n.lasts(n.span(0, 3))
			}
			return nil
		}},
		{"all connections are lost", func(n *nemesis) error {
			each((*proxy).cut)
			return nil
		}},
		{"half open", func(n *nemesis) error {
			p := pick(n)
			p.freeze(true)
			n.lasts(n.span(2, 30))
			p.freeze(false)
			return nil
		}},
		{"half open, all", func(n *nemesis) error {
			each(func(p *proxy) { p.freeze(true) })
			n.lasts(n.span(2, 30))
			for _, i := range n.chance.Perm(len(all)) {
				all[i].freeze(false)
				n.lasts(n.span(0, 3))
			}
			return nil
		}},
		{"half open, and then lost", func(n *nemesis) error {
			p := pick(n)
			p.freeze(true)
			n.lasts(n.span(2, 30))
			p.cut()
			p.freeze(false)
			return nil
		}},
		{"half open, and kill -9", func(n *nemesis) error {
			victim := n.drawNode()
			p := all[victim.index]
			p.freeze(true)
			err := n.bounce(victim, n.span(0, 15))
			n.lasts(n.span(0, 15))
			p.freeze(false)
			return err
		}},
	}
}

// Three nodes and a client that reach each other by proxies alone.
func TestProxies(t *testing.T) {
	host := func(i int) string {
		pid := os.Getpid()
		return fmt.Sprintf("127.%d.%d.%d:7420", 64+pid>>8%128, pid%256, i+1) // which nobody else uses
	}
	f := &fleet{t: t, journal: newJournal(), things: serve(t, nil), dir: t.TempDir()}
	var all []*proxy
	var ways []string
	for i := range 3 {
		all = append(all, passage(t, host(i)))
		ways = append(ways, all[i].listener.Addr().String())
	}
	n := crew(f, plan{nodes: 3, clients: 1, voters: 3, change: func(o *orders, i int) {
		o.Listen, o.Join = host(i), nil
		for j, w := range ways {
			if j == i {
				o.Advertise = w
			} else {
				o.Join = append(o.Join, w)
			}
		}
	}})
	n.kinds = proxyFaults(all)
	n.run(*count/4 + 2)
}

// What goes through a proxy comes out, unless it is cut; while it is half open
// nothing does, and nothing is closed.
func TestPassage(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }() // until it is closed
		}
	}()
	p := passage(t, echo.Addr().String())
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	say := func(d time.Duration) error {
		b := []byte{7}
		if _, err := c.Write(b); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(d)) // of a connection that is open
		_, err := c.Read(b)
		return err
	}
	if err := say(time.Minute); err != nil {
		t.Error(err)
	}
	p.freeze(true)
	if err := say(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("half open, and there is an answer: %v", err)
	}
	p.freeze(false)
	if err := say(time.Minute); err != nil {
		t.Error(err)
	}
	p.cut()
	if err := say(time.Minute); err == nil {
		err = say(time.Minute) // one byte was under way
		if err == nil {
			err = say(time.Minute)
		}
		if err == nil {
			t.Error("it is cut, and goes on")
		}
	}
}
