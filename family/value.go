package family

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// A Family is a family of algorithms as a value: its environments, and what
// they are judged by.
type Family struct {
	Name       string
	Properties []Property                 // in the order of a report
	Signs      []Sign                     // what can be seen broken in a state or a step, in the order in which it is told
	Claims     func(s core.Spec) []string // the names of those that an algorithm claims
	Env        func(o Options) (Env, error)

	Sites   int     // how many machines there are, if they are sites; 0 means one for each process
	Timers  Timers  // when they run out
	Numbers Numbers // what is told apart in logical times and counters
	Detects bool    // hosts tell machines who is dead
	Returns int     // how many of those who have died may come back in one check
	Loses   bool    // messages may be lost that the network does not lose by itself

	// Born is what machines are born with; nil means that the first process has
	// the lock and is not inside.
	Born func(n int) core.View
	// Scene puts into the head of a scenario what there is besides processes;
	// nil means nothing.
	Scene func(sc *scenario.Scenario)
	// Bounded says up to which bound something was proved, or that there was
	// none if each process may ask any number of times, which is 0.
	Bounded func(requests int) string
}

// Options say which of its environments a family is to make.
type Options struct {
	Nodes    int       // processes
	Requests int       // how often each of them asks; 0 means any number of times
	Asks     []core.ID // which of them may ask; nil means all
	Watch    string    // the property to watch that needs a monitor, or none
}

// Timers say when timers run out.
type Timers uint8

// When timers run out.
const (
	AnyTime Timers = iota // at any time
	InUnits               // after so many longest latencies as they were set for
)

// Numbers say what is told apart in logical times and counters.
type Numbers uint8

// What is told apart.
const (
	Plain    Numbers = iota // everything: there are finitely many
	Logical                 // the order and nearness of times, and the distance of counters from the token's
	Attempts                // the order of counters, and if there is no bound, or times spread, also the order and nearness of times
)

// A Property is something that a family is judged by.
type Property struct {
	Name  string
	Means string // what it means that it holds
	Found Found
	Moot  string // why there is nothing to check
}

// A Sign is something that an Env, or a host, can see broken.
type Sign struct {
	Name  string                // as it is given to Host.Break
	Of    []string              // which properties it breaks; nil means that of its own name
	Shown *scenario.Expectation // what a scenario expects that shows it; nil if the simulator cannot see it
}

// Breaks reports whether a property is broken where the sign is seen.
func (s Sign) Breaks(property string) bool {
	return s.Of == nil && s.Name == property || slices.Contains(s.Of, property)
}

// Shown returns a Sign that a scenario shows by an expectation.
func Shown(name string, e scenario.Expectation, of ...string) Sign {
	return Sign{Name: name, Of: of, Shown: &e}
}

// Violates returns the expectation that a property is broken, as the simulator
// calls it.
func Violates(property string) scenario.Expectation {
	return scenario.Expectation{Kind: scenario.Violated, Name: property}
}

// Found says where a property can be found broken.
type Found uint8

// Where a property can be found broken.
const (
	InSteps    Found = iota // in a state, or by a step
	ByMonitor               // the same, by an Env that watches
	InRuns                  // in a fair run in which an application waits for ever
	InTheEnd                // in a fair run in which again and again somebody waits
	ByCounting              // by how often others get in
	AtStarts                // as any other, from some start of a view
	Anywhere                // in a fair run from any state
)
