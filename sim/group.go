package sim

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
	"github.com/stile-lock/stile/trace"
)

// A group is one instance of an algorithm: machines at seats, each at a process
// of the world, and the applications around them.
type group struct {
	w        *world
	index    int
	section  string // what its critical section is called, if there are several
	spec     core.Spec
	view     core.View
	birth    core.Birth
	machines []core.Machine
	spare    []core.Machine // for Config.Paged: what states are loaded into
	out      core.Output
	state    []byte
	shadow   shadow
	members  []core.ID // the process at each seat, ascending; nil if all are, each at its own
	seats    []core.ID // the seat of each process, or None; nil likewise
	apps     applications
	tags     tagger // nil if what is under way has no tags
	order    *order // nil if happened-before is not watched
	meter    meter
}

// Applications are what uses a group of machines, as seen from outside.
type applications interface {
	// took is told what the machine of a seat said in a step, if anything, when
	// it has been done.
	took(seat core.ID, in core.Input, out *core.Output)
	// crashed and returned are told who has died, or is back and remembers
	// nothing; trusted who is about to be told that another one is back.
	crashed(seat core.ID)
	returned(seat core.ID)
	trusted(seat, other core.ID)
}

// A tagger marks messages and timers.
type tagger interface {
	// caused is told the tag of what causes the next step of a seat, and stepped
	// what the machine said in it.
	caused(seat core.ID, t kernel.Tag)
	stepped(seat core.ID, in core.Input, out *core.Output)
	// tag returns what messages and timers of the last step are marked with.
	tag(seat core.ID) kernel.Tag
}

// add makes a group of the world, among all processes or some, given in
// ascending order.
func (w *world) add(spec core.Spec, view core.View, members []core.ID) (*group, error) {
	g := &group{w: w, index: len(w.groups), spec: spec, view: view}
	var err error
	if g.machines, err = spec.Group(view); err != nil {
		return nil, err
	}
	if g.birth, err = spec.Birth(view.N); err != nil {
		return nil, err
	}
	if members != nil {
		g.members, g.seats = members, make([]core.ID, w.Processes())
		for p := range g.seats {
			g.seats[p] = core.None
		}
		for seat, p := range members {
			g.seats[p] = core.ID(seat)
		}
	}
	g.meter.init(view.N, len(spec.Kinds))
	w.groups = append(w.groups, g)
	return g, nil
}

// proc returns the process at a seat.
func (g *group) proc(seat core.ID) core.ID {
	if g.members == nil || seat == core.None {
		return seat
	}
	return g.members[seat]
}

// seat returns the seat of a process, or None.
func (g *group) seat(p core.ID) core.ID {
	if g.seats == nil {
		return p
	}
	return g.seats[p]
}

// paged makes every step run on a machine rebuilt from its bytes.
func (g *group) paged() {
	g.spare = make([]core.Machine, len(g.machines))
	for i := range g.spare {
		g.spare[i] = g.birth(core.ID(i), g.view)
	}
}

// rebirth replaces the machine of a seat by a new one.
func (g *group) rebirth(seat core.ID) {
	v := g.view
	v.Busy = false
	g.machines[seat] = g.birth(seat, v)
}

// step gives the machine of a seat an input and does what it wants done.
func (g *group) step(seat core.ID, in core.Input) {
	if g.w.err != nil {
		return
	}
	if g.spare != nil {
		g.turn(seat)
	}
	out := &g.out
	if err := g.take(seat, in); err != nil {
		g.w.fail(fmt.Errorf("%s: %s at %s: %w", g.spec.Name, g.w.Name(g.proc(seat)), scenario.FormatTime(g.w.Now()), err))
		return
	}
	var tag kernel.Tag
	if g.tags != nil {
		g.tags.stepped(seat, in, out)
		tag = g.tags.tag(seat)
	}
	if len(out.Sends) > 0 {
		g.send(seat, tag)
	}
	if !out.Entered && len(out.Notices) == 0 {
		return
	}
	for _, n := range out.Notices {
		if n.Kind == core.SetTimer {
			g.w.SetTimer(g.proc(seat), kernel.Timer{Group: g.index, ID: n.Timer}, n.After, tag)
		}
	}
	g.apps.took(seat, in, out)
}

// take lets the machine of a seat take a step, and now and then a twin of it
// too, unless it is rebuilt from its bytes for every step anyway.
func (g *group) take(seat core.ID, in core.Input) error {
	if g.shadow.taken++; g.shadow.taken > g.shadow.next && g.spare == nil {
		return g.takeTwice(seat, in)
	}
	return g.machines[seat].Step(in, &g.out)
}

// turn rebuilds the machine of a seat from its bytes.
func (g *group) turn(seat core.ID) {
	g.state = g.machines[seat].AppendState(g.state[:0])
	if err := g.spare[seat].LoadState(g.state); err != nil {
		g.w.fail(fmt.Errorf("%s: the state of %s does not load: %w", g.spec.Name, g.w.Name(g.proc(seat)), err))
		return
	}
	g.machines[seat], g.spare[seat] = g.spare[seat], g.machines[seat]
}

// send puts what the last step sent on its way. The parts of a multicast share
// one slot.
func (g *group) send(seat core.ID, tag kernel.Tag) {
	w, from := g.w, g.proc(seat)
	sends := g.out.Sends
	for first := 0; first < len(sends); {
		b := g.out.Bytes(first)
		slot := w.Keep(b, g.index, tag)
		if g.order != nil {
			g.order.sent(seat, slot)
		}
		last := first + 1
		for last < len(sends) && sends[last].Group == sends[first].Group {
			last++
		}
		g.meter.sent(seat, sends[first].Kind, last-first, len(b))
		if parts := last - first; parts > 1 && parts == w.Processes()-1 {
			w.Broadcast(from, slot)
		} else {
			for _, s := range sends[first:last] {
				w.Send(from, g.proc(s.To), slot)
			}
		}
		w.Drop(slot)
		first = last
	}
}

// receive hands over a message that has come.
func (g *group) receive(from, to core.ID, slot int32, m *kernel.Slot) {
	seat := g.seat(to)
	g.meter.load[seat]++
	if g.order != nil {
		g.order.received(seat, slot)
	}
	if g.tags != nil {
		g.tags.caused(seat, m.Tag)
	}
	g.step(seat, core.Input{Kind: core.Receive, From: g.seat(from), Bytes: m.Bytes})
}

// note tells of something that happened at a seat, with another if there is
// one.
func (g *group) note(kind trace.Kind, seat, other core.ID, name string) {
	if g.w.Observed() {
		g.w.Note(trace.Event{Kind: kind, Proc: g.proc(seat), Peer: g.proc(other), Name: name, Section: g.section})
	}
}
