package first

import "github.com/stile-lock/stile/algorithm"

// The kinds of messages of the polite algorithm.
const ask, okay uint8 = 0, 1

type letter struct {
	Kind  uint8
	Clock algorithm.Time // the sender's clock
	Asked algorithm.Time // ASK: stamp of the request
}

func (m *letter) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, okay)
	c.Time("clock", &m.Clock)
	if m.Kind == ask {
		c.Time("asked", &m.Asked)
	}
}

type polite struct {
	self algorithm.ID
	n    int

	state   uint8
	clock   algorithm.Time // stamp of the next request
	asked   algorithm.Time // while waiting: stamp of its request
	missing algorithm.Set  // while waiting: processes that have not sent OKAY
	later   algorithm.Set  // processes that get our OKAY when we leave
}

func (p *polite) Fields(c *algorithm.Coder) {
	c.Uint8("state", &p.state, "idle", "waiting", "inside")
	c.Time("clock", &p.clock)
	c.Time("asked", &p.asked)
	c.Set("missing", &p.missing)
	c.Set("later", &p.later)
}

func (p *polite) Request(out *algorithm.Out[letter]) {
	p.state = waiting
	p.asked = p.clock.Tick()
	p.missing.Fill(p.n)
	p.missing.Remove(p.self)
	out.Broadcast(letter{Kind: ask, Clock: p.clock, Asked: p.asked})
	p.tryEnter(out)
}

func (p *polite) tryEnter(out *algorithm.Out[letter]) {
	if p.state == waiting && p.missing.Empty() {
		p.state = inside
		p.asked = algorithm.Time{} // it no longer matters
		out.Enter()
	}
}

func (p *polite) Receive(from algorithm.ID, m *letter, out *algorithm.Out[letter]) {
	p.clock.See(m.Clock)
	if m.Kind == okay {
		p.missing.Remove(from)
		p.tryEnter(out)
		return
	}
	ours, theirs := algorithm.Stamp{Time: p.asked, ID: p.self}, algorithm.Stamp{Time: m.Asked, ID: from}
	if p.state == inside || p.state == waiting && ours.Less(theirs) {
		p.later.Add(from)
		return
	}
	out.Send(from, letter{Kind: okay, Clock: p.clock})
}

func (p *polite) Release(out *algorithm.Out[letter]) {
	p.state = idle
	out.Multicast(&p.later, letter{Kind: okay, Clock: p.clock})
	p.later.Clear()
}

// Polite returns Ricart and Agrawala's algorithm, as short as it gets.
func Polite() algorithm.Spec {
	exactly := func(n int) algorithm.Range { return algorithm.Exact(2 * float64(n-1)) }
	return algorithm.Spec{
		Name: "polite", Title: "The polite ones",
		Network: algorithm.Unordered,
		Kinds:   []string{"ASK", "OKAY"},
		Theory:  algorithm.Theory{Messages: algorithm.Cost{Text: "2(N-1)", Any: exactly}, Order: "by stamp"},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			p := &polite{self: self, n: v.N, clock: algorithm.First()}
			if v.Busy && self == v.Holder {
				p.state = inside
			}
			return algorithm.New(self, v, p)
		}),
	}
}
