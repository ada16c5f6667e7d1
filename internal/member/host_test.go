package member

import (
	"fmt"
	"testing"
)

// A cluster is members and their links, driven as a host drives them. A
// connection delivers packets in order until it breaks.
type cluster struct {
	tb    testing.TB
	now   Instant
	view  View
	procs []*process // incarnations 1, 2, 3, ...
	wires map[[2]uint64][][]byte
	cut   map[[2]uint64]bool // what is sent here is lost
	held  map[string]uint64  // lock to incarnation
	sees  func(p *process, to uint64, frame []byte)
}

// A process is one member and its links.
type process struct {
	*Member
	links   *Links
	dead    bool
	ends    []LinkEnd
	tickets map[Ticket]string // requests that have not been granted
	inside  map[string]hold   // locks that were, and that others must not enter
	most    int               // bytes that its links kept
}

// A hold is a lock that an application holds, or has lost with the lease.
type hold struct {
	Token
	lost bool
}

func newCluster(tb testing.TB, alg string, n int, limits Limits, links LinkLimits) *cluster {
	c := &cluster{
		tb: tb, wires: map[[2]uint64][][]byte{}, cut: map[[2]uint64]bool{}, held: map[string]uint64{},
		sees: func(*process, uint64, []byte) {},
	}
	c.view = View{Epoch: 1, Choices: []Choice{{"", alg, 1}}}
	for range n {
		c.view.Members = append(c.view.Members, c.start(limits, links))
	}
	c.install(c.view)
	return c
}

func (c *cluster) start(limits Limits, links LinkLimits) Who {
	inc := uint64(len(c.procs) + 1)
	m, err := New(Config{Inc: inc, Settings: Usual(), Limits: limits, Spec: specs})
	if err != nil {
		c.tb.Fatal(err)
	}
	m.lease = Never - 1
	c.procs = append(c.procs, &process{Member: m, links: NewLinks(inc, links), tickets: map[Ticket]string{}, inside: map[string]hold{}})
	return Who{fmt.Sprint("m", inc), inc}
}

// install has all members of a view install it, and connects them.
func (c *cluster) install(v View) {
	c.view = v
	for _, w := range v.Members {
		c.begin(c.procs[w.Inc-1], v)
	}
}

func (c *cluster) begin(p *process, v View) {
	if err := p.Install(c.now, v); err != nil {
		c.tb.Fatal(err)
	}
	if err := p.links.Install(c.now, v); err != nil {
		c.tb.Fatal(err)
	}
	for _, w := range v.Members {
		if w.Inc != p.Inc {
			p.links.Up(c.now, w.Inc)
		}
	}
	c.take(p)
	p.links.Early(c.now, c.deliver(p))
	c.flush(p)
}

// take does what a member wants done.
func (c *cluster) take(p *process) {
	for _, e := range p.Out.Events {
		name := p.tickets[e.Ticket]
		switch e.Kind {
		case Held:
			if other := c.held[name]; other != 0 {
				c.tb.Fatalf("%q: %d enters while %d is inside", name, p.Inc, other)
			}
			c.held[name], p.inside[name] = p.Inc, hold{Token: e.Token}
		case Lost:
			for name, h := range p.inside {
				if h.Token == e.Token && p.Explained(name).Lapsed {
					p.inside[name] = hold{e.Token, true}
				}
			}
		}
		delete(p.tickets, e.Ticket)
	}
	c.send(p)
}

// Explained is Explain of a lock that may be unknown.
func (p *process) Explained(name string) Snapshot {
	y, _ := p.Inspect(name)
	return y
}

// send gives the frames of a member to its links, and then bulk frames as far as
// there is room for them.
func (c *cluster) send(p *process) {
	transfer := func() {
		for _, f := range p.Out.Frames {
			c.sees(p, f.To, f.Bytes)
			p.links.Send(f.To, f.Bytes)
		}
		p.Out.Reset()
	}
	transfer()
	if !p.Bulk() {
		return
	}
	for _, w := range p.epoch.view.Members {
		for p.links.Room(w.Inc) && p.More(c.now, w.Inc) {
			transfer()
		}
	}
}

