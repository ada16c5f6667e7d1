package transport

import (
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
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
	count map[netip.Prefix]*int
}

// A caller is a connection of a pending.
type caller struct {
	io.Closer
	heard *atomic.Bool // something has arrived since it became pending
	from  netip.Prefix
	all   *int // how many there are from there
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

// enter adds a connection, beyond the maximum by some, and returns its place; nil if it must
// not stay.
func (p *pending) enter(c io.Closer, from net.Addr, heard *atomic.Bool, beyond int) *caller {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard.Store(false)
	o := &caller{Closer: c, heard: heard, from: origin(from), since: time.Now()}
	if o.all = p.count[o.from]; o.all == nil {
		o.all = new(int)
	}
	*o.all++
	if len(p.conns) >= p.most+beyond && !p.shed(o) {
		*o.all--
		return nil
	}
	if p.count == nil {
		p.count = map[netip.Prefix]*int{}
	}
	p.count[o.from] = o.all
	p.conns = append(p.conns, o)
	return o
}

// remove removes a connection.
func (p *pending) remove(i int) {
	o := p.conns[i]
	if *o.all--; *o.all == 0 {
		delete(p.count, o.from)
	}
	p.conns = slices.Delete(p.conns, i, i+1)
}

// shed makes room for c, and reports whether there is any. It closes a connection of the
// address that has most: the oldest that has sent nothing; or the oldest of all, if it is
// slow or if c's address has fewer.
func (p *pending) shed(c *caller) bool {
	most := *c.all
	for _, o := range p.conns {
		most = max(most, *o.all)
	}
	greedy := func(o *caller) bool { return *o.all == most }
	i := slices.IndexFunc(p.conns, func(o *caller) bool { return greedy(o) && !o.heard.Load() })
	if i < 0 {
		i = slices.IndexFunc(p.conns, greedy)
		if i < 0 || greedy(c) && c.since.Sub(p.conns[i].since) < slow {
			return false
		}
	}
	p.conns[i].Close()
	p.remove(i)
	return true
}

// leave removes a connection, and reports whether it was still there.
func (p *pending) leave(c *caller) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.conns, c)
	if i >= 0 {
		p.remove(i)
	}
	return i >= 0
}

// dismiss closes the oldest connection that has sent nothing, if there is one.
func (p *pending) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.conns, func(c *caller) bool { return !c.heard.Load() }); i >= 0 {
		p.conns[i].Close()
		p.remove(i)
	}
}
