package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// An Election says what to simulate: a group in which everybody follows the
// highest process, some of which are dead, and who notices.
type Election struct {
	Spec     core.Spec
	Nodes    int
	Dead     []core.ID // dead from the start; everybody else knows
	Starters []core.ID // whose applications notice at time 0
	Outages  []Outage

	Latency scenario.Dist
	Network core.Network
	Seed    uint64

	Paged   bool                // rebuild every machine from its bytes before every step
	Observe func(e trace.Event) // told of everything that happens; may be nil
}

// An Outage is a crash and, if Back is later than that, a comeback.
type Outage struct {
	Proc     core.ID
	At, Back int64 // ticks
}

// An Outcome is what came of an election.
type Outcome struct {
	Leader   int            `json:"leader"` // the number of the highest process alive if all follow it, or 0
	Agreed   bool           `json:"agreed"`
	Messages int            `json:"messages"`
	ByKind   map[string]int `json:"messages_by_kind"`
	Time     float64        `json:"time"` // when the last one learnt who leads, in T

	Found []Violation `json:"-"`
}

func (c *Election) check() error {
	if c.Spec.Family != core.Election {
		return fmt.Errorf("%s is no election", c.Spec.Name)
	}
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		return err
	}
	if c.Latency.Mean() < 1 || c.Latency.Shape == scenario.Uniform && c.Latency.A < 1 {
		return fmt.Errorf("a latency of %v: a message must take some time", c.Latency)
	}
	dead := make([]bool, c.Nodes)
	alive := c.Nodes
	for _, p := range c.Dead {
		if p < 0 || int(p) >= c.Nodes {
			return fmt.Errorf("process %d is dead: there are processes 1 to %d", p+1, c.Nodes)
		}
		if !dead[p] {
			dead[p] = true
			alive--
		}
	}
	if alive == 0 {
		return fmt.Errorf("everybody is dead: somebody must be alive to be elected")
	}
	for _, p := range c.Starters {
		if p < 0 || int(p) >= c.Nodes {
			return fmt.Errorf("process %d starts: there are processes 1 to %d", p+1, c.Nodes)
		}
		if dead[p] {
			return fmt.Errorf("process %d starts, but it is dead: let another one start", p+1)
		}
	}
	for _, o := range c.Outages {
		if o.Proc < 0 || int(o.Proc) >= c.Nodes || o.At < 0 {
			return fmt.Errorf("process %d crashes at %s: there are processes 1 to %d and times from 0", o.Proc+1, scenario.FormatTime(o.At), c.Nodes)
		}
	}
	return nil
}

// A poll runs an election.
type poll struct {
	Election
	*world
	notices int // how often somebody may still notice that nobody leads
	events  int // how much may still happen
}

// RunElection simulates c until all is quiet. When all is quiet and somebody
// follows nobody, or a dead process, its application notices, and that goes
// on.
func RunElection(c Election) (*Outcome, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot simulate %s: %w", c.Spec.Name, err)
	}
	view := core.View{N: c.Nodes, Holder: core.ID(c.Nodes - 1), Busy: true}
	w, err := newWorld(c.Spec, view, c.Latency, c.Network, c.Seed)
	if err != nil {
		return nil, err
	}
	w.faults = newFaults(c.Nodes)
	w.observe = c.Observe
	if c.Paged {
		w.paged()
	}
	p := &poll{c, w, 10 * (c.Nodes + 10), 100 * (c.Nodes + 10) * (c.Nodes + 10)}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.outcome(), nil
}

func (p *poll) run() error {
	if err := p.bury(); err != nil {
		return err
	}
	for i, o := range p.Outages {
		p.queue.push(event{at: o.At, arg: int32(2 * i), kind: script})
		if o.Back > o.At {
			p.queue.push(event{at: o.Back, arg: int32(2*i + 1), kind: script})
		}
	}
	for _, id := range p.Starters {
		if err := p.elect(id); err != nil {
			return err
		}
	}
	for {
		for len(p.queue.heap) > 0 {
			if p.events--; p.events < 0 {
				return nil // it goes on for ever, without agreement
			}
			e := p.queue.pop()
			p.now = e.at
			if err := p.happen(e); err != nil {
				return err
			}
		}
		id := p.leaderless()
		if id == core.None || p.notices == 0 {
			return nil
		}
		p.notices--
		if err := p.elect(id); err != nil {
			return err
		}
	}
}

// bury lets those die who are dead from the start, and the others know.
func (p *poll) bury() error {
	for _, id := range p.Dead {
		if p.faults.crashed[id] {
			continue
		}
		p.faults.crashed[id] = true
		p.elects.leader[id] = core.None
		p.note(trace.Event{Kind: trace.Crash, Proc: id})
	}
	p.newRound()
	for q := range p.machines {
		for _, id := range p.Dead {
			if p.faults.crashed[q] {
				continue
			}
			if err := p.step(core.ID(q), core.Input{Kind: core.Suspect, From: id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaderless returns a process alive that follows nobody alive, or None.
func (p *poll) leaderless() core.ID {
	for q, leader := range p.elects.leader {
		if !p.faults.crashed[q] && (leader == core.None || p.faults.crashed[leader]) {
			return core.ID(q)
		}
	}
	return core.None
}

func (p *poll) happen(e event) error {
	if e.kind != script && e.kind != deliver && p.faults.holdBack(p.world, e) {
		return nil
	}
	switch e.kind {
	case deliver:
		return p.deliver(e)
	case expire:
		return p.expire(e)
	case believe:
		return p.believed(e)
	}
	o := p.Outages[e.arg/2]
	switch dead := p.faults.crashed[o.Proc]; {
	case e.arg%2 == 0 && !dead:
		p.crash(o.Proc)
	case e.arg%2 == 1 && dead:
		return p.restart(o.Proc)
	}
	return nil
}

func (p *poll) outcome() *Outcome {
	p.disagreed()
	o := &Outcome{
		Agreed: p.agreed(), Messages: p.meter.messages, ByKind: map[string]int{},
		Time: units(p.elects.news), Found: p.oracle.found,
	}
	if o.Agreed {
		o.Leader = int(p.highest()) + 1
	}
	for k, n := range p.meter.byKind {
		o.ByKind[p.Spec.Kinds[k]] += n
	}
	return o
}
