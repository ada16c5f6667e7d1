package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// ReplayOptions are the options of Replay.
type ReplayOptions struct {
	Until int  // number of recorded events after which to stop; 0 means at the end
	Paged bool // whether to rebuild every machine from its bytes before every step

	Family *family.Family // family of the algorithm, and with sites the method; nil means what its Spec says, and what the scenario names

	// Watch, if not nil, is called for everything that happens, step by step, and reports
	// whether the run goes on. Its argument is valid until it returns.
	Watch func(s *Step) (on bool)
	Brief bool // whether to leave out changes in Watch and take no step twice, which takes most of the time

	// Over, if not nil, is called repeatedly and reports whether time is up.
	Over func() bool

	Explain bool // whether events have reasons: see trace.Event

	// Skip, if not nil, is called for a line that cannot be done, and reports whether the
	// run goes on as if the line were not there.
	Skip func(line int, why error) bool
}

// An Entry is one entry into the critical section.
type Entry struct {
	Proc    algorithm.ID
	At      int64  // ticks, or in steps the number of the action
	Section string // if there are several
}

// A Playback is the record of a replayed scenario.
type Playback struct {
	Events      []trace.Event
	Entries     []Entry // entries; the holder that is inside from the start does not count
	Messages    int
	ByKind      []int // number of messages of each of Spec.Kinds
	MaxBypass   int
	Violations  []Violation
	Deadlock    bool           // whether processes wait for each other forever
	Differences []Difference   // outcomes that differ from the expected ones
	States      [][]host.Field // state of each process, or site, at the end
	Saved       [][]byte       // the same of each section's machines, as algorithm.Machine encodes them, one section after the other
	Stopped     bool           // whether ReplayOptions.Until, Watch or Over stopped it; then no expectation was checked
	Still       bool           // whether it came to rest by itself: nothing more would happen
	Stalled     bool           // whether it was ended because events went on without progress
	Sites       *SitesPlayback // transactions of a scenario with sites
	Ended       int            // index of the first event reported after the end of the run
	UnderWay    []Passage      // messages in flight at the end, on each link in order of arrival
	Timers      []Alarm        // timers running at the end
	Measured    []*Result      // measurements of each critical section

	Captions []Caption // captions whose moment came, in the order of the run

	frame trace.Trace // what a picture needs besides the events
}

// Trace returns the events with what is needed to show them.
func (b *Playback) Trace() *trace.Trace {
	t := b.frame
	t.Events = b.Events
	return &t
}

// A Caption is text of the scenario for the audience.
type Caption struct {
	After int // number of events that had happened
	Text  string
	Line  int // line in the file; 0 if there is none
}

// Captioned returns the trace with the captions as remarks.
func (b *Playback) Captioned() *trace.Trace {
	t := b.Trace()
	if len(b.Captions) == 0 {
		return t
	}
	captions := b.Captions
	t.Events = make([]trace.Event, 0, len(b.Events)+len(captions))
	for i := 0; i <= len(b.Events); i++ {
		for len(captions) > 0 && (captions[0].After <= i || i == len(b.Events)) {
			at := int64(0)
			if i > 0 {
				at = b.Events[i-1].At
			}
			t.Events = append(t.Events, trace.Event{At: at, Kind: trace.Note, Proc: algorithm.None, Name: captions[0].Text})
			captions = captions[1:]
		}
		if i < len(b.Events) {
			t.Events = append(t.Events, b.Events[i])
		}
	}
	for i := range t.Events {
		t.Events[i].Step = i
	}
	return t
}

// frame returns a trace with the title and the unit of a scenario.
func frame(t trace.Trace, sc *scenario.Scenario) trace.Trace {
	t.Title = cmp.Or(sc.Title, t.Title)
	if sc.Steps {
		t.Unit = 1
	}
	return t
}

// A player runs a scenario.
type player struct {
	sc      *scenario.Scenario
	w       *world
	back    *Playback
	options ReplayOptions
	family  *family.Family
	cast    cast
	judge   *judge
	scripts int  // timed: number of actions still to come
	stalled bool // whether the run was ended because it made no progress
	cut     bool // whether the run was ended by the scenario's until
	watched Step // the current step, if it is watched
	over    bool // whether the watcher ended the run
	late    bool // whether time is up
}

