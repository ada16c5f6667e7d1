package sim

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/world/kernel"
	"github.com/stile-lock/stile/trace"
)

// A Step is one thing that happens in a replay - a line, a message that comes, a
// timer that runs out - with all that follows from it at once.
type Step struct {
	Line    int             // of the file, if a line made it happen; 0 otherwise
	From    int             // how many events there were before it
	Events  []trace.Event   // what happened in it
	Changes []Change        // who took a step of its machine in it, in this order
	Graph   *deadlock.Graph // with sites: who waits for whom after it; else nil
	Moments []Moment        // with sites: who waited for whom when more messages came in it than the first
	Tricks  []Trick         // events in it that an earlier line wanted
	Due     int64           // timed: when the next thing is due; -1 if nothing is
	Ticks   bool            // other timers run after it than before

	player *player
}

// UnderWay returns the messages under way after the step, on each link in the
// order of arrival.
func (s *Step) UnderWay() []Passage { return s.player.passages() }

// Timers returns the timers that run after the step.
func (s *Step) Timers() []Alarm { return s.player.alarms() }

// A Moment is who waits for whom after so many events.
type Moment struct {
	After int
	Graph *deadlock.Graph
}

// A Trick is an event that a line wanted which came before it: what happens to
// the next message of a link.
type Trick struct{ Event, Line int }

// A Change is what a process, or a site, remembers after a step of its machine.
type Change struct {
	Proc   algorithm.ID
	After  int               // so many events had happened
	Fields []algorithm.Field // all of its state
}

// A Passage is a message under way.
type Passage struct {
	Msg      int // its number
	From, To algorithm.ID
	Name     string // its kind
}

// An Alarm is a timer that runs.
type Alarm struct {
	Proc    algorithm.ID
	Section string
	Timer   int
}

// born tells who watches how all are before anything happens.
func (p *player) born() {
	if p.options.Watch == nil {
		return
	}
	p.watched = Step{Events: p.back.Events, Due: -1, Ticks: p.w.AnyTimer(), player: p}
	if !p.sc.Steps {
		p.watched.Due = 0 // all start
	}
	for id := range algorithm.ID(p.w.Processes()) {
		if p.options.Brief {
			break
		}
		p.watched.Changes = append(p.watched.Changes, Change{Proc: id, Fields: p.w.describe(id)})
	}
	p.over = !p.options.Watch(&p.watched)
}

// changed notes that the machine of a process has taken a step.
func (p *player) changed(id algorithm.ID) {
	p.watched.Changes = append(p.watched.Changes, Change{id, len(p.back.Events), p.w.describe(id)})
}

// observe notes an event.
func (p *player) observe(e trace.Event) {
	if line := p.w.Blamed(); line > 0 && (e.Kind == trace.Drop || e.Kind == trace.Duplicate) {
		p.watched.Tricks = append(p.watched.Tricks, Trick{len(p.back.Events), line})
	}
	if t, ok := p.cast.(*siteCast); ok && e.Kind == trace.Receive && len(p.back.Events) > p.watched.From && p.watches() {
		p.watched.Moments = append(p.watched.Moments, Moment{len(p.back.Events), t.graph()})
	}
	p.back.Events = append(p.back.Events, e)
}

// watches reports whether somebody is told all that changes.
func (p *player) watches() bool { return p.options.Watch != nil && !p.options.Brief }

// step does one thing, and tells who watches what came of it.
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
		s.Changes[0].After++ // nothing told why: what it did tells
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
	p.w.UnderWay(func(number int, from, to algorithm.ID, name string) {
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
