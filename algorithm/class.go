package algorithm

import "fmt"

// A Class is what a process needs in order to enter, and whether one process decides for
// all.
type Class uint8

// The classes of mutual exclusion algorithms. Elections have none.
const (
	Unclassed  Class = iota
	Central          // one process grants permission to all
	Permission       // all others, or all that may be inside, grant permission
	Quorum           // a set of others grants permission, and any two such sets share a member
	Token            // the process that has the only token may enter
)

// String returns the words that commands use: what is needed to enter, and where the
// decision is made.
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
