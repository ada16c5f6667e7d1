package member

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A Link makes connections that break and come back, and lose what was under
// way, one FIFO channel between two incarnations in one epoch: what is sent
// arrives once, in order, or the epoch ends.
//
// Frames are numbered from 1. Every packet says how many have come in order from
// the other end; what was not confirmed is kept, and nothing is kept that came
// out of order. A confirmation travels with what is sent anyway, or alone after
// a quarter of the patience, or after many bytes: links that are idle fall
// silent.
//
// A new connection begins with a question, in its first packet even if that is
// otherwise empty: how many have come? What was sent before is sent again only
// when the answer has said which part of it was lost. A question, or frames,
// without an answer for the length of the patience lead to a new question, with
// one packet of frames, for transports that lose packets; then the patience
// doubles, up to a bound.
type Link struct {
	epoch, me, peer uint64
	limit           int // bytes that may be kept
	prompt          int // bytes received after which a confirmation is not put off
	patience        Span

	kept  []byte // from head on: the frames that were not confirmed, each after its length
	head  int
	at    int    // where the next frame to be put into a packet begins
	acked uint64 // how many frames were confirmed
	next  uint64 // the number of the frame at at
	sent  uint64 // how many have been in a packet, ever
	last  uint64 // how many were taken by Send

	got   uint64  // how many frames have come
	fresh int     // how many bytes, since the last packet confirmed them
	tell  Instant // when a confirmation goes out, alone if need be

	ask      uint64 // the number of the last question
	asking   bool   // no answer has come to it, nor to one before it on this connection
	posed    bool   // it has been in a packet
	answered uint64 // answers up to this one are old
	heard    uint64 // the number of the peer's last question, which each packet answers
	room     int    // how many packets of frames may go out before the answer

	up     bool
	resend Instant // when patience ends
	wait   Span    // how long it is by now
	over   error   // why nothing goes or comes any more
}

// Errors of links.
var (
	// ErrFull means that the peer confirms nothing. The frame that did not fit is
	// lost, so the link has ended.
	ErrFull = errors.New("link is full: the peer does not confirm what was sent")
	// ErrPacket means that no correct peer can have sent these bytes. Close the
	// connection that they came by.
	ErrPacket = errors.New("malformed packet")
	// ErrStranger means that a packet is well formed, but belongs to no link here.
	// Close the connection that it came by.
	ErrStranger = errors.New("packet of a link that does not exist here")

	errEnded = errors.New("the epoch of the link has ended")
)

// Bounds of links.
const (
	maxPacket = 32 << 10      // how many bytes of frames one packet has, unless a single frame is larger
	maxDouble = 16            // how many times longer the patience may become
	maxAhead  = 1 << 32       // no link keeps so many frames that one so far ahead could be sent
	idleArena = 4 * maxPacket // how much an empty link may keep allocated
	unbounded = math.MaxInt   // packets

	maxPatience = 3600 * Second
)

// NewLink makes a link without a connection. It keeps at most so many bytes, or
// one frame, and asks again after so long, which is best several times the round
// trip of a packet.
func NewLink(epoch, me, peer uint64, limit int, patience Span) *Link {
	patience = min(max(patience, 1), maxPatience)
	return &Link{
		epoch: epoch, me: me, peer: peer, limit: limit, prompt: min(limit/4, 2*maxPacket), patience: patience,
		next: 1, room: unbounded, tell: Never, resend: Never, wait: patience,
	}
}

// Send takes a frame to be sent. It copies the bytes. After an error the link has
// ended: nothing is sent or received any more.
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

// unconfirmed returns how many bytes are kept for the peer.
func (l *Link) unconfirmed() int { return len(l.kept) - l.head }

// end ends the link, unless it has ended before, and frees what it kept.
func (l *Link) end(why error) {
	if l.over == nil {
		l.over, l.kept, l.head, l.at = why, nil, 0, 0
	}
}

// Up tells that there is a new connection, whether or not the one before was
// known to be broken.
func (l *Link) Up() {
	l.up, l.resend, l.wait = true, Never, l.patience
	l.answered = l.ask
	l.question()
	if l.room = unbounded; l.sent > l.acked {
		l.room = 0
		l.rewind()
	}
}

// Down tells that there is no connection.
func (l *Link) Down() { l.up = false }

// question makes the next packet ask what has come.
func (l *Link) question() { l.ask, l.asking, l.posed = l.ask+1, true, false }

// rewind makes the first frame that was not confirmed the next to be sent.
func (l *Link) rewind() { l.next, l.at = l.acked+1, l.head }

// pending reports whether there is something to be sent, whatever the time.
func (l *Link) pending() bool {
	return l.up && l.over == nil && (l.asking && !l.posed || l.room > 0 && l.next <= l.last)
}

// waits reports whether the peer owes something: an answer or a confirmation.
func (l *Link) waits() bool { return l.asking || l.acked < l.sent }

