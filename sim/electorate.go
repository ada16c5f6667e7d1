package sim

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/family/elections"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// An electorate is the applications of an election, and the host that they run
// at. What a round is and what breaks an election is said by package elections,
// in the checker too.
type electorate struct {
	*group
	env   *elections.Env
	round kernel.Tag  // what is marked with an earlier one was retagged since
	news  int64       // when somebody last learnt who leads
	found []Violation // what is broken
	told  int         // of these
}

// elect makes the group of an election.
func (w *world) elect(spec core.Spec, v core.View) (*electorate, error) {
	g, err := w.add(spec, v, nil)
	if err != nil {
		return nil, err
	}
	e := &electorate{group: g, env: elections.New(v.N)}
	g.apps, g.tags = e, e
	e.env.Begin(e, v)
	return e, nil
}

// What is under way is marked with the round and, in the last bits, with what
// elections say. So all that is under way is retagged at once.
const tagBits = 8

func (e *electorate) caused(p core.ID, t kernel.Tag) {
	if t>>tagBits != e.round {
		t = 0
	}
	e.env.Caused(p, family.Tag(t&(1<<tagBits-1)))
}

func (e *electorate) tag(p core.ID) kernel.Tag { return e.round<<tagBits | kernel.Tag(e.env.Tag(p)) }

// Retag implements family.Host: elections only ever begin a round, with 0 for
// all that is under way.
func (e *electorate) Retag(func(t family.Tag) family.Tag) { e.round++ }

// Step implements family.Host.
func (e *electorate) Step(p core.ID, in core.Input) { e.step(p, in) }

// Moves implements family.Host: it may.
func (e *electorate) Moves(core.ID, core.Input) bool { return true }

// Dead implements family.Host.
func (e *electorate) Dead(p core.ID) bool { return e.w.Crashed(p) }

// Machine implements family.Host.
func (e *electorate) Machine(p core.ID) core.Machine { return e.machines[p] }

// Tell implements family.Host.
func (e *electorate) Tell(t trace.Event) { e.w.Note(t) }

// Break implements family.Host.
func (e *electorate) Break(property string, p, other core.ID) {
	e.found = append(e.found, Violation{Property: property, At: e.w.Now(), Proc: p, Other: other})
}

// tell tells of what was broken since it was last called.
func (e *electorate) tell() {
	for _, v := range e.found[e.told:] {
		e.note(trace.Violation, v.Proc, v.Other, v.Property)
	}
	e.told = len(e.found)
}

// hold lets p's application notice that the leader is silent.
func (e *electorate) hold(p core.ID) {
	e.note(trace.Note, p, 0, p.String()+" holds an election")
	e.env.Do(e, family.Act{Kind: scenario.Ask, Proc: p})
}

func (e *electorate) stepped(p core.ID, in core.Input, out *core.Output) {
	e.env.Took(e, p, in, out.Entered, out.Notices)
}

func (e *electorate) took(p core.ID, _ core.Input, out *core.Output) {
	for _, n := range out.Notices {
		switch {
		case n.Kind == core.Leader && n.Who != core.None:
			e.news = e.w.Now()
			e.note(trace.Lead, p, n.Who, "")
		case n.Kind == core.Victim:
			e.note(trace.Abort, p, n.Who, "")
		}
	}
	e.tell()
}

func (e *electorate) crashed(p core.ID) { e.env.Crashed(e, p) }

// returned tells everybody alive that p is back, and p who is dead; in steps a
// line has to tell it.
func (e *electorate) returned(p core.ID) {
	e.env.Returned(e, p)
	for q := range e.machines {
		switch id := core.ID(q); {
		case id == p || e.w.Crashed(id) && e.w.Steps():
		case e.w.Crashed(id):
			e.step(p, core.Input{Kind: core.Suspect, From: id})
		default:
			e.step(id, core.Input{Kind: core.Trust, From: p})
		}
	}
}

func (e *electorate) trusted(p, peer core.ID) { e.env.Trusted(e, p, peer) }

// leader returns whom all who are alive follow, the highest of them, or None.
func (e *electorate) leader() core.ID {
	top := core.None
	for p := range core.ID(e.view.N) {
		if e.env.Waits(p) {
			return core.None
		}
		if !e.w.Crashed(p) {
			top = p
		}
	}
	return top
}

// leaderless returns a process alive that follows nobody alive, or None.
func (e *electorate) leaderless() core.ID {
	first := core.None
	e.env.Acts(e, func(a family.Act) {
		if first == core.None {
			first = a.Proc
		}
	})
	return first
}

// ended judges a world in which all is quiet.
func (e *electorate) ended() {
	e.env.Ended(e)
	e.tell()
}
