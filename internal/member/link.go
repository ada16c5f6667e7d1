package member

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A Link turns connections that break and return, and lose what is in flight, into one
// FIFO channel between two incarnations in one epoch: what is sent arrives once, in
// order, or the epoch ends.
//
// Frames are numbered from 1. Every packet says how many have arrived in order from the
// other end. Unconfirmed frames are kept, and frames that arrive out of order are not.
// A confirmation travels with what is sent anyway, or by itself after a quarter of the
// patience, or after many bytes: idle links fall silent.
//
// A new connection begins with a question, in its first packet even if that is
// otherwise empty: how many frames have arrived? What was sent before is sent again
// only when the answer has said which part of it was lost. If a question, or frames,
// are not answered within the patience, the link asks again, with one packet of frames,
// for transports that lose packets. Then the patience doubles, up to a bound.
type Link struct {
	epoch, me, peer uint64
	limit           int // maximum number of bytes kept
	prompt          int // bytes received after which a confirmation is not delayed
	patience        Span

	kept  []byte // from head on: unconfirmed frames, each after its length
	head  int
	at    int    // where the next frame to send begins
	acked uint64 // number of confirmed frames
	next  uint64 // number of the frame at at
	sent  uint64 // number of frames that were ever in a packet
	last  uint64 // number of frames passed to Send

	got   uint64  // number of frames received
	fresh int     // bytes received since the last packet confirmed them
	tell  Instant // when a confirmation is due, by itself if need be

	ask      uint64 // number of the last question
	asking   bool   // it is not answered, nor is an earlier one on this connection
	posed    bool   // it has been in a packet
	answered uint64 // answers up to this one are old
	heard    uint64 // number of the peer's last question, which each packet answers
	room     int    // packets of frames that may be sent before the answer

	up     bool
	resend Instant // when the patience ends
	wait   Span    // current length of the patience
	over   error   // why nothing is sent or received any more
}

// Errors of links.
var (
	// ErrFull means that the peer confirms nothing. The frame that did not fit is lost,
	// so the link has ended.
	ErrFull = errors.New("link full: the other member does not confirm frames")
	// ErrPacket means that no correct peer can have sent these bytes. Close the
	// connection that they arrived on.
	ErrPacket = errors.New("malformed packet")
	// ErrStranger means that a packet is well formed, but belongs to no link here.
	// Close the connection that it arrived on.
	ErrStranger = errors.New("packet for a link that does not exist here")

	errEnded = errors.New("the epoch of the link has ended")
)

// Bounds of links.
const (
	maxPacket = 32 << 10      // bytes of frames in one packet, unless a single frame is larger
	maxDouble = 16            // factor by which the patience may grow
	maxAhead  = 1 << 32       // no link keeps so many frames that one so far ahead could be sent
	idleArena = 4 * maxPacket // bytes that an empty link may keep allocated
	unbounded = math.MaxInt   // packets

	maxPatience = 3600 * Second
)

// NewLink returns a link without a connection. It keeps at most limit bytes, or one
// frame, and asks again after the patience, which should be several times the round
// trip of a packet.
func NewLink(epoch, me, peer uint64, limit int, patience Span) *Link {
	patience = min(max(patience, 1), maxPatience)
	return &Link{
		epoch: epoch, me: me, peer: peer, limit: limit, prompt: min(limit/4, 2*maxPacket), patience: patience,
		next: 1, room: unbounded, tell: Never, resend: Never, wait: patience,
	}
}

// Send accepts a frame to send. It copies the bytes. After an error the link has ended:
// nothing is sent or received any more.
func (l *Link) Send(frame []byte) error {
	if l.over != nil {
		return l.over
	}
	need := binary.MaxVarintLen64 + len(frame)
	if kept := l.unconfirmed(); kept > 0 && kept+need > l.limit {
		l.end(fmt.Errorf("%w: %d bytes in %d frames are unconfirmed, %d more exceed the limit of %d", ErrFull, kept, l.last-l.acked, len(frame), l.limit))
		return l.over
	}
	if len(l.kept)+need > cap(l.kept) && l.head >= len(l.kept)/2 {
		l.kept = l.kept[:copy(l.kept, l.kept[l.head:])]
		l.head, l.at = 0, l.at-l.head
	}
	w := writer(l.kept)
	w.blob(frame)
	l.kept = w
	l.last++
	return nil
}

// unconfirmed returns the number of bytes kept for the peer.
func (l *Link) unconfirmed() int { return len(l.kept) - l.head }

