package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stile-lock/stile/internal/member"
)

// errBytes is the error for bytes that nobody can have written.
var errBytes = errors.New("malformed bytes")

// A coder writes the fields of a value, or reads them: each type says once what
// its fields are. Every value has one form only: a number that is longer than it
// needs to be is refused. After a fault a reader yields nothing but zeros.
type coder struct {
	b     []byte
	reads bool
	err   error
}

func (c *coder) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", errBytes, what)
	}
	c.b = nil
}

// end reports what was wrong with what was read, or that there is more of it.
func (c *coder) end() error {
	if c.err == nil && len(c.b) > 0 {
		c.fail("they go on after their end")
	}
	return c.err
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

// upTo is a number with a bound.
func upTo[T ~int | ~int64 | ~uint8](c *coder, p *T, most uint64) {
	v := uint64(*p)
	c.number(&v)
	if c.reads && v > most {
		c.fail("a number is too large")
		v = 0
	}
	*p = T(v)
}

func (c *coder) flag(p *bool) {
	v := uint8(0)
	if *p {
		v = 1
	}
	upTo(c, &v, 1)
	*p = v == 1
}

func (c *coder) span(p *member.Span) { upTo(c, p, uint64(maxSpan)) }

func (c *coder) text(p *string, most int) {
	b := []byte(*p)
	c.blob(&b, most)
	*p = string(b)
}

// blob reads bytes that are valid as long as those that are read.
func (c *coder) blob(p *[]byte, most int) {
	n := len(*p)
	upTo(c, &n, uint64(most))
	if !c.reads {
		c.b = append(c.b, *p...)
		return
	}
	if n > len(c.b) {
		c.fail("they end too early")
		n = 0
	}
	*p, c.b = c.b[:n:n], c.b[n:]
}

// list is how many there are, and then each of them, of at least a byte.
func list[T any](c *coder, p *[]T, most int, one func(*T)) {
	n := len(*p)
	upTo(c, &n, uint64(most))
	if c.reads {
		if n > len(c.b) {
			c.fail("a list is longer than all of them")
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

func (c *coder) numbers(p *[]uint64, most int) { list(c, p, most, c.number) }
