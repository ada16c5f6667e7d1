package family

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Family is a family of algorithms as a value: its environments, the properties they
// are judged by, and the texts that hosts print about them.
type Family struct {
	Name       string                          // name, as a heading
	Means      string                          // purpose of its algorithms
	Kind       string                          // name that a page gives a run of one of them
	May        string                          // what processes may do in a check; %s is how often
	Calls      string                          // what a process that asks does, if not a request that it waits for
	Rules      []Rule                          // what one run is judged by, in the order of reporting
	Properties []Property                      // what all runs are judged by, in the order of a report
	Signs      []Sign                          // what can be seen violated in a state or a step, in the order of reporting
	Claims     func(s algorithm.Spec) []string // names of the properties that an algorithm claims
	Env        func(o Options) (Env, error)

	Sites   int     // number of machines, if they are sites; 0 means one for each process
	Tags    bool    // environments mark messages and timers, whatever is watched: see Env.Tag
	Timers  Timers  // when they expire
	Numbers Numbers // what is distinguished in logical times and counters
	Detects bool    // hosts notify machines of crashes
	Returns int     // maximum number of crashed processes that return in one check
	Enters  bool    // applications that ask get in somewhere; if none ever does, nothing is known about its locks
	Loses   bool    // messages may be lost even if the network itself loses none
	Vast    bool    // so many states that, by default, each process asks once and messages take no time compared with timeouts

	// Born is the initial view of the machines; nil means that the first process has the
	// lock and is not inside.
	Born func(n int) algorithm.View
	// Bundle returns the algorithm whose machines run at the processes, if it is not the
	// one that is checked but made of it; nil means that it is. Each process makes the
	// given number of requests; 0 means any number.
	Bundle func(s algorithm.Spec, requests int) (algorithm.Spec, error)
	// Scene adds to the head of a scenario what there is besides processes; nil means
	// nothing.
	Scene func(sc *scenario.Scenario)
	// Bounded says up to which bound something was proved, or that there was none if each
	// process may ask any number of times (0). It is nil if there are no requests that
	// could be counted, or that an application waits for.
	Bounded func(requests int) string
}

// Options select an environment of a family.
type Options struct {
	Nodes    int            // processes
	Requests int            // requests of each process; 0 means any number
	Asks     []algorithm.ID // processes that may ask; nil means all
	Watch    string         // property to watch that needs a monitor, or none
}

// Timers say when timers expire.
type Timers uint8

// When timers expire.
const (
	AnyTime Timers = iota // at any time
	InUnits               // after as many maximum latencies as they were set for
)

// Numbers say what is distinguished in logical times and counters.
type Numbers uint8

// What is distinguished.
const (
	Plain    Numbers = iota // everything: there are finitely many
	Logical                 // the order and nearness of times, and the distance of counters from the token's
	Attempts                // the order of counters and, if there is no bound or times spread, also the order and nearness of times
)

// A Rule is something that one run is judged by.
type Rule struct {
	Name   string // name given to Host.Break
	Means  string // what it means that it holds
	Broken string // report of a violation; %[1]v is the process at fault, %[2]v the other one involved
	Cut    string // the same for a run that was cut, whose end is unknown; "" means no difference
	AtRest bool   // known only when all is quiet
}

// Tells says how a rule is violated, by a run that was cut if so, or only names the rule
// if the family does not know it.
func (f *Family) Tells(rule string, cut bool, p, other algorithm.ID) string {
	for _, r := range f.Rules {
		switch {
		case r.Name != rule:
		case cut && r.Cut != "":
			return fmt.Sprintf(r.Cut, p, other)
		case r.Broken != "":
			return fmt.Sprintf(r.Broken, p, other)
		}
	}
	return rule
}

// A Property is something that a family is judged by.
type Property struct {
	Name  string
	Means string // what it means that it holds
	Found Found
	Moot  string // why there is nothing to check
}

// A Sign is a violation that an Env, or a host, can see.
type Sign struct {
	Name  string              // name given to Host.Break
	Of    []string            // properties it violates; nil means the one of its own name
	Shown *script.Expectation // expectation of a scenario that shows it; nil if the simulator cannot see it
}

// Breaks reports whether the sign violates a property.
func (s Sign) Breaks(property string) bool {
	return s.Of == nil && s.Name == property || slices.Contains(s.Of, property)
}

// Shown returns a Sign that a scenario shows by an expectation.
func Shown(name string, e script.Expectation, of ...string) Sign {
	return Sign{Name: name, Of: of, Shown: &e}
}

// Violates returns the expectation that a property is violated, as the simulator names
// it.
func Violates(property string) script.Expectation {
	return script.Expectation{Kind: script.Violated, Name: property}
}

// Found says where a violation of a property can be found.
type Found uint8

// Where a violation can be found.
const (
	InSteps    Found = iota // in a state, or by a step
	ByMonitor               // the same, by an Env that watches
	InRuns                  // in a fair run in which an application waits forever
	InTheEnd                // in a fair run in which some application waits again and again
	ByCounting              // by counting the entries of other processes
	AtStarts                // like any other, from some start of a view
	Anywhere                // in a fair run from any state
)
