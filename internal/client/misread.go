package client

// A Misreading is a rule of docs/protocol.md, section 10, left out or taken wrongly:
// a negative control. Whoever judges clients must find each of them.
type Misreading uint8

// The misreadings.
const (
	LateCount   Misreading = 1 << iota // a guest counts its time from when the answer came
	Revives                            // a guest's time is not over if it still hopes for an answer
	StaleCounts                        // what comes on a connection that was superseded counts
	SaysOnce                           // what was let go of is not said again on a new connection
	AsksHeld                           // what is held is asked for again on a new connection, not checked
	AnySecret                          // a desk does not look at secrets
	KeepsGrant                         // what is granted while it is taken back is kept
)

func (x Misreading) has(y Misreading) bool { return x&y != 0 }
