package member

import (
	"errors"
	"fmt"
)

// A Link makes connections that break and come back, and lose what was under
// way, one FIFO channel between two incarnations in one epoch: what is sent
// arrives once, in order, or the epoch ends.
//
// Frames are numbered from 1. Whoever receives says how many have come in order;
// what was not confirmed is kept, and is sent again when a connection is new or
// nothing was confirmed for long.
type Link struct {
	epoch    uint64
	me, peer uint64
	limit    int // bytes that may be kept

	kept     [][]byte // frames that were not confirmed
	bytes    int      // how much that is
	acked    uint64   // how many were
	next     uint64   // the number of the next one to be put into a packet
	got      uint64   // how many have come
	owes     bool     // a confirmation
	up       bool
	resend   Instant // when what was not confirmed goes out again
	patience Span
}

// Errors of links.
var (
	// ErrFull means that too much was not confirmed: the peer does not read.
	ErrFull = errors.New("the link is full: the peer has confirmed nothing for long")
	// ErrPacket means that the other end is broken, or is none of this epoch's.
	ErrPacket = errors.New("malformed packet")
)

// maxPacket is about how large a packet is at most, but for one large frame.
const maxPacket = 32 << 10

// NewLink makes a link. It keeps at most so many bytes, and sends again what was
// not confirmed after so long.
func NewLink(epoch, me, peer uint64, limit int, patience Span) *Link {
	return &Link{epoch: epoch, me: me, peer: peer, limit: limit, next: 1, resend: Never, patience: patience}
}

// Send takes a frame to be sent. It keeps the bytes.
func (l *Link) Send(b []byte) error {
	if l.bytes+len(b) > l.limit && len(l.kept) > 0 {
		return fmt.Errorf("%w: %d bytes", ErrFull, l.bytes)
	}
	l.kept = append(l.kept, b)
	l.bytes += len(b)
	return nil
}

// Up tells that there is a new connection: all that was not confirmed is sent
// on it.
func (l *Link) Up() { l.up, l.next, l.owes = true, l.acked+1, l.got > 0 || l.owes }

// Down tells that there is no connection.
func (l *Link) Down() { l.up = false }

// Due reports whether there is something to be sent now.
func (l *Link) Due(now Instant) bool {
	if l.up && now >= l.resend {
		l.next, l.resend = l.acked+1, now+Instant(l.patience)
	}
	return l.up && (l.owes || l.next <= l.acked+uint64(len(l.kept)))
}

// Wake returns when Due is to be asked again, if nothing happens before.
func (l *Link) Wake() Instant {
	if !l.up {
		return Never
	}
	return l.resend
}

// Append appends the next packet to b.
func (l *Link) Append(b []byte, now Instant) []byte {
	w := writer(b)
	w.number(l.epoch)
	w.number(l.me)
	w.number(l.peer)
	w.number(l.got)
	w.number(l.next)
	l.owes = false
	from := l.next - l.acked - 1
	n, size := uint64(0), 0
	for _, f := range l.kept[from:] {
		if size += len(f); n > 0 && size > maxPacket {
			break
		}
		n++
	}
	w.number(n)
	for _, f := range l.kept[from : from+n] {
		w.blob(f)
	}
	if l.next += n; l.resend == Never && len(l.kept) > 0 {
		l.resend = now + Instant(l.patience)
	}
	return w
}

// Receive takes a packet that has come, and calls f with each frame that is new,
// in order. A packet that leaves a gap is dropped: it will come again.
func (l *Link) Receive(b []byte, now Instant, f func(frame []byte) error) error {
	s := scanner{b: b}
	epoch, from, to := s.number(), s.number(), s.number()
	if s.err != nil || epoch != l.epoch || from != l.peer || to != l.me {
		return fmt.Errorf("%w: epoch %d from %d to %d, on the link of epoch %d from %d to %d", ErrPacket, epoch, from, to, l.epoch, l.peer, l.me)
	}
	ack, first := s.number(), s.number()
	if err := l.confirm(ack, now); err != nil {
		return err
	}
	n := s.many()
	for i := range uint64(n) {
		frame := s.blob()
		if s.err != nil {
			break
		}
		if l.owes = true; first+i != l.got+1 {
			continue // it has come before, or after one that was lost
		}
		l.got++
		if err := f(frame); err != nil {
			return err
		}
	}
	if s.err != nil || len(s.b) > 0 {
		return fmt.Errorf("%w: %d bytes are left, %w", ErrPacket, len(s.b), s.err)
	}
	return nil
}

// confirm drops what the peer has.
func (l *Link) confirm(ack uint64, now Instant) error {
	if ack > l.acked+uint64(len(l.kept)) {
		return fmt.Errorf("%w: %d frames are confirmed, and %d were sent", ErrPacket, ack, l.acked+uint64(len(l.kept)))
	}
	if ack <= l.acked {
		return nil
	}
	n := ack - l.acked
	for _, f := range l.kept[:n] {
		l.bytes -= len(f)
	}
	l.kept = append(l.kept[:0], l.kept[n:]...)
	l.acked = ack
	l.next = max(l.next, ack+1)
	if l.resend = Never; len(l.kept) > 0 {
		l.resend = now + Instant(l.patience)
	}
	return nil
}

// PacketEnds returns of which epoch a packet is, from whom and to whom.
func PacketEnds(b []byte) (epoch, from, to uint64, err error) {
	s := scanner{b: b}
	epoch, from, to = s.number(), s.number(), s.number()
	if s.err != nil {
		err = fmt.Errorf("%w: %w", ErrPacket, s.err)
	}
	return epoch, from, to, err
}
