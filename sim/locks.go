package sim

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// Locks are the applications of mutual exclusion: they ask, are inside, and
// leave.
type locks struct {
	*group
	oracle  *oracle
	unasked core.Set // who is inside without having asked

	// What the run does when a seat has entered, or was denied.
	onEnter func(seat core.ID)
	onDeny  func(seat core.ID)
}

// lock makes a group of the world whose applications want into a critical
// section, which has a name if there are several.
func (w *world) lock(spec core.Spec, view core.View, section scenario.Section) (*locks, error) {
	g, err := w.add(spec, view, section.Members)
	if err != nil {
		return nil, err
	}
	g.section = section.Name
	l := &locks{group: g, oracle: newOracle(view.N)}
	g.watch = l
	if spec.Theory.ME3 {
		l.watchOrder()
	}
	if view.Busy {
		l.oracle.asked(view.Holder)
		l.oracle.entered(view.Holder, 0)
		if l.order != nil {
			l.order.asked(view.Holder)
			l.order.enter(view.Holder)
		}
	}
	return l, nil
}

// watchOrder lets happened-before be watched.
func (l *locks) watchOrder() {
	if l.order == nil {
		l.order = newOrder(l.view.N)
	}
}

func (l *locks) ask(seat core.ID) {
	l.meter.asked(seat, l.w.Now(), l.oracle)
	l.oracle.asked(seat)
	if l.order != nil {
		l.order.asked(seat)
	}
	l.note(trace.Ask, seat, 0, "")
	if l.unasked.Has(seat) { // it goes out before it asks
		l.unasked.Remove(seat)
		l.step(seat, core.Input{Kind: core.Release})
	}
	l.step(seat, core.Input{Kind: core.Request})
}

func (l *locks) leave(seat core.ID) {
	l.oracle.left(seat)
	l.w.exits++
	l.meter.left(seat, l.w.Now(), l.oracle)
	l.note(trace.Exit, seat, 0, "")
	l.step(seat, core.Input{Kind: core.Release})
}

func (l *locks) took(seat core.ID, _ core.Input, out *core.Output) {
	if out.Entered {
		l.enter(seat)
	}
	for _, n := range out.Notices {
		switch n.Kind {
		case core.Denied:
			l.oracle.denied(seat)
			l.forget(seat)
			l.note(trace.Deny, seat, 0, "")
			if l.onDeny != nil {
				l.onDeny(seat)
			}
		case core.Leader:
			l.note(trace.Lead, seat, n.Who, "")
		case core.Victim:
			l.note(trace.Abort, seat, n.Who, "")
		}
	}
}

func (l *locks) enter(seat core.ID) {
	if l.oracle.procs[seat].phase != waiting {
		l.broke(Violation{Property: "unasked-entry", At: l.w.Now(), Proc: seat, Other: core.None})
		l.unasked.Add(seat)
		return
	}
	before := len(l.oracle.found)
	l.oracle.entered(seat, l.w.Now())
	if l.order != nil {
		if q := l.order.enter(seat); q != core.None {
			l.oracle.violate(Violation{Property: "order", At: l.w.Now(), Proc: seat, Other: q})
		}
	}
	l.w.entries++
	l.meter.entered(seat, l.w.Now())
	l.note(trace.Enter, seat, 0, "")
	l.tell(before)
	if l.onEnter != nil {
		l.onEnter(seat)
	}
}

func (l *locks) broke(v Violation) {
	l.oracle.violate(v)
	l.tell(len(l.oracle.found) - 1)
}

// tell tells of the violations from number first on.
func (l *locks) tell(first int) {
	for _, v := range l.oracle.found[first:] {
		l.note(trace.Violation, v.Proc, v.Other, v.Property)
	}
}

// crashed forgets a process: its request is lost with it.
func (l *locks) crashed(seat core.ID) {
	switch l.oracle.procs[seat].phase {
	case waiting:
		l.oracle.denied(seat)
		l.forget(seat)
	case inside:
		l.oracle.left(seat)
	}
}

func (l *locks) forget(seat core.ID) {
	if l.order != nil {
		l.order.forget(seat)
	}
}

func (l *locks) returned(core.ID) {}

// ended reports the requests that nobody will grant any more.
func (l *locks) ended() {
	before := len(l.oracle.found)
	l.oracle.ended(l.w.Now())
	l.tell(before)
}

// all returns what is broken, by processes.
func (l *locks) all() []Violation {
	all := l.oracle.found
	if l.members == nil {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		v := &all[i]
		v.Proc, v.Other, v.Section = l.proc(v.Proc), l.proc(v.Other), l.section
	}
	return all
}

// sectionView returns the view of a section: who has the token at the start is
// the holder if it uses the section, and otherwise the first that does.
func sectionView(s scenario.Section, holder core.ID) core.View {
	return core.View{N: len(s.Members), Holder: core.ID(max(0, slices.Index(s.Members, holder)))}
}
