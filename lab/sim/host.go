package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// The group as its environment sees it: see family.Host.

// Moves implements family.Host: every input may change something.
func (g *group) Moves(algorithm.ID, host.Input) bool { return true }

// Dead implements family.Host.
func (g *group) Dead(seat algorithm.ID) bool { return g.w.Crashed(g.proc(seat)) }

// Machine implements family.Host.
func (g *group) Machine(seat algorithm.ID) algorithm.Machine { return g.machines[seat] }

// ClockOf implements family.Host.
func (g *group) ClockOf(seat algorithm.ID) (now uint64) {
	g.let(seat, "when its clock is read", func() { now = g.machines[seat].Clock() })
	return now
}

// Retag implements family.Host.
func (g *group) Retag(f func(t family.Tag) family.Tag) {
	g.w.Retag(g.index, func(t kernel.Tag) kernel.Tag { return kernel.Tag(f(family.Tag(t))) })
}

// Break implements family.Host.
func (g *group) Break(property string, p, other algorithm.ID) {
	p, other = g.proc(p), g.proc(other)
	words := g.family.Tells(property, g.w.cut != "", p, other)
	if g.w.cut != "" {
		words += ", " + g.w.cut
	}
	g.found = append(g.found, Violation{Property: property, At: g.w.Now(), Proc: p, Other: other, Section: g.section, words: words})
}

// report reports the violations found since it was last called.
func (g *group) report() {
	for ; g.told < len(g.found); g.told++ {
		g.accuse(&g.found[g.told])
	}
}

// accuse reports a violation, on the lanes of the applications.
func (g *group) accuse(v *Violation) {
	e := trace.Event{Kind: trace.Violation, Proc: v.Proc, Peer: v.Other, Name: v.Property, Words: v.words, Section: g.section}
	for _, p := range []*algorithm.ID{&e.Proc, &e.Peer} {
		if *p != algorithm.None {
			*p += g.lane
		}
	}
	g.w.Note(e)
}

// Hears implements family.Host.
func (g *group) Hears() bool { return g.w.Observed() }

// Tell implements family.Host.
func (g *group) Tell(e trace.Event) {
	e.Proc, e.Peer, e.Section = g.proc(e.Proc), g.proc(e.Peer), g.section
	g.w.Note(e)
}

// note reports an event at a seat, with another seat if there is one.
func (g *group) note(kind trace.Kind, seat, other algorithm.ID, name string) {
	if g.Hears() {
		g.Tell(trace.Event{Kind: kind, Proc: seat, Peer: other, Name: name})
	}
}

// may returns an error that says why an application cannot do what a line says, or nil.
func (g *group) may(a *script.Action) error {
	if err := g.env.May(family.Act{Kind: a.Kind, Proc: g.seat(a.Proc), Peer: a.Peer}); err != nil {
		return fmt.Errorf("%v %w", a.Proc, err)
	}
	return nil
}

// crashed and returned notify the environment, and then the observer, of a process that
// has died or is back.
func (g *group) crashed(seat algorithm.ID) {
	g.env.Crashed(g, seat)
	g.watch.crashed(seat)
}

func (g *group) returned(seat algorithm.ID) {
	g.env.Returned(g, seat)
	g.watch.returned(seat)
}

// announce notifies all live processes that a seat is back, and notifies that seat of the
// dead; in steps lines must do so.
func (g *group) announce(back algorithm.ID) {
	for i := range g.machines {
		switch seat := algorithm.ID(i); {
		case seat == back || g.Dead(seat) && g.w.Steps():
		case g.Dead(seat):
			g.believe(trace.Suspect, back, seat)
			g.Step(back, host.Input{Kind: host.Suspect, From: seat})
		default:
			g.believe(trace.Trust, seat, back)
			g.Step(seat, host.Input{Kind: host.Trust, From: back})
		}
	}
}

// believe reports that a seat is notified about another, once if both are part of several
// groups.
func (g *group) believe(kind trace.Kind, seat, other algorithm.ID) {
	p, peer := g.proc(seat), g.proc(other)
	first := slices.IndexFunc(g.w.groups, func(g *group) bool { return g.seat(p) != algorithm.None && g.seat(peer) != algorithm.None })
	if first == g.index {
		g.w.Note(trace.Event{Kind: kind, Proc: p, Peer: peer})
	}
}

// ended judges a world in which nothing more can happen, or whose run was cut.
func (g *group) ended() {
	g.env.Ended(g)
	g.report()
}
