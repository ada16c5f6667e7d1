package algorithm

import "fmt"

// A Class says on what a process may enter, and whether one process decides for
// all of them.
type Class uint8

// The classes of algorithms for mutual exclusion. Elections have none.
const (
	Unclassed  Class = iota
	Central          // one process gives permission to all
	Permission       // all others, or all who may be inside, give permission
	Quorum           // some others do, and any two such sets share a member
	Token            // whoever has the only token may enter
)

// String returns the words that commands use: what is needed to enter, and who
// decides.
func (c Class) String() string {
	switch c {
	case Unclassed:
		return ""
	case Central:
		return "permission, central"
	case Permission:
		return "permission, distributed"
	case Quorum:
		return "quorum, distributed"
	case Token:
		return "token, distributed"
	}
	return fmt.Sprintf("class %d", uint8(c))
}
