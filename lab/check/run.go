package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// Limits end a check that would take too much time or memory.
type Limits = explore.Limits

// DefaultMemory is the memory limit of a check in bytes if its Limits do not give one. An
// algorithm with infinitely many states, as new ones often have, would otherwise take all
// there is.
const DefaultMemory = 4 << 30

// Progress is how far a pass of a check is.
type Progress = explore.Progress

// A Pace is how long messages take where processes crash.
type Pace = model.Pace

// The paces.
const (
	AnyPace = model.AnyPace // any time up to the longest, in which timeouts are counted
	Quick   = model.Quick   // none, compared with timeouts
	Slow    = model.Slow    // always the longest
)

// A Config says what to check.
type Config struct {
	Spec       algorithm.Spec
	Family     *family.Family // nil means what the Spec says it is: a lock, one that survives deaths, or an election
	Nodes      int
	Requests   int // requests per process; 0 means no bound
	Network    algorithm.Network
	Requesters []algorithm.ID
	Starts     []algorithm.View // nil means one: process 1 has the lock and is not inside
	Crashes    int              // maximum number of crashes of processes or sites, each at any step
	Comebacks  int              // maximum number of comebacks of processes, each at any step
	Losses     int              // maximum number of lost messages, each at any step
	Pace       Pace
	Wrong      bool              // whether, once, a timeout is too short, or a live process is taken for dead
	Properties []string          // nil means all that the algorithm claims
	First      bool              // whether to stop at the first violation
	Reduce     bool              // whether to explore without spent messages where that suffices
	Options    algorithm.Options // options that Spec was made with, for counterexamples
	Limits                       // Memory: 0 means DefaultMemory, and less than 0 no limit; Time: 0 means no limit, except for convergence from many states

	// Found is called for each violated property, with its counterexample, as soon as
	// that is known; the check continues when it returns. It may be nil.
	Found func(Property)

	bounded   string // why requests were bounded where no bound was given
	byDefault bool   // whether the properties were not chosen
}

// Properties returns the properties of a family, in the order of a report.
func Properties(f *family.Family) []string {
	var all []string
	for _, p := range f.Properties {
		all = append(all, p.Name)
	}
	return all
}

// Claims returns the properties that an algorithm claims.
func Claims(spec algorithm.Spec) []string { return claims(families.Of(spec), spec) }

func claims(f *family.Family, spec algorithm.Spec) []string {
	if f.Claims == nil {
		return Properties(f)
	}
	return f.Claims(spec)
}

// Settled returns the check as it will be made: with defaults filled in, and with a bound
// on requests where there would be no end without one.
func (c Config) Settled() Config {
	if c.Family == nil {
		c.Family = families.Of(c.Spec)
	}
	if c.Properties == nil {
		c.Properties, c.byDefault = claims(c.Family, c.Spec), true
	}
	if c.Requests == 0 && c.Spec.Endless != "" && c.Nodes > 2 && c.Family.Numbers == family.Logical {
		c.Requests, c.bounded = 1, c.Spec.Endless
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	return c
}

// Run checks c and returns a report.
func Run(c Config) (*Report, error) {
	c = c.Settled()
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	r := newRun(c)
	if err := r.passes(); err != nil {
		return nil, fmt.Errorf("cannot check %s: %w", c.Spec.Name, err)
	}
	r.report.sum(c.Family, r.started)
	r.report.Assumes = r.assumes()
	switch {
	case r.vain != "":
		r.report.Hint = fmt.Sprintf(r.vain, c.Spec.Name)
	case r.report.First() == nil:
		r.report.Hint, r.report.Shown = hint(c.Spec), c.Spec.Shown
	}
	return r.report, nil
}

// passes makes all passes. If one of them fails, violations demonstrated before remain,
// and the rest is unfinished.
func (r *run) passes() error {
	for _, pass := range []func() error{r.tokenless, r.base, r.watched, r.starts, r.converge} {
		err := pass()
		if err == nil {
			continue
		}
		if r.report.First() == nil {
			return err
		}
		for _, name := range r.Properties {
			r.add(Property{Name: name, Verdict: Unfinished, Note: "the check could not finish: " + err.Error()})
		}
		return nil
	}
	r.doubt()
	return nil
}

// doubt withdraws the verdict holds if states that differ were taken for one.
func (r *run) doubt() {
	if len(r.hidden) == 0 {
		return
	}
	for i := range r.report.Properties {
		if p := &r.report.Properties[i]; p.Verdict == Holds || p.Verdict == HoldsBounded {
			p.Verdict = Unfinished
			p.Note = fmt.Sprintf("%s changes but is missing from Fields, so different states were taken for one: add it", strings.Join(r.hidden, " or "))
		}
	}
}

// hides records which fields of an explored model are missing from Fields.
func (r *run) hides(m *model.Model) {
	if len(r.hidden) == 0 {
		r.hidden = m.Unwritten()
	}
}

// check refuses an inconsistent Config.
func (c *Config) check() error {
	all := Properties(c.Family)
	for _, p := range c.Properties {
		if !slices.Contains(all, p) {
			return fmt.Errorf("unknown property %q: want %s", p, strings.Join(all, ", "))
		}
	}
	if c.Family.Sites == 0 && c.Family.Bundle == nil {
		if err := c.Spec.Accepts(c.Nodes); err != nil {
			return err
		}
	}
	mortal := c.Crashes != 0 || c.Comebacks != 0 || c.Wrong
	switch {
	case c.Requesters != nil && len(c.Requesters) == 0:
		return errors.New("no process may ask: name at least one requester")
	case mortal && !c.Family.Detects:
		return errors.New("it does not survive crashes: crashes, comebacks and failure detector errors must be 0")
	case c.Comebacks > c.Family.Returns:
		return fmt.Errorf("%d comebacks: want at most %d; a process may not come back a second time before the group has admitted it", c.Comebacks, c.Family.Returns)
	case c.Losses != 0 && !c.Family.Loses:
		return errors.New("it does not survive lost messages: their number must be 0; to lose any message, use a lossy network")
	case c.Losses > 0 && c.Comebacks > 0:
		return errors.New("lost messages and comebacks: want one or the other, because a new process announces itself to each other process only once")
	}
	for _, p := range c.Requesters {
		if p < 0 || int(p) >= c.Nodes {
			return fmt.Errorf("requester %d of %d processes: want 1 to %d", int(p)+1, c.Nodes, c.Nodes)
		}
	}
	return nil
}

// tokenless answers at once if only properties of a token are requested, and no process
// starts with one.
func (r *run) tokenless() error {
	if !slices.Equal(r.Properties, []string{Token}) {
		return nil
	}
	machines, err := r.Spec.Group(algorithm.View{N: r.Nodes})
	if err != nil || slices.ContainsFunc(machines, func(m algorithm.Machine) bool { return m.Tokens() > 0 }) {
		return err
	}
	r.add(Property{Name: Token, Verdict: NotChecked, Note: noToken})
	r.Properties = nil
	return nil
}

// A run is a check in progress.
type run struct {
	Config
	report  *Report
	started time.Time
	ways    map[wayTo]way // paths found
	prefix  string        // prefix of the names of passes
	hidden  []string      // fields that change and are missing from Fields
	entered bool          // whether any process enters
	vain    string        // otherwise what to report about that, %s being the algorithm

	validated uint64   // passes that were validated
	unproved  []string // kinds of messages that are idempotent as far as could be tested
}

func newRun(c Config) *run {
	r := &run{Config: c, started: time.Now(), report: &Report{
		Algorithm: c.Spec.Name, Nodes: c.Nodes, Requests: Bound(c.Requests), Network: c.Network.String(), Losses: c.Losses,
	}}
	if c.Family.Bounded == nil {
		r.report.Requests = NoRequests
	}
	return r
}

func (r *run) wants(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(r.Properties, n) })
}