// Due reports whether there is a packet to be sent now.
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

// Wake returns when Due is to be asked again, if it has just said no and nothing
// happens before.
func (l *Link) Wake() Instant {
	if !l.up || l.over != nil {
		return Never
	}
	return min(l.tell, l.resend)
}

// Append appends the next packet to b. It is to be called when Due says so.
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

// load returns how many frames the next packet has, and where they end.
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

// Receive takes a packet that has come, and calls f with each frame that is new,
// in order; f must not keep it, and may call Send. Frames after a gap are
// dropped: they will come again. If f fails, the link ends.
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

// take takes a packet of this link. It reports whether that shows that packets
// arrive at the peer: something was confirmed or answered.
func (l *Link) take(now Instant, p *linkPacket, f func(frame []byte) error) (worked bool, err error) {
	switch {
	case l.over != nil:
		return false, nil
	case p.got > l.sent:
		return false, fmt.Errorf("%w: it confirms %d frames of %d", ErrPacket, p.got, l.sent)
	case p.echo > l.ask:
		return false, fmt.Errorf("%w: it answers question %d of %d", ErrPacket, p.echo, l.ask)
	case p.first > l.got && p.first-l.got > maxAhead:
		return false, fmt.Errorf("%w: frame %d comes after %d", ErrPacket, p.first, l.got)
	}
	worked = l.confirm(now, p.got, p.echo)
	l.hear(now, p.ask)
	for i := range p.n {
		frame := p.frame()
		if p.first+i != l.got+1 {
			continue // it has come before, or after one that was lost
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

// confirm drops what the peer has, and goes on sending if that was asked.
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

// shrink frees memory that is no longer needed: a link that once kept a lot must
// not hold on to it while it is never quite empty.
func (l *Link) shrink() {
	switch kept := l.unconfirmed(); {
	case cap(l.kept) > idleArena && kept < cap(l.kept)/4:
		l.at -= l.head
		l.kept, l.head = append(make([]byte, 0, 2*kept), l.kept[l.head:]...), 0
	case kept == 0:
		l.kept, l.head, l.at = l.kept[:0], 0, 0
	}
}

// hear takes the number of the peer's question: a new one is answered at once.
func (l *Link) hear(now Instant, ask uint64) {
	if ask > l.heard {
		l.heard, l.tell = ask, now
	}
}

// owe makes a confirmation due soon, for a frame that has come.
func (l *Link) owe(now Instant, size int) {
	if l.fresh += size; l.fresh >= l.prompt {
		l.tell = now
	}
	l.tell = min(l.tell, addSpan(now, l.patience/4))
}

// addSpan returns what time it is after so long.
func addSpan(t Instant, d Span) Instant {
	if t > Never-Instant(d) {
		return Never
	}
	return t + Instant(d)
}

// A linkPacket is what one packet says: eight numbers, and then the frames.
type linkPacket struct {
	epoch, from, to uint64
	got             uint64 // how many frames of the other direction have come
	echo            uint64 // the question that this answers
	ask             uint64 // the sender's last question
	first, n        uint64 // the number of the first frame, and how many there are
	rest            []byte // the frames, each after its length
}

// parse reads a packet, and refuses what no peer can say.
func (p *linkPacket) parse(b []byte) error {
	s := scanner{b: b}
	*p = linkPacket{s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), s.number(), nil}
	p.rest = s.b
	switch {
	case s.err != nil:
		return fmt.Errorf("%w: %w", ErrPacket, s.err)
	case p.epoch == 0 || p.from == 0 || p.to == 0 || p.first == 0:
		return fmt.Errorf("%w: epoch %d from %d to %d, frame %d: all are above 0", ErrPacket, p.epoch, p.from, p.to, p.first)
	case p.n > uint64(len(p.rest)) || p.first+p.n < p.first:
		return fmt.Errorf("%w: %d frames from %d on, in %d bytes", ErrPacket, p.n, p.first, len(p.rest))
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

// frame takes the next frame off a packet that was parsed.
func (p *linkPacket) frame() []byte {
	size, w := binary.Uvarint(p.rest)
	f := p.rest[w : w+int(size) : w+int(size)]
	p.rest = p.rest[w+int(size):]
	return f
}

// last returns the number of the last frame; the one before the first if there
// is none.
func (p *linkPacket) last() uint64 { return p.first + p.n - 1 }

// PacketEnds returns of which epoch a packet is, from whom and to whom: a host
// whose connections know who is at the other end compares.
func PacketEnds(b []byte) (epoch, from, to uint64, err error) {
	s := scanner{b: b}
	epoch, from, to = s.number(), s.number(), s.number()
	if s.err != nil {
		err = fmt.Errorf("%w: %w", ErrPacket, s.err)
	}
	return epoch, from, to, err
}