// A cast plays a scenario of its family: it does what a player leaves to it.
type cast interface {
	// over is called from time to time and reports whether the run has ended.
	over() bool
	// may returns an error that says why an application cannot do what a line says, or
	// nil.
	may(a *script.Action) error
	// do makes an application do what a line says.
	do(a *script.Action)
	// happen handles an event of the cast's own.
	happen(e *kernel.Event)
	// progress returns a number that changes when the run makes progress, and patience
	// how many events may happen without that.
	progress() int
	patience(scripts int) int
	// finish is called at the end of the run; still says whether nothing more can happen.
	finish(still bool)
	// state checks an expectation about a process now, and whole one about the run.
	state(j *judge, e script.Expectation)
	whole(j *judge, e script.Expectation)
	unsaid(j *judge) // checks the default expectations
}

// Replay runs a scenario. The spec is made by the catalog from the scenario's algorithm
// and options, or from a method against deadlocks. An error means that the scenario
// cannot be run; outcomes that differ from the expected ones are in the Playback.
func Replay(spec algorithm.Spec, sc *scenario.Scenario, options ReplayOptions) (*Playback, error) {
	p, err := newPlayer(spec, sc, options)
	if err == nil {
		err = p.w.guard(p.run)
	}
	if err != nil {
		return nil, within(sc.File, err)
	}
	return p.back, nil
}

// run plays the scenario from beginning to end.
func (p *player) run() error {
	err := p.load()
	if err == nil {
		err = p.set()
	}
	if err == nil {
		if c, ok := p.cast.(*lockCast); ok && len(p.sc.Begin) > 0 {
			c.resume()
		}
		p.born()
	}
	switch {
	case err != nil:
	case p.sc.Steps:
		err = p.runSteps()
	default:
		err = p.runTimed()
	}
	if err == nil {
		p.finish()
	}
	return err
}

func newPlayer(spec algorithm.Spec, sc *scenario.Scenario, options ReplayOptions) (*player, error) {
	if err := sc.Check(); err != nil {
		return nil, err
	}
	seats, names := sc.Processes, []string(nil)
	if sc.Transacts() {
		seats, names = sc.Sites, siteNames(sc.Sites)
	}
	if len(sc.Sections) > 0 && spec.Family != algorithm.MutualExclusion {
		return nil, fmt.Errorf("%s is %s: it has no critical sections; remove the section lines", spec.Name, spec.Family.One())
	}
	if err := spec.Accepts(seats); err != nil && len(sc.Sections) == 0 {
		return nil, err
	}
	if err := checkKinds(spec, sc); err != nil {
		return nil, err
	}
	p := &player{sc: sc, options: options, family: cmp.Or(options.Family, families.Of(spec)), back: &Playback{}}
	p.back.frame = frame(trace.Trace{N: sc.Processes, Title: spec.Title, Algorithm: spec.Name, Kinds: spec.Kinds, Unit: scenario.T}, sc)
	p.w = newWorld(kernel.Config{
		Processes: seats, Names: names, Latency: sc.Latency, Links: sc.Links, Network: sc.Network, Seed: sc.Seed,
		Exact: true, Adversary: true, Steps: sc.Steps, Detects: p.family.Detects,
		Observe: p.observe,
	})
	p.w.Happen = p.happen
	if options.Explain {
		p.w.explain = p.explain
	}
	if p.watches() {
		p.w.stepped = p.changed
	}
	p.judge = newJudge(p)
	p.script()
	if err := p.hire(spec); err != nil {
		return nil, err
	}
	for _, g := range p.w.groups {
		if options.Paged {
			g.paged()
		} else if options.Brief {
			g.shadow.next = math.MaxInt // no step is compared with that of a twin
		}
	}
	return p, nil
}

// hire chooses the cast that plays the scenario.
func (p *player) hire(spec algorithm.Spec) error {
	view := algorithm.View{N: p.sc.Processes, Holder: p.sc.Holder, Busy: p.sc.Busy}
	var err error
	switch {
	case p.sc.Transacts():
		p.cast, err = newSiteCast(p, spec)
	case spec.Family == algorithm.MutualExclusion:
		p.cast, err = newLockCast(p, spec, view)
	default:
		p.cast, err = newPlainCast(p, spec, view)
	}
	return err
}

// set gives fields their initial values.
func (p *player) set() error {
	for _, s := range p.sc.Set {
		g := p.w.group(s.Section)
		var err error
		seat := g.seat(s.Proc)
		g.let(seat, "when its "+s.Field+" is set", func() {
			err = g.machines[seat].Assign(s.Field, s.Value, g.members...)
		})
		if err != nil {
			return at(s.Line, fmt.Errorf("set %v %s %s: %w", s.Proc, s.Field, s.Value, err))
		}
	}
	return nil
}

