package algorithm

import (
	"fmt"
	"iter"
	"slices"

	"github.com/stile-lock/stile/algorithm/host"
)

// A Network is a model of what channels do to messages, from strong to weak.
type Network uint8

// The network models. Each permits something that the ones before it do not.
const (
	FIFO        Network = iota // reliable; each channel preserves the order of sending
	Unordered                  // reliable; messages may overtake each other
	Duplicating                // unordered; a message may arrive twice
	Lossy                      // FIFO, but a message may never arrive
)

// String returns the name that commands and scenario files use.
func (n Network) String() string {
	switch n {
	case FIFO:
		return "fifo"
	case Unordered:
		return "unordered"
	case Duplicating:
		return "duplicating"
	case Lossy:
		return "lossy"
	}
	return fmt.Sprintf("network %d", uint8(n))
}

// ParseNetwork returns the network model with the given name.
func ParseNetwork(s string) (Network, error) {
	for n := FIFO; n <= Lossy; n++ {
		if n.String() == s {
			return n, nil
		}
	}
	return 0, fmt.Errorf("unknown network %q: want fifo, unordered, duplicating or lossy", s)
}

// A Range is the range that theory allows for a measure, both ends included.
type Range struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Exact returns the range that contains only v.
func Exact(v float64) Range { return Range{v, v} }

// A Load is how busy a group is.
type Load uint8

// The loads that theory distinguishes.
const (
	AnyLoad   Load = iota // nothing is known
	Light                 // a request meets no other
	Saturated             // every process requests again as soon as it has left
)

// A Cost is one measure of an algorithm according to theory: a formula for people, and
// its range for a number of processes. Light and Saturated are nil where theory says no
// more than Any.
type Cost struct {
	Text      string
	Any       func(n int) Range
	Light     func(n int) Range
	Saturated func(n int) Range
}

// At returns the range for n processes under the given load. ok is false if theory says
// nothing.
func (c Cost) At(n int, load Load) (r Range, ok bool) {
	f := c.Any
	if load == Light && c.Light != nil {
		f = c.Light
	}
	if load == Saturated && c.Saturated != nil {
		f = c.Saturated
	}
	if f == nil {
		return Range{}, false
	}
	return f(n), true
}

// A Theory is what the literature, corrected where it errs, says about an algorithm.
// Delays are in units of one message latency.
type Theory struct {
	Messages   Cost // per entry, entering and leaving together
	Multicasts Cost // the same with a native multicast counted as one message
	Client     Cost // request to entry when the critical section is free and no process waits
	Sync       Cost // exit of one process to entry of the next when one is waiting

	// Kinds is the number of message kinds, from the first on, that the costs count: once
	// a message of another kind has been sent, they say nothing. 0 means all.
	Kinds int

	Order     string // order in which requests are granted
	ME3       bool   // whether requests are granted in happened-before order
	Symmetric bool   // whether all processes have the same role

	// Bypass is how many entries of others a process can see while it waits, once its
	// request has arrived everywhere. It is nil if nothing is claimed.
	Bypass func(n int) int

	// Wait is the longest wait from request to entry, if no message takes longer than
	// latency and no process stays inside longer than hold; all in one unit. It is nil if
	// nothing is claimed.
	Wait     func(n int, latency, hold float64) float64
	WaitText string // the formula of Wait, for people
}

// A Family is what an algorithm is for, and so which host can run it.
type Family uint8

// The families.
const (
	MutualExclusion Family = iota // at most one process is inside at a time
	Election                      // all processes agree on the highest one alive
	Transactions                  // no transaction waits forever for one of several locks
)

// families lists, for each family, its name, the word for one of its algorithms, and the
// constructor of its machines.
var families = [...]struct{ name, one, made string }{
	MutualExclusion: {"mutual-exclusion", "an algorithm for one lock", "New"},
	Election:        {"election", "an election", "NewElection"},
	Transactions:    {"deadlock", "a method against deadlock", "NewSite"},
}

// String returns the family's name as programs see it.
func (f Family) String() string {
	if int(f) >= len(families) {
		return fmt.Sprintf("family %d", uint8(f))
	}
	return families[f].name
}

// One returns the phrase for one algorithm of the family: an election, for example.
func (f Family) One() string {
	if int(f) >= len(families) {
		return "an algorithm of " + f.String()
	}
	return families[f].one
}

// A Spec is one algorithm, ready to be run by any host.
type Spec struct {
	Name    string // ID used in commands and files
	Family  Family
	Class   Class  // class of a mutual exclusion algorithm
	Title   string // name for people
	Authors string
	Year    int
	Paper   string   // citation
	Wrong   string   // for wrong algorithms: what goes wrong
	Weaker  string   // for those that keep a weaker promise: what is worse
	Fixed   string   // for both: the Name of the sound algorithm
	Shown   string   // for both: a stile command that demonstrates it
	Version int      // version of the bytes of its messages and states, from 1: see the package documentation
	Network Network  // weakest network on which it is correct
	Gapless bool     // whether an arrival implies that all sent before it on the channel has arrived: if a message is lost, two processes may be inside, rather than only one waiting forever
	Spreads bool     // whether its logical times can drift apart without bound
	Endless string   // why its state space is infinite without a bound on requests; empty if it is finite
	TryLock bool     // whether a request may be denied instead of waiting
	Detects bool     // whether its host must report dead peers; see Suspect
	Kinds   []string // names of its message kinds
	Rules   []Rule   // its rules: every decision of its machines follows one of them; see Out.Because
	Theory  Theory
	Shape   Shape // how to draw it

	// Upset returns every state in which the machine of a seat among n may be found, if
	// the algorithm is self-stabilising: it recovers from any of them, with no message in
	// flight. For that, hosts let timer 0 expire now and then, set or not; a message
	// repeated directly behind the same message must change nothing. Upset is nil for
	// algorithms that do not claim this. A state is valid until the next one.
	Upset func(self ID, n int) iter.Seq[[]byte]

	// Plan prepares the algorithm for n processes: quorums, trees and the like are made
	// here, once. The error says why n is impossible.
	Plan func(n int) (Birth, error)
}

