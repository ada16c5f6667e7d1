package main

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/internal/world/family/families"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// propertiesOf returns the properties of what is to be checked, or of a lock if
// that is not known.
func propertiesOf(args []string) []string {
	var spec algorithm.Spec
	if len(args) > 0 {
		if m, err := deadlock.Find(args[0]); err == nil {
			return check.Properties(transactions.Dinner(m, "", 2, 2).Family())
		}
		spec, _ = catalog.Make(args[0], algorithm.Options{})
	}
	return check.Properties(families.Of(spec))
}