// checkKinds refuses message names that the algorithm does not have.
func checkKinds(spec algorithm.Spec, sc *scenario.Scenario) error {
	check := func(name string, line int) error {
		if name == "" || slices.Contains(spec.Kinds, name) {
			return nil
		}
		return at(line, fmt.Errorf("%s has no message %q: its messages are %v", spec.Name, name, spec.Kinds))
	}
	for _, a := range sc.Actions {
		if err := check(a.Message, a.Line); err != nil {
			return err
		}
	}
	for _, e := range sc.Expect {
		if e.Kind == script.Messages {
			if err := check(e.Name, e.Line); err != nil {
				return err
			}
		}
	}
	return nil
}

// within adds the name of the file to an error, if there is one.
func within(file string, err error) error {
	if err == nil || file == "" {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// A LineError is an error in a line of a scenario that parses.
type LineError struct {
	Line int
	Err  error
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error without the line.
func (e *LineError) Unwrap() error { return e.Err }

// at adds the line of the file to an error.
func at(line int, err error) error {
	if line == 0 {
		return err
	}
	return &LineError{line, err}
}

// starts reports whether the scenario itself says which processes start when. In the middle of
// a run all have started.
func (p *player) starts() bool {
	return len(p.sc.Begin) > 0 || slices.ContainsFunc(p.sc.Actions, func(a script.Action) bool { return a.Kind == script.Start })
}

// enough reports whether the run should stop here.
func (p *player) enough() bool {
	p.late = p.late || p.options.Over != nil && p.options.Over()
	p.back.Stopped = p.over || p.options.Until > 0 && len(p.back.Events) >= p.options.Until || p.late
	return p.back.Stopped
}

func (p *player) runSteps() error {
	if !p.starts() {
		for id := range algorithm.ID(p.w.Processes()) {
			if err := p.step(func() error { p.w.start(id); return p.w.err }); err != nil {
				return err
			}
		}
	}
	p.judge.after(0)
	for i := range p.sc.Actions {
		if p.enough() {
			return nil
		}
		p.w.Wait(int64(i) + 1)
		if err := p.step(func() error { return p.act(&p.sc.Actions[i]) }); err != nil {
			return err
		}
		p.judge.after(i + 1)
	}
	return nil
}

// script schedules the lines of a timed schedule: before anything else, so that they come
// before whatever is due at the same time.
func (p *player) script() {
	if p.sc.Steps {
		return
	}
	for i, a := range p.sc.Actions {
		p.w.At(a.At, planned, algorithm.None, i)
	}
	p.scripts = len(p.sc.Actions)
}

func (p *player) runTimed() error {
	w := p.w
	if !p.starts() {
		for id := range algorithm.ID(w.Processes()) {
			w.At(0, start, id, 0)
		}
	}
	for quiet, seen := 0, 0; w.Pending() && !p.enough() && !p.cast.over(); quiet++ {
		if progress := p.cast.progress() - p.scripts; progress != seen {
			quiet, seen = 0, progress
		}
		if p.stalled = quiet > p.cast.patience(p.scripts); p.stalled {
			w.cut = idly(quiet)
			return nil
		}
		next := w.Due()
		if p.cut = p.sc.Until > 0 && next > p.sc.Until; p.cut {
			w.Wait(p.sc.Until)
			return nil
		}
		p.judge.before(next)
		if err := p.step(w.next); err != nil {
			return err
		}
	}
	return nil
}

// happen handles an event that the player or its cast has scheduled.
func (p *player) happen(e *kernel.Event) {
	switch e.Kind {
	case planned:
		p.scripts--
		p.w.fail(p.act(&p.sc.Actions[e.Arg()]))
	case start:
		p.w.start(e.Proc())
	default:
		p.cast.happen(e)
	}
}

// finish judges the run.
func (p *player) finish() {
	w, b := p.w, p.back
	b.Stopped = b.Stopped || p.late
	b.Ended, b.UnderWay, b.Timers = len(b.Events), p.passages(), p.alarms()
	quiet := len(b.UnderWay) == 0 && (!w.Steps() || !w.AnyTimer())
	b.Stalled = p.stalled
	b.Still = !b.Stopped && !p.cut && (p.stalled || quiet)
	p.cast.finish(b.Still)
	b.ByKind = make([]int, len(w.groups[0].spec.Kinds))
	for _, g := range w.groups {
		b.Messages += g.meter.messages
		for k, n := range g.meter.byKind {
			b.ByKind[k] += n
		}
	}
	for id := range algorithm.ID(w.Processes()) {
		b.States = append(b.States, w.describe(id))
	}
	for _, g := range w.groups {
		for _, m := range g.machines {
			b.Saved = append(b.Saved, m.AppendState(nil))
		}
	}
	if !b.Stopped {
		b.Differences = p.judge.verdict()
	}
}
