package algorithm

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm/host"
)

// A Fielder names and bounds its fields, in a fixed order, by calling one Coder method
// for each. Whether a field is present may depend on the fields before it.
type Fielder interface{ Fields(c *Coder) }

// A Coder walks the fields of a state or a message. Depending on how the Coder was made,
// the same Fields method encodes, decodes, describes for people, sets a field by name, or
// shows logical times to the checker.
type Coder struct {
	mode mode
	live mode   // the mode to return to after When
	when bool   // whether between When and Always
	n    int    // number of seats in the view
	buf  []byte // encode: the bytes written; decode: the bytes left
	err  error

	claims bool // decode: whether a peer wrote the bytes

	tokens     int
	idempotent bool

	fields []host.Field // describe
	of     string       // describe: what the fields belong to, and its index
	which  int
	name   string // assign
	text   string
	found  bool
	seats  []ID // describe, assign: members by seat; nil if all, in order

	times host.TimeVisitor // visit

	kinds int   // number of message kinds that the Spec names; 0 if unknown
	last  uint8 // skip: the last message kind

	arena arena
}

type mode uint8

const (
	encode mode = iota
	decode
	describe
	assign
	visit
	zero // the fields do not exist; decoding clears them
	skip // the fields do not exist; nothing to do
)

func (c *Coder) fail(name, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: field %s: %s", host.ErrMalformed, name, fmt.Sprintf(format, args...))
	}
}

// limit returns the bound that decoded times and counters must stay below.
func (c *Coder) limit() uint64 {
	if c.claims {
		return maxClaim
	}
	return maxTime
}

// Token marks that a token is here: in this state or in this message. It takes no space.
// Call it after the fields that determine it.
func (c *Coder) Token() {
	if c.mode != skip && c.mode != zero {
		c.tokens++
	}
}

// Idempotent marks a message whose second copy changes nothing, whenever it arrives. The
// checker leaves such copies out, and tests the claim.
func (c *Coder) Idempotent() { c.idempotent = true }

// Of labels the following fields, for people, with the thing they belong to where there
// are several: L2 if what is "L" and i is 1. An empty what ends the labelling.
func (c *Coder) Of(what string, i int) { c.of, c.which = what, i }

// When declares that the following fields, up to Always, exist only if ok. Otherwise they
// are not coded, and are zero after decoding. When does not nest, and every When needs
// its Always.
func (c *Coder) When(ok bool) {
	if c.when {
		panic("algorithm: When before the Always of another When")
	}
	c.when = true
	c.live = c.mode
	if ok {
		return
	}
	if c.mode == decode {
		c.mode = zero
	} else {
		c.mode = skip
	}
}

// Always ends the fields that When began.
func (c *Coder) Always() {
	if !c.when {
		panic("algorithm: Always without When")
	}
	c.when = false
	c.mode = c.live
}

// Kinds returns how many message kinds the Spec names, for messages that carry those of
// other algorithms and cannot know.
func (c *Coder) Kinds() int {
	if c.kinds == 0 {
		return 256
	}
	return c.kinds
}

// Kind codes the first field of every message: an index into Spec.Kinds, at most last.
func (c *Coder) Kind(k *uint8, last uint8) {
	switch c.mode {
	case encode:
		c.buf = append(c.buf, *k)
	case decode:
		if len(c.buf) == 0 || c.buf[0] > last {
			c.fail("kind", "want 0 to %d", last)
			*k = 0
			return
		}
		*k = c.buf[0]
		c.buf = c.buf[1:]
	case skip:
		c.last = last
	}
}

// Bool codes a boolean.
func (c *Coder) Bool(name string, v *bool) {
	switch c.mode {
	case encode:
		var b byte
		if *v {
			b = 1
		}
		c.buf = append(c.buf, b)
	case decode:
		if len(c.buf) == 0 || c.buf[0] > 1 {
			c.fail(name, "want 0 or 1")
			*v = false
			return
		}
		*v = c.buf[0] == 1
		c.buf = c.buf[1:]
	case describe:
		c.show(name, yesNo(*v))
	case assign:
		c.setBool(name, v)
	case zero:
		*v = false
	}
}

