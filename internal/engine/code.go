package engine

import (
	"errors"

	"github.com/stile-lock/stile/internal/code"
	"github.com/stile-lock/stile/internal/member"
)

// errBytes is the error for bytes that nobody can have written.
var errBytes = errors.New("malformed bytes")

// span is a length of time.
func span(c *code.Coder, p *member.Span) { code.Within(c, p, 0, uint64(maxSpan)) }
