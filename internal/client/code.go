package client

import (
	"errors"

	"github.com/stile-lock/stile/internal/code"
	"github.com/stile-lock/stile/internal/member"
)

// ErrFrame is the error for bytes that no client and no node can have sent.
var ErrFrame = errors.New("malformed frame")

// maxSpan is the longest time that anybody speaks of, and shortest how long the
// shortest session may be silent.
const (
	maxSpan  = 24 * 3600 * member.Second
	shortest = 10 * member.Millisecond
)

// span is a length of time.
func span(c *code.Coder, p *member.Span) { code.Within(c, p, 0, uint64(maxSpan)) }
