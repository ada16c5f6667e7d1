package sim

import "github.com/stile-lock/stile/algorithm"

// A Violation is one way in which a run violated a property.
type Violation struct {
	Property string // one of the Rules of its family
	At       int64  // ticks
	Proc     algorithm.ID
	Other    algorithm.ID // other process involved, which was inside, requested before or won too; or None
	Section  string       // section, if there are several
	Hint     string       // what else is wrong, and may be the cause
	words    string
}

// String describes the violation in words.
func (v Violation) String() string {
	words := v.words
	if v.Section != "" {
		words += ", in " + v.Section
	}
	if v.Hint != "" {
		words += "; " + v.Hint
	}
	return words
}