// wanted returns the properties to check that are found in the given way.
func (r *run) wanted(found family.Found) []family.Property {
	return slices.DeleteFunc(slices.Clone(r.Family.Properties), func(p family.Property) bool {
		return p.Found != found || !r.wants(p.Name)
	})
}

// remaining returns the limits of a pass, with the time that is left.
func (r *run) remaining(pass string) Limits {
	l := r.Limits
	l.Pass = r.prefix + pass
	if l.Time > 0 {
		l.Time = max(time.Nanosecond, l.Time-time.Since(r.started))
	}
	return l
}

// model makes the model of a pass: what it watches, and where it starts.
func (r *run) model(watch string, upset bool) (*model.Model, error) {
	f := r.Family
	env, err := f.Env(family.Options{Nodes: r.Nodes, Requests: r.Requests, Asks: r.Requesters, Watch: watch})
	if err != nil {
		return nil, err
	}
	spec := r.Spec
	if f.Bundle != nil {
		if spec, err = f.Bundle(spec, r.Requests); err != nil {
			return nil, err
		}
	}
	c := model.Config{
		Spec: spec, Seats: r.Nodes, Env: env, Tagged: watch != "" || f.Tags, Sites: f.Sites > 0,
		Waiters: r.Requesters, Network: r.Network, Starts: r.Starts, Upset: upset, Clock: model.Clock(f.Timers), Pace: r.Pace,
		Form: r.form(), Crashes: r.Crashes, Comebacks: r.Comebacks, Losses: r.Losses, Wrong: r.Wrong,
	}
	for _, s := range f.Signs {
		c.Names = append(c.Names, s.Name)
	}
	if f.Sites > 0 {
		c.Seats = f.Sites
	}
	if f.Born != nil && c.Starts == nil && r.Nodes > 0 {
		c.Starts = []algorithm.View{f.Born(r.Nodes)}
	}
	if upset {
		c.Network = algorithm.FIFO
	}
	c.Settles = slices.ContainsFunc(f.Properties, func(p family.Property) bool { return p.Found == family.InTheEnd })
	if c.Waiters == nil {
		for p := range algorithm.ID(r.Nodes) {
			c.Waiters = append(c.Waiters, p)
		}
	}
	return model.New(c)
}

// form returns how times and counters are renumbered.
func (r *run) form() model.Form {
	switch f := r.Family; {
	case f.Numbers == family.Logical && r.Requests == 0 && r.Spec.Spreads:
		return model.Form{Times: model.Spread, Counters: model.Measured}
	case f.Numbers == family.Logical:
		return model.Form{Times: model.Shifted, Counters: model.Measured}
	case f.Numbers == family.Attempts && (r.Requests == 0 || r.Spec.Spreads):
		return model.Form{Times: model.Spread, Counters: model.Ranked}
	case f.Numbers == family.Attempts:
		return model.Form{Counters: model.Ranked}
	}
	return model.Form{}
}
