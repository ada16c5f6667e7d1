package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/member"
)

// ErrFrame is the error for bytes that no client and no node can have sent.
var ErrFrame = errors.New("malformed frame")

// A coder writes the fields of a frame, or reads them, so that they are listed
// once. Every frame has one form only: a number that is longer than it needs to be
// is refused. After a fault a reader yields nothing but zeros.
type coder struct {
	b     []byte
	reads bool
	err   error
}

func (c *coder) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrFrame, what)
	}
	c.b = nil
}

func (c *coder) number(p *uint64) {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, *p)
		return
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || n > 1 && c.b[n-1] == 0 {
		c.fail("a number is missing, or too long")
		*p = 0
		return
	}
	c.b = c.b[n:]
	*p = v
}

// within is a number with bounds.
func within[T ~int | ~int64 | ~uint8](c *coder, p *T, least, most uint64) {
	v := uint64(*p)
	c.number(&v)
	if c.reads && (v < least || v > most) {
		c.fail("a number is out of bounds")
		v = 0
	}
	*p = T(v)
}

func (c *coder) flag(p *bool) {
	v := uint8(0)
	if *p {
		v = 1
	}
	within(c, &v, 0, 1)
	*p = v == 1
}

// maxSpan is the longest time that anybody speaks of, and shortest how long the
// shortest session may be silent.
const (
	maxSpan  = 24 * 3600 * member.Second
	shortest = 10 * member.Millisecond
)

func (c *coder) span(p *member.Span) { within(c, p, 0, uint64(maxSpan)) }

func (c *coder) secret(p *Secret) {
	if !c.reads {
		c.b = append(c.b, p[:]...)
		return
	}
	if len(c.b) < len(p) {
		c.fail("it ends too early")
	}
	c.b = c.b[copy(p[:], c.b):]
}

func (c *coder) text(p *string, most int) {
	if !c.reads {
		c.b = append(binary.AppendUvarint(c.b, uint64(len(*p))), *p...)
		return
	}
	var b []byte
	c.blob(&b, most)
	if !utf8.Valid(b) {
		c.fail("a text that is no UTF-8")
		b = nil
	}
	*p = string(b)
}

// blob reads bytes that are valid as long as those that are read.
func (c *coder) blob(p *[]byte, most int) {
	n := len(*p)
	within(c, &n, 0, uint64(most))
	if !c.reads {
		c.b = append(c.b, *p...)
		return
	}
	if n > len(c.b) {
		c.fail("it ends too early")
		n = 0
	}
	*p, c.b = c.b[:n:n], c.b[n:]
}

// texts is how many there are, and then each of them.
func (c *coder) texts(p *[]string, most, long int) {
	n := len(*p)
	within(c, &n, 0, uint64(most))
	if c.reads {
		if *p = nil; n > 0 && n <= len(c.b) {
			*p = make([]string, n)
		} else if n > 0 {
			c.fail("a list is longer than the frame")
		}
	}
	for i := range *p {
		c.text(&(*p)[i], long)
	}
}
