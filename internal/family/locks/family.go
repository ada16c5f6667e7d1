package locks

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
)

// Family returns the family of locks among processes that do not crash.
func Family() *family.Family {
	return &family.Family{
		Name: "Locks", Kind: kind, May: may, Rules: rules(), Claims: Claims, Numbers: family.Logical, Enters: true, Bounded: bounded,
		Env: func(o family.Options) (family.Env, error) {
			return New(Config{
				Nodes: o.Nodes, Asks: o.Asks, Requests: o.Requests, Fence: o.Watch == family.Fence,
				Order: o.Watch == family.Order || o.Watch == family.OrderOpen, Talk: o.Watch == family.OrderOpen,
			})
		},
		Properties: []family.Property{
			{Name: family.MutualExclusion, Means: "never two inside, and none without a request"},
			{Name: family.Deadlock, Means: "while a process waits, something can happen"},
			{Name: family.Starvation, Means: "no process waits forever", Found: family.InRuns},
			{Name: family.Order, Means: "requests are granted in the order they happened", Found: family.ByMonitor},
			{Name: family.OrderOpen, Means: "the same when applications talk to each other", Found: family.ByMonitor},
			{Name: family.Bypass, Found: family.ByCounting},
			{Name: family.Token, Means: "never two tokens"},
			{Name: family.Fence, Means: "the entry count rises by one at each entry", Found: family.ByMonitor},
			{Name: family.Channels},
			{Name: family.Start, Means: "all of this from every start of a view", Found: family.AtStarts},
			{Name: family.Alibi, Means: "a process with an alibi is not inside"},
			{Name: family.Convergence, Means: "it converges from every state", Found: family.Anywhere},
		},
		Signs: append(signs(),
			family.Shown(family.Order, family.Violates(script.Order), family.Order, family.OrderOpen),
			family.Sign{Name: family.Fence}, family.Sign{Name: family.Token}, family.Sign{Name: family.Alibi}, family.Sign{Name: family.Channels},
		),
	}
}

// What hosts print about every lock.
const (
	kind = "lock"
	may  = "each process may ask %s"
)

// rules lists what one run of a lock is judged by.
func rules() []family.Rule {
	return []family.Rule{
		{Name: family.MutualExclusion, Means: "at most one process is inside at a time", Broken: "%[1]v entered while %[2]v was inside"},
		{Name: family.LostRequest, Means: "every process that asks enters", Broken: "%[1]v asked and was never granted", Cut: "%[1]v asked and was not granted before the run was cut"},
		{Name: family.UnaskedEntry, Means: "no process enters without having asked", Broken: "%[1]v entered without having asked"},
		{Name: family.Order, Means: "requests are granted in the order of happened-before", Broken: "%[1]v entered before %[2]v, whose request happened before"},
	}
}

// signs lists the violations that can be seen of every lock.
func signs() []family.Sign {
	return []family.Sign{
		family.Shown(family.MutualExclusion, family.Violates(script.MutualExclusion)),
		family.Shown(family.UnaskedEntry, family.Violates(script.UnaskedEntry), family.MutualExclusion),
		family.Shown(family.Deadlock, family.Violates(script.LostRequest)),
	}
}

// Survivors returns the family of locks that survive crashes: those whose Spec has
// Detects.
func Survivors() *family.Family {
	return &family.Family{
		Name: "Locks that survive crashes", Kind: kind, May: may, Rules: rules(),
		Timers: family.InUnits, Detects: true, Returns: 1, Enters: true, Loses: true, Vast: true, Bounded: bounded,
		Env: func(o family.Options) (family.Env, error) {
			if o.Requests == 0 {
				return nil, fmt.Errorf("with crashes the number of requests must be bounded, because times and epochs would grow without end: give a number")
			}
			return New(Config{Nodes: o.Nodes, Asks: o.Asks, Requests: o.Requests, AtOnce: true})
		},
		Properties: []family.Property{
			{Name: family.MutualExclusion, Means: "never two inside, and none without a request"},
			{Name: family.Starvation, Means: "no process waits forever", Found: family.InRuns},
		},
		Signs: signs(),
	}
}

func bounded(requests int) string {
	if requests == 0 {
		return ""
	}
	return "up to " + words.Plural(requests, "request") + " per process"
}

// Claims returns the properties that a lock claims.
func Claims(spec algorithm.Spec) []string {
	list := []string{family.MutualExclusion, family.Deadlock}
	if !spec.TryLock {
		list = append(list, family.Starvation)
	}
	if spec.Theory.ME3 {
		list = append(list, family.Order, family.OrderOpen)
	}
	if spec.Theory.Bypass != nil {
		list = append(list, family.Bypass)
	}
	list = append(list, family.Token, family.Fence, family.Channels, family.Start, family.Alibi)
	if spec.Upset != nil {
		list = append(list, family.Convergence)
	}
	return list
}
