// Package families lists every family that an algorithm can belong to, so that hosts need
// not distinguish between them.
package families

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/family/transactions"
)

// All returns the families, in display order.
func All() []*family.Family {
	return []*family.Family{locks.Family(), elections.Family(), locks.Survivors(), transactions.Config{}.Family()}
}

// Of returns the family that an algorithm declares. It does not include what depends on
// where transactions and their locks are: see [transactions.Config].
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
