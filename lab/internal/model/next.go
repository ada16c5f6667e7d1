package model

import (
	"cmp"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// The kinds of steps, as numbered in labels.
const (
	doAct = iota // an application does something; nth says what
	doDeliver
	doDrop
	doKeep   // deliver a copy, and keep the message
	doExpire // nth is the place of the timer among all that run
	doUpset  // timer 0 expires, set or not
	doSuspect
	doTrust
	doCrash
	doReturn
	doTick
)

// label encodes a step: its kind, the process, its peer, and which of the messages on the
// link.
func label(kind int, p, peer algorithm.ID, nth int) uint32 {
	return uint32(kind) | uint32(p)<<4 | uint32(peer)<<10 | uint32(nth)<<16
}

// A move is a label, unpacked.
type move struct {
	kind    int
	p, peer algorithm.ID
	nth     int
}

func moveOf(label uint32) move {
	return move{int(label & 15), algorithm.ID(label >> 4 & 63), algorithm.ID(label >> 10 & 63), int(label >> 16)}
}

// begin makes w.to a copy of the current state, to be changed.
func (w *worker) begin() *state {
	w.forgive()
	w.to.copyFrom(w.from)
	w.at, w.broken, w.enters, w.unsent = w.to, 0, 0, nil
	w.told, w.retags, w.done = w.told[:0], w.retags[:0], w.done[:0]
	return w.to
}

// Next implements explore.Worker.
func (w *worker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	w.emit, w.err, w.failed, w.fair, w.piled = emit, nil, nil, false, false
	g := w.from
	w.unpack(state, g)
	w.know(g)
	w.old = w.timesOf(g)
	w.at = g
	w.acts = w.acts[:0]
	if g.env.Acts(w, w.note) {
		for _, a := range w.acts {
			w.act(a)
		}
		w.forgive()
		return 0, w.failed
	}
	if w.Clock == Units {
		w.pass()
	} else {
		w.happen()
	}
	w.forgive()
	return w.look(), cmp.Or(w.failed, w.err)
}

// forgive keeps the error of a step if it is the first, so that the remaining steps can
// be made.
func (w *worker) forgive() {
	if w.err != nil {
		w.failed, w.err = cmp.Or(w.failed, w.err), nil
	}
}

// pass does everything that can happen if time passes.
func (w *worker) pass() {
	for p := range algorithm.ID(w.Seats) {
		w.fate(p)
		for _, a := range w.acts {
			if a.Proc == p {
				w.act(a)
			}
		}
		w.expireAt(p)
		w.detect(p)
	}
	w.deliverAll()
	w.tick()
}

// happen does everything that can happen if no time passes.
func (w *worker) happen() {
	for _, a := range w.acts {
		if a.Kind != script.Tell {
			w.act(a)
		}
	}
	w.deliverAll()
	for _, a := range w.acts {
		if a.Kind == script.Tell {
			w.act(a)
		}
	}
	w.expireAll()
	if w.mortal {
		for p := range algorithm.ID(w.Seats) {
			w.fate(p)
		}
		for p := range algorithm.ID(w.Seats) {
			w.detect(p)
		}
	}
}

// act lets an application do something.
func (w *worker) act(a family.Act) {
	g := w.begin()
	g.env.Do(w, a)
	l := label(doAct, a.Proc, a.Peer, int(a.Kind))
	w.settle(explore.Step{Label: l, Class: l, Fair: a.Fair})
}

// look returns the properties that the state itself violates.
func (w *worker) look() explore.Broken {
	g := w.from
	w.broken, w.at = 0, g
	g.env.Look(w)
	if !w.fair && w.failed == nil {
		g.env.Ended(w)
	}
	switch {
	case w.piled && w.bits.channels == 0: // no property covers it, and there would be no end
		w.err = cmp.Or(w.err, error(TooMuch{Piled}))
	case w.piled:
		w.broken |= w.bits.channels
	}
	if w.bits.token|w.bits.alibi == 0 {
		return w.broken
	}
	tokens := 0
	var alibis uint64
	for i := range g.seats {
		b := w.infos[g.seats[i].blob]
		tokens += b.tokens
		alibis |= b.alibis
	}
	for i := range g.messages {
		tokens += w.infos[g.messages[i].blob].tokens
	}
	if tokens > 1 {
		w.broken |= w.bits.token
	}
	for p := algorithm.ID(0); alibis != 0; p, alibis = p+1, alibis>>1 {
		if alibis&1 == 1 && g.env.Inside(p) {
			w.broken |= w.bits.alibi
		}
	}
	return w.broken
}

// maxMessages is the maximum number of messages on a link. No algorithm comes near it,
// unless its messages accumulate without bound.
const maxMessages = 24

// Piled says that messages accumulate.
const Piled = "messages accumulate: more than 24 on one link"

// deliverAll does everything that the network can do with the messages.
func (w *worker) deliverAll() {
	first := 0 // first message of the link
	for i := range w.from.messages {
		l := w.from.messages
		if l[i].link != l[first].link {
			first = i
		}
		w.piled = w.piled || i-first >= maxMessages
		if i-first >= w.longest {
			w.longest = i - first + 1
			w.see(w.longest)
		}
		switch {
		case w.Pace == Slow && !l[i].old, w.mortal && !w.counts(w.from, &l[i]):
			continue
		case w.ordered():
			if i != first {
				continue
			}
		case slices.Contains(l[first:i], l[i]):
			continue
		}
		w.deliver(i, i-first, true)
		switch {
		case w.Network == algorithm.Lossy, w.from.losses > 0:
			w.drop(i, i-first)
		case w.Network == algorithm.Duplicating:
			w.deliver(i, i-first, false)
		}
	}
}

// deliver hands over a message, the nth of its link. If the network duplicates, it may
// stay.
func (w *worker) deliver(i, nth int, take bool) {
	m := w.from.messages[i]
	from, to := w.ends(&m)
	g := w.begin()
	kind := doDeliver
	if take {
		g.remove(i)
	} else {
		kind = doKeep
	}
	s := explore.Step{Label: label(kind, to, from, nth), Class: label(doDeliver, to, from, 0), Fair: take}
	if !w.ordered() && take {
		s.Class = w.classOf(w.arrival(&m)) // each message is an action of its own
	}
	if !g.seats[to].dead {
		if w.Tagged {
			g.env.Caused(to, m.tag)
		}
		w.receive(from, to, m.blob)
	}
	w.settle(s)
}

// drop loses a message, the nth of its link: one of those that may be lost, if they are
// counted.
func (w *worker) drop(i, nth int) {
	from, to := w.ends(&w.from.messages[i])
	g := w.begin()
	g.remove(i)
	if w.Losses > 0 {
		g.losses--
	}
	w.settle(explore.Step{Label: label(doDrop, to, from, nth)})
}
