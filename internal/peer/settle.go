package peer

import (
	"fmt"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/member"
)

// settle does what the parts want done, until none wants anything more.
func (p *Peer) settle() {
	for busy := true; busy && p.Err == nil; {
		busy = p.clerical()
		if p.Err == nil && p.asks != nil {
			busy = p.petition() || busy
		}
		if p.Err == nil {
			p.office()
		}
		for len(p.own) > 0 && p.Err == nil {
			b := p.own[0]
			p.own, busy = p.own[1:], true
			if err := p.receive(p.config.Address, b); err != nil && p.Err == nil {
				p.Err = fmt.Errorf("a message of this process to itself: %w", err)
			}
		}
	}
	if p.Err == nil {
		p.flush()
		p.rest()
	}
}

// clerical sends what the clerk wants sent, and reports whether it was anything.
func (p *Peer) clerical() bool {
	c := p.clerk
	if c == nil {
		return false
	}
	if p.Err = c.Err; p.Err != nil {
		return false
	}
	for _, l := range c.Out.Post {
		p.send(l.To, Post, l.Bytes)
	}
	for _, l := range c.Out.Send {
		p.send(l.To, Service, l.Bytes)
	}
	busy := len(c.Out.Post)+len(c.Out.Send) > 0
	c.Out.Reset()
	return busy
}

// petition does what the petitioner wants, and reports whether it was anything.
func (p *Peer) petition() bool {
	if p.clerk != nil {
		p.asks.Know(p.now, p.clerk.Record())
	}
	out := &p.asks.Out
	for _, l := range out.Send {
		p.send(l.To, Service, l.Bytes)
	}
	view, renewed, ending := out.View, out.Renewed, out.Ending
	busy := len(out.Send)+len(renewed) > 0 || view || ending != engine.Running
	out.Reset()
	for _, number := range renewed {
		p.renewed(number)
	}
	switch {
	case p.Err != nil:
	case ending != engine.Running:
		p.end(ending)
	case view:
		p.install()
	}
	return busy
}

// send sends a message to a process, which may be this one.
func (p *Peer) send(to string, kind byte, b []byte) {
	if to == p.config.Address {
		p.own = append(p.own, append([]byte{kind}, b...))
		return
	}
	p.buf = append(append(p.buf[:0], kind), b...)
	p.config.Host.Send(to, p.buf)
}

// end ends the membership.
func (p *Peer) end(how engine.Ending) {
	if p.m != nil && how != engine.Left {
		p.m.Gone(p.now)
		p.take()
	}
	p.office() // while it is known what the petitioner knows
	p.m, p.links, p.asks, p.inc, p.view = nil, nil, nil, 0, 0
	if how == engine.Replaced {
		p.config.Cluster = 0
	}
	p.config.Host.Ended(how)
}

// take does what the member wants done, and reports whether others have to do with
// it. What applications hear comes first.
func (p *Peer) take() bool {
	out := &p.m.Out
	for i := range out.Events {
		p.config.Host.Told(&out.Events[i])
	}
	for i := range out.Frames {
		f := &out.Frames[i]
		if w := p.config.Watch; w != nil {
			w.Sent(f.To, f.Bytes)
		}
		if err := p.links.Send(f.To, f.Bytes); err != nil && p.Err == nil {
			p.Err = err
		}
	}
	renew, forget := out.Renew, out.Forget
	busy := len(out.Frames) > 0 || renew != 0
	out.Reset()
	if renew != 0 && p.asks != nil {
		if w := p.config.Watch; w != nil {
			w.Renewing(renew)
		}
		p.asks.Renew(p.now, renew, forget, p.links.Complaints(p.now))
	}
	return busy
}

func (p *Peer) renewed(number uint64) {
	if p.m == nil {
		return
	}
	w := p.config.Watch
	if w != nil {
		w.Confirming(number)
	}
	p.m.Renewed(p.now, number)
	p.take()
	if w != nil {
		w.Confirmed(number)
	}
}

