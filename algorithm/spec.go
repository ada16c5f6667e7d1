package algorithm

import (
	"fmt"
	"iter"
	"slices"
)

// A Network is a model of what channels do to messages, from strong to weak.
type Network uint8

// The network models. Each does what the ones before it do not.
const (
	FIFO        Network = iota // reliable; each channel keeps the order of sending
	Unordered                  // reliable; messages may overtake each other
	Duplicating                // unordered; a message may come twice
	Lossy                      // FIFO, but a message may never come
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

// ParseNetwork returns the network model of that name.
func ParseNetwork(s string) (Network, error) {
	for n := FIFO; n <= Lossy; n++ {
		if n.String() == s {
			return n, nil
		}
	}
	return 0, fmt.Errorf("unknown network %q: want fifo, unordered, duplicating or lossy", s)
}

// A Range is what theory allows a measure to be, both ends included.
type Range struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Exact returns the range of one value.
func Exact(v float64) Range { return Range{v, v} }

// A Load says how busy a group is.
type Load uint8

// The loads that theory speaks of.
const (
	AnyLoad   Load = iota // nothing is known
	Light                 // a request meets no other
	Saturated             // every process asks again as soon as it has left
)

// A Cost is one measure of an algorithm as theory gives it: a formula for
// people, and its range for a number of processes. Light and Saturated are nil
// where theory says no more than Any.
type Cost struct {
	Text      string
	Any       func(n int) Range
	Light     func(n int) Range
	Saturated func(n int) Range
}

// At returns the range for n processes under this load. ok is false if theory
// says nothing.
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

// Theory is what the literature, corrected where it slips, says about an
// algorithm. Delays are in units of one message latency.
type Theory struct {
	Messages   Cost // per entry, entering and leaving together
	Multicasts Cost // the same with a native multicast counted as one message
	Client     Cost // request to entry when the critical section is free and nobody waits
	Sync       Cost // exit of one to entry of the next when somebody waits

	// Kinds is how many of the kinds of messages, from the first on, are those
	// that the costs count: once another one has been sent, they say nothing. 0
	// means all.
	Kinds int

	Order     string // in which order requests are granted
	ME3       bool   // requests are granted in the order of happened-before
	Symmetric bool   // all processes have the same role

	// Bypass is how many entries of others a process can see while it waits,
	// once its request has arrived everywhere. It is nil if nothing is claimed.
	Bypass func(n int) int

	// Wait is the longest wait from request to entry, if no message takes longer
	// than latency and nobody stays inside longer than hold; all in one unit. It
	// is nil if nothing is claimed.
	Wait     func(n int, latency, hold float64) float64
	WaitText string // the same for people
}

// A Family says what an algorithm is for, and so which host can run it.
type Family uint8

// The families.
const (
	MutualExclusion Family = iota // at most one process is inside at a time
	Election                      // all processes agree on the highest one alive
	Transactions                  // nobody waits for ever for one of several locks
)

// families are what each is called, one of its algorithms, and what makes machines.
var families = [...]struct{ name, one, made string }{
	MutualExclusion: {"mutual-exclusion", "an algorithm for one lock", "New"},
	Election:        {"election", "an election", "NewElection"},
	Transactions:    {"deadlock", "a method against deadlock", "NewSite"},
}

// String returns the name that programs see.
func (f Family) String() string {
	if int(f) >= len(families) {
		return fmt.Sprintf("family %d", uint8(f))
	}
	return families[f].name
}

// One says what an algorithm of the family is: an election, for example.
func (f Family) One() string {
	if int(f) >= len(families) {
		return "an algorithm of " + f.String()
	}
	return families[f].one
}

// A Spec is one algorithm, ready to be run by any host.
type Spec struct {
	Name    string // the id used in commands and files
	Family  Family
	Class   Class  // of an algorithm for mutual exclusion
	Title   string // the name people use
	Authors string
	Year    int
	Paper   string   // the citation
	Wrong   string   // for the wrong ones: what goes wrong
	Weaker  string   // for those that keep what they promise, but promise less: what is worse
	Fixed   string   // for both: the Name of the sound one
	Shown   string   // for both: a command of stile that shows it
	Version int      // of the bytes of its messages and states, from 1: see the package documentation
	Network Network  // the weakest network it is correct on
	Gapless bool     // what comes is a sign that all sent before on the channel has come: if that is lost two may be inside, and not only somebody wait
	Spreads bool     // its logical times can drift apart without bound
	Endless string   // why its state space is infinite without a bound on requests; empty if it is not
	TryLock bool     // a request may be denied instead of waiting
	Detects bool     // its host has to tell it who is dead; see Suspect
	Kinds   []string // the names of its message kinds
	Theory  Theory
	Shape   Shape // how it is drawn

	// Upset returns every state in which the machine of a seat among n may be
	// found, if the algorithm comes right by itself from wherever it is found,
	// with nothing under way. For that, hosts let timer 0 run out now and then,
	// set or not; what is told again right behind the same message must change
	// nothing. It is nil for those that do not claim this. A state is valid until
	// the next one.
	Upset func(self ID, n int) iter.Seq[[]byte]

	// Plan prepares the algorithm for n processes: quorums, trees and the like
	// are made here, once. The error says why n is impossible.
	Plan func(n int) (Birth, error)
}

// Sound reports whether the algorithm is neither wrong nor weaker than another
// one that costs no more.
func (s Spec) Sound() bool { return s.Wrong == "" && s.Weaker == "" }

// A Birth makes the machine of one seat.
type Birth func(self ID, v View) Machine

// Always is the Plan of an algorithm that runs among any number of processes.
func Always(b Birth) func(n int) (Birth, error) {
	return func(int) (Birth, error) { return b, nil }
}

// Birth returns what makes the machines of a group of n. Every host gets them
// from here, or from New or Group: a Spec that cannot work is refused once, in
// words for its author.
func (s Spec) Birth(n int) (Birth, error) {
	birth, err := s.plan(n)
	if err != nil {
		return nil, err
	}
	if _, err := s.born(birth, 0, View{N: n}); err != nil {
		return nil, err
	}
	return func(self ID, v View) Machine {
		m, _ := s.raised(birth, self, v) // the first one was no worse
		return m
	}, nil
}

// check refuses a Spec that says too little, or the same of two things.
func (s Spec) check() error {
	if s.Plan == nil {
		return fmt.Errorf("%w: the Spec %q has no Plan: there is nothing to run", ErrAlgorithm, s.Name)
	}
	if s.Name == "" {
		return fmt.Errorf("%w: a Spec has no Name: give it one, a single word by which commands and files know it", ErrAlgorithm)
	}
	for i, kind := range s.Kinds {
		if kind == "" {
			return fmt.Errorf("%w: the Spec %q does not say what messages of kind %d are called: name them in Kinds", ErrAlgorithm, s.Name, i)
		}
		if j := slices.Index(s.Kinds, kind); j < i {
			return fmt.Errorf("%w: the Spec %q calls messages of kinds %d and %d both %s: give each its own name in Kinds", ErrAlgorithm, s.Name, j, i, kind)
		}
	}
	return nil
}

// plan is Plan, with what it must not do refused.
func (s Spec) plan(n int) (birth Birth, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = Panicked(fmt.Sprintf("in its Plan for %d processes", n), why)
		}
	}()
	if n < 1 {
		return nil, fmt.Errorf("%s among %d processes: there must be at least 1", s.Name, n)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if birth, err = s.Plan(n); err == nil && birth == nil {
		err = fmt.Errorf("%w: the Plan of %s for %d processes returned neither a Birth nor an error", ErrAlgorithm, s.Name, n)
	}
	return birth, err
}

