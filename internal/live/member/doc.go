// Package member is the pure core of a live member. A [Member] is a table of named
// locks, each an instance of an algorithm among the members of the current view,
// and what carries locks over from one view to the next: reports, homes, lending,
// leases and fencing tokens. [Links] are its links to the other members. Neither
// does I/O or reads a clock.
//
// The host calls methods with what has happened and with the time, and does what
// it finds afterwards. After each call of a Member, and after each packet that the
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
// It wakes the member at Out.Wake and the links at Wake. It installs a view in the
// member and in the links as one step, sends what is in Out, and then calls Early.
//
// docs/protocol.md has the messages, and the reason why locks are safe: when the
// home of epoch e lets go of a lock or lends it, no process is inside by an epoch
// before e, and none can get inside by one any more.
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
