// Package families knows every family that an algorithm can be of: hosts ask it
// instead of making a difference between them.
package families

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/world/family"
	"github.com/stile-lock/stile/internal/world/family/elections"
	"github.com/stile-lock/stile/internal/world/family/locks"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// All returns the families, in the order in which people should see them.
func All() []*family.Family {
	return []*family.Family{locks.Family(), elections.Family(), locks.Survivors(), transactions.Config{}.Family()}
}

// Of returns the family that an algorithm says it is of. What depends on where
// transactions and their locks are is not in it: see [transactions.Config].
func Of(spec algorithm.Spec) *family.Family {
	switch {
	case spec.Family == algorithm.Election:
		return elections.Family()
	case spec.Family == algorithm.Transactions:
		return transactions.Config{}.Family()
	case spec.Detects:
		return locks.Survivors()
	}
	return locks.Family()
}