// Derived shows people a fact that follows from the fields before it. It takes no space, and
// can be set only to what it is.
func (c *Coder) Derived(name string, v bool) {
	switch {
	case c.mode == describe:
		c.show(name, yesNo(v))
	case c.mode == assign && c.name == name:
		if c.found = true; c.text != yesNo(v) {
			c.wrong("it follows from the fields before it, so set those")
		}
	}
}

// Uint8 codes a small number, such as the state of an automaton. Its values are shown to
// people by name; the first name stands for 0.
func (c *Coder) Uint8(name string, v *uint8, names ...string) {
	switch c.mode {
	case encode:
		c.buf = append(c.buf, *v)
	case decode:
		if len(c.buf) == 0 || int(c.buf[0]) >= len(names) {
			c.fail(name, "want 0 to %d", len(names)-1)
			*v = 0
			return
		}
		*v = c.buf[0]
		c.buf = c.buf[1:]
	case describe:
		c.show(name, nameOf(names, *v))
	case assign:
		c.setName(name, v, names)
	case zero:
		*v = 0
	}
}

// Int codes a number from 0 to max.
func (c *Coder) Int(name string, v *int, max int) {
	switch c.mode {
	case encode:
		c.put(uint64(*v))
	case decode:
		*v = int(c.get(name, uint64(max)+1))
	case describe:
		c.show(name, fmt.Sprint(*v))
	case assign:
		if x, ok := c.setUint(name, uint64(max)); ok {
			*v = int(x)
		}
	case zero:
		*v = 0
	}
}

// Seat codes a seat of the view.
func (c *Coder) Seat(name string, id *ID) {
	switch c.mode {
	case encode:
		c.put(uint64(*id))
	case decode:
		*id = ID(c.get(name, uint64(c.n)))
	case describe:
		c.show(name, number(c.sits(*id)))
	case assign:
		c.setSeat(name, id, false)
	case zero:
		*id = 0
	}
}

// Maybe codes a seat of the view or None.
func (c *Coder) Maybe(name string, id *ID) {
	switch c.mode {
	case encode:
		c.put(uint64(*id + 1))
	case decode:
		*id = ID(c.get(name, uint64(c.n)+1)) - 1
	case describe:
		c.show(name, number(c.sits(*id)))
	case assign:
		c.setSeat(name, id, true)
	case zero:
		*id = None
	}
}

// Seats codes a list of distinct seats.
func (c *Coder) Seats(name string, ids *[]ID) {
	switch c.mode {
	case encode:
		c.put(uint64(len(*ids)))
		for _, id := range *ids {
			c.put(uint64(id))
		}
	case decode:
		n := int(c.get(name, uint64(c.n)+1))
		s := resize(c, &c.arena.ids, *ids, n)
		c.arena.seen.Clear()
		for i := range s {
			id := ID(c.get(name, uint64(c.n)))
			if c.arena.seen.Has(id) {
				c.fail(name, "%v is listed twice", id)
			}
			c.arena.seen.Add(id)
			s[i] = id
		}
		*ids = s
	case describe:
		c.show(name, c.seatNumbers(*ids))
	case assign:
		c.setSeats(name, ids)
	case zero:
		*ids = (*ids)[:0]
	}
}

// Set codes a set of seats.
func (c *Coder) Set(name string, s *Set) {
	switch c.mode {
	case encode:
		for i := range (c.n + 7) / 8 {
			c.buf = append(c.buf, byte(s.word(i/8)>>(8*uint(i%8))))
		}
	case decode:
		c.getSet(name, s)
	case describe:
		var ids []ID
		for id := range s.All() {
			ids = append(ids, id)
		}
		c.show(name, c.seatNumbers(ids))
	case assign:
		var ids []ID
		if c.setSeats(name, &ids) {
			s.Clear()
			for _, id := range ids {
				s.Add(id)
			}
		}
	case zero:
		s.Clear()
	}
}

