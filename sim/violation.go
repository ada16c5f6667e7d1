package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
)

// A Violation is one way in which a run broke a property.
type Violation struct {
	Property string // mutual-exclusion, order, lost-request or unasked-entry; elections: one-leader or agreement; transactions: mutual-exclusion, granted-unasked or victim-idle
	At       int64  // ticks
	Proc     core.ID
	Other    core.ID // mutual-exclusion: who was inside. order: who asked before. one-leader: who won too.
	Section  string  // in which section, if there are several
	Hint     string  // what else is wrong, and may be why
}

// String tells the violation in words.
func (v Violation) String() string {
	words := v.words()
	if v.Section != "" {
		words += ", in " + v.Section
	}
	if v.Hint != "" {
		words += "; " + v.Hint
	}
	return words
}

func (v Violation) words() string {
	switch v.Property {
	case family.MutualExclusion:
		return fmt.Sprintf("%v entered while %v was inside", v.Proc, v.Other)
	case family.Order:
		return fmt.Sprintf("%v entered before %v, whose request happened before", v.Proc, v.Other)
	case family.LostRequest:
		return fmt.Sprintf("%v asked and was never granted", v.Proc)
	case family.UnaskedEntry:
		return fmt.Sprintf("%v entered without having asked", v.Proc)
	case family.OneLeader:
		return fmt.Sprintf("%v and %v won in the same round", v.Proc, v.Other)
	case family.UnaskedGrant:
		return fmt.Sprintf("%v has got a lock without having asked", v.Proc)
	case family.IdleVictim:
		return fmt.Sprintf("%v was told to abort, but has no transaction", v.Proc)
	case family.Agreement:
		return fmt.Sprintf("all is quiet, but not everybody alive follows %v, the highest", v.Proc)
	}
	return v.Property
}
