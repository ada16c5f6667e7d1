// Package member is the pure core of a live member. A [Member] is a table of named
// locks, each an instance of an algorithm among the members of the current view,
// together with the mechanisms that carry locks over from one view to the next:
// reports, homes, lending, leases and fencing tokens. [Links] are its links to the
// other members. Neither does I/O or reads a clock.
//
// # Driving a member
//
// The host calls methods with what has happened and the current time, and carries out
// the effects afterwards. After each call of a Member, and after each packet that the
// links have received:
//
//	notify(m.Out.Events)
//	for _, f := range m.Out.Frames {
//		links.Send(f.To, f.Bytes)
//	}
//	m.Out.Reset()
//	if m.Bulk() {
//		for _, inc := range others {
//			for links.Room(inc) && m.More(now, inc) {
//				// links.Send as above, then m.Out.Reset()
//			}
//		}
//	}
//	log(links.Ended())
//	for to, p, ok := links.Next(now, buf[:0]); ok; to, p, ok = links.Next(now, buf[:0]) {
//		transmit(to, p)
//	}
//
// Inspect and Look show what a member knows of a lock and what a frame holds, as data: package
// explain has the words. A [Template] loads and saves a member's whole state, for checkers: its
// walk in state.go is the only list of what that is.
//
// After Trail, Out.Marks shows what happens to a lock, for people: package trail makes a
// scenario of the marks of all members.
//
// The host wakes the member at Out.Wake and the links at Wake. It installs a view in
// the member and in the links as one step, sends what is in Out, and then calls Early.
//
// # Why locks are safe
//
// When the home of epoch e releases a lock or lends it, no process is inside by an
// epoch before e, and none can get inside by one any more. docs/protocol.md describes
// the messages, and why this holds.
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

	// MaxSpan is the longest span in use.
	MaxSpan = 24 * 3600 * Second
)
