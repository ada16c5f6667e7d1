package check

import (
	"fmt"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/check/group"
	"github.com/stile-lock/stile/core"
)

// Convergence: an algorithm that stabilises may be found in any state at all.
// A state is right if from it on never two are inside, whatever happens. From
// every state, every fair run must come to a right one, and nobody may wait
// for ever. Deliveries, exits and timers are fair. Links are FIFO: an old
// message that comes late would upset the group again and again.

// converge is the pass from every state.
func (r *run) converge() error {
	if !r.wants(Convergence) {
		return nil
	}
	if r.Spec.Upset == nil {
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: "it does not claim to stabilise"})
		return nil
	}
	if n := r.upsets(); r.byDefault && n > manyStarts {
		r.add(Property{Name: Convergence, Verdict: NotChecked, Note: fmt.Sprintf("from %d states: this takes long; ask for it by name", n)})
		return nil
	}
	m, err := r.model("", true)
	if err != nil {
		return err
	}
	p := r.passed(&explore.Exploration{}, Convergence)
	g, err := explore.BuildGraph(m, explore.GraphLimits{Limits: r.remaining(), Edges: true})
	if err != nil {
		return err
	}
	if g.Unfinished != "" {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("%s after %d states", g.Unfinished, g.States())
		r.add(p)
		return nil
	}
	r.report.counted(&explore.Exploration{States: g.States(), Transitions: g.Transitions(), Depth: g.Levels()})
	g.MarkBefore(group.TwoInside, group.Mark)
	c := g.Cut(group.Mark)
	bad := c.Starves()
	if bad != nil {
		err = r.lasso(&p, m, c, bad, core.None, "it never comes right", nil)
	}
	for i := 0; i < len(m.Waiters) && bad == nil && err == nil; i++ {
		c = g.Cut(i)
		if bad = c.Starves(); bad != nil {
			err = r.waits(&p, m, c, bad, m.Waiters[i])
		}
	}
	r.add(p)
	return err
}

// manyStarts is from how many states on convergence is only checked if asked
// for.
const manyStarts = 500

// upsets returns how many states of the group there are to start from.
func (r *run) upsets() int {
	n := 1
	for i := range core.ID(r.Nodes) {
		if n *= len(r.Spec.Upset(i, r.Nodes)); n > 1<<30 {
			break
		}
	}
	return n
}