// born is raised, with a panic as an error.
func (s Spec) born(birth Birth, self ID, v View) (m Machine, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = Panicked(fmt.Sprintf("at the birth of %v", self), why)
		}
	}()
	return s.raised(birth, self, v)
}

// raised makes the machine of one seat, and tells it what its Spec says.
func (s Spec) raised(birth Birth, self ID, v View) (Machine, error) {
	m := birth(self, v)
	if m == nil {
		return nil, fmt.Errorf("%w: the Birth of %s made no machine of %v", ErrAlgorithm, s.Name, self)
	}
	if adapter, ok := inmost(m).(adopter); ok {
		if err := adapter.adopt(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return m, nil
}

// An adopter is a machine that wants to know what its messages are called, and
// whether it may deny.
type adopter interface{ adopt(s Spec) error }

// inmost returns the machine within others, which have a method Unwrap for
// that.
func inmost(m Machine) Machine {
	for {
		w, ok := m.(interface{ Unwrap() Machine })
		if !ok {
			return m
		}
		m = w.Unwrap()
	}
}

// Accepts reports why the algorithm cannot run among n processes, or nil.
func (s Spec) Accepts(n int) error {
	_, err := s.Birth(n)
	return err
}

// New makes the machine of one seat.
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

// Group makes the machines of all seats.
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
	return ms, nil
}
