package stile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/live/member"
)

// A Token is the number of an entry of a lock. Each entry has a higher one than all
// that were before it. Whoever guards a resource keeps the highest token that it
// has seen, and refuses all that comes with a lower one.
type Token struct {
	Epoch uint64 // of the members' view
	Count uint64 // of entries in it
}

// Less reports whether t is of an earlier entry than o.
func (t Token) Less(o Token) bool { return member.Token(t).Less(member.Token(o)) }

// String writes a token, such as 7.42.
func (t Token) String() string { return member.Token(t).String() }

// ParseToken reads what String has written.
func ParseToken(s string) (Token, error) {
	epoch, count, ok := strings.Cut(s, ".")
	e, err := strconv.ParseUint(epoch, 10, 64)
	c, err2 := strconv.ParseUint(count, 10, 64)
	if !ok || err != nil || err2 != nil {
		return Token{}, fmt.Errorf("%q is no token: want two numbers, such as 7.42", s)
	}
	return Token{e, c}, nil
}
