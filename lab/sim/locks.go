package sim

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A lock is a group whose applications want to enter a critical section. Package locks,
// shared with the checker, decides which processes wait, which are inside and what is
// violated. What is measured only in long runs, and the order of requests among any
// number of processes, is kept here.
type lock struct {
	*group
	env    *locks.Env
	visits []visit
	asks   int // requests so far
	passed bypass

	// What the run does when a seat has entered, or was denied.
	onEnter func(seat algorithm.ID)
	onDeny  func(seat algorithm.ID)
}

// A visit is the state of an application for counting requests.
type visit struct {
	ask   int  // number of its request, while it waits
	asked bool // whether it is inside after a request
}

// lock adds a group to the world whose applications want to enter a critical section,
// which has a name if there are several.
func (w *world) lock(spec algorithm.Spec, view algorithm.View, section script.Section) (*lock, error) {
	g, err := w.add(spec, view, section.Members)
	if err != nil {
		return nil, err
	}
	g.section = section.Name
	env, err := locks.New(locks.Config{Nodes: view.N, Stuck: family.LostRequest})
	if err != nil {
		return nil, err
	}
	l := &lock{group: g, env: env, visits: make([]visit, view.N), passed: newBypass(view.N)}
	g.env, g.watch = env, l
	if spec.Theory.ME3 {
		l.watchOrder()
	}
	env.Begin(g, view)
	if view.Busy {
		l.asked(view.Holder)
		l.granted(view.Holder)
	}
	return l, nil
}

// watchOrder turns on the check of happened-before.
func (l *lock) watchOrder() {
	if l.order == nil {
		l.order = newOrder(l.view.N)
	}
}

// ask makes an application request. One that is inside without a request leaves first.
func (l *lock) ask(seat algorithm.ID) {
	if l.unasked(seat) {
		l.leave(seat)
	}
	waiting, in := l.env.Count()
	l.meter.asked(seat, l.w.Now(), waiting+in == 0)
	l.asked(seat)
	l.env.Do(l.group, family.Act{Kind: script.Ask, Proc: seat})
}

// asked counts a request.
func (l *lock) asked(seat algorithm.ID) {
	l.asks++
	l.visits[seat] = visit{ask: l.asks}
	if l.order != nil {
		l.order.asked(seat)
	}
}

// unasked reports whether an application is inside without a request.
func (l *lock) unasked(seat algorithm.ID) bool { return l.env.Inside(seat) && !l.visits[seat].asked }

func (l *lock) leave(seat algorithm.ID) {
	if l.visits[seat].asked {
		waiting, _ := l.env.Count()
		l.w.exits++
		l.meter.left(seat, l.w.Now(), waiting)
	}
	l.visits[seat] = visit{}
	l.env.Do(l.group, family.Act{Kind: script.Leave, Proc: seat})
}

func (l *lock) took(seat algorithm.ID, out *host.Output) {
	if out.Entered {
		l.entered(seat)
	}
	for i := range out.Notices {
		switch n := &out.Notices[i]; n.Kind {
		case host.Denied:
			l.forget(seat)
			if l.onDeny != nil {
				l.onDeny(seat)
			}
		case host.Leader:
			l.note(trace.Lead, seat, n.Who, "")
		case host.Victim:
			l.note(trace.Abort, seat, n.Who, "")
		}
	}
}

// entered measures an entry, and lets the run decide how long it lasts. A process that
// enters without a request leaves like any other, but is not counted.
func (l *lock) entered(seat algorithm.ID) {
	switch v := l.visits[seat]; {
	case v.asked:
		return // it was already inside
	case v.ask > 0:
		l.w.entries++
		l.meter.entered(seat, l.w.Now())
		l.granted(seat)
	}
	if l.onEnter != nil {
		l.onEnter(seat)
	}
}

// granted records that the request of a seat has been granted.
func (l *lock) granted(seat algorithm.ID) {
	l.passed.entered(seat, l.visits[seat].ask)
	l.visits[seat] = visit{asked: true}
	if l.order != nil {
		if q := l.order.enter(seat); q != algorithm.None {
			l.Break(family.Order, seat, q)
		}
	}
}

// overtaken returns how often, at most, one and the same process has overtaken one that
// waited, or still does, since its request. The number that theory bounds is another,
// which package lab counts: entries of all others, since a request has arrived.
func (l *lock) overtaken() int {
	for _, v := range l.visits {
		if v.ask > 0 {
			l.passed.passed(v.ask)
		}
	}
	return l.passed.most
}

// longestWait returns the longest time that any process has waited, or still waits.
func (l *lock) longestWait() int64 {
	longest := int64(0)
	for _, ticks := range l.meter.wait {
		longest = max(longest, ticks)
	}
	for seat, v := range l.visits {
		if v.ask > 0 {
			longest = max(longest, l.w.Now()-l.meter.askedAt[seat])
		}
	}
	return longest
}

// crashed forgets a process: its request is lost with it.
func (l *lock) crashed(seat algorithm.ID) { l.forget(seat) }

func (l *lock) returned(seat algorithm.ID) {
	if l.spec.Detects {
		l.announce(seat)
	}
}

// forget drops the request of a seat.
func (l *lock) forget(seat algorithm.ID) {
	if l.order != nil && l.visits[seat].ask > 0 {
		l.order.forget(seat)
	}
	l.visits[seat] = visit{}
}
