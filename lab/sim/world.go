package sim

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/lab/trace"
)

// A world is a kernel and the groups of machines that run in it, side by side.
type world struct {
	*kernel.Kernel
	groups []*group
	err    error // first error of a step; nothing happens after it

	explain func(why []trace.Why) // called with the reasons for a step: see Config; may be nil
	last    trace.Event           // last event, if there are reasons
	pending []trace.Why           // reasons without an event so far
	stepped func(p algorithm.ID)  // called when a process has taken a step, before its output is handled; may be nil

	entries, exits int // numbers for all locks together
	denied         int // requests denied since the last of these

	watch   Watch
	far     func() (done, of int) // how far the run is
	events  int                   // events watched so far
	stopped bool                  // whether watch stopped the run
	cut     string                // point at which an endless run was cut; "" if it was not
}

// A Watch is called now and then with the progress of a run, and reports whether the run
// goes on.
type Watch func(p Progress) (on bool)

// Progress is how far a run is.
type Progress struct {
	Events   int
	Done, Of int // entries, or transactions; for an election both are 0
	Now      int64
}

// seldom is the number of events between two looks at a watch.
const seldom = 1 << 16

// The events that runs schedule themselves.
const (
	ask     = kernel.Own + iota // a process requests
	leave                       // a process leaves
	start                       // a machine starts
	planned                     // a line of a scenario, or an outage
	act                         // a process of transactions goes on
)

// newWorld makes a world without groups.
func newWorld(c kernel.Config) *world {
	w := &world{}
	w.last.Step = -1
	if observe := c.Observe; observe != nil {
		c.Observe = func(e trace.Event) {
			observe(e)
			if w.explain != nil {
				w.noted(e)
			}
		}
	}
	w.Kernel = kernel.New(c, w)
	return w
}

// fail records an error, if err is not nil.
func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// next handles the next event.
func (w *world) next() error {
	w.Step()
	return w.err
}

// on reports before an event whether the run goes on.
func (w *world) on() bool { return w.watch == nil || w.look() }

// look counts an event, and now and then reports progress to the watch.
func (w *world) look() bool {
	if w.events++; w.events%seldom == 0 {
		p := Progress{Events: w.events, Now: w.Now()}
		if w.far != nil {
			p.Done, p.Of = w.far()
		}
		w.stopped = !w.watch(p)
	}
	return !w.stopped
}

// Deliver implements kernel.Handler.
func (w *world) Deliver(from, to algorithm.ID, slot int32) {
	m := w.Slot(slot)
	g := w.groups[m.Group]
	seat := g.seat(to)
	g.meter.load[seat]++
	if g.order != nil {
		g.order.received(seat, slot)
	}
	if g.tagged {
		g.env.Caused(seat, family.Tag(m.Tag))
	}
	g.call.slot = slot
	g.Step(seat, host.Input{Kind: host.Receive, From: g.seat(from), Bytes: m.Bytes})
}

// Expired implements kernel.Handler.
func (w *world) Expired(p algorithm.ID, t kernel.Timer, tag kernel.Tag) {
	g := w.groups[t.Group]
	seat := g.seat(p)
	if g.tagged {
		g.env.Caused(seat, family.Tag(tag))
	}
	g.Step(seat, host.Input{Kind: host.Expire, Timer: t.ID})
}

// Believed implements kernel.Handler.
func (w *world) Believed(p, dead algorithm.ID) { w.suspect(p, dead) }

// Called implements kernel.Handler.
func (w *world) Called(m *kernel.Slot) string { return w.groups[m.Group].spec.Kinds[m.Bytes[0]] }

// Describe implements kernel.Handler.
func (w *world) Describe(e *trace.Event, m *kernel.Slot) {
	g := w.groups[m.Group]
	e.Name, e.Section = g.spec.Kinds[m.Bytes[0]], g.section
	seat := g.seat(e.Proc)
	g.let(seat, "when "+e.Name+" is read", func() {
		e.Fields, _ = g.machines[seat].DescribeMessage(m.Bytes, g.members...)
	})
}

// group returns the group of a section, or the only one.
func (w *world) group(section string) *group {
	return w.groups[max(0, slices.IndexFunc(w.groups, func(g *group) bool { return g.section == section }))]
}

// describe returns the state of a process, in all groups that it is part of.
func (w *world) describe(p algorithm.ID) []host.Field {
	var all []host.Field
	w.of(p, func(g *group, seat algorithm.ID) {
		for _, f := range g.describe(seat) {
			if g.section != "" {
				f.Name = g.section + " " + f.Name
			}
			all = append(all, f)
		}
	})
	return all
}

// of calls f for the seat of a process in each group that it is part of.
func (w *world) of(p algorithm.ID, f func(g *group, seat algorithm.ID)) {
	for _, g := range w.groups {
		if seat := g.seat(p); seat != algorithm.None {
			f(g, seat)
		}
	}
}

// start starts the machines of a process.
func (w *world) start(p algorithm.ID) {
	w.of(p, func(g *group, seat algorithm.ID) { g.Step(seat, host.Input{Kind: host.Start}) })
}

func (w *world) crash(p algorithm.ID) {
	w.Kernel.Crash(p)
	w.of(p, func(g *group, seat algorithm.ID) { g.crashed(seat) })
}

// restart seats a new process that remembers nothing.
func (w *world) restart(p algorithm.ID) {
	w.of(p, func(g *group, seat algorithm.ID) { g.rebirth(seat) })
	w.Restart(p)
	w.of(p, func(g *group, seat algorithm.ID) { g.returned(seat) })
	w.start(p)
}

// suspect notifies a process that another one is dead.
func (w *world) suspect(p, peer algorithm.ID) {
	w.Note(trace.Event{Kind: trace.Suspect, Proc: p, Peer: peer})
	w.pair(p, peer, func(g *group, seat, other algorithm.ID) {
		g.Step(seat, host.Input{Kind: host.Suspect, From: other})
	})
}

// trust notifies a process that another one is back.
func (w *world) trust(p, peer algorithm.ID) {
	w.Note(trace.Event{Kind: trace.Trust, Proc: p, Peer: peer})
	w.pair(p, peer, func(g *group, seat, other algorithm.ID) {
		g.env.Trusted(g, seat, other)
		g.Step(seat, host.Input{Kind: host.Trust, From: other})
	})
}

// tell makes p's application talk to peer's. The message takes no time and carries the
// clock.
func (w *world) tell(p, peer algorithm.ID) {
	n := w.Number()
	w.Note(trace.Event{Kind: trace.Send, Proc: p, Peer: peer, Msg: n, Name: "TELL"})
	w.Note(trace.Event{Kind: trace.Receive, Proc: peer, Peer: p, Msg: n, Name: "TELL"})
	w.pair(p, peer, func(g *group, seat, other algorithm.ID) {
		if g.order != nil {
			g.order.told(seat, other)
		}
		g.Step(other, host.Input{Kind: host.Hear, From: algorithm.None, Time: g.ClockOf(seat)})
	})
}

// pair calls f for each group that both processes are part of.
func (w *world) pair(p, peer algorithm.ID, f func(g *group, seat, other algorithm.ID)) {
	for _, g := range w.groups {
		if seat, other := g.seat(p), g.seat(peer); seat != algorithm.None && other != algorithm.None {
			f(g, seat, other)
		}
	}
}
