package model

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
)

// A seat is one machine in a global state.
type seat struct {
	blob uint32
	dead bool
}

// A message is one in flight.
type message struct {
	blob uint32
	tag  family.Tag
	link uint16 // from*n + to
	old  bool   // it was sent in the previous unit
}

// Limits of a state: timers that run at the same time, and units left of one. One unit
// more means that none runs.
const (
	maxTimers = math.MaxUint8
	maxUnits  = math.MaxUint16 - 1
)

// A timer is a running timer of a seat.
type timer struct {
	id   int32
	tag  family.Tag
	seat uint8
	left uint16 // units; or if none pass, 0 or 1, toggled when a running timer is set anew
}

// A state is a whole global state, unpacked. Messages are sorted by link, and those of
// one link are in order of sending. Timers are sorted by seat and number.
type state struct {
	seats    []seat
	messages []message
	timers   []timer
	env      family.Env

	crashes, comebacks, errors, losses uint8 // how many are still possible

	// With this padding, and at least eight seats, what one worker changes all the time
	// shares no cache line of 64 bytes with what another one changes.
	_ [32]byte
}

func newState(n int, env family.Env) *state {
	return &state{seats: make([]seat, n, max(n, 8)), env: env.New()}
}

func (g *state) copyFrom(o *state) {
	copy(g.seats, o.seats)
	g.messages = append(g.messages[:0], o.messages...)
	if len(g.timers)+len(o.timers) > 0 {
		g.timers = append(g.timers[:0], o.timers...)
	}
	g.crashes, g.comebacks, g.errors, g.losses = o.crashes, o.comebacks, o.errors, o.losses
	g.env.Copy(o.env)
}

// to returns the receiver of a message.
func (g *state) to(l *message) int { return int(l.link) % len(g.seats) }

// add puts a message behind the others of its link.
func (g *state) add(l message) {
	i := len(g.messages)
	g.messages = append(g.messages, l)
	for i > 0 && g.messages[i-1].link > l.link {
		g.messages[i] = g.messages[i-1]
		i--
	}
	g.messages[i] = l
}

// last returns the newest message on a link, or nil.
func (g *state) last(link uint16) *message {
	for i := len(g.messages) - 1; i >= 0; i-- {
		if g.messages[i].link == link {
			return &g.messages[i]
		}
	}
	return nil
}

// remove removes one message.
func (g *state) remove(i int) { g.messages = append(g.messages[:i], g.messages[i+1:]...) }

// compare orders timers by seat and number.
func (t *timer) compare(seat uint8, id int32) int {
	return cmp.Or(cmp.Compare(t.seat, seat), cmp.Compare(t.id, id))
}

// stop removes a timer, if it runs.
func (g *state) stop(seat uint8, id int32) {
	for i := range g.timers {
		if g.timers[i].compare(seat, id) == 0 {
			g.timers = append(g.timers[:i], g.timers[i+1:]...)
			return
		}
	}
}

// another returns the left value of a timer that is set anew if no units pass, so that it
// differs from the timer before.
func (g *state) another(seat uint8, id int32) uint16 {
	for i := range g.timers {
		if g.timers[i].compare(seat, id) == 0 {
			return 1 - g.timers[i].left
		}
	}
	return 0
}

// start starts a timer, anew if it already runs.
func (g *state) start(t timer) {
	g.stop(t.seat, t.id)
	i := len(g.timers)
	g.timers = append(g.timers, t)
	for i > 0 && g.timers[i-1].compare(t.seat, t.id) > 0 {
		g.timers[i] = g.timers[i-1]
		i--
	}
	g.timers[i] = t
}

// pack appends the state's bytes.
func (m *Model) pack(b []byte, g *state) []byte {
	if m.mortal {
		b = append(b, g.crashes<<4|g.comebacks, g.errors)
	}
	if m.Losses > 0 {
		b = append(b, g.losses)
	}
	for i := range g.seats {
		id := g.seats[i].blob
		if m.mortal {
			id <<= 1
			if g.seats[i].dead {
				id |= 1
			}
		}
		b = appendUvarint(b, id)
	}
	b = g.env.Append(b)
	b = m.packTimers(b, g)
	if m.plain {
		for i := range g.messages {
			b = append(b, byte(g.messages[i].link))
			b = appendUvarint(b, g.messages[i].blob)
		}
		return b
	}
	for i := range g.messages {
		b = m.packLetter(b, &g.messages[i])
	}
	return b
}

func (m *Model) packLetter(b []byte, l *message) []byte {
	b = append(b, byte(l.link))
	if m.Seats > 16 {
		b = append(b, byte(l.link>>8))
	}
	id := l.blob
	if m.Clock == Units {
		id <<= 1
		if l.old {
			id |= 1
		}
	}
	b = appendUvarint(b, id)
	if m.Tagged {
		b = appendUvarint(b, uint32(l.tag))
	}
	return b
}

func (m *Model) packTimers(b []byte, g *state) []byte {
	b = append(b, byte(len(g.timers)))
	for i := range g.timers {
		t := &g.timers[i]
		b = appendUvarint(append(b, t.seat), uint32(t.left))
		b = appendUvarint(b, uint32(t.id))
		b = appendUvarint(b, uint32(t.tag))
	}
	return b
}

func appendUvarint(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// A reader reads numbers from packed bytes.
type reader []byte

func (r *reader) uvarint() uint32 {
	b := *r
	if b[0] < 0x80 {
		*r = b[1:]
		return uint32(b[0])
	}
	v, n := binary.Uvarint(b)
	*r = b[n:]
	return uint32(v)
}

func (r *reader) byte() uint8 {
	b := (*r)[0]
	*r = (*r)[1:]
	return b
}

// unpack is the reverse of pack.
func (m *Model) unpack(b []byte, g *state) {
	r := reader(b)
	if m.mortal {
		budget := r.byte()
		g.crashes, g.comebacks, g.errors = budget>>4, budget&15, r.byte()
	}
	if m.Losses > 0 {
		g.losses = r.byte()
	}
	for i := range g.seats {
		id := r.uvarint()
		dead := false
		if m.mortal {
			id, dead = id>>1, id&1 != 0
		}
		g.seats[i] = seat{id, dead}
	}
	r = g.env.Load(r)
	g.timers = g.timers[:0]
	for range r.byte() {
		t := timer{seat: r.byte(), left: uint16(r.uvarint())}
		t.id, t.tag = int32(r.uvarint()), family.Tag(r.uvarint())
		g.timers = append(g.timers, t)
	}
	g.messages = g.messages[:0]
	for len(r) > 0 {
		l := message{link: uint16(r.byte())}
		if m.Seats > 16 {
			l.link |= uint16(r.byte()) << 8
		}
		l.blob = r.uvarint()
		if m.Clock == Units {
			l.blob, l.old = l.blob>>1, l.blob&1 != 0
		}
		if m.Tagged {
			l.tag = family.Tag(r.uvarint())
		}
		g.messages = append(g.messages, l)
	}
}

// ends returns the sender and the receiver of a message.
func (m *Model) ends(l *message) (from, to algorithm.ID) {
	return algorithm.ID(int(l.link) / m.Seats), algorithm.ID(int(l.link) % m.Seats)
}
