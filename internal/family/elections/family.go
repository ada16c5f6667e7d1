package elections

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
)

// What an election is judged by.
const (
	OneLeader = script.OneLeader // at most one process wins in each round
	Agreement = script.Agreement // in the end all live processes follow the highest of them
)

// Family returns the family of elections. Initially all processes are alive and follow
// the highest.
func Family() *family.Family {
	return &family.Family{
		Name: "Elections", Means: "all live processes agree on the highest of them", Kind: "election", May: "any process may call an election", Calls: "calls an election",
		Tags: true, Timers: family.InUnits, Detects: true, Returns: 15,
		Env:  func(o family.Options) (family.Env, error) { return New(o.Nodes), nil },
		Born: func(n int) algorithm.View { return algorithm.View{N: n, Holder: algorithm.ID(n - 1), Busy: true} },
		Rules: []family.Rule{
			{Name: OneLeader, Means: "at most one process wins in each round", Broken: "%[1]v and %[2]v won in the same round"},
			{
				Name: Agreement, Means: "when all is quiet, every live process follows the highest", AtRest: true,
				Broken: "in the end not every live process follows %[1]v, the highest",
				Cut:    "not every live process followed %[1]v, the highest, when the run was cut",
			},
		},
		Properties: []family.Property{
			{Name: OneLeader, Means: "at most one process wins in each round"},
			{Name: Agreement, Means: "finally all live processes follow the highest", Found: family.InTheEnd},
		},
		Signs: []family.Sign{family.Shown(OneLeader, family.Violates(OneLeader)), {Name: Agreement}},
	}
}
