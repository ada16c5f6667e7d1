package check

import (
	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family/families"
	"github.com/stile-lock/stile/family/transactions"
)

// propertiesOf returns the properties of what is to be checked, or of a lock if
// that is not known.
func propertiesOf(args []string) []string {
	var spec core.Spec
	if len(args) > 0 {
		if m, err := deadlock.Find(args[0]); err == nil {
			return check.Properties(transactions.Dinner(m, "", 2, 2).Family())
		}
		spec, _ = catalog.Make(args[0], core.Options{})
	}
	return check.Properties(families.Of(spec))
}
