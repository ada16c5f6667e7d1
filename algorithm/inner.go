package algorithm

import (
	"slices"
	"strings"
)

// What a machine needs that is made of other machines.

// maxInner bounds the bytes of a message or a state within another.
const maxInner = 1 << 20

// Bytes codes bytes that mean something to somebody else.
func (c *Coder) Bytes(name string, b *[]byte) {
	switch c.mode {
	case encode:
		c.put(uint64(len(*b)))
		c.buf = append(c.buf, *b...)
	case decode:
		*b = append((*b)[:0:0], c.take(name)...)
	case zero:
		*b = nil
	}
}

// Refuse says that a field that was decoded cannot be so. Otherwise it does
// nothing.
func (c *Coder) Refuse(name, why string) {
	if c.mode == decode {
		c.fail(name, "%s", why)
	}
}

// take reads a length and so many bytes.
func (c *Coder) take(name string) []byte {
	n := int(c.get(name, maxInner))
	if n > len(c.buf) {
		c.fail(name, "the bytes end too early")
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// Inner codes the state of a machine within another. To people and to the
// checker its fields are fields of the outer one; to people, if a name is taken,
// with the name of the machine before theirs. And to people its seats are called as
// those who sit there are, by seat; nil means everybody, in order.
func (c *Coder) Inner(name string, m Machine, members []ID) {
	switch c.mode {
	case encode:
		b := m.AppendState(nil)
		c.put(uint64(len(b)))
		c.buf = append(c.buf, b...)
	case decode:
		b := c.take(name)
		if c.err == nil {
			if err := m.LoadState(b); err != nil {
				c.fail(name, "%v", err)
			}
		}
	case visit:
		m.Visit(c)
	case describe, assign:
		seats, text := c.seats, c.name
		own := len(c.fields)
		c.seats, c.name = c.among(members), strings.TrimPrefix(c.name, name+" ")
		m.Visit(c)
		c.seats, c.name = seats, text
		for i := range c.fields[own:] {
			f := &c.fields[own+i]
			if slices.ContainsFunc(c.fields[:own], func(o Field) bool { return o.Name == f.Name }) {
				f.Name = name + " " + f.Name
			}
		}
	}
}
