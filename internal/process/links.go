package process

import (
	"fmt"

	"github.com/stile-lock/stile/internal/codec"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// The kinds of messages between processes, by their first byte.
const (
	Packet         byte = iota // between members, over a link
	serviceMessage             // to or from the view service
	voterMessage               // between voters
)

// IsService reports whether a message is to or from the view service, and returns it
// without its first byte.
func IsService(b []byte) ([]byte, bool) {
	if len(b) == 0 || b[0] != serviceMessage {
		return nil, false
	}
	return b[1:], true
}

// IsVoters reports whether a message is between voters.
func IsVoters(b []byte) bool { return len(b) > 0 && b[0] == voterMessage }

// Service is the first byte of a message to or from the view service, for hosts that
// send requests to it themselves.
const Service = serviceMessage

// Messages is the number of kinds of messages.
const Messages = voterMessage + 1

// MessageNames returns the names of the kinds of messages.
func MessageNames() [Messages]string { return [...]string{"locks", "views", "log"} }

// A Traffic counts the frames that the members of this process have sent and received,
// by their kind.
type Traffic struct {
	Sent, Received [member.FrameKinds]uint64
}

// SentTo returns how many frames the member of this process has sent to another one since
// both are members with their present incarnations.
func (p *Process) SentTo(inc uint64) uint64 {
	if p.links == nil {
		return 0
	}
	return p.links.Sent(inc)
}

// Complaints returns the incarnations of the members that this one complains about at
// present, because no exchange with them works.
func (p *Process) Complaints() []uint64 {
	if p.links == nil {
		return nil
	}
	return p.links.Complaints(p.clock)
}

// count counts a frame.
func count(by *[member.FrameKinds]uint64, frame []byte) {
	if len(frame) > 0 && int(frame[0]) < len(by) {
		by[frame[0]]++
	}
}

// send sends a message to a process, possibly to this one.
func (p *Process) send(to string, kind byte, b []byte) {
	if to == p.config.Address {
		p.own = append(p.own, append([]byte{kind}, b...))
		return
	}
	from := len(p.arena)
	p.arena = append(append(p.arena, kind), b...)
	p.do(Effect{Kind: Send, To: to, Bytes: p.arena[from:len(p.arena):len(p.arena)], Lossy: true})
}

// message handles a message from another process. One that claims the address of this
// process is refused, because answers to it would be taken for messages of this process
// to itself.
func (p *Process) message(from string, b []byte) {
	if from == p.config.Address {
		p.do(Effect{Kind: HangUp, To: from, Err: fmt.Errorf("another node claims %s, the address of this node: give each node its own", from)})
		return
	}
	if err := p.receive(from, b); err != nil {
		p.do(Effect{Kind: HangUp, To: from, Err: err})
	}
}

// receive handles a message. An error means that no correct process can have sent it.
func (p *Process) receive(from string, b []byte) error {
	if len(b) > 0 && b[0] >= Messages && codec.Optional(b[0]) {
		return nil // of a later version
	}
	if len(b) == 0 || b[0] >= Messages {
		return fmt.Errorf("message of %d bytes from %s has an unknown kind", len(b), from)
	}
	kind, b := b[0], b[1:]
	switch {
	case kind == Packet:
		return p.packet(b)
	case kind == voterMessage:
		if p.voter == nil {
			return nil // for an earlier voter of this process
		}
		return p.voter.Step(p.clock, from, b)
	case !views.ForVoter(b):
		if p.asks == nil {
			return nil
		}
		return p.asks.Receive(p.clock, from, b)
	case p.voter != nil:
		return p.voter.Receive(p.clock, from, b)
	case p.asks != nil:
		return p.asks.Refer(p.clock, from, b)
	}
	return nil
}

// packet handles a packet of a link, unless it is for an earlier incarnation.
func (p *Process) packet(b []byte) error {
	_, _, to, err := member.PacketEnds(b)
	if err != nil {
		return err
	}
	if p.m == nil || to != p.inc {
		return nil
	}
	err = p.links.Receive(p.clock, b, p.deliver)
	if newer := p.links.Newer(); newer > p.view {
		p.asks.Newer(p.clock, newer)
	}
	return err
}

// deliver passes a frame to the member.
func (p *Process) deliver(from uint64, f []byte) error {
	count(&p.traffic.Received, f)
	p.observe(Effect{Kind: Delivering, Peer: from, Bytes: f})
	err := p.m.Deliver(p.clock, from, f)
	p.take()
	p.observe(Effect{Kind: Delivered, Peer: from, Bytes: f})
	return err
}

// connected notes that there is a connection to a node, or that it is gone.
func (p *Process) connected(address string, up bool) {
	if up {
		p.linked[address] = true
	} else {
		delete(p.linked, address)
	}
	if p.view == 0 {
		return
	}
	for _, m := range p.asks.Record().Members {
		if m.Address != address || m.Inc == p.inc {
			continue
		}
		if up {
			p.links.Up(p.clock, m.Inc)
		} else {
			p.links.Down(p.clock, m.Inc)
		}
	}
}

// flush sends what the links have to send.
func (p *Process) flush() {
	if p.m == nil {
		return
	}
	r := p.asks.Record()
	p.bulk(r)
	for {
		from := len(p.arena)
		to, b, ok := p.links.Next(p.clock, append(p.arena, Packet))
		if !ok {
			break
		}
		p.arena = b
		if i := r.Rank(to); i >= 0 {
			p.do(Effect{Kind: Send, To: r.Members[i].Address, Bytes: b[from:len(b):len(b)]})
		}
	}
	p.flow = p.links.Wake()
	for _, end := range p.links.Ended() {
		e := Effect{Kind: LinkEnded, Peer: end.Peer, Err: end.Why}
		if i := r.Rank(end.Peer); i >= 0 {
			e.To = r.Members[i].Address
		}
		p.do(e)
	}
}

// bulk has the member produce frames that may be long, as far as the links have room
// for them: reports and queries about many locks.
func (p *Process) bulk(r *views.Record) {
	if !p.m.Bulk() {
		return
	}
	for i := range r.Members {
		for to := r.Members[i].Inc; to != p.inc && p.links.Room(to) && p.m.More(p.clock, to); {
			p.take()
		}
	}
}
