package transport

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A pending holds the connections that have not identified themselves yet. Its size is
// limited. When it is full, either one of them or the new one is closed. So silent
// connections cannot keep out those that speak, nor those of one address those of another;
// and when many connections arrive at once, some get through instead of all being closed in
// the middle of their greetings.
type pending struct {
	mu    sync.Mutex
	most  int
	conns []*caller // oldest first
}

// A caller is a connection of a pending.
type caller struct {
	*socket
	from  netip.Prefix
	since time.Time
}

// slow is the time after which a greeting is not worth waiting for if others need the
// place.
const slow = time.Second

// origin returns what a connection is counted under: its address or, for IPv6, its network,
// because each network has as many addresses as it likes.
func origin(a net.Addr) netip.Prefix {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := t.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.Prefix(bits) // the zero value for no address
	return p
}

// enter adds a connection, and reports whether it may stay.
func (p *pending) enter(s *socket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.heard.Store(false)
	c := &caller{s, origin(s.RemoteAddr()), time.Now()}
	if len(p.conns) >= p.most && !p.shed(c) {
		return false
	}
	p.conns = append(p.conns, c)
	return true
}

// shed makes room for c, and reports whether there is any. It closes a connection of the
// address that has most: the oldest that has sent nothing; or the oldest of all, if it is
// slow or if c's address has fewer.
func (p *pending) shed(c *caller) bool {
	count := map[netip.Prefix]int{c.from: 1}
	for _, o := range p.conns {
		count[o.from]++
	}
	greedy := c.from
	for _, o := range p.conns {
		if count[o.from] > count[greedy] {
			greedy = o.from
		}
	}
	i := slices.IndexFunc(p.conns, func(o *caller) bool { return count[o.from] == count[greedy] && !o.heard.Load() })
	if i < 0 {
		i = slices.IndexFunc(p.conns, func(o *caller) bool { return count[o.from] == count[greedy] })
		if i < 0 || count[greedy] == count[c.from] && c.since.Sub(p.conns[i].since) < slow {
			return false
		}
	}
	p.conns[i].Close()
	p.conns = slices.Delete(p.conns, i, i+1)
	return true
}

// leave removes s, and reports whether it was still there.
func (p *pending) leave(s *socket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.conns, func(c *caller) bool { return c.socket == s })
	if i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
	return i >= 0
}

// dismiss closes the oldest connection that has sent nothing, if there is one.
func (p *pending) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.conns, func(c *caller) bool { return !c.heard.Load() }); i >= 0 {
		p.conns[i].Close()
		p.conns = slices.Delete(p.conns, i, i+1)
	}
}
