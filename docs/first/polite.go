package first

import "github.com/stile-lock/stile/core"

// The kinds of messages of the polite ones.
const ask, okay uint8 = 0, 1

type letter struct {
	Kind  uint8
	Clock core.Time // the sender's clock
	Asked core.Time // ASK: when
}

func (m *letter) Fields(c *core.Coder) {
	c.Kind(&m.Kind, okay)
	c.Time("clock", &m.Clock)
	if m.Kind == ask {
		c.Time("asked", &m.Asked)
	}
}

type polite struct {
	self core.ID
	n    int

	state   uint8
	clock   core.Time // what the next request is stamped with
	asked   core.Time // while waiting: when it asked
	missing core.Set  // while waiting: who has not said OKAY
	later   core.Set  // who gets our OKAY when we leave
}

func (p *polite) Fields(c *core.Coder) {
	c.Uint8("state", &p.state, "idle", "waiting", "inside")
	c.Time("clock", &p.clock)
	c.Time("asked", &p.asked)
	c.Set("missing", &p.missing)
	c.Set("later", &p.later)
}

func (p *polite) Request(out *core.Out[letter]) {
	p.state = waiting
	p.asked = p.clock.Tick()
	p.missing.Fill(p.n)
	p.missing.Remove(p.self)
	out.Broadcast(letter{Kind: ask, Clock: p.clock, Asked: p.asked})
	p.tryEnter(out)
}

func (p *polite) tryEnter(out *core.Out[letter]) {
	if p.state == waiting && p.missing.Empty() {
		p.state = inside
		p.asked = core.Time{} // it matters no more
		out.Enter()
	}
}

func (p *polite) Receive(from core.ID, m *letter, out *core.Out[letter]) {
	p.clock.See(m.Clock)
	if m.Kind == okay {
		p.missing.Remove(from)
		p.tryEnter(out)
		return
	}
	ours, theirs := core.Stamp{Time: p.asked, ID: p.self}, core.Stamp{Time: m.Asked, ID: from}
	if p.state == inside || p.state == waiting && ours.Less(theirs) {
		p.later.Add(from)
		return
	}
	out.Send(from, letter{Kind: okay, Clock: p.clock})
}

func (p *polite) Release(out *core.Out[letter]) {
	p.state = idle
	out.Multicast(&p.later, letter{Kind: okay, Clock: p.clock})
	p.later.Clear()
}

// Polite is Ricart and Agrawala's algorithm, as short as it gets.
func Polite() core.Spec {
	exactly := func(n int) core.Range { return core.Exact(2 * float64(n-1)) }
	return core.Spec{
		Name: "polite", Title: "The polite ones",
		Network: core.Unordered,
		Kinds:   []string{"ASK", "OKAY"},
		Theory:  core.Theory{Messages: core.Cost{Text: "2(N-1)", Any: exactly}, Order: "by stamp"},
		Plan: core.Always(func(self core.ID, v core.View) core.Machine {
			p := &polite{self: self, n: v.N, clock: core.First()}
			if v.Busy && self == v.Holder {
				p.state = inside
			}
			return core.New(self, v, p)
		}),
	}
}
