package algorithm

// The encoding: bytes, and unsigned varints of minimal length, so that equal
// values have equal bytes and each value has one encoding.

func (c *Coder) put(v uint64) {
	for v >= 0x80 {
		c.buf = append(c.buf, byte(v)|0x80)
		v >>= 7
	}
	c.buf = append(c.buf, byte(v))
}

// get reads a number below limit.
func (c *Coder) get(name string, limit uint64) uint64 {
	b := c.buf
	if len(b) > 0 && b[0] < 0x80 {
		if v := uint64(b[0]); v < limit {
			c.buf = b[1:]
			return v
		}
	} else if len(b) > 1 && b[1] < 0x80 && b[1] != 0 {
		if v := uint64(b[0]&0x7f) | uint64(b[1])<<7; v < limit {
			c.buf = b[2:]
			return v
		}
	}
	return c.getLong(name, limit)
}

// getLong reads a number of any length, and reports what is wrong with an invalid one.
func (c *Coder) getLong(name string, limit uint64) uint64 {
	b := c.buf
	var v uint64
	for i := 0; i < len(b) && i < 9; i++ {
		v |= uint64(b[i]&0x7f) << (7 * uint(i))
		if b[i] >= 0x80 {
			continue
		}
		if v < limit && (b[i] != 0 || i == 0) {
			c.buf = b[i+1:]
			return v
		}
		if v < limit {
			c.fail(name, "the number is not encoded in its shortest form")
		} else {
			c.fail(name, "%d is not below %d", v, limit)
		}
		return 0
	}
	if len(b) < 9 {
		c.fail(name, "unexpected end of input")
	} else {
		c.fail(name, "the number is too long or negative")
	}
	return 0
}

func (s *Set) word(i int) uint64 {
	if i == 0 {
		return s.lo
	}
	return word(s.hi, i-1)
}

func (c *Coder) getSet(name string, s *Set) {
	size := (c.n + 7) / 8
	if c.inMessage() {
		s.hi = nil
		if c.n > 64 {
			c.arena.used = true
			s.hi = carve(&c.arena.words, (c.n-1)/64)
		}
	}
	s.Clear()
	if len(c.buf) < size {
		c.fail(name, "unexpected end of input")
		return
	}
	for i, b := range c.buf[:size] {
		for b != 0 {
			bit := b & -b
			id := ID(8*i) + ID(trailing(b))
			if int(id) >= c.n {
				c.fail(name, "%v is not in the view", id)
				return
			}
			s.Add(id)
			b ^= bit
		}
	}
	c.buf = c.buf[size:]
}

func trailing(b byte) int {
	n := 0
	for b&1 == 0 {
		b >>= 1
		n++
	}
	return n
}

// An arena holds the lists of the message being decoded. They live until the next
// message, so decoding allocates nothing.
type arena struct {
	on     bool // whether this Coder decodes messages
	used   bool
	ids    []ID
	times  []Time
	counts []uint64
	words  []uint64
	seen   Set
}

func (a *arena) reset() {
	if a.used {
		a.used = false
		a.ids, a.times, a.counts, a.words = a.ids[:0], a.times[:0], a.counts[:0], a.words[:0]
	}
}

func (c *Coder) inMessage() bool { return c.arena.on }

// resize returns a list of n elements to decode into: carved from the arena for a
// message, or the field's own memory for a state.
func resize[T any](c *Coder, from *[]T, own []T, n int) []T {
	if c.err != nil {
		n = 0
	}
	if c.inMessage() {
		c.arena.used = true
		return carve(from, n)
	}
	if cap(own) >= n {
		return own[:n]
	}
	return make([]T, n)
}

func carve[T any](from *[]T, n int) []T {
	lo := len(*from)
	if cap(*from)-lo < n {
		*from = make([]T, 0, 2*(lo+n))
		lo = 0
	}
	*from = (*from)[:lo+n]
	return (*from)[lo : lo+n : lo+n]
}
