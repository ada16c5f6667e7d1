package gateway

import (
	"time"

	"github.com/stile-lock/stile/internal/member"
)

// slack is the part of a session's length by which callers count it shorter than the
// gateway: their clocks may be slower.
const slack = 10

// granted returns how long a caller holds its locks, counted from when it sent a call that
// was received at the given time: until the in-process client loses them, or the session
// ends.
func granted(received, until, end member.Instant, length time.Duration) time.Duration {
	return max(0, time.Duration(min(until, end-member.Instant(length/slack))-received))
}

// streamed returns how long the reader of a stream holds a lock, counted from when it
// receives a message that is sent now. The lock is held until a given time. The rest of
// that time is for the way of the message.
func streamed(now, until member.Instant) time.Duration {
	return max(0, time.Duration(until-now)/2)
}

// beat returns when a stream sends the next message: often enough that a reader never counts
// to the end of what the last one granted.
func beat(lease, promised time.Duration) time.Duration { return min(lease/5, promised/2) }

// tooShort reports whether what is left is too little to grant. The lock then counts as
// lost.
func tooShort(lease, promised time.Duration) bool { return promised < lease/50 }
