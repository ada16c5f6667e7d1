package elections

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/scenario"
)

// Family returns the family of elections. At first all are alive and follow the
// highest.
func Family() *family.Family {
	return &family.Family{
		Name: "elections", Timers: family.InUnits, Detects: true, Returns: 15,
		Env:  func(o family.Options) (family.Env, error) { return New(o.Nodes), nil },
		Born: func(n int) core.View { return core.View{N: n, Holder: core.ID(n - 1), Busy: true} },
		Properties: []family.Property{
			{Name: family.OneLeader, Means: "at most one wins in each round"},
			{Name: family.Agreement, Means: "in the end all alive follow the highest", Found: family.InTheEnd},
		},
		Signs: []family.Sign{family.Shown(family.OneLeader, family.Violates(scenario.OneLeader)), {Name: family.Agreement}},
	}
}
