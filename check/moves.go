package check

import (
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// begin makes w.to a copy of the state to be changed.
func (w *worker) begin() *global {
	w.to.copyFrom(w.from)
	return w.to
}

func (w *worker) ask(p core.ID, old uint64, emit func(explore.Step, []byte)) {
	g := w.begin()
	me := &g.procs[p]
	me.phase, me.told = waits, false
	if w.Requests > 0 {
		me.left--
	}
	if w.Order {
		me.ahead = me.knows
		me.knows |= 1 << p
	}
	w.finish(g, p, core.Request, core.None, 0, explore.Step{Label: label(doAsk, p, 0, 0)}, old, emit)
}

func (w *worker) leave(p core.ID, old uint64, emit func(explore.Step, []byte)) {
	g := w.begin()
	g.procs[p].phase = idle
	w.finish(g, p, core.Release, core.None, 0, explore.Step{Label: label(doLeave, p, 0, 0), Fair: true, Class: uint32(p)}, old, emit)
}

func (w *worker) start(p core.ID, old uint64, emit func(explore.Step, []byte)) {
	g := w.begin()
	g.procs[p].start = false
	w.finish(g, p, core.Start, core.None, 0, explore.Step{Label: label(doStart, p, 0, 0), Fair: true, Class: maxSeats + uint32(p)}, old, emit)
}

// deliverAll does what the network can do with the letters.
func (w *worker) deliverAll(old uint64, emit func(explore.Step, []byte)) {
	first := 0 // of the link
	for i := range w.from.letters {
		l := w.from.letters
		if l[i].link != l[first].link {
			first = i
		}
		if i-first >= maxLetters {
			w.piled = true
		}
		if i-first >= w.longest {
			w.longest = i - first + 1
			w.host.see(w.longest)
		}
		switch {
		case w.ordered():
			if i != first {
				continue
			}
		case slices.Contains(l[first:i], l[i]):
			continue
		}
		w.deliver(i, i-first, true, old, emit)
		switch w.Network {
		case core.Lossy:
			w.drop(i, old, emit)
		case core.Duplicating:
			w.deliver(i, i-first, false, old, emit)
		}
	}
}

// maxLetters is how many letters a link may have. No algorithm comes near it,
// unless its letters pile up without bound.
const maxLetters = 24

// ordered reports whether links keep the order of sending.
func (h *host) ordered() bool { return h.Network == core.FIFO || h.Network == core.Lossy }

// deliver hands over a letter, the nth of its link. Where the network
// duplicates, it may stay.
func (w *worker) deliver(i, nth int, take bool, old uint64, emit func(explore.Step, []byte)) {
	m := w.from.letters[i]
	from, to := core.ID(int(m.link)/w.Nodes), core.ID(int(m.link)%w.Nodes)
	g := w.begin()
	kind := doDeliver
	if take {
		g.remove(i)
	} else {
		kind = doKeep
	}
	me := &g.procs[to]
	me.knows |= m.knows
	me.seen = me.seen || m.seen
	class := uint32(m.link) + 2*maxSeats
	if !w.ordered() {
		class += m.blob << 8 // each message is an action of its own
	}
	s := explore.Step{Label: label(kind, to, from, nth), Fair: take, Class: class}
	w.finish(g, to, core.Receive, from, m.blob, s, old, emit)
}

func (w *worker) drop(i int, old uint64, emit func(explore.Step, []byte)) {
	m := w.from.letters[i]
	from, to := core.ID(int(m.link)/w.Nodes), core.ID(int(m.link)%w.Nodes)
	g := w.begin()
	g.remove(i)
	w.settle(old, explore.Step{Label: label(doDrop, to, from, 0)}, emit)
}

// finish lets p's machine take its step, does what it wants done, and emits
// the states that follow.
func (w *worker) finish(g *global, p core.ID, in core.InputKind, from core.ID, msg uint32, s explore.Step, old uint64, emit func(explore.Step, []byte)) {
	me := &g.procs[p]
	e, err := w.step(me.blob, in, from, msg)
	if err != nil {
		w.err = err
		return
	}
	me.blob = e.state
	if e.denied {
		me.phase = idle
		w.forget(g, p)
	}
	if e.entered {
		s.Enters = int8(p) + 1
		s.Broken |= w.enter(g, p)
	}
	for _, m := range e.sends {
		l := letter{blob: m.blob, knows: me.knows, seen: me.seen, link: m.link}
		if w.uncounted != 0 && w.uncounted>>w.info(m.blob).kind&1 == 1 {
			l.seen = false
		}
		if m.idem || w.Upset {
			if last := g.last(m.link); last != nil && *last == l {
				continue // a second copy right behind changes nothing
			}
		}
		g.add(l)
	}
	w.settle(old, s, emit)
}

// enter lets p in and returns what that breaks.
func (w *worker) enter(g *global, p core.ID) explore.Broken {
	var broken explore.Broken
	for q := range g.procs {
		if g.procs[q].phase == inside && core.ID(q) != p {
			broken |= brokenExclusion
		}
	}
	me := &g.procs[p]
	me.phase = inside
	if w.Fence {
		if !me.seen {
			broken |= brokenFence
		}
		for q := range g.procs {
			g.procs[q].seen = core.ID(q) == p
		}
		for i := range g.letters {
			g.letters[i].seen = false
		}
	}
	if w.Order {
		if me.ahead != 0 {
			broken |= brokenOrder
		}
		w.forget(g, p)
	}
	return broken
}

// forget drops p's request from what others know: it waits no more.
func (w *worker) forget(g *global, p core.ID) {
	if !w.Order {
		return
	}
	for q := range g.procs {
		g.procs[q].knows &^= 1 << p
		g.procs[q].ahead &^= 1 << p
	}
	g.procs[p].ahead = 0
	for i := range g.letters {
		g.letters[i].knows &^= 1 << p
	}
}

// tell lets applications talk: an instant message that carries the clock. What
// is told matters when the one who was told asks. Who waits is known to itself
// until it enters, so it can tell directly, and as late as that: applications
// need to talk only right before a request, and then nothing else happens in
// between. The tests compare this with applications that talk at any time.
func (w *worker) tell(old uint64, emit func(explore.Step, []byte)) {
	for q := range core.ID(w.Nodes) {
		if !w.Chatty && !w.mayAskNow(q) {
			continue
		}
		for p := range core.ID(w.Nodes) {
			w.tellOne(p, q, old, emit)
		}
	}
}

func (w *worker) tellOne(p, q core.ID, old uint64, emit func(explore.Step, []byte)) {
	if w.from.procs[p].knows&^w.from.procs[q].knows == 0 {
		return
	}
	g := w.begin()
	g.procs[q].knows |= g.procs[p].knows
	g.procs[q].told = !w.Chatty
	// The clock goes where the sender of a message would be.
	clock := core.ID(w.info(g.procs[p].blob).clock)
	w.finish(g, q, core.Hear, clock, 0, explore.Step{Label: label(doTell, q, p, 0)}, old, emit)
}

// mayAskNow reports whether p is free to ask.
func (w *worker) mayAskNow(p core.ID) bool {
	me := &w.from.procs[p]
	return me.phase == idle && w.mayAsk.Has(p) && (w.Requests == 0 || me.left > 0)
}

// hurry does what is possible while p has been told something and has not
// asked yet: it is told more, or asks.
func (w *worker) hurry(p core.ID, old uint64, emit func(explore.Step, []byte)) {
	w.ask(p, old, emit)
	for q := range core.ID(w.Nodes) {
		w.tellOne(q, p, old, emit)
	}
}
