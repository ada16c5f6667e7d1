package check

import (
	"context"

	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// manyStates is how many states are visited before a breadth-first search is considered
// hopeless for now, and dives are tried.
const manyStates = 300_000

// smallGroup is the largest number of seats for which a breadth-first search ends, or
// finds a counterexample, soon enough.
const smallGroup = 12

// A lookout explores a model.
type lookout func(l Limits) (*explore.Exploration, error)

// deeply returns a lookout for the only property requested in a group so large that a
// breadth-first search would take long. If that search is hopeless it dives, and only
// then visits all states. It returns no Exploration if a dive has found a violation.
func (r *run) deeply(m *model.Model, name string, look lookout) lookout {
	return func(l Limits) (*explore.Exploration, error) {
		first, hopeless, err := shallow(l, look)
		if err != nil || !hopeless {
			return first, err
		}
		r.report.count(first.States)
		if found, err := r.dive(m, name, first); found || err != nil {
			return nil, err
		}
		l.Time = r.remaining(name).Time
		e, err := look(l)
		if err == nil && e.Unfinished != "" && len(e.Broken) == 0 && e.States < first.States {
			first.Unfinished = e.Unfinished // the first search had more time
			return first, nil
		}
		return e, err
	}
}

// shallow begins a search, and reports whether it has given up because there are very
// many states.
func shallow(l Limits, look lookout) (e *explore.Exploration, hopeless bool, err error) {
	parent := l.Context
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	show := l.Progress
	l.Context = ctx
	l.Progress = func(p explore.Progress) {
		if show != nil {
			show(p)
		}
		if p.States > manyStates {
			cancel()
		}
	}
	e, err = look(l)
	return e, err == nil && e.Unfinished == explore.Interrupted && parent.Err() == nil, err
}

// dive looks for a violation by random runs, after a search has visited many states in
// vain. It reports whether it has found one.
func (r *run) dive(m *model.Model, name string, first *explore.Exploration) (found bool, err error) {
	d := explore.Dive{Stop: r.bitsOf(m, name), Tries: 300, Steps: 1000}
	c, err := d.Run(m, r.remaining(name+" by random runs"))
	if err != nil || c == nil {
		return false, err
	}
	r.report.counted(first)
	p := Property{Name: name, Verdict: Violated}
	steps, _, err := m.Run(model.Path{Start: c.Start, States: c.States})
	if err != nil {
		err = r.spurious(&p, err)
		r.add(p)
		return true, err
	}
	r.tell(&p, m, c.Start, steps, len(steps), r.expectation(m, c.Broken&-c.Broken))
	if p.Verdict == Violated {
		p.Note = r.after(steps) + ", by a run that may not be the shortest"
	}
	r.add(p)
	return true, nil
}
