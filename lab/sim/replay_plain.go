package sim

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
)

// A plainCast plays a scenario of any family: like one of mutual exclusion, but
// applications do only what lines say, and nothing is measured.
type plainCast struct {
	lockCast
	*plain
}

func newPlainCast(p *player, spec algorithm.Spec, view algorithm.View) (*plainCast, error) {
	g, err := p.w.plain(p.family, spec, view)
	if err != nil {
		return nil, err
	}
	g.onEnter = func(seat algorithm.ID) {
		entry := Entry{Proc: seat, At: p.w.Now()}
		p.back.Entries = append(p.back.Entries, entry)
		p.judge.entered(entry)
	}
	return &plainCast{lockCast{p: p}, g}, nil
}

func (c *plainCast) patience(int) int { return 1000 * (c.view.N + 10) }

func (c *plainCast) may(a *script.Action) error { return c.group.may(a) }

func (c *plainCast) do(a *script.Action) {
	c.env.Do(c, family.Act{Kind: a.Kind, Proc: a.Proc, Peer: a.Peer})
}

func (c *plainCast) finish(still bool) {
	if still && !(c.w.Steps() && c.due()) {
		c.ended()
	}
	c.blame()
	c.p.back.Violations = c.found
}

// state implements cast: where there are no requests, no process waits for one.
func (c *plainCast) state(j *judge, e script.Expectation) {
	switch {
	case e.Kind != script.PhaseIs:
		j.field(e, c.describe(e.Proc))
	case c.env.Inside(e.Proc):
		j.phase(e, script.Inside)
	case c.family.Bounded != nil && c.env.Waits(e.Proc):
		j.phase(e, script.Waits)
	default:
		j.phase(e, script.Idle)
	}
}
