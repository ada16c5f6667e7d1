package check

import (
	"fmt"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/model"
)

// Convergence: a self-stabilising algorithm may be found in any state at all. A state is
// right if from it on two processes are never inside, whatever happens. From every state,
// every fair run must reach a right one, and no process may wait forever. Deliveries,
// exits and timers are fair. Links are FIFO: an old message that arrives late would upset
// the group again and again.

// converge makes the pass from every state.
func (r *run) converge() error {
	if !r.wants(Convergence) {
		return nil
	}
	if r.Spec.Upset == nil {
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: "it does not claim to stabilize"})
		return nil
	}
	n, more := r.upsets()
	if r.byDefault && n > manyStarts {
		note := fmt.Sprintf("starts from %d states%s, which takes long; select it by name", n, more)
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: note})
		return nil
	}
	m, err := r.model("", true)
	if err != nil {
		return err
	}
	p := r.passed(&explore.Exploration{}, Convergence)
	limits := r.remaining(Convergence)
	hopeless := n > manyStarts && limits.Time == 0
	if hopeless {
		limits.Time = manyTime
	}
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: limits, Edges: true})
	if err == nil && g.Unfinished == "" {
		err = r.validate(m)
	}
	if beyond(err) {
		p.Verdict, p.Note = Unfinished, err.Error()
		r.add(p)
		return nil
	}
	if err != nil {
		return err
	}
	r.hides(m)
	r.report.count(g.States())
	r.report.counted(&explore.Exploration{States: g.States(), Transitions: g.Transitions(), Depth: g.Levels()})
	if err := r.comesRight(&p, m, g); err != nil {
		return err
	}
	if p.Verdict != Violated && g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s after %d states, within %s of the %d%s it starts from",
			g.Unfinished, g.States(), words.Plural(g.Levels(), "step"), n, more)
		if hopeless && g.Unfinished == explore.OutOfTime {
			p.Note += fmt.Sprintf("; from more than %d, messages in flight usually make far too many states, so the search ends after %v unless --time is given", manyStarts, manyTime)
		}
	}
	r.add(p)
	return nil
}

// comesRight looks for a run that never reaches a right state, or in which a process
// waits forever.
func (r *run) comesRight(p *Property, m *model.Model, g *explore.Graph) error {
	if g.Unfinished != "" {
		return nil
	}
	g.MarkBefore(model.TwoInside, model.Mark)
	c := g.Cut(model.Mark)
	if bad := c.Starves(); bad != nil {
		return r.lasso(p, m, g, c.Loop(bad), "it never converges", nil)
	}
	for i := 0; i < len(m.Waiters) && g.Unfinished == ""; i++ {
		c = g.Cut(i)
		if bad := c.Starves(); bad != nil {
			return r.waits(p, m, g, c.Loop(bad), m.Waiters[i])
		}
	}
	return nil
}

// manyStarts is the number of starting states above which convergence is checked only on
// request.
const manyStarts = 500

// manyTime is how long convergence from so many is checked if there is no time limit.
const manyTime = 50 * time.Second

// upsets returns how many states of the group there are to start from and, if it gave up
// counting, that there are more.
func (r *run) upsets() (n int, more string) {
	const enough = 1 << 20
	n = 1
	for i := range algorithm.ID(r.Nodes) {
		of := 0
		for range r.Spec.Upset(i, r.Nodes) {
			if of++; of*n > enough {
				return enough, " or more"
			}
		}
		n *= of
	}
	return n, ""
}
