package algorithm

import "strconv"

// A Time is a logical time. Times can be told earlier from later, copied, and
// counted up by one, and nothing that an algorithm does may depend on their
// numbers. No method gives one, so nobody does so unawares. It is not impossible:
// whoever counts from First until a time is reached, prints one with package fmt
// or calls VisitTimes has its number. The checker tries every step with other
// numbers, and finds out most of that: see package check for what it cannot. The
// zero Time is none, and comes before all others.
type Time struct{ v uint64 }

// What a peer may claim ends far below what a state may hold, so that no claim
// can make a clock overflow, or a state impossible to load. No honest clock
// counts that far in the life of a group.
const (
	maxClaim = 1 << 48
	maxTime  = 1 << 62
)

// First returns the first time that there is, for a clock to begin with.
func First() Time { return Time{1} }

// IsNone reports whether t is no time at all.
func (t Time) IsNone() bool { return t.v == 0 }

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t.v < u.v }

// After reports whether t is later than u.
func (t Time) After(u Time) bool { return t.v > u.v }

// Next returns the time right after t.
func (t Time) Next() Time { return Time{t.v + 1} }

// See lets a clock take over a time that is later than its own.
func (t *Time) See(u Time) { t.v = max(t.v, u.v) }

// Tick returns the time of a clock, and moves the clock on to the next.
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

// text returns the stamp as people see it: <42,3>. Algorithms cannot call it.
func (s Stamp) text() string {
	if s.Time.IsNone() {
		return "none"
	}
	return "<" + strconv.FormatUint(s.Time.v, 10) + "," + strconv.Itoa(int(s.ID)+1) + ">"
}
