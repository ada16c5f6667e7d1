package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/scenario"
)

// A call is what a machine at work was called for, so that a panic of its algorithm can
// be reported. It is recorded at every step, field by field, at no noticeable cost:
// copying an host.Input takes longer, and a deferred call a tenth of the whole step.
type call struct {
	seat  algorithm.ID   // seat of the machine; None if none is at work
	kind  host.InputKind // kind of its input
	from  algorithm.ID   // process named in the input
	which int            // lock or timer
	slot  int32          // slot of the message
	doing string         // what it does, if it was given no input
}

// input returns the input of the machine at work.
func (g *group) input() host.Input {
	c := &g.call
	in := host.Input{Kind: c.kind, From: c.from, Arg: c.which, Timer: c.which}
	switch in.Kind {
	case host.Receive:
		in.From, in.Bytes = g.proc(in.From), g.w.Slot(c.slot).Bytes
	case host.Suspect, host.Trust:
		in.From = g.proc(in.From)
	}
	return in
}

// guard calls do, and returns a panic of an algorithm as an error. Any other panic is a
// bug in the simulator, and is not recovered.
func (w *world) guard(do func() error) (err error) {
	defer func() {
		i := slices.IndexFunc(w.groups, func(g *group) bool { return g.call.seat != algorithm.None })
		if i < 0 {
			return
		}
		if why := recover(); why != nil {
			err = w.groups[i].panicked(why)
			w.fail(err)
		}
	}()
	return do()
}

// panicked returns the error that the machine at work has panicked.
func (g *group) panicked(why any) error {
	seat, when := g.call.seat, g.call.doing
	if when == "" {
		when = g.spec.When(g.input())
	}
	g.call.seat = algorithm.None
	return g.at(seat, host.Panicked(when, why))
}

// let makes the machine of a seat do something that is not a step.
func (g *group) let(seat algorithm.ID, doing string, do func()) {
	g.call.seat, g.call.doing = seat, doing
	do()
	g.call.seat, g.call.doing = algorithm.None, ""
}

// at adds to err where and when an algorithm made a mistake.
func (g *group) at(seat algorithm.ID, err error) error {
	now := "at " + scenario.FormatTime(g.w.Now())
	switch {
	case g.w.Steps() && g.w.Now() == 0:
		now = "at the start"
	case g.w.Steps():
		now = fmt.Sprintf("in step %d", g.w.Now())
	}
	return fmt.Errorf("%s: %s %s: %w", g.spec.Name, g.w.Name(g.proc(seat)), now, err)
}
