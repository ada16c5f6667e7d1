package transport

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A pending is the connections that have not said yet who they are. There is room
// for so many. When it is full somebody has to go, or the one that comes may not
// stay, so that those who say nothing cannot keep out those who do, nor those of one
// address those of another; and so that of a crowd that comes all at once some get
// through, and not all are sent away in the middle of their greetings.
type pending struct {
	mu    sync.Mutex
	most  int
	conns []*caller // the oldest first
}

// A caller is a connection of a pending.
type caller struct {
	*socket
	from  netip.Prefix
	since time.Time
}

// slow is after how long a greeting is not worth waiting for if others want the place.
const slow = time.Second

// origin is whom a connection counts for: its address, or its network for IPv6, of
// which each has as many addresses as it likes.
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
	p, _ := ip.Prefix(bits) // the zero one for no address
	return p
}

// enter takes in a connection, and reports whether it may stay.
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

// shed makes room for c, and reports whether there is any. Whoever goes is of the
// address that has most: the oldest that has said nothing; or the oldest of all, if
// it is slow, or if c is of an address that has fewer.
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

// leave reports whether s was still there.
func (p *pending) leave(s *socket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.conns, func(c *caller) bool { return c.socket == s })
	if i >= 0 {
		p.conns = slices.Delete(p.conns, i, i+1)
	}
	return i >= 0
}

// dismiss ends the oldest connection that has said nothing, if there is one.
func (p *pending) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.conns, func(c *caller) bool { return !c.heard.Load() }); i >= 0 {
		p.conns[i].Close()
		p.conns = slices.Delete(p.conns, i, i+1)
	}
}
