package algorithm

import (
	"errors"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm/host"
)

// Support for machines that are made of other machines.

// maxInner bounds the bytes of a message or a state inside another.
const maxInner = 1 << 20

// Bytes codes bytes that have meaning only elsewhere.
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

// Refuse declares the value of a field invalid when decoding. Otherwise it does nothing.
func (c *Coder) Refuse(name, why string) {
	if c.mode == decode {
		c.fail(name, "%s", why)
	}
}

// take reads a length and that many bytes.
func (c *Coder) take(name string) []byte {
	n := int(c.get(name, maxInner))
	if n > len(c.buf) {
		c.fail(name, "unexpected end of input")
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// Inner codes the state of a machine inside another. To people and to the checker its
// fields are fields of the outer machine. For people, a field whose name is taken gets
// the name of the inner machine as a prefix, and the inner seats are named after the
// members, by seat; nil means all processes, in order.
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
		m.VisitTimes(c.times)
	case describe:
		c.tokens += m.Tokens()
		own := len(c.fields)
		for _, f := range m.Describe(c.among(members)...) {
			if slices.ContainsFunc(c.fields[:own], func(o host.Field) bool { return o.Name == f.Name }) {
				f.Name = name + " " + f.Name
			}
			c.fields = append(c.fields, f)
		}
	case assign:
		if err := m.Assign(strings.TrimPrefix(c.name, name+" "), c.text, c.among(members)...); errors.Is(err, errNoField) {
			return
		} else if err != nil && c.err == nil {
			c.err = err
		}
		c.found = true
	}
}