// Sound reports whether the algorithm is neither wrong nor weaker than another one that
// adds no cost.
func (s Spec) Sound() bool { return s.Wrong == "" && s.Weaker == "" }

// A Birth makes the machine of one seat.
type Birth func(self ID, v View) Machine

// Always returns the Plan of an algorithm that runs among any number of processes.
func Always(b Birth) func(n int) (Birth, error) {
	return func(int) (Birth, error) { return b, nil }
}

// Birth returns the constructor of the machines of a group of n. Every host gets its
// machines from here, or from New or Group, so that a Spec that cannot work is refused
// once, in words for its author.
func (s Spec) Birth(n int) (Birth, error) {
	birth, err := s.plan(n)
	if err != nil {
		return nil, err
	}
	if _, err := s.born(birth, 0, View{N: n}); err != nil {
		return nil, err
	}
	if err := s.checkRules(); err != nil {
		return nil, err
	}
	return func(self ID, v View) Machine {
		m, _ := s.raised(birth, self, v) // the check above made one like it
		return m
	}, nil
}

// check refuses a Spec that lacks a name or a Plan, or that gives two kinds the same
// name.
func (s Spec) check() error {
	if s.Plan == nil {
		return fmt.Errorf("%w: the Spec %q has no Plan: there is nothing to run", host.ErrAlgorithm, s.Name)
	}
	if s.Name == "" {
		return fmt.Errorf("%w: a Spec has no Name: give it one, a single word for commands and files", host.ErrAlgorithm)
	}
	for i, kind := range s.Kinds {
		if kind == "" {
			return fmt.Errorf("%w: the Spec %q has no name for messages of kind %d: add it to Kinds", host.ErrAlgorithm, s.Name, i)
		}
		if j := slices.Index(s.Kinds, kind); j < i {
			return fmt.Errorf("%w: the Spec %q calls messages of kinds %d and %d both %s: name each differently in Kinds", host.ErrAlgorithm, s.Name, j, i, kind)
		}
	}
	return nil
}

// plan calls Plan and checks what it returns.
func (s Spec) plan(n int) (birth Birth, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = host.Panicked(fmt.Sprintf("in Plan for %d processes", n), why)
		}
	}()
	if n < 1 {
		return nil, fmt.Errorf("%s among %d processes: want at least 1", s.Name, n)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if birth, err = s.Plan(n); err == nil && birth == nil {
		err = fmt.Errorf("%w: the Plan of %s for %d processes returned neither a Birth nor an error", host.ErrAlgorithm, s.Name, n)
	}
	return birth, err
}

// born calls raised and turns a panic into an error.
func (s Spec) born(birth Birth, self ID, v View) (m Machine, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = host.Panicked(fmt.Sprintf("at the birth of %v", self), why)
		}
	}()
	return s.raised(birth, self, v)
}

// raised makes the machine of one seat, and passes its Spec to it.
func (s Spec) raised(birth Birth, self ID, v View) (Machine, error) {
	m := birth(self, v)
	if m == nil {
		return nil, fmt.Errorf("%w: the Birth of %s returned no machine for %v", host.ErrAlgorithm, s.Name, self)
	}
	if adapter, ok := inmost(m).(adopter); ok {
		if err := adapter.adopt(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return m, nil
}

// An adopter is a machine that needs the names of its messages, and whether it may deny.
type adopter interface{ adopt(s Spec) error }

// inmost returns the innermost of nested machines; an outer one has a method Unwrap.
func inmost(m Machine) Machine {
	for {
		w, ok := m.(interface{ Unwrap() Machine })
		if !ok {
			return m
		}
		m = w.Unwrap()
	}
}

// Accepts returns an error that says why the algorithm cannot run among n processes, or
// nil.
func (s Spec) Accepts(n int) error {
	_, err := s.Birth(n)
	return err
}

// New returns the machine of one seat.
func (s Spec) New(self ID, v View) (Machine, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if self < 0 || int(self) >= v.N {
		return nil, fmt.Errorf("seat %d of a view of %d processes: it must be one of them, 1 to %d", int(self)+1, v.N, v.N)
	}
	birth, err := s.plan(v.N)
	if err != nil {
		return nil, err
	}
	return s.born(birth, self, v)
}

// Group returns the machines of all seats.
func (s Spec) Group(v View) ([]Machine, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	birth, err := s.plan(v.N)
	if err != nil {
		return nil, err
	}
	ms := make([]Machine, v.N)
	for i := range ms {
		if ms[i], err = s.born(birth, ID(i), v); err != nil {
			return nil, err
		}
	}
	return ms, s.checkRules()
}
