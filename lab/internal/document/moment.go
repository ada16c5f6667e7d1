package document

import (
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// A moment is a point between two steps of a run.
type moment struct {
	events   int   // events that have happened
	lines    int   // lines that have run
	at       int64 // timed: time of the last step; -1 if there was none
	due      int64 // timed: time of the next step; -1 if nothing is due
	byLine   bool  // the last step was a line
	underWay []sim.Passage
	timers   []sim.Alarm
}

// quiet reports whether nothing else is due at the time of the last step.
func (m *moment) quiet() bool { return m.at < 0 || m.due != m.at }

// open reports whether a line can come next. Lines come first among the steps of one time:
// after any other step no line can come until time advances.
func (m *moment) open() bool { return m.quiet() || m.byLine }

// time returns the time of a line that comes next.
func (m *moment) time() int64 {
	if !m.quiet() && m.byLine {
		return m.at
	}
	return nicest(m.at, m.due)
}

// A placer finds the moment for a line: one at which the given number of events has
// happened and a line can come next. If there are several, it is the first one after two
// kinds of steps that show nothing: lines that run at once (one of them may be the last
// click at this cursor), and steps due at the time of the last event. The line thus gets a
// time of its own.
type placer struct {
	event int
	steps bool
	times map[int]int64 // times of lines, by line number
	now   moment        // after the last step
	best  moment
	found bool
}

// watch receives each step: see sim.ReplayOptions. It follows the run no further than it
// must.
func (p *placer) watch(s *sim.Step) bool {
	p.step(s)
	if p.found && p.past(s) {
		return false
	}
	if p.now.events < p.event || p.found && !p.steps && s.Line == 0 && p.best.quiet() {
		return true
	}
	if p.steps || p.now.open() {
		p.found, p.best = true, p.now
		p.best.underWay, p.best.timers = s.UnderWay(), s.Timers()
	}
	return true
}

// step advances to the moment after a step. The first one is the initial state, before
// anything happens.
func (p *placer) step(s *sim.Step) {
	m := &p.now
	m.at = m.due
	if m.byLine = s.Line > 0; m.byLine {
		m.at = p.times[s.Line]
		m.lines++
	}
	m.events, m.due = s.From+len(s.Events), s.Due
}

// past reports whether a step comes after the line: it shows something, or is a line that
// does not run at once. In steps, all processes start before the first line.
func (p *placer) past(s *sim.Step) bool {
	switch {
	case p.steps:
		return s.Line > 0 && len(s.Events) > 0
	case len(s.Events) > 0:
		return true
	}
	return s.Line > 0 && p.now.at > nicest(p.best.at, p.now.due)
}

// place finds the moment for the line, and its time.
func (a *actor) place(o Options) error {
	p := placer{event: a.event, steps: a.sc.Steps, times: times(a.sc), now: moment{at: -1, due: -1}}
	back, err := sim.Replay(a.spec, a.sc, sim.ReplayOptions{Until: MaxEvents, Over: o.Over, Brief: true, Watch: p.watch})
	switch {
	case err != nil:
		return err
	case p.found:
		a.now = p.best
	case back.Stopped:
		return errLong
	default: // the cursor is at the verdict, or beyond
		a.now = p.now
		a.now.underWay, a.now.timers = back.UnderWay, back.Timers
	}
	a.past = back.Events[:a.now.events]
	if !a.sc.Steps {
		a.action.At = a.now.time()
	}
	if a.sc.Until > 0 && a.action.At > a.sc.Until {
		a.extend()
	}
	return nil
}

// times returns when each line is due, by line number.
func times(sc *scenario.Scenario) map[int]int64 {
	at := make(map[int]int64, len(sc.Actions))
	for _, x := range sc.Actions {
		at[x.Line] = x.At
	}
	return at
}

// nicest returns the most readable time after one moment, and not after another unless that
// is below 0: 7.1 after 7, with as many decimals as it needs.
func nicest(after, latest int64) int64 {
	if after < 0 {
		return 0
	}
	for grain := int64(scenario.T / 10); grain > 1; grain /= 10 {
		if at := (after/grain + 1) * grain; latest < 0 || at <= latest {
			return at
		}
	}
	return after + 1
}
