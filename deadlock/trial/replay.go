package trial

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
	"github.com/stile-lock/stile/trace"
)

// A Playback is what happened when a scenario with sites was run.
type Playback struct {
	Config  Config  // as the scenario says
	Result  *Result // as of any run
	Events  []trace.Event
	Commits []Ending
	Aborts  []Ending       // of those who were told to
	Cycles  [][]core.ID    // the deadlocks that arose
	False   [][]core.ID    // the deadlocks that were reported, but never were
	Stuck   []core.ID      // whose transactions never end
	ByKind  map[string]int // how many messages of each kind were sent
	States  [][]core.Field // of each site, at the end

	Differences []sim.Difference // what came out otherwise than expected
	Stopped     bool             // after so many events; then nothing expected was checked

	title string
	until int
}

// An Ending is the end of a transaction, or of one attempt.
type Ending struct {
	Proc  core.ID
	At    int64     // ticks
	Cycle []core.ID // an abort: the deadlock that it is to break, if it was told one
}

// Patience of a scenario: how long a deadlock may stand in T before the run
// ends, and how many events may happen for each process without anything
// coming of them.
const (
	patience = 100
	restless = 1000
)

// Configure returns the run that a scenario with sites asks for.
func Configure(sc *scenario.Scenario) (Config, error) {
	var c Config
	if err := sc.Check(); err != nil {
		return c, err
	}
	if !sc.Transacts() {
		return c, fmt.Errorf("there are no sites: say where processes and locks are, by lines such as site 1 P1 L1")
	}
	m, err := deadlock.Find(sc.Algorithm)
	if err != nil {
		return c, err
	}
	c = Config{
		Method: m, Mode: sc.Mode, Layout: deadlock.Layout{Sites: sc.Sites, Home: sc.Homes, At: sc.Locks},
		Hold: sc.Hold, Backoff: sc.Backoff, Latency: sc.Latency, Links: sc.Links, Seed: sc.Seed,
		Until: sc.Until, Patient: patience * scenario.T, Jobs: []Job{},
	}
	for _, a := range sc.Actions {
		if a.Kind == scenario.CrashSite {
			c.Crashes = append(c.Crashes, Crash{a.Proc, a.At})
		} else {
			c.Jobs = append(c.Jobs, Job{a.Proc, a.At, a.Locks, a.Hold})
		}
	}
	slices.SortStableFunc(c.Jobs, func(a, b Job) int { return int(min(max(a.At-b.At, -1), 1)) })
	return c, nil
}

// Replay runs a scenario with sites. If until is not 0 it stops after so many
// events. An error means that the scenario cannot be run; what came out
// otherwise than expected is in the Playback.
func Replay(sc *scenario.Scenario, until int) (*Playback, error) {
	b, err := replay(sc, until)
	if err != nil && sc.File != "" {
		err = fmt.Errorf("%s: %w", sc.File, err)
	}
	return b, err
}

func replay(sc *scenario.Scenario, until int) (*Playback, error) {
	c, err := Configure(sc)
	if err != nil {
		return nil, err
	}
	b := &Playback{ByKind: map[string]int{}, until: until, title: sc.Title}
	c.Observe = func(e trace.Event) { b.Events = append(b.Events, e) }
	b.Config = c
	w, err := newWorld(c)
	if err != nil {
		return nil, err
	}
	w.back = b
	w.judge = &judge{w: w}
	if err := w.judge.take(sc.Expect); err != nil {
		return nil, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	b.Result = w.finish()
	for _, m := range w.machines {
		b.States = append(b.States, core.Describe(m, c.Layout.Sites))
	}
	if !b.Stopped {
		if b.Stuck = w.stuck(); len(b.Stuck) > 0 {
			w.now += scenario.T // a while later nothing has changed
			w.event(trace.Event{Kind: trace.Note, Proc: core.None, Name: "stuck for ever:" + listed(b.Stuck)})
		}
		b.Differences = w.judge.verdict()
	}
	return b, nil
}

func listed(ids []core.ID) string {
	s := ""
	for _, id := range ids {
		s += " " + id.String()
	}
	return s
}

// enough reports whether the run is to stop here.
func (b *Playback) enough(events int) bool {
	b.Stopped = b.until > 0 && events >= b.until
	return b.Stopped
}

// Trace returns the events with what is needed to show them.
func (b *Playback) Trace() *trace.Trace {
	t := NewTrace(b.Config)
	t.Events = b.Events
	if b.title != "" {
		t.Title = b.title
	}
	return &t
}

// NewTrace returns a trace for the events of a run: a lane for each site, and
// then one for each process.
func NewTrace(c Config) trace.Trace {
	lanes := Lanes(c.Layout)
	return trace.Trace{
		N: len(lanes), Names: lanes, Title: c.Method.Title, Algorithm: c.Method.Name, Kinds: deadlock.Kinds(), Unit: scenario.T,
		Waiting: "waits for a lock", Inside: "has its locks",
	}
}

// Graph draws the wait-for graph of a run as a picture: the last one if it is
// stuck, else that of the first deadlock, else that of the first false one,
// else the busiest.
func Graph(c Config, r *Result, title string) string {
	p := deadlock.Picture{Title: title, Note: r.When(), Victim: core.None}
	if title == "" {
		p.Title = "Wait-for graph: " + c.Method.Title
	}
	g := r.Graph
	switch {
	case r.Stuck > 0:
	case !r.Ring() && r.False != nil:
		f := r.False
		g, p.Reported, p.Victim = f.Graph, f.Cycle, f.Victim
		p.Note = fmt.Sprintf("Who waited for whom at %s, when %v was told to abort; dashed: what was no longer so", scenario.FormatTime(f.At), f.Victim)
	case r.Found > 0:
		p.Victim = r.FirstVictim
		p.Note += fmt.Sprintf("; %v was told to abort", r.FirstVictim)
	}
	return g.SVG(p)
}

// When says which moment the graph of a result shows.
func (r *Result) When() string {
	switch {
	case r.Stuck > 0:
		return "Who waits for whom, and for which lock, for ever"
	case r.Ring():
		return "Who waited for whom, and for which lock, when the first deadlock arose"
	}
	return "Who waited for whom, and for which lock, at the busiest time"
}
