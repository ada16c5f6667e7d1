package check

import (
	"context"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/check/group"
)

// manyStates is how many states are visited before a search breadth first is
// taken to be hopeless for now, and dives are tried.
const manyStates = 300_000

// dive looks for the one thing that is asked for in a group so large that a
// search breadth first would take long. It reports whether it has found it. If
// the search comes to an end by itself there is nothing to dive for.
func (r *run) dive(m *group.Model, name string, l explore.Limits) (found bool, err error) {
	if m.Seats <= smallGroup {
		return false, nil
	}
	parent := l.Context
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	first := l
	first.Context = ctx
	first.Progress = func(p explore.Progress) {
		if l.Progress != nil {
			l.Progress(p)
		}
		if p.States > manyStates {
			cancel()
		}
	}
	e, err := explore.Explore(m, first)
	if err != nil || ctx.Err() == nil || parent.Err() != nil {
		return false, nil // what it says is said by the search that follows
	}
	c, err := explore.Dive{Stop: l.Stop, Tries: 300, Steps: 1000}.Run(m, r.remaining(name))
	if err != nil || c == nil {
		return false, err
	}
	r.report.counted(e)
	r.report.count(e.States)
	p := Property{Name: name, Verdict: Violated}
	steps, err := m.Run(group.Path{Start: c.Start, States: c.States})
	if err != nil {
		err = r.spurious(&p, err)
		r.add(p)
		return true, err
	}
	r.tell(&p, m, c.Start, steps, len(steps), r.expectation(m, c.Broken&-c.Broken))
	if p.Verdict == Violated {
		p.Note = r.after(steps) + ", by a run that need not be the shortest"
	}
	r.add(p)
	return true, nil
}

// smallGroup is up to how many seats a search breadth first comes to an end, or
// to a counterexample, soon enough.
const smallGroup = 12
