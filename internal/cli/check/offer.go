package check

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/check"
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family/transactions"
)

// offerProperties offers the properties that are not in the list yet.
func offerProperties(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	listed := strings.Split(begun, ",")
	listed = listed[:len(listed)-1]
	before := strings.Join(append(listed, ""), ",")
	var list []string
	for _, p := range propertiesOf(args) {
		if !slices.Contains(listed, p) {
			list = append(list, before+p)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

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
	return check.Properties(check.FamilyOf(spec))
}
