// Package codec writes and reads the fields of values that go over the network or to a
// disk: each type lists its fields once, for both directions.
package codec

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Optional reports whether a message of an unknown kind may be ignored. A later version
// chooses a kind from 0x40 to 0x7f if processes without that version can do without the
// message; any other unknown kind is an error.
func Optional(kind byte) bool { return kind&0xc0 == 0x40 }

// A Coder writes fields to B, or reads them from it. Every value has only one encoding: a
// number that is longer than necessary is rejected. After an error, a reader yields only
// zeros.
type Coder struct {
	B   []byte
	Bad error // nil for a writer; for a reader, the error that its errors wrap
	err error
}

// Reads reports whether c reads.
func (c *Coder) Reads() bool { return c.Bad != nil }

// Fail notes an error: the first one counts.
func (c *Coder) Fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", c.Bad, what)
	}
	c.B = nil
}

// End returns what was wrong with the input, or that some of it is left over.
func (c *Coder) End() error {
	if c.err == nil && len(c.B) > 0 {
		c.Fail("bytes follow the last field")
	}
	return c.err
}

// Number codes a number.
func (c *Coder) Number(p *uint64) {
	if !c.Reads() {
		c.B = binary.AppendUvarint(c.B, *p)
		return
	}
	v, n := binary.Uvarint(c.B)
	if n <= 0 || n > 1 && c.B[n-1] == 0 {
		c.Fail("number missing or too long")
		*p = 0
		return
	}
	c.B = c.B[n:]
	*p = v
}

// Within codes a number with bounds.
func Within[T ~int | ~int64 | ~uint8](c *Coder, p *T, least, most uint64) {
	v := uint64(*p)
	c.Number(&v)
	if c.Reads() && (v < least || v > most) {
		c.Fail("number out of range")
		v = 0
	}
	*p = T(v)
}

// Flag codes a boolean.
func (c *Coder) Flag(p *bool) {
	v := uint8(0)
	if *p {
		v = 1
	}
	Within(c, &v, 0, 1)
	*p = v == 1
}

// Text codes UTF-8 of at most the given number of bytes.
func (c *Coder) Text(p *string, most int) {
	if !c.Reads() {
		c.B = append(binary.AppendUvarint(c.B, uint64(len(*p))), *p...)
		return
	}
	var b []byte
	c.Bytes(&b, most)
	if !utf8.Valid(b) {
		c.Fail("text is not UTF-8")
		b = nil
	}
	*p = string(b)
}

// Bytes codes at most the given number of bytes. Bytes that are read are valid as long as
// B is.
func (c *Coder) Bytes(p *[]byte, most int) {
	n := len(*p)
	Within(c, &n, 0, uint64(most))
	if !c.Reads() {
		c.B = append(c.B, *p...)
		return
	}
	if n > len(c.B) {
		c.Fail("truncated")
		n = 0
	}
	*p, c.B = c.B[:n:n], c.B[n:]
}

// Fixed codes bytes whose number is known.
func (c *Coder) Fixed(p []byte) {
	if !c.Reads() {
		c.B = append(c.B, p...)
		return
	}
	if len(c.B) < len(p) {
		c.Fail("truncated")
	}
	c.B = c.B[copy(p, c.B):]
}

// List codes the number of elements, and then each of them, which takes at least a byte.
func List[T any](c *Coder, p *[]T, most int, one func(*T)) {
	n := len(*p)
	Within(c, &n, 0, uint64(most))
	if c.Reads() {
		if n > len(c.B) {
			c.Fail("list longer than its input")
		}
		*p = nil
		if c.err == nil && n > 0 {
			*p = make([]T, n)
		}
	}
	for i := range *p {
		one(&(*p)[i])
	}
}

// Numbers codes a list of numbers. Where it is inlined, the compiler knows nothing about the
// instance of List that it calls, and moves what is coded to the heap.
//
//go:noinline
func (c *Coder) Numbers(p *[]uint64, most int) { List(c, p, most, c.Number) }
