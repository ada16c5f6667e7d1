package algorithm

import "strconv"

// A Time is a logical time. Times can be compared, copied, and counted up by one, and
// nothing that an algorithm does may depend on their numbers. No method returns the
// number, so an algorithm cannot use it by accident. It can on purpose: by counting from
// First until a time is reached, by printing it with package fmt, or by calling
// VisitTimes or NumberOf. The checker tries every step with some other numbers and catches
// most such uses: see package check for what it cannot catch. The zero Time is none, and
// comes before all others.
type Time struct{ v uint64 }

// A peer may claim far less than a state may hold, so that no claim can make a clock
// overflow or a state impossible to load. No honest clock counts that far in the life of
// a group.
const (
	maxClaim = 1 << 48
	maxTime  = 1 << 62
)

// TimeOf returns the time with a number, and NumberOf the number of a time. They are for
// hosts that store or send times; an algorithm has no use for them.
func TimeOf(n uint64) Time { return Time{n} }

// NumberOf returns the number of a time: see TimeOf.
func NumberOf(t Time) uint64 { return t.v }

// First returns the first time, where a clock begins.
func First() Time { return Time{1} }

// IsNone reports whether t is the zero Time.
func (t Time) IsNone() bool { return t.v == 0 }

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t.v < u.v }

// After reports whether t is later than u.
func (t Time) After(u Time) bool { return t.v > u.v }

// Next returns the time right after t.
func (t Time) Next() Time { return Time{t.v + 1} }

// See advances the clock t to u if u is later.
func (t *Time) See(u Time) { t.v = max(t.v, u.v) }

// Tick returns the time of the clock t and advances the clock by one.
func (t *Time) Tick() Time {
	now := *t
	t.v++
	return now
}

// A Stamp orders requests totally: by time, then by seat.
type Stamp struct {
	Time Time
	ID   ID
}

// Less reports whether s comes before t.
func (s Stamp) Less(t Stamp) bool {
	return s.Time.v < t.Time.v || s.Time == t.Time && s.ID < t.ID
}

// text returns the stamp as shown to people: <42,3>. Algorithms cannot call it.
func (s Stamp) text() string {
	if s.Time.IsNone() {
		return "none"
	}
	return "<" + strconv.FormatUint(s.Time.v, 10) + "," + strconv.Itoa(int(s.ID)+1) + ">"
}
