package sim

import (
	"errors"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// A group is one instance of an algorithm: machines at seats, each at a process of the
// world, and the applications around them.
type group struct {
	w        *world
	index    int
	section  string // name of its critical section, if there are several
	spec     algorithm.Spec
	view     algorithm.View
	birth    algorithm.Birth
	machines []algorithm.Machine
	spare    []algorithm.Machine // for Config.Paged: machines into which states are loaded
	state    []byte
	shadow   shadow
	members  []algorithm.ID // process at each seat, ascending; nil if all are, each at its own
	seats    []algorithm.ID // seat of each process, or None; nil likewise
	family   *family.Family
	env      family.Env
	tagged   bool // whether env marks messages and timers: it sees every step, and lets none follow from it at once
	watch    observer
	lane     algorithm.ID // lane of the first application, where the lanes are not those of the seats
	order    *order       // nil if happened-before is not checked
	meter    meter
	out      *output     // output of the next step
	call     call        // call of the machine at work
	found    []Violation // violations found
	told     int         // how many of these have been reported
}

// An output holds what a step reports, and leads to the output for the steps that follow
// from it while it is being reported.
type output struct {
	host.Output
	within *output
}

// An observer is what a run has beside the environment of a group: it measures, and
// decides what applications do when their time has come. It is called after the
// environment.
type observer interface {
	// took is called with what the machine of a seat reported in a step, if anything,
	// after that has been done.
	took(seat algorithm.ID, out *host.Output)
	// crashed and returned are called for a process that has died, or is back and
	// remembers nothing.
	crashed(seat algorithm.ID)
	returned(seat algorithm.ID)
}

// add adds a group to the world, among all processes or some, given in ascending order.
func (w *world) add(spec algorithm.Spec, view algorithm.View, members []algorithm.ID) (*group, error) {
	g := &group{w: w, index: len(w.groups), spec: spec, family: families.Of(spec), view: view, out: &output{}, call: call{seat: algorithm.None}}
	var err error
	if g.machines, err = spec.Group(view); err != nil {
		return nil, err
	}
	if g.birth, err = spec.Birth(view.N); err != nil {
		return nil, err
	}
	if members != nil {
		g.members, g.seats = members, make([]algorithm.ID, w.Processes())
		for p := range g.seats {
			g.seats[p] = algorithm.None
		}
		for seat, p := range members {
			g.seats[p] = algorithm.ID(seat)
		}
	}
	g.meter.init(view.N, len(spec.Kinds))
	w.groups = append(w.groups, g)
	return g, nil
}

// proc returns the process at a seat.
func (g *group) proc(seat algorithm.ID) algorithm.ID {
	if g.members == nil || seat == algorithm.None {
		return seat
	}
	return g.members[seat]
}

// seat returns the seat of a process, or None.
func (g *group) seat(p algorithm.ID) algorithm.ID {
	if g.seats == nil {
		return p
	}
	return g.seats[p]
}

// paged makes every step run on a machine rebuilt from its bytes.
func (g *group) paged() {
	g.spare = make([]algorithm.Machine, len(g.machines))
	for i := range g.spare {
		g.spare[i] = g.birth(algorithm.ID(i), g.view)
	}
}

// rebirth replaces the machine of a seat by a new one.
func (g *group) rebirth(seat algorithm.ID) {
	v := g.view
	v.Busy, v.Late = false, true
	g.let(seat, "when it is born again", func() { g.machines[seat] = g.birth(seat, v) })
}

// describe returns the state of the machine of a seat.
func (g *group) describe(seat algorithm.ID) (fields []host.Field) {
	g.let(seat, "when its state is read", func() { fields = g.machines[seat].Describe(g.members...) })
	return fields
}

// Step implements family.Host: it gives the machine of a seat an input and does what the
// machine wants done.
func (g *group) Step(seat algorithm.ID, in host.Input) {
	if g.w.err != nil || g.Dead(seat) {
		return
	}
	room := g.out
	out := &room.Output
	out.Listen = g.w.explain != nil
	c := &g.call
	c.seat, c.kind, c.from, c.which = seat, in.Kind, in.From, in.Arg+in.Timer
	var err error
	switch g.shadow.taken++; {
	case g.shadow.taken <= g.shadow.next:
		err = g.machines[seat].Step(in, out)
	case g.spare != nil:
		err = g.takeRebuilt(seat, in, out)
	default:
		err = g.takeTwice(seat, in, out)
	}
	c.seat = algorithm.None
	if err != nil {
		if in.Kind == host.Receive && errors.Is(err, host.ErrMalformed) {
			err = mistake.Unreadable("message", err) // all senders here are machines of this algorithm
		}
		g.w.fail(g.at(seat, err))
		return
	}
	if g.w.stepped != nil {
		g.w.stepped(g.proc(seat))
	}
	if len(out.Reasons) > 0 {
		g.because(seat, out.Reasons)
	}
	switch {
	case g.tagged || out.Entered || len(out.Notices) > 0:
		g.tell(seat, in, room)
	case len(out.Sends) > 0:
		g.send(seat, out, 0)
	}
}

// tell does what a step wants done and reports the outcome. Where nothing is marked,
// messages come first in a trace.
func (g *group) tell(seat algorithm.ID, in host.Input, room *output) {
	if room.within == nil {
		room.within = &output{}
	}
	g.out = room.within
	out := &room.Output
	if g.tagged {
		g.env.Took(g, seat, in, out.Entered, out.Notices)
		g.carry(seat, out, kernel.Tag(g.env.Tag(seat)))
	} else {
		g.carry(seat, out, 0)
		g.env.Took(g, seat, in, out.Entered, out.Notices)
	}
	g.watch.took(seat, out)
	g.report()
	g.out = room
}

// carry sends the messages of a step, and sets its timers.
func (g *group) carry(seat algorithm.ID, out *host.Output, tag kernel.Tag) {
	if len(out.Sends) > 0 {
		g.send(seat, out, tag)
	}
	for i := range out.Notices {
		if n := &out.Notices[i]; n.Kind == host.SetTimer {
			g.w.SetTimer(g.proc(seat), kernel.Timer{Group: g.index, ID: n.Timer}, n.After, tag)
		}
	}
}

// send puts the messages of the last step in flight. The parts of a multicast share one
// slot.
func (g *group) send(seat algorithm.ID, out *host.Output, tag kernel.Tag) {
	k, from := g.w.Kernel, g.proc(seat)
	sends := out.Sends
	for first, last := 0, 0; first < len(sends); first = last {
		for last < len(sends) && sends[last].Group == sends[first].Group {
			last++
		}
		b, parts := out.Bytes(first), last-first
		slot := k.Keep(b, g.index, tag, parts)
		if g.order != nil {
			g.order.sent(seat, slot)
		}
		g.meter.sent(seat, sends[first].Kind, parts, len(b))
		if parts > 1 && parts == k.Processes()-1 {
			k.Broadcast(from, slot)
			continue
		}
		for i := first; i < last; i++ {
			k.Send(from, g.proc(sends[i].To), slot)
		}
	}
}
