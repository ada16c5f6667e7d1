package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A run that begins in the middle of a longer one: see script.Beginning.

// load gives machines the states in which the run begins, and checks the messages in flight.
// Lines that set fields come after it.
func (p *player) load() error {
	g := p.w.groups[0]
	for i := range p.sc.Begin {
		b := &p.sc.Begin[i]
		if _, ok := p.cast.(*lockCast); !ok || p.family.Detects {
			return at(b.Line, fmt.Errorf("%v: only locks whose processes do not crash can begin in the middle of a run, and %s is %s: remove the begin lines", b, g.spec.Name, g.family.Kind))
		}
		who, do := b.Proc, g.loadState
		if b.Message != "" {
			who, do = b.Peer, g.readable
		}
		var err error
		g.let(who, "when the state is read in which it begins", func() { err = do(b) })
		if err != nil {
			return at(b.Line, fmt.Errorf("%v: %w", b, err))
		}
	}
	return nil
}

// phases are those of machines.
var phases = [...]host.Phase{script.Idle: host.Idle, script.Waits: host.Waiting, script.Inside: host.Inside}

// loadState gives a machine the state in which it begins.
func (g *group) loadState(b *script.Beginning) error {
	m := g.machines[b.Proc]
	if b.State == nil {
		return algorithm.SetPhase(m, phases[b.Phase])
	}
	if err := m.LoadState(b.State); err != nil {
		return fmt.Errorf("these bytes are not a state of %s among %d processes: %w", g.spec.Name, g.view.N, err)
	}
	if is, _ := algorithm.PhaseOf(m); is != phases[b.Phase] {
		return fmt.Errorf("the process is %v in this state: say so, or change the state", is)
	}
	return nil
}

// readable checks a message in flight.
func (g *group) readable(b *script.Beginning) error {
	if !slices.Contains(g.spec.Kinds, b.Message) {
		return fmt.Errorf("%s has no message %q: its messages are %v", g.spec.Name, b.Message, g.spec.Kinds)
	}
	if _, err := g.machines[b.Peer].DescribeMessage(b.Bytes); err != nil {
		return fmt.Errorf("these bytes are not a message of %s among %d processes: %w", g.spec.Name, g.view.N, err)
	}
	if is := g.spec.Kinds[b.Bytes[0]]; is != b.Message {
		return fmt.Errorf("these are the bytes of %s: say so, or change them", is)
	}
	return nil
}

// resume puts messages in flight, and applications where they are when the run begins.
// What happened before is not known: requests that wait count as made now, and messages in
// flight as sent before them.
func (c *lockCast) resume() {
	r := c.rooms[0]
	for _, b := range c.p.sc.Begin {
		if b.Message != "" {
			slot := r.w.Keep(b.Bytes, r.index, 0, 1)
			if r.order != nil {
				r.order.sent(b.Proc, slot)
			}
			r.w.SendLate(b.Proc, b.Peer, slot, 0)
		}
	}
	for _, now := range [...]script.Phase{script.Inside, script.Waits} {
		for _, b := range c.p.sc.Begin {
			if b.Message == "" && b.Phase == now {
				c.resumeAt(r, b.Proc, now)
			}
		}
	}
	r.env.Look(r.group)
	r.report()
}

// resumeAt puts an application where it is when the run begins.
func (c *lockCast) resumeAt(r *room, seat algorithm.ID, now script.Phase) {
	r.env.Resume(seat, now)
	r.asked(seat)
	if now == script.Inside {
		r.granted(seat)
		r.note(trace.Enter, seat, algorithm.None, "")
		c.settle(r, seat)
		return
	}
	r.meter.asked(seat, r.w.Now(), false)
	r.note(trace.Ask, seat, algorithm.None, "")
}