// flush puts packets on the wires.
func (c *cluster) flush(p *process) {
	if p.dead {
		return
	}
	c.send(p)
	p.ends = append(p.ends, p.links.Ended()...)
	for _, l := range p.links.peers {
		if l.link != nil {
			p.most = max(p.most, len(l.link.kept)-l.link.head)
		}
	}
	for {
		to, b, ok := p.links.Next(c.now, nil)
		if !ok {
			return
		}
		if k := [2]uint64{p.Inc, to}; !c.cut[k] {
			c.wires[k] = append(c.wires[k], b)
		}
	}
}

func (c *cluster) deliver(p *process) func(from uint64, frame []byte) error {
	return func(from uint64, frame []byte) error {
		err := p.Deliver(c.now, from, frame)
		c.take(p)
		return err
	}
}

// carry delivers one packet, if there is one.
func (c *cluster) carry(from, to uint64) bool {
	k := [2]uint64{from, to}
	if len(c.wires[k]) == 0 {
		return false
	}
	b := c.wires[k][0]
	c.wires[k] = c.wires[k][1:]
	p := c.procs[to-1]
	if p.dead {
		return true
	}
	if err := p.links.Receive(c.now, b, c.deliver(p)); err != nil {
		c.tb.Fatalf("%d refuses a packet from %d: %v", to, from, err)
	}
	c.flush(p)
	return true
}

// settle delivers packets until the links are silent, for ten seconds at most: a
// link that has ended at one side never falls silent at the other.
func (c *cluster) settle() {
	for end := c.now + 10*Instant(Second); ; {
		busy := false
		for _, a := range c.procs {
			for _, b := range c.procs {
				busy = c.carry(a.Inc, b.Inc) || busy
			}
		}
		if busy {
			continue
		}
		next := Never
		for _, p := range c.procs {
			if !p.dead {
				next = min(next, p.links.Wake())
			}
		}
		if next > end {
			return
		}
		c.now = max(c.now, next)
		for _, p := range c.procs {
			c.flush(p)
		}
	}
}

// use lets an application use a member.
func (c *cluster) use(inc uint64, f func(p *process)) {
	p := c.procs[inc-1]
	f(p)
	c.take(p)
	c.flush(p)
}

func (c *cluster) lock(inc uint64, name string) (t Ticket) {
	c.use(inc, func(p *process) {
		var err error
		if t, err = p.Lock(c.now, name, Ask{Deadline: Never}); err != nil {
			c.tb.Fatal(err)
		}
		p.tickets[t] = name
	})
	return t
}

func (c *cluster) unlock(inc uint64, name string) {
	c.use(inc, func(p *process) {
		if c.held[name] != inc {
			c.tb.Fatalf("%q: %d releases it, but %d holds it", name, inc, c.held[name])
		}
		h := p.inside[name]
		delete(c.held, name)
		delete(p.inside, name)
		if err := p.Unlock(c.now, name, h.Token); (err != nil) != h.lost {
			c.tb.Fatalf("%q: %d releases it: %v; lost: %v", name, inc, err, h.lost)
		}
	})
}

func (c *cluster) cancel(inc uint64, t Ticket) {
	c.use(inc, func(p *process) {
		p.Cancel(c.now, t)
		delete(p.tickets, t)
	})
}

// healthy checks that no link has ended.
func (c *cluster) healthy() {
	c.tb.Helper()
	for _, p := range c.procs {
		for _, e := range p.ends {
			c.tb.Errorf("the link from %d to %d has ended: %v", p.Inc, e.Peer, e.Why)
		}
	}
}

// homed returns names of some length whose home in a view is the member of a rank.
func homed(v View, rank, n, length int) (names []string) {
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("%0*d", length, i); v.Home(name) == rank {
			names = append(names, name)
		}
	}
	return names
}

// nextView returns the view after another one, without some members.
func nextView(v View, without ...uint64) View {
	f := fleet{view: v}
	return f.next(without...)
}
