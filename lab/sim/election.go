package sim

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/elections"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// An Election says what to simulate: a group in which all processes follow the highest
// one, some processes are dead, and some notice.
type Election struct {
	Spec     algorithm.Spec
	Nodes    int
	Dead     []algorithm.ID // processes dead from the start; all others know
	Starters []algorithm.ID // processes whose applications notice at time 0
	Outages  []Outage

	Latency scenario.Dist
	Links   []script.Link // latencies of single links, where they differ
	Network algorithm.Network
	Seed    uint64

	Paged   bool                  // whether to rebuild every machine from its bytes before every step
	Observe func(e trace.Event)   // called for every event; may be nil
	Explain func(why []trace.Why) // called with the reasons for a step: see Config; may be nil
	Watch   Watch                 // may stop the run early; may be nil
}

// An Outage is a crash and, if Back is later than the crash, a comeback.
type Outage struct {
	Proc     algorithm.ID
	At, Back int64 // ticks
}

// An Outcome is the result of an election.
type Outcome struct {
	Algorithm string         `json:"algorithm"`
	Nodes     int            `json:"nodes"`
	Seed      uint64         `json:"seed"`
	Leader    int            `json:"leader"` // number of the highest live process if all follow it, or 0
	Agreed    bool           `json:"agreed"`
	Messages  int            `json:"messages"`
	ByKind    map[string]int `json:"messages_by_kind"`
	Time      float64        `json:"time"`              // when the last process learned the leader, in T
	Stopped   bool           `json:"stopped,omitempty"` // whether Election.Watch stopped it before all was quiet
	Stalled   bool           `json:"stalled,omitempty"` // whether it was cut because it went on without end

	Found []Violation `json:"-"`
}

func (c *Election) check() error {
	if c.Spec.Family != algorithm.Election {
		return fmt.Errorf("%s is not an election", c.Spec.Name)
	}
	if err := c.Spec.Accepts(c.Nodes); err != nil {
		return err
	}
	if err := c.Latency.CheckLatency(); err != nil {
		return err
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
		return fmt.Errorf("all processes are dead: at least one must be alive to be elected")
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
	*plain
}

// RunElection simulates c until all is quiet. If all is quiet and a process follows no
// leader, or a dead one, its application notices, and the run continues. A run that goes
// on without end is cut, and its outcome says so.
func RunElection(c Election) (*Outcome, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("cannot simulate %s: %w", c.Spec.Name, err)
	}
	w := newWorld(kernel.Config{
		Processes: c.Nodes, Latency: c.Latency, Links: c.Links, Network: c.Network, Seed: c.Seed,
		Adversary: true, Detects: true, Observe: c.Observe,
	})
	f := elections.Family()
	e, err := w.plain(f, c.Spec, f.Born(c.Nodes))
	if err != nil {
		return nil, err
	}
	if c.Paged {
		e.paged()
	}
	p := &poll{c, e}
	w.Happen, w.watch, w.explain = p.happen, c.Watch, c.Explain
	var o *Outcome
	err = w.guard(func() error {
		if err := p.run(); err != nil {
			return err
		}
		o = p.outcome()
		return nil
	})
	return o, err
}

func (p *poll) run() error {
	mostEvents, mostNotices := 100*(p.Nodes+10)*(p.Nodes+10), 10*(p.Nodes+10)
	p.bury()
	for i, o := range p.Outages {
		p.w.At(o.At, planned, algorithm.None, 2*i)
		if o.Back > o.At {
			p.w.At(o.Back, planned, algorithm.None, 2*i+1)
		}
	}
	for _, id := range p.Starters {
		p.hold(id)
	}
	for events, notices := 0, 0; ; notices++ {
		for ; p.w.Pending() && p.w.on(); events++ {
			if events == mostEvents {
				p.w.cut = fmt.Sprintf("after %d events", events)
				return nil
			}
			if err := p.w.next(); err != nil {
				return err
			}
		}
		id := p.leaderless()
		if id == algorithm.None || p.w.stopped || p.w.err != nil {
			return p.w.err
		}
		if notices == mostNotices {
			p.w.cut = fmt.Sprintf("after %d elections without a result", notices)
			return nil
		}
		p.hold(id)
	}
}

// hold makes the application of a process notice that the leader is silent.
func (p *poll) hold(id algorithm.ID) { p.env.Do(p.group, family.Act{Kind: script.Ask, Proc: id}) }

// leaderless returns a live process that follows no live one, or None.
func (p *poll) leaderless() algorithm.ID {
	first := algorithm.None
	p.env.Acts(p.group, func(a family.Act) {
		if first == algorithm.None {
			first = a.Proc
		}
	})
	return first
}

// leader returns the highest live process if all live processes follow it, or None.
func (p *poll) leader() algorithm.ID {
	top := algorithm.None
	for id := range algorithm.ID(p.view.N) {
		if p.env.Waits(id) {
			return algorithm.None
		}
		if !p.w.Crashed(id) {
			top = id
		}
	}
	return top
}

// bury crashes the processes that are dead from the start, and notifies the others.
func (p *poll) bury() {
	for _, id := range p.Election.Dead {
		if !p.w.Crashed(id) {
			p.w.Bury(id)
			p.group.crashed(id)
		}
	}
	for q := range algorithm.ID(p.Nodes) {
		for _, id := range p.Election.Dead {
			if !p.w.Crashed(q) {
				p.Step(q, host.Input{Kind: host.Suspect, From: id})
			}
		}
	}
}

// happen makes a process crash, or come back.
func (p *poll) happen(e *kernel.Event) {
	o := p.Outages[e.Arg()/2]
	switch back, dead := e.Arg()%2 == 1, p.w.Crashed(o.Proc); {
	case !back && !dead:
		p.w.crash(o.Proc)
	case back && dead:
		p.w.restart(o.Proc)
	}
}

func (p *poll) outcome() *Outcome {
	if !p.w.stopped {
		p.ended()
	}
	p.blame()
	leader := p.leader()
	o := &Outcome{
		Algorithm: p.Spec.Name, Nodes: p.Nodes, Seed: p.Seed, Stopped: p.w.stopped, Stalled: p.w.cut != "",
		Leader: int(leader) + 1, Agreed: leader != algorithm.None, Messages: p.meter.messages, ByKind: map[string]int{},
		Time: units(p.news), Found: p.found,
	}
	for k, n := range p.meter.byKind {
		o.ByKind[p.Spec.Kinds[k]] += n
	}
	return o
}
