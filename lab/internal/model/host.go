package model

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/trace"
)

// The worker as the host of an Env: see family.Host.

// Step implements family.Host.
func (w *worker) Step(seat algorithm.ID, in host.Input) { w.take(seat, &in, 0) }

// take makes a machine take a step in w.to, and carries out its output.
func (w *worker) take(seat algorithm.ID, in *host.Input, msg uint32) {
	me := &w.to.seats[seat]
	if me.dead || w.err != nil {
		return
	}
	w.flush()
	e, err := w.effect(me.blob, in, msg)
	if err != nil {
		w.fail(seat, err)
		return
	}
	if w.walking {
		w.done = append(w.done, did{seat, me.blob, *in})
	}
	me.blob = e.state
	if e.entered {
		w.enters = int8(seat) + 1
	}
	w.unsent, w.sender = e, seat
	w.to.env.Took(w, seat, *in, e.entered, e.notices)
	w.flush()
}

// receive hands a message to a machine in w.to. Usually its effect is known and does not
// concern the applications: then only its messages need to be sent.
func (w *worker) receive(from, to algorithm.ID, msg uint32) {
	me := &w.to.seats[to]
	if i, ok := w.steps[receiveKey(me.blob, from, msg)]; ok && !w.Tagged && !w.walking {
		if e := &w.effects[i]; !e.entered && len(e.notices) == 0 {
			me.blob = e.state
			w.unsent, w.sender = e, to
			w.flush()
			return
		}
	}
	w.take(to, &host.Input{Kind: host.Receive, From: from, Bytes: w.infos[msg].bytes}, msg)
}

// flush sends the messages of the last step, and sets its timers.
func (w *worker) flush() {
	e := w.unsent
	if e == nil {
		return
	}
	w.unsent = nil
	g := w.to
	tag := family.Tag(0)
	if w.Tagged {
		tag = g.env.Tag(w.sender)
	}
	for i := range e.sends {
		m := &e.sends[i]
		l := message{blob: m.blob, tag: tag, link: m.link}
		if m.idem || w.Upset {
			if last := g.last(m.link); last != nil && *last == l {
				continue // a second copy right behind changes nothing
			}
		}
		g.add(l)
	}
	for i := range e.notices {
		if n := &e.notices[i]; n.Kind == host.SetTimer {
			w.setTimer(n, tag)
		}
	}
}

// Moves implements family.Host.
func (w *worker) Moves(seat algorithm.ID, in host.Input) bool {
	me := &w.at.seats[seat]
	if me.dead || w.err != nil {
		return false
	}
	e, err := w.effect(me.blob, &in, 0)
	if err != nil {
		w.fail(seat, err)
		return false
	}
	return !e.idle(me.blob)
}

// Dead implements family.Host.
func (w *worker) Dead(seat algorithm.ID) bool { return w.at.seats[seat].dead }

// Machine implements family.Host.
func (w *worker) Machine(seat algorithm.ID) algorithm.Machine {
	m, err := w.load(w.info(w.at.seats[seat].blob))
	if err != nil {
		w.fail(seat, err)
		return w.machines[seat]
	}
	return m
}

// ClockOf implements family.Host.
func (w *worker) ClockOf(seat algorithm.ID) uint64 {
	now, err := w.readClock(w.Machine(seat))
	if err != nil {
		w.loaded[seat] = unloaded
		w.fail(seat, err)
	}
	return now
}

// readClock reads the clock of a machine.
func (w *worker) readClock(m algorithm.Machine) (now uint64, err error) {
	defer w.caught(func() string { return "when its clock is read" }, &err)
	return m.Clock(), nil
}

// Retag implements family.Host.
func (w *worker) Retag(f func(t family.Tag) family.Tag) {
	if !w.ordered() {
		w.retags = append(w.retags, f)
	}
	for i := range w.to.messages {
		w.to.messages[i].tag = f(w.to.messages[i].tag)
	}
	for i := range w.to.timers {
		w.to.timers[i].tag = f(w.to.timers[i].tag)
	}
}

// Break implements family.Host.
func (w *worker) Break(property string, _, _ algorithm.ID) { w.broken |= w.Bit(property) }

// Hears implements family.Host.
func (w *worker) Hears() bool { return w.telling }

// Tell implements family.Host.
func (w *worker) Tell(e trace.Event) {
	if w.telling {
		w.told = append(w.told, e)
	}
}
