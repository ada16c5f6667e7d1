package member

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Token is the fencing token of one entry: the epoch of the view in which it was
// granted, and the number of the entry within that epoch. Tokens of one lock rise from
// entry to entry; the resource that the lock protects refuses one that is lower than
// the highest it has seen.
type Token struct{ Epoch, Count uint64 }

// Less reports whether t is of an earlier entry than u.
func (t Token) Less(u Token) bool {
	return t.Epoch < u.Epoch || t.Epoch == u.Epoch && t.Count < u.Count
}

// IsNone reports whether t is not a token.
func (t Token) IsNone() bool { return t == Token{} }

// String formats a token as epoch.count.
func (t Token) String() string { return fmt.Sprintf("%d.%d", t.Epoch, t.Count) }

// Bytes returns 16 bytes that sort as tokens do.
func (t Token) Bytes() [16]byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], t.Epoch)
	binary.BigEndian.PutUint64(b[8:], t.Count)
	return b
}

// ParseToken reads what Bytes wrote.
func ParseToken(b []byte) (Token, error) {
	if len(b) != 16 {
		return Token{}, fmt.Errorf("invalid token: got %d bytes, want 16", len(b))
	}
	return Token{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}, nil
}

// How the two parts of a token share a number of 63 bits.
const (
	packedCount = 31 // bits
	packedEpoch = 63 - packedCount
)

// ErrUnpackable is the error for a token that does not fit into one number.
var ErrUnpackable = errors.New("the token does not fit in 63 bits: compare its 16 bytes instead")

// Pack returns the token as one number that is ordered as tokens are, for resources
// that have no room for more. It refuses a token that does not fit.
func (t Token) Pack() (int64, error) {
	if t.Epoch>>packedEpoch != 0 || t.Count>>packedCount != 0 {
		return 0, ErrUnpackable
	}
	return int64(t.Epoch<<packedCount | t.Count), nil
}

// A Stamp is when a request was first made. It keeps the request's place in the order
// from view to view.
type Stamp struct {
	Epoch uint64 // epoch in which it was made
	Clock uint64 // the member's logical clock then
	Inc   uint64 // incarnation of the member
}

// Less reports whether a request was made before another, in the order that all members
// agree on.
func (s Stamp) Less(o Stamp) bool {
	if s.Epoch != o.Epoch {
		return s.Epoch < o.Epoch
	}
	if s.Clock != o.Clock {
		return s.Clock < o.Clock
	}
	return s.Inc < o.Inc
}

// String formats a stamp as epoch.clock and the incarnation.
func (s Stamp) String() string {
	if s == lastStamp() {
		return "the end"
	}
	return fmt.Sprintf("%d.%d of %d", s.Epoch, s.Clock, s.Inc)
}

// lastStamp is after every other.
func lastStamp() Stamp { return Stamp{Epoch: 1<<64 - 1} }