// end ends the link, unless it has ended before, and frees what it kept.
func (l *Link) end(why error) {
	if l.over == nil {
		l.over, l.kept, l.head, l.at = why, nil, 0, 0
	}
}

// Up reports that there is a new connection, whether or not the previous one was known
// to be broken.
func (l *Link) Up() {
	l.up, l.resend, l.wait = true, Never, l.patience
	l.answered = l.ask
	l.question()
	if l.room = unbounded; l.sent > l.acked {
		l.room = 0
		l.rewind()
	}
}

// Down reports that there is no connection.
func (l *Link) Down() { l.up = false }

// question makes the next packet ask what has arrived.
func (l *Link) question() { l.ask, l.asking, l.posed = l.ask+1, true, false }

// rewind makes the first unconfirmed frame the next one to send.
func (l *Link) rewind() { l.next, l.at = l.acked+1, l.head }

// pending reports whether there is something to send, whatever the time.
func (l *Link) pending() bool {
	return l.up && l.over == nil && (l.asking && !l.posed || l.room > 0 && l.next <= l.last)
}

// waits reports whether the peer owes something: an answer or a confirmation.
func (l *Link) waits() bool { return l.asking || l.acked < l.sent }

// Due reports whether there is a packet to send now.
func (l *Link) Due(now Instant) bool {
	if !l.up || l.over != nil {
		return false
	}
	if now >= l.resend && l.resend != Never {
		l.resend, l.wait = Never, min(2*l.wait, maxDouble*l.patience)
		l.question()
		l.room = 1
		l.rewind()
	}
	return now >= l.tell && l.tell != Never || l.pending()
}

// Wake returns when to call Due again, if it has just returned false and nothing
// happens before.
func (l *Link) Wake() Instant {
	if !l.up || l.over != nil {
		return Never
	}
	return min(l.tell, l.resend)
}

// Append appends the next packet to b. Call it when Due returns true.
func (l *Link) Append(b []byte, now Instant) []byte {
	n, end := l.load()
	w := writer(b)
	for _, x := range [...]uint64{l.epoch, l.me, l.peer, l.got, l.heard, l.ask, l.next, n} {
		w.number(x)
	}
	w = append(w, l.kept[l.at:end]...)
	if n > 0 {
		l.room--
	}
	l.at, l.next = end, l.next+n
	l.sent = max(l.sent, l.next-1)
	l.posed, l.tell, l.fresh = true, Never, 0
	if l.resend == Never && l.waits() {
		l.resend = addSpan(now, l.wait)
	}
	return w
}

// load returns the number of frames in the next packet, and where they end.
func (l *Link) load() (n uint64, end int) {
	if l.room == 0 {
		return 0, l.at
	}
	if len(l.kept)-l.at <= maxPacket {
		return l.last - l.next + 1, len(l.kept)
	}
	end = l.at
	for l.next+n <= l.last {
		size, w := binary.Uvarint(l.kept[end:])
		to := end + w + int(size)
		if n > 0 && to-l.at > maxPacket {
			break
		}
		n, end = n+1, to
	}
	return n, end
}

// Receive handles a packet, and calls f with each new frame, in order. f must not keep
// the frame, and may call Send. Frames after a gap are dropped: they will arrive again.
// If f fails, the link ends.
func (l *Link) Receive(b []byte, now Instant, f func(frame []byte) error) error {
	var p linkPacket
	if err := p.parse(b); err != nil {
		return err
	}
	if p.epoch != l.epoch || p.from != l.peer || p.to != l.me {
		return fmt.Errorf("%w: epoch %d from %d to %d, on the link of epoch %d from %d to %d", ErrStranger, p.epoch, p.from, p.to, l.epoch, l.peer, l.me)
	}
	_, err := l.take(now, &p, f)
	return err
}

// take handles a packet of this link. It reports whether the packet shows that packets
// reach the peer: something was confirmed or answered.
func (l *Link) take(now Instant, p *linkPacket, f func(frame []byte) error) (worked bool, err error) {
	switch {
	case l.over != nil:
		return false, nil
	case p.got > l.sent:
		return false, fmt.Errorf("%w: it confirms %d frames, but %d were sent", ErrPacket, p.got, l.sent)
	case p.echo > l.ask:
		return false, fmt.Errorf("%w: it answers question %d, but the last one asked is %d", ErrPacket, p.echo, l.ask)
	case p.first > l.got && p.first-l.got > maxAhead:
		return false, fmt.Errorf("%w: frame %d comes after %d", ErrPacket, p.first, l.got)
	}
	worked = l.confirm(now, p.got, p.echo)
	l.hear(now, p.ask)
	for i := range p.n {
		frame := p.frame()
		if p.first+i != l.got+1 {
			continue // received before, or after a lost one
		}
		l.got++
		l.owe(now, len(frame))
		if err := f(frame); err != nil {
			l.end(err)
			return worked, err
		}
		if l.over != nil {
			break // f has ended it
		}
	}
	return worked, nil
}

