package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
)

// An electionCast plays a scenario of an election: it is like one of mutual
// exclusion without any critical section, so nobody waits or is inside.
type electionCast struct {
	lockCast
	*electorate
}

func newElectionCast(p *player, spec core.Spec, view core.View) (*electionCast, error) {
	e, err := p.w.elect(spec, view)
	return &electionCast{lockCast{p: p}, e}, err
}

func (c *electionCast) patience(int) int { return 1000 * (c.view.N + 10) }

func (c *electionCast) may(a *scenario.Action) error { return c.group.may(a) }

func (c *electionCast) do(a *scenario.Action) {
	if a.Kind == scenario.Ask {
		c.hold(a.Proc)
	}
}

func (c *electionCast) finish(still bool) {
	if still && !(c.w.Steps() && c.due()) {
		c.ended()
	}
	c.blame()
	c.p.back.Violations = c.found
}

func (c *electionCast) state(j *judge, e scenario.Expectation) {
	if e.Kind == scenario.PhaseIs {
		j.phase(e, scenario.Idle)
		return
	}
	j.field(e, core.Describe(c.machines[e.Proc], c.view.N))
}
