package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
)

// An electionCast plays a scenario of an election.
type electionCast struct {
	*electorate
}

func newElectionCast(p *player, spec core.Spec, view core.View) (electionCast, error) {
	e, err := p.w.elect(spec, view)
	return electionCast{e}, err
}

func (electionCast) begin()               {}
func (electionCast) happen(*kernel.Event) {}
func (electionCast) crashed(core.ID)      {}
func (electionCast) progress() int        { return 0 }

func (electionCast) over() bool    { return false }
func (electionCast) unsaid(*judge) {}

func (electionCast) place(a *scenario.Action) core.ID { return a.Proc }

func (c electionCast) patience(int) int { return 1000 * (c.view.N + 10) }

func (c electionCast) may(a *scenario.Action) error { return c.group.may(a) }

func (c electionCast) do(a *scenario.Action) {
	if a.Kind == scenario.Ask {
		c.hold(a.Proc)
	}
}

func (c electionCast) finish(b *Playback, still, _ bool) {
	if still {
		c.ended()
	}
	b.Violations = c.found
}

func (c electionCast) state(j *judge, e scenario.Expectation) {
	if e.Kind == scenario.PhaseIs {
		j.phase(e, scenario.Idle)
		return
	}
	j.field(e, core.Describe(c.machines[e.Proc], c.view.N))
}

func (c electionCast) whole(j *judge, e scenario.Expectation) {
	switch e.Kind {
	case scenario.Entries:
		if len(e.Procs) > 0 {
			j.differ(e, scenario.Expectation{Kind: scenario.Entries}.What())
		}
	case scenario.EntersAt:
		j.differ(e, "entries at no time")
	case scenario.Bypass:
		if e.N != 0 {
			j.differ(e, "0")
		}
	case scenario.Deadlock:
		j.differ(e, "none: nobody waits at the end")
	}
}