// confirm drops what the peer has received, and resumes sending if the question is
// answered.
func (l *Link) confirm(now Instant, ack, echo uint64) (worked bool) {
	worked = ack > l.acked
	for ; l.acked < ack; l.acked++ {
		size, w := binary.Uvarint(l.kept[l.head:])
		l.head += w + int(size)
	}
	if l.next <= ack {
		l.rewind()
	}
	l.shrink()
	if echo > l.answered {
		worked, l.answered, l.asking, l.room = true, echo, false, unbounded
	}
	if worked {
		if l.resend, l.wait = Never, l.patience; l.waits() {
			l.resend = addSpan(now, l.wait)
		}
	}
	return worked
}

// shrink frees memory that is no longer needed: a link that once kept a lot must not
// retain it while it is never quite empty.
func (l *Link) shrink() {
	switch kept := l.unconfirmed(); {
	case cap(l.kept) > idleArena && kept < cap(l.kept)/4:
		l.at -= l.head
		l.kept, l.head = append(make([]byte, 0, 2*kept), l.kept[l.head:]...), 0
	case kept == 0:
		l.kept, l.head, l.at = l.kept[:0], 0, 0
	}
}

// hear notes the number of the peer's question: a new one is answered at once.
func (l *Link) hear(now Instant, ask uint64) {
	if ask > l.heard {
		l.heard, l.tell = ask, now
	}
}

// owe makes a confirmation due soon, for a received frame.
func (l *Link) owe(now Instant, size int) {
	if l.fresh += size; l.fresh >= l.prompt {
		l.tell = now
	}
	l.tell = min(l.tell, addSpan(now, l.patience/4))
}

// addSpan returns t + d, or Never if that overflows.
func addSpan(t Instant, d Span) Instant {
	if t > Never-Instant(d) {
		return Never
	}
	return t + Instant(d)
}

// A linkPacket is a parsed packet: eight numbers, and then the frames.
type linkPacket struct {
	epoch, from, to uint64
	got             uint64 // number of frames received in the other direction
	echo            uint64 // question that this answers
	ask             uint64 // the sender's last question
	first, n        uint64 // number of the first frame, and number of frames
	rest            []byte // the frames, each after its length
}

// parse reads a packet, and rejects what no peer can send.
func (p *linkPacket) parse(b []byte) error {
	s := scanner{b: b}
	*p = linkPacket{s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), nil}
	p.rest = s.b
	switch {
	case s.err != nil:
		return fmt.Errorf("%w: %w", ErrPacket, s.err)
	case p.epoch == 0 || p.from == 0 || p.to == 0 || p.first == 0:
		return fmt.Errorf("%w: epoch %d from %d to %d, frame %d: want numbers above 0", ErrPacket, p.epoch, p.from, p.to, p.first)
	case p.n > uint64(len(p.rest)) || p.first+p.n < p.first:
		return fmt.Errorf("%w: %d frames starting at %d, in %d bytes", ErrPacket, p.n, p.first, len(p.rest))
	}
	for range p.n {
		s.blob()
	}
	if s.err != nil {
		return fmt.Errorf("%w: %w", ErrPacket, s.err)
	}
	if len(s.b) > 0 {
		return fmt.Errorf("%w: %d bytes follow its end", ErrPacket, len(s.b))
	}
	return nil
}

// frame returns the next frame of a parsed packet, and removes it.
func (p *linkPacket) frame() []byte {
	size, w := binary.Uvarint(p.rest)
	f := p.rest[w : w+int(size) : w+int(size)]
	p.rest = p.rest[w+int(size):]
	return f
}

// last returns the number of the last frame; the one before the first if there is none.
func (p *linkPacket) last() uint64 { return p.first + p.n - 1 }

// PacketEnds returns the epoch, the sender and the receiver of a packet. A host whose
// connections know the other end compares them.
func PacketEnds(b []byte) (epoch, from, to uint64, err error) {
	s := scanner{b: b}
	epoch, from, to = s.number(), s.number(), s.number()
	if s.err != nil {
		err = fmt.Errorf("%w: %w", ErrPacket, s.err)
	}
	return epoch, from, to, err
}
