package stile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/member"
)

// A Token is a fencing token: the number of a hold of a lock, greater than the tokens of
// all earlier holds. A resource that keeps the highest token it has seen, and refuses lower
// ones, never accepts a write of an earlier holder after one of a later holder.
type Token struct {
	Epoch uint64 // number of the view in which the lock was acquired
	Count uint64 // number of the hold in that view
}

// Less reports whether t is of an earlier hold than o.
func (t Token) Less(o Token) bool { return member.Token(t).Less(member.Token(o)) }

// String returns the token as text, such as 7.42.
func (t Token) String() string { return member.Token(t).String() }

// ParseToken parses the text that String returns.
func ParseToken(s string) (Token, error) {
	epoch, count, ok := strings.Cut(s, ".")
	e, err := strconv.ParseUint(epoch, 10, 64)
	c, err2 := strconv.ParseUint(count, 10, 64)
	if !ok || err != nil || err2 != nil {
		return Token{}, fmt.Errorf("%q is not a token: want two numbers, such as 7.42", s)
	}
	return Token{e, c}, nil
}
