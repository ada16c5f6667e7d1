package storm

import (
	"github.com/stile-lock/stile/internal/member"
)

// links are all sessions of a process, over connections that break.
type links struct {
	q     *proc
	peers []peer // by rank
	early [][]byte
}

type peer struct {
	inc   uint64
	link  *member.Link // nil is the process itself
	since member.Instant
}

const (
	linkLimit  = 1 << 20
	linkResend = 15 * member.Millisecond
	ackDelay   = ms
)

func (l *links) install(v *member.View) {
	l.peers = l.peers[:0]
	for _, m := range v.Members {
		p := peer{inc: m.Inc}
		if m.Inc != l.q.inc {
			p.link = member.NewLink(v.Epoch, l.q.inc, m.Inc, linkLimit, linkResend)
			p.link.Up()
		}
		l.peers = append(l.peers, p)
	}
}

func (l *links) of(inc uint64) *peer {
	for i := range l.peers {
		if l.peers[i].inc == inc {
			return &l.peers[i]
		}
	}
	return nil
}

func (l *links) send(to uint64, b []byte) error {
	if p := l.of(to); p != nil && p.link != nil {
		c := append([]byte(nil), b...)
		return p.link.Send(c)
	}
	return nil
}

// flush sends what is to be sent; confirmations alone only if they must go now.
func (l *links) flush(now member.Instant) {
	for i := range l.peers {
		p := &l.peers[i]
		for p.link != nil && p.link.Due(now) {
			l.q.w.buf = p.link.Append(append(l.q.w.buf[:0], packetMsg), now)
			l.q.transmit(p.inc, l.q.w.buf)
		}
		if p.link != nil && p.link.Wake() == member.Never {
			p.since = 0
		} else if p.since == 0 {
			p.since = now
		}
	}
}

func (l *links) wake() member.Instant {
	next := member.Never
	for i := range l.peers {
		if p := l.peers[i].link; p != nil {
			next = min(next, p.Wake())
		}
	}
	return next
}

// stuck returns whom nothing reaches for long.
func (l *links) stuck(now member.Instant, long member.Span) []uint64 {
	var all []uint64
	for i := range l.peers {
		if p := &l.peers[i]; p.link != nil && p.since != 0 && now-p.since > member.Instant(long) {
			all = append(all, p.inc)
		}
	}
	return all
}

func (l *links) bounce(inc uint64, up bool) {
	if p := l.of(inc); p != nil && p.link != nil {
		if up {
			p.link.Up()
		} else {
			p.link.Down()
		}
	}
}

func (l *links) receive(b []byte, now member.Instant) error {
	epoch, from, to, err := member.PacketEnds(b)
	if err != nil {
		return err
	}
	q := l.q
	if to != q.inc {
		return nil // for somebody who was here before
	}
	if epoch > q.epoch() {
		if len(l.early) < 100 && !q.w.misreads(DropEarly) {
			l.early = append(l.early, append([]byte(nil), b...))
		}
		q.fetch()
		return nil
	}
	p := l.of(from)
	if epoch < q.epoch() || p == nil || p.link == nil {
		return nil
	}
	p.since = 0
	return p.link.Receive(b, now, func(f []byte) error { return q.deliver(from, f) })
}

func (l *links) installed(now member.Instant) error {
	early := l.early
	l.early = nil
	for _, b := range early {
		if err := l.receive(b, now); err != nil {
			return err
		}
	}
	return nil
}
