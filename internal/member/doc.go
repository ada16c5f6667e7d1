// Package member is the pure core of a live member: a table of named locks,
// each an instance of an algorithm among the members of the present view, and
// what carries them over from one view to the next: reports, homes, lending,
// leases and fencing tokens. It does no I/O and reads no clock: whoever drives
// it hands in what came and what time it is, and sends what it wants sent.
//
// docs/protocol.md says what the messages are and why it is safe, in one line:
// when the home of epoch e lets go of a lock or lends it, nobody is inside by
// an epoch before e, and nobody can get inside by one any more.
package member

// An Instant is a reading of the member's own clock, in nanoseconds.
type Instant int64

// A Span is a length of time by some clock, in nanoseconds.
type Span int64

// Never is later than every Instant.
const Never Instant = 1<<63 - 1

// Lengths of time.
const (
	Microsecond Span = 1000
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// MaxSpan is the longest time that anybody speaks of.
	MaxSpan = 24 * 3600 * Second
)
