package model

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// setTimer carries out a notice of the machine that has just taken a step.
func (w *worker) setTimer(n *host.Notice, tag family.Tag) {
	t := timer{id: int32(n.Timer), seat: uint8(w.sender), tag: tag}
	switch {
	case n.After <= 0:
		w.to.stop(t.seat, t.id)
		return
	case w.Clock == Units && n.After > maxUnits:
		w.fail(w.sender, TooMuch{fmt.Sprintf("timer %d was set for %d units: the checker supports at most %d", n.Timer, n.After, maxUnits)})
		return
	case w.Clock == Units:
		t.left = uint16(n.After)
	case !w.Sites: // setting a timer anew postpones it, so it need not expire
		t.left = w.from.another(t.seat, t.id)
	}
	w.to.start(t)
	if running := len(w.to.timers); running > maxTimers {
		w.fail(w.sender, TooMuch{fmt.Sprintf("%d timers run at the same time: the checker supports at most %d", running, maxTimers)})
	}
}

// expireAll lets timers expire that may do so at any time.
func (w *worker) expireAll() {
	for i := range w.from.timers {
		w.expire(i, true)
	}
	if !w.Upset {
		return
	}
	for p := range algorithm.ID(w.Seats) {
		w.begin()
		w.take(p, &host.Input{Kind: host.Expire, From: algorithm.None}, 0)
		l := label(doUpset, p, 0, 0)
		w.settle(explore.Step{Label: l, Class: l, Fair: true})
	}
}

// expireAt lets the timers of a seat expire, in time or too early in error.
func (w *worker) expireAt(p algorithm.ID) {
	for i := range w.from.timers {
		if t := &w.from.timers[i]; t.seat == uint8(p) {
			if right := w.right(t); right || w.from.errors > 0 {
				w.expire(i, right)
			}
		}
	}
}

// right reports whether it is time for a timer to expire.
func (w *worker) right(t *timer) bool { return t.left == 0 && !w.due(w.from) }

// expire lets a timer expire, correctly or in error.
func (w *worker) expire(i int, right bool) {
	t := w.from.timers[i]
	g := w.begin()
	g.stop(t.seat, t.id)
	switch {
	case !right:
		g.errors--
	case w.mortal && w.Clock == Units:
		w.lose(g, true)
	}
	g.env.Caused(algorithm.ID(t.seat), t.tag)
	w.take(algorithm.ID(t.seat), &host.Input{Kind: host.Expire, From: algorithm.None, Timer: int(t.id)}, 0)
	l := label(doExpire, algorithm.ID(t.seat), 0, i)
	w.settle(explore.Step{Label: l, Class: w.classOf(class{label: label(doExpire, algorithm.ID(t.seat), 0, 0), what: uint32(t.id) | uint32(t.left)<<20}), Fair: right})
}

// due reports whether a message must arrive before time advances.
func (w *worker) due(g *state) bool {
	for i := range g.messages {
		if l := &g.messages[i]; l.old && w.counts(g, l) {
			return true
		}
	}
	return false
}

// busy reports whether a message is in flight that will arrive.
func (w *worker) busy(g *state) bool {
	for i := range g.messages {
		if w.counts(g, &g.messages[i]) {
			return true
		}
	}
	return false
}

// tick lets a unit of time pass, if anything waits for that.
func (w *worker) tick() {
	if w.due(w.from) {
		return
	}
	g := w.begin()
	if w.Pace == Quick && w.busy(g) {
		return
	}
	w.lose(g, w.Pace != Quick)
	const never = maxUnits + 1
	least := uint16(never)
	for i := range g.timers {
		least = min(least, g.timers[i].left)
	}
	if least == 0 {
		return // it expires first
	}
	units := uint16(1)
	if w.Pace == Quick {
		units = least // nothing happens until then
	}
	// Messages age only for the sake of timers: without one, nothing can happen
	// afterwards that could not happen now.
	if least == never && (w.Pace != Slow && w.still || !w.busy(g)) {
		return
	}
	for i := range g.timers {
		g.timers[i].left -= units
	}
	for i := range g.messages {
		g.messages[i].old = true
	}
	l := label(doTick, 0, 0, 0)
	w.settle(explore.Step{Label: l, Class: l, Fair: true})
}
