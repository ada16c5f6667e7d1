package sim

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/trace"
)

// A Step is one thing that happens in a replay - a line, a message that arrives, a timer
// that expires - with all that follows from it at once.
type Step struct {
	Line    int             // line of the file that made it happen; 0 if none
	From    int             // number of events before it
	Events  []trace.Event   // events in it
	Changes []Change        // processes whose machine took a step in it, in this order
	Graph   *deadlock.Graph // with sites: wait-for graph after it; otherwise nil
	Moments []Moment        // with sites: wait-for graphs when more messages arrived in it than the first
	Tricks  []Trick         // events in it that an earlier line caused
	Due     int64           // timed: when the next thing is due; -1 if nothing is
	Ticks   bool            // whether other timers run after it than before

	player *player
}

// UnderWay returns the messages in flight after the step, on each link in order of
// arrival.
func (s *Step) UnderWay() []Passage { return s.player.passages() }

// Timers returns the timers that run after the step.
func (s *Step) Timers() []Alarm { return s.player.alarms() }

// A Moment is the wait-for graph after a number of events.
type Moment struct {
	After int
	Graph *deadlock.Graph
}

// A Trick is an event caused by an earlier line, one that decided what happens to the
// next message of a link.
type Trick struct{ Event, Line int }

// A Change is the state of a process, or a site, after a step of its machine.
type Change struct {
	Proc   algorithm.ID
	After  int          // number of events that had happened
	Fields []host.Field // all of its state
}

// A Passage is a message in flight.
type Passage struct {
	Msg      int // number of the message
	From, To algorithm.ID
	Name     string // kind of the message
}

// An Alarm is a running timer.
type Alarm struct {
	Proc    algorithm.ID
	Section string
	Timer   int
}

// born shows the watcher all states before anything happens.
func (p *player) born() {
	if p.options.Watch == nil {
		return
	}
	p.watched = Step{Events: p.back.Events, Due: -1, Ticks: p.w.AnyTimer(), player: p}
	if !p.sc.Steps {
		p.watched.Due = 0 // all processes start
	}
	for id := range algorithm.ID(p.w.Processes()) {
		if p.options.Brief {
			break
		}
		p.watched.Changes = append(p.watched.Changes, Change{Proc: id, Fields: p.w.describe(id)})
	}
	p.over = !p.options.Watch(&p.watched)
}

// changed records that the machine of a process has taken a step.
func (p *player) changed(id algorithm.ID) {
	p.watched.Changes = append(p.watched.Changes, Change{id, len(p.back.Events), p.w.describe(id)})
}

// observe records an event.
func (p *player) observe(e trace.Event) {
	if line := p.w.Blamed(); line > 0 && (e.Kind == trace.Drop || e.Kind == trace.Duplicate) {
		p.watched.Tricks = append(p.watched.Tricks, Trick{len(p.back.Events), line})
	}
	if t, ok := p.cast.(*siteCast); ok && e.Kind == trace.Receive && len(p.back.Events) > p.watched.From && p.watches() {
		p.watched.Moments = append(p.watched.Moments, Moment{len(p.back.Events), t.graph()})
	}
	p.back.Events = append(p.back.Events, e)
}

// explain records the reasons for a step, with the last event.
func (p *player) explain(why []trace.Why) {
	e := &p.back.Events[len(p.back.Events)-1]
	e.Why = append(e.Why, why...)
}

// watches reports whether a watcher sees all changes.
func (p *player) watches() bool { return p.options.Watch != nil && !p.options.Brief }

// step does one thing, and reports the outcome to the watcher.
func (p *player) step(do func() error) error {
	if p.options.Watch == nil {
		return do()
	}
	s := &p.watched
	*s = Step{From: len(p.back.Events), Changes: s.Changes[:0], Tricks: s.Tricks[:0], Moments: s.Moments[:0], Due: -1, player: p}
	ticks := p.w.Ticks()
	if err := do(); err != nil {
		return err
	}
	s.Ticks = ticks != p.w.Ticks()
	s.Events = p.back.Events[s.From:]
	if len(s.Events) > 0 && len(s.Changes) > 0 && s.Changes[0].After == s.From {
		s.Changes[0].After++ // no event says why: its own does
	}
	if !p.sc.Steps && p.w.Pending() {
		s.Due = p.w.Due()
	}
	if t, ok := p.cast.(*siteCast); ok && p.watches() {
		s.Graph = t.graph()
	}
	if s.Line > 0 || len(s.Events) > 0 || len(s.Changes) > 0 || p.options.Brief {
		p.over = !p.options.Watch(s)
	}
	return nil
}

func (p *player) passages() []Passage {
	var all []Passage
	p.w.InFlight(func(number int, from, to algorithm.ID, name string) {
		all = append(all, Passage{number, from, to, name})
	})
	return all
}

func (p *player) alarms() []Alarm {
	var all []Alarm
	p.w.Timers(func(id algorithm.ID, t kernel.Timer) {
		all = append(all, Alarm{id, p.w.groups[t.Group].section, t.ID})
	})
	return all
}
