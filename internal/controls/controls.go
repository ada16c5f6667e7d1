package controls

import "slices"

// A Control is one broken rule or, if it is harmless, a change that must break none.
type Control struct {
	Name     string
	Section  string // section of docs/protocol.md that states the rule
	Text     string // what is wrong
	With     string // other controls that must be selected as well, with commas; empty if there are none
	Rewrites []Rewrite
	Harmless bool   // each test must pass with it, instead of failing
	Tests    []Test // each of them finds it
}

// A Rewrite replaces a text in a file of the module.
type Rewrite struct {
	File     string // relative to the root of the module
	Old, New string
}

// A Test is how a control is found: a test that passes, and fails if the control is
// selected.
type Test struct {
	Package string // folder, relative to the root of the module
	Name    string // such as TestTuned/skips
	Seeds   int    // flag -seeds of the test: seeds within which it is found; 0 for tests without the flag
	Flags   []string
	Says    []string // parts of its output
}

// Selected returns the value of STILE_CONTROL that selects the control.
func (c *Control) Selected() string {
	if c.With != "" {
		return c.Name + "," + c.With
	}
	return c.Name
}

// Storm returns the test by which the storm finds the control, and whether there is one.
func (c *Control) Storm() (Test, bool) {
	i := slices.IndexFunc(c.Tests, func(t Test) bool { return t.Package == stormPackage })
	if i < 0 {
		return Test{}, false
	}
	return c.Tests[i], true
}

// Table returns all controls.
func Table() []Control {
	return slices.Concat(memberControls(), reportControls(), carriedControls(), claimControls(), leaseControls(), linkControls(), engineControls(), seatControls(), restoreControls(), raftControls(), hostControls(), clientControls(), keptControls(), keptClaimControls(), keptWitnessControls(), delegationControls(), ticketControls())
}

// The folders of the tests.
const (
	memberPackage  = "internal/member"
	clientPackage  = "internal/session"
	keeperPackage  = "algorithm/deadlock"
	enginePackage  = "internal/views"
	raftPackage    = "internal/views/raft"
	processPackage = "internal/process"
	recordPackage  = "internal/replay"
	stormPackage   = "internal/storm"
	viewsPackage   = "lab/internal/viewmodel"
)

// test returns a test without flags.
func test(dir, name string) Test { return Test{Package: dir, Name: name} }

// storm returns the test that runs a tuning of the storm.
func storm(tuning string, seeds int, flags ...string) Test {
	return Test{Package: stormPackage, Name: "TestTuned/" + tuning, Seeds: seeds, Flags: flags, Says: []string{" violated at "}}
}

// model returns the test of the smallest setting of the exhaustive check in which a rule
// matters.
func model(rule string) Test {
	return Test{Package: viewsPackage, Name: "TestSmallest/" + rule, Says: []string{"as expected"}}
}

// replay returns the test that replays the recording in the repository, with what it prints
// about the first difference.
func replay(says ...string) Test {
	return Test{Package: recordPackage, Name: "TestRecordingOfTheRepository", Says: says}
}