// Time codes a logical time; 0 is none.
func (c *Coder) Time(name string, t *Time) {
	switch c.mode {
	case encode:
		c.put(t.v)
	case decode:
		t.v = c.get(name, c.limit())
	case visit:
		c.times.Time(&t.v)
	case zero:
		t.v = 0
	default:
		c.describeNumber(name, &t.v)
	}
}

// Ticket codes a logical time for which 0 is a live value: it is compared with others,
// and others may be one greater.
func (c *Coder) Ticket(name string, t *Time) {
	switch c.mode {
	case encode:
		c.put(t.v)
	case decode:
		t.v = c.get(name, c.limit())
	case visit:
		c.times.Ticket(&t.v)
	case zero:
		t.v = 0
	default:
		c.describeNumber(name, &t.v)
	}
}

// Stamp codes a request stamp. A stamp without a time has no seat.
func (c *Coder) Stamp(name string, s *Stamp) {
	switch c.mode {
	case encode:
		c.put(s.Time.v)
		if !s.Time.IsNone() {
			c.put(uint64(s.ID))
		}
	case decode:
		s.Time.v = c.get(name, c.limit())
		s.ID = 0
		if !s.Time.IsNone() {
			s.ID = ID(c.get(name, uint64(c.n)))
		}
	case visit:
		c.times.Time(&s.Time.v)
	case describe:
		c.show(name, Stamp{s.Time, c.sits(s.ID)}.text())
	case assign:
		c.setStamp(name, s)
	case zero:
		*s = Stamp{}
	}
}

// Times codes one logical time for each seat of the view.
func (c *Coder) Times(name string, ts *[]Time) {
	if c.mode == decode {
		*ts = resize(c, &c.arena.times, *ts, c.n)
	}
	for i := range *ts {
		switch c.mode {
		case encode:
			c.put((*ts)[i].v)
		case decode:
			(*ts)[i].v = c.get(name, c.limit())
		case visit:
			c.times.Time(&(*ts)[i].v)
		case zero:
			(*ts)[i].v = 0
		}
	}
	c.describeAll(name, len(*ts), func(i int) *uint64 { return &(*ts)[i].v })
}

// Seq codes a counter that belongs to one process, its column: for example, how many
// requests that process has made. Counters are only copied, counted up, and compared with
// others in their column.
func (c *Coder) Seq(name string, column ID, v *uint64) {
	switch c.mode {
	case encode:
		c.put(*v)
	case decode:
		*v = c.get(name, c.limit())
	case visit:
		c.times.Seq(column, v)
	case zero:
		*v = 0
	default:
		c.describeNumber(name, v)
	}
}

// Seqs codes one counter for each column.
func (c *Coder) Seqs(name string, vs *[]uint64) {
	c.columns(name, vs, false)
}

// Anchors codes one counter for each column, the one from which the others in that column
// are measured: how far they lag behind it does not matter. The checker tests that.
func (c *Coder) Anchors(name string, vs *[]uint64) {
	c.columns(name, vs, true)
}

func (c *Coder) columns(name string, vs *[]uint64, anchor bool) {
	if c.mode == decode {
		*vs = resize(c, &c.arena.counts, *vs, c.n)
	}
	for i := range *vs {
		switch c.mode {
		case encode:
			c.put((*vs)[i])
		case decode:
			(*vs)[i] = c.get(name, c.limit())
		case zero:
			(*vs)[i] = 0
		case visit:
			if anchor {
				c.times.Anchor(ID(i), &(*vs)[i])
			} else {
				c.times.Seq(ID(i), &(*vs)[i])
			}
		}
	}
	c.describeAll(name, len(*vs), func(i int) *uint64 { return &(*vs)[i] })
}
