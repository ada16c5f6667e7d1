package sim

import "github.com/stile-lock/stile/algorithm"

// A Violation is one way in which a run broke a property.
type Violation struct {
	Property string // which of the Rules of its family
	At       int64  // ticks
	Proc     algorithm.ID
	Other    algorithm.ID // who else is part of it: who was inside, asked before or won too; or None
	Section  string       // in which section, if there are several
	Hint     string       // what else is wrong, and may be why
	words    string
}

// String tells the violation in words.
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
