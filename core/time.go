package core

import "strconv"

// A Time is a logical time. Live times are 1 and above; 0 is none.
type Time uint64

// What a peer may claim ends far below what a state may hold, so that no claim
// can make a clock overflow, or a state impossible to load.
const (
	maxClaim = 1 << 61
	maxTime  = 1 << 62
)

// A Stamp orders requests totally: by time, then by seat.
type Stamp struct {
	Time Time
	ID   ID
}

// Less reports whether s comes before t.
func (s Stamp) Less(t Stamp) bool {
	return s.Time < t.Time || s.Time == t.Time && s.ID < t.ID
}

// String returns the stamp as people see it: <42,3>.
func (s Stamp) String() string {
	if s.Time == 0 {
		return "none"
	}
	return "<" + strconv.FormatUint(uint64(s.Time), 10) + "," + strconv.Itoa(int(s.ID)+1) + ">"
}
