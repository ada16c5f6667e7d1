package model

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/election"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family/elections"
)

// A poll is a state of an election.
type poll struct {
	crew
	follows            []int // or -1
	winner             int   // of this round, or -1
	crashes, comebacks int
}

func (p *poll) clone() *poll {
	n := *p
	n.crew, n.follows = p.crew.clone(), slices.Clone(p.follows)
	return &n
}

// A polling finds all states of an election.
type polling struct{ *book[*poll] }

func (x *polling) add(p *poll) {
	x.book.add(fmt.Sprint(p.crew.key(), p.follows, p.winner, p.crashes, p.comebacks), p)
}

// do lets a process take a step of an election that was begun in this round, or
// not.
func (x *polling) do(p *poll, i int, in host.Input, fresh bool) {
	out := x.step(&p.crew, i, in)
	for _, n := range out.Notices {
		if n.Kind != host.Leader {
			continue
		}
		p.follows[i] = int(n.Who)
		if int(n.Who) == i && fresh {
			if p.winner >= 0 && p.winner != i {
				x.faces[elections.OneLeader] = true
			}
			p.winner = i
		}
	}
	p.send(i, out, fresh, true)
}

func (p *poll) highest() int {
	top := -1
	for i, dead := range p.dead {
		if !dead {
			top = i
		}
	}
	return top
}

func (p *poll) agreed() bool {
	for i, leader := range p.follows {
		if !p.dead[i] && leader != p.highest() {
			return false
		}
	}
	return true
}

// round begins a new round.
func (p *poll) round() {
	if p.winner = -1; p.agreed() {
		p.winner = p.highest()
	}
	for i := range p.messages {
		p.messages[i].fresh = false
	}
	for i := range p.timers {
		p.timers[i].fresh = false
	}
}

func (x *polling) next(p *poll) {
	fair := false
	for i := range p.dead {
		if p.dead[i] {
			x.rise(p, i)
			continue
		}
		x.crash(p, i)
		ask := host.Input{Kind: host.Request, From: algorithm.None}
		if f := p.follows[i]; (f < 0 || p.dead[f]) && x.moves(p.crew, i, ask) {
			n := p.clone()
			x.do(n, i, ask, true)
			x.add(n)
			fair = true
		}
		for q := range p.dead {
			in := host.Input{Kind: host.Trust, From: algorithm.ID(q)}
			if p.dead[q] {
				in.Kind = host.Suspect
			}
			if q == i || !x.moves(p.crew, i, in) {
				continue
			}
			n := p.clone()
			if in.Kind == host.Trust {
				n.round()
			}
			x.do(n, i, in, false)
			x.add(n)
			fair = true
		}
	}
	fair = x.network(p) || fair
	if !fair && !p.agreed() {
		x.faces[elections.Agreement] = true
	}
}

func (x *polling) crash(p *poll, i int) {
	if p.crashes == 0 {
		return
	}
	n := p.clone()
	n.crashes--
	n.dead[i], n.follows[i], n.machines[i] = true, -1, ""
	n.timers = slices.DeleteFunc(n.timers, func(a alarm) bool { return a.at == i })
	n.round()
	x.add(n)
}

// rise lets a process come back, which everybody sees at once.
func (x *polling) rise(p *poll, i int) {
	if p.comebacks == 0 {
		return
	}
	n := p.clone()
	n.comebacks--
	n.dead[i] = false
	n.machines[i] = string(x.birth(algorithm.ID(i), algorithm.View{N: x.view.N}).AppendState(nil))
	n.round()
	for q := range n.dead {
		if q != i && !n.dead[q] {
			n.round()
			x.do(n, q, host.Input{Kind: host.Trust, From: algorithm.ID(i)}, false)
		}
	}
	x.do(n, i, host.Input{Kind: host.Start, From: algorithm.None}, true)
	x.add(n)
}

