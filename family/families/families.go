// Package families knows every family that an algorithm can be of: hosts ask it
// instead of making a difference between them.
package families

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/family/elections"
	"github.com/stile-lock/stile/family/locks"
	"github.com/stile-lock/stile/family/transactions"
)

// All returns the families, in the order in which people should see them.
func All() []*family.Family {
	return []*family.Family{locks.Family(), elections.Family(), locks.Survivors(), transactions.Config{}.Family()}
}

// Of returns the family that an algorithm says it is of. What depends on where
// transactions and their locks are is not in it: see [transactions.Config].
func Of(spec core.Spec) *family.Family {
	switch {
	case spec.Family == core.Election:
		return elections.Family()
	case spec.Family == core.Transactions:
		return transactions.Config{}.Family()
	case spec.Detects:
		return locks.Survivors()
	}
	return locks.Family()
}
