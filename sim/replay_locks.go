package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A lockCast plays a scenario of mutual exclusion.
type lockCast struct {
	p      *player
	chance kernel.Rand
	*locks
	stay   []uint64         // timed: the event that ends each seat's stay
	hold   []*scenario.Dist // timed: how long each said it would stay
	leaves []int            // timed: how many lines still let each leave
}

func newLockCast(p *player, spec core.Spec, view core.View) (*lockCast, error) {
	l, err := p.w.lock(spec, view, nil)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.sc.Expect, func(e scenario.Expectation) bool { return e.Name == scenario.Order }) {
		l.watchOrder() // even if the algorithm does not promise it
	}
	c := &lockCast{
		p: p, locks: l, chance: kernel.NewRand(p.sc.Seed, 1),
		stay: make([]uint64, view.N), hold: make([]*scenario.Dist, view.N), leaves: make([]int, view.N),
	}
	l.onEnter = c.entered
	for _, a := range p.sc.Actions {
		if a.Kind == scenario.Leave {
			c.leaves[a.Proc]++
		}
	}
	return c, nil
}

func (c *lockCast) begin() {
	if c.view.Busy {
		c.note(trace.Enter, c.view.Holder, 0, "")
		c.settle(c.view.Holder)
	}
}

func (c *lockCast) over() bool                       { return false }
func (c *lockCast) place(a *scenario.Action) core.ID { return a.Proc }
func (c *lockCast) unsaid(*judge)                    {}

func (c *lockCast) may(a *scenario.Action) error {
	now := c.oracle.procs[a.Proc].phase
	switch {
	case a.Kind == scenario.Ask && now != idle:
		return fmt.Errorf("%v cannot ask: it %s", a.Proc, phaseWords(now))
	case a.Kind == scenario.Leave && now != inside:
		return fmt.Errorf("%v cannot leave: it %s", a.Proc, phaseWords(now))
	}
	return nil
}

func phaseWords(p phase) string {
	return [...]string{"is idle", "waits", "is inside"}[p]
}

func (c *lockCast) do(a *scenario.Action) {
	switch a.Kind {
	case scenario.Ask:
		c.hold[a.Proc] = a.Hold
		c.ask(a.Proc)
	case scenario.Leave:
		c.leaves[a.Proc]--
		c.quit(a.Proc)
	}
}

func (c *lockCast) happen(e kernel.Event) {
	if seat := c.seat(e.Proc()); c.stay[seat] == e.Seq { // else it has left, or is no more
		c.quit(seat)
	}
}

func (c *lockCast) crashed(p core.ID) { c.stay[p] = 0 }

// entered is told that a process is inside.
func (c *lockCast) entered(seat core.ID) {
	c.p.back.Entries = append(c.p.back.Entries, Entry{c.proc(seat), c.w.Now()})
	c.p.judge.entered(c.proc(seat))
	c.settle(seat)
}

// settle lets a process that is inside leave when its time is over, unless a
// line will let it leave.
func (c *lockCast) settle(seat core.ID) {
	stay, sc := c.hold[seat], c.p.sc
	if stay == nil && !sc.Manual && c.leaves[seat] == 0 {
		stay = &sc.Hold
	}
	if stay == nil || sc.Steps {
		return
	}
	c.stay[seat] = c.w.At(c.w.Now()+c.chance.Sample(*stay), leave, c.proc(seat), c.index)
}

func (c *lockCast) quit(seat core.ID) {
	c.stay[seat] = 0
	c.leave(seat)
}

func (c *lockCast) progress() int { return c.meter.entries + c.meter.exits }

// A token that runs round for ever would never end a run.
func (c *lockCast) patience(scripts int) int {
	if c.oracle.nWait == 0 && c.oracle.nIn == 0 && scripts == 0 {
		return 20*c.view.N + 100
	}
	return 1000 * (c.view.N + 10)
}

func (c *lockCast) finish(b *Playback, still, stalled bool) {
	if still && c.oracle.nIn == 0 {
		b.Deadlock = c.oracle.nWait > 1 && !stalled
		c.oracle.ended(c.w.Now())
	}
	b.MaxBypass, b.Violations = c.oracle.bypass, c.oracle.found
}

func (c *lockCast) state(j *judge, e scenario.Expectation) {
	if e.Kind == scenario.PhaseIs {
		j.phase(e, [...]scenario.Phase{scenario.Idle, scenario.Waits, scenario.Inside}[c.oracle.procs[e.Proc].phase])
		return
	}
	j.field(e, core.Describe(c.machines[e.Proc], c.view.N))
}

func (c *lockCast) whole(j *judge, e scenario.Expectation) {
	b := c.p.back
	switch e.Kind {
	case scenario.Entries:
		got := scenario.Expectation{Kind: scenario.Entries}
		for _, entry := range b.Entries {
			got.Procs = append(got.Procs, entry.Proc)
		}
		if !slices.Equal(got.Procs, e.Procs) {
			j.differ(e, got.What())
		}
	case scenario.EntersAt:
		c.entersAt(j, e)
	case scenario.Bypass:
		if b.MaxBypass != e.N {
			j.differ(e, strconv.Itoa(b.MaxBypass))
		}
	case scenario.Deadlock:
		if !b.Deadlock {
			j.differ(e, "none: "+c.ending())
		}
	}
}

func (c *lockCast) entersAt(j *judge, e scenario.Expectation) {
	var at []string
	for _, entry := range c.p.back.Entries {
		if entry.Proc != e.Proc {
			continue
		}
		if entry.At == e.At {
			return
		}
		at = append(at, scenario.FormatTime(entry.At))
	}
	if at == nil {
		at = []string{"no time"}
	}
	j.differ(e, "entries at "+strings.Join(at, " "))
}

// ending says how the run ended.
func (c *lockCast) ending() string {
	switch o := c.oracle; {
	case o.nWait == 0:
		return "nobody waits at the end"
	case o.nIn > 0:
		return "somebody is inside at the end"
	case o.nWait == 1:
		return "only one process waits at the end"
	}
	return "messages are still under way at the end"
}