// install begins a view, and with the first one to be a member.
func (p *Peer) install() {
	r := p.asks.Record()
	if p.m == nil {
		if p.Err = p.become(r); p.Err != nil {
			return
		}
	}
	v := r.View()
	if err := p.m.Install(p.now, v); err != nil {
		p.Err = fmt.Errorf("begin epoch %d: %w", v.Epoch, err)
		return
	}
	if err := p.links.Install(p.now, v); err != nil {
		p.Err = fmt.Errorf("begin epoch %d: %w", v.Epoch, err)
		return
	}
	p.view = v.Epoch
	for _, m := range r.Members {
		if m.Inc != p.inc && p.config.Host.Linked(m.Address) {
			p.links.Up(p.now, m.Inc)
		}
	}
	p.config.Host.Installed(r)
	p.within = true
	p.take()
	err := p.links.Early(p.now, p.deliver)
	p.within = false
	if err != nil && p.Err == nil {
		p.Err = fmt.Errorf("begin epoch %d: %w", v.Epoch, err)
	}
}

// become makes the member that a record has admitted.
func (p *Peer) become(r *engine.Record) error {
	p.inc = p.asks.Inc()
	p.fit(r)
	m, err := member.New(member.Config{Inc: p.inc, Settings: r.Settings, Limits: p.config.Limits, Spec: p.config.Spec})
	if err != nil {
		return err
	}
	p.m, p.links = m, member.NewSessions(p.inc, p.config.Links)
	return nil
}

// flush sends what the links have to send.
func (p *Peer) flush() {
	if p.m == nil || p.within {
		return
	}
	for {
		to, b, ok := p.links.Next(p.now, append(p.buf[:0], Packet))
		p.buf = b
		if !ok {
			p.flow = p.links.Wake()
			return
		}
		r := p.asks.Record()
		if i := r.Rank(to); i >= 0 {
			p.config.Host.Send(r.Members[i].Address, b)
		}
	}
}

// Receive takes a message of another process. An error means that nobody correct
// can have sent it: the host is to close the connection that it came by.
func (p *Peer) Receive(now member.Instant, from string, b []byte) error {
	p.hear(now)
	err := p.receive(from, b)
	p.settle()
	return err
}

func (p *Peer) receive(from string, b []byte) error {
	if len(b) == 0 || b[0] > Post {
		return fmt.Errorf("a message of %d bytes from %s: of no known kind", len(b), from)
	}
	kind, b := b[0], b[1:]
	switch {
	case kind == Packet:
		return p.packet(b)
	case kind == Post:
		if p.clerk == nil {
			return nil // for one that was here before
		}
		return p.clerk.Step(p.now, from, b)
	case !engine.ForVoter(b):
		if p.asks == nil {
			return nil
		}
		return p.asks.Receive(p.now, from, b)
	case p.clerk != nil:
		return p.clerk.Receive(p.now, from, b)
	case p.asks != nil:
		return p.asks.Refer(p.now, from, b)
	}
	return nil
}

// packet takes what a link brings, unless it is for one that was here before.
func (p *Peer) packet(b []byte) error {
	_, _, to, err := member.PacketEnds(b)
	if err != nil {
		return err
	}
	if p.m == nil || to != p.inc {
		return nil
	}
	p.within = true
	err = p.links.Receive(p.now, b, p.deliver)
	p.within = false
	if newer := p.links.Newer(); newer > p.view {
		p.asks.Seen(p.now, newer)
	}
	return err
}

// deliver hands a frame to the member.
func (p *Peer) deliver(from uint64, f []byte) error {
	w := p.config.Watch
	if w != nil {
		w.Delivering(from, f)
	}
	err := p.m.Deliver(p.now, from, f)
	p.take()
	if w != nil {
		w.Delivered(from, f)
	}
	return err
}
