package family

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
)

// A Family is a family of algorithms as a value: its environments, what they are
// judged by, and what hosts say of them.
type Family struct {
	Name       string                          // as a heading
	Means      string                          // what its algorithms are for
	Kind       string                          // what a page calls a run of one of them
	May        string                          // what processes may do in a check; %s is how often
	Calls      string                          // what one does that asks, where that is no request that it waits for
	Rules      []Rule                          // what one run is judged by, in the order in which that is told
	Properties []Property                      // what all runs are judged by, in the order of a report
	Signs      []Sign                          // what can be seen broken in a state or a step, in the order in which it is told
	Claims     func(s algorithm.Spec) []string // the names of those that an algorithm claims
	Env        func(o Options) (Env, error)

	Sites   int     // how many machines there are, if they are sites; 0 means one for each process
	Tags    bool    // its environments mark messages and timers, whatever is watched: see Env.Tag
	Timers  Timers  // when they run out
	Numbers Numbers // what is told apart in logical times and counters
	Detects bool    // hosts tell machines who is dead
	Returns int     // how many of those who have died may come back in one check
	Enters  bool    // applications that ask get in somewhere; if none ever does, nothing is known of its locks
	Loses   bool    // messages may be lost that the network does not lose by itself
	Vast    bool    // of states there are so many that, if nobody says otherwise, each process asks once and messages take no time compared with timeouts

	// Born is what machines are born with; nil means that the first process has
	// the lock and is not inside.
	Born func(n int) algorithm.View
	// Scene puts into the head of a scenario what there is besides processes;
	// nil means nothing.
	Scene func(sc *scenario.Scenario)
	// Bounded says up to which bound something was proved, or that there was
	// none if each process may ask any number of times, which is 0. It is nil where
	// there are no requests that could be counted, or that anybody waits for.
	Bounded func(requests int) string
}

// Options say which of its environments a family is to make.
type Options struct {
	Nodes    int            // processes
	Requests int            // how often each of them asks; 0 means any number of times
	Asks     []algorithm.ID // which of them may ask; nil means all
	Watch    string         // the property to watch that needs a monitor, or none
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

// A Rule is something that one run is judged by.
type Rule struct {
	Name   string // as it is given to Host.Break
	Means  string // what it means that it holds
	Broken string // how it is told that it is broken, %[1]v being by whom, and %[2]v who else is part of it
	Cut    string // how that is told of a run that was cut, of which nobody knows the end; "" means the same
	AtRest bool   // it is known only when all is quiet
}

// Tells says how a rule is broken, if need be by a run that was cut, or just which
// one if the family does not know it.
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