// network lets messages arrive, timers run out and time pass. It reports
// whether any of that is possible.
func (x *polling) network(p *poll) bool {
	due := slices.ContainsFunc(p.messages, func(l post) bool { return l.old })
	least := 1 << 20
	for k, a := range p.timers {
		if least = min(least, a.left); a.left == 0 && !due {
			n := p.clone()
			n.timers = slices.Delete(n.timers, k, k+1)
			x.do(n, a.at, host.Input{Kind: host.Expire, From: algorithm.None, Timer: a.id}, a.fresh)
			x.add(n)
		}
	}
	for _, k := range p.heads() {
		n, l := p.clone(), p.messages[k]
		n.messages = slices.Delete(n.messages, k, k+1)
		if !n.dead[l.to] {
			x.do(n, l.to, host.Input{Kind: host.Receive, From: algorithm.ID(l.from), Bytes: []byte(l.bytes)}, l.fresh)
		}
		x.add(n)
	}
	if some := len(p.messages)+len(p.timers) > 0; due || least == 0 || !some {
		return some
	}
	n := p.clone()
	for i := range n.messages {
		n.messages[i].old = true
	}
	for i := range n.timers {
		n.timers[i].left--
	}
	x.add(n)
	return true
}

// TestElectionsAgreeWithReference: of elections the checker finds exactly the
// states there are, each loss being a step, and the same verdicts, with what it
// leaves out as well.
func TestElectionsAgreeWithReference(t *testing.T) {
	broken := map[string]bool{}
	for _, v := range []vote{
		{election.Bully(), 2, 1, 1, AnyPace}, {election.Bully(), 3, 1, 0, AnyPace}, {election.Bully(), 3, 2, 0, AnyPace},
		{election.Ring(), 2, 1, 1, AnyPace}, {election.Ring(), 3, 1, 0, AnyPace},
		{election.ChangRoberts(false), 2, 1, 1, AnyPace}, {election.ChangRoberts(true), 3, 1, 0, AnyPace},
		{hasty(), 3, 2, 0, AnyPace}, {mute(), 3, 1, 0, AnyPace},
	} {
		x := &polling{newBook[*poll](t, v.spec, algorithm.View{N: v.n, Holder: algorithm.ID(v.n - 1), Busy: true})}
		first := &poll{crew: x.born(), follows: slices.Repeat([]int{v.n - 1}, v.n), winner: v.n - 1, crashes: v.crashes, comebacks: v.comebacks}
		for x.add(first); len(x.queue) > 0; x.queue = x.queue[1:] {
			x.next(x.queue[0])
		}
		states, saw := outcomes(t, v.config(), reductions{})
		_, less := outcomes(t, v.config(), reductions{losses: true, still: true, vain: true})
		if int(states) != len(x.seen) || saw != x.broken() || less != saw {
			t.Errorf("%s, %d, %d crashes, %d comebacks: %d states, broken %q, with reductions %q; want %d, %q",
				v.spec.Name, v.n, v.crashes, v.comebacks, states, saw, less, len(x.seen), x.broken())
		}
		for f := range x.faces {
			broken[f] = true
		}
	}
	if !broken[elections.OneLeader] || !broken[elections.Agreement] {
		t.Errorf("broken %v: too little to tell", broken)
	}
}

// hasty is a bully that leads as soon as it notices, and mute one whose
// machines hear of nobody.
func hasty() algorithm.Spec { return spoilt("hasty", host.Request) }
func mute() algorithm.Spec  { return spoilt("mute", host.Receive) }

// A bad machine does not do what it should with one kind of input: it leads, or
// does nothing.
type bad struct {
	algorithm.Machine
	self algorithm.ID
	kind host.InputKind
}

func (b bad) Step(in host.Input, out *host.Output) error {
	if in.Kind != b.kind {
		return b.Machine.Step(in, out)
	}
	out.Reset()
	if b.kind == host.Request {
		out.Notices = append(out.Notices, host.Notice{Kind: host.Leader, Who: b.self})
	}
	return nil
}

func spoilt(name string, kind host.InputKind) algorithm.Spec {
	spec := election.Bully()
	plan := spec.Plan
	spec.Name = name
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return bad{birth(self, v), self, kind} }, err
	}
	return spec
}
