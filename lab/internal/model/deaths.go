package model

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A message to a dead process is lost when it arrives. When that happens is invisible,
// unless the process returns: messages that have not arrived by then find it alive. So
// losses are postponed until the process returns, or until time advances or a timer
// expires, which leaves no choice; if no process can return any more, all such messages
// are lost at once. Each run with losses at other times equals one of these except for
// invisible steps, and there are far fewer states.

// counts reports whether a message still matters: one to a dead process does not, unless
// each loss is a step of its own.
func (w *worker) counts(g *state, l *message) bool { return !w.losses || !g.seats[g.to(l)].dead }

// lose removes the messages to dead processes, or only those that are due.
func (w *worker) lose(g *state, due bool) {
	kept := g.messages[:0]
	for i := range g.messages {
		if l := g.messages[i]; w.counts(g, &l) || due && !l.old {
			kept = append(kept, l)
		}
	}
	g.messages = kept
}

// fate lets a seat crash, or return.
func (w *worker) fate(p algorithm.ID) {
	switch dead := w.from.seats[p].dead; {
	case dead && w.from.comebacks > 0:
		w.lossesTo(p, func(set uint64) {
			w.lost = set
			w.rise(p)
		})
	case !dead && w.from.crashes > 0:
		g := w.begin()
		g.crashes--
		g.seats[p] = seat{dead: true}
		kept := g.timers[:0]
		for _, t := range g.timers {
			if t.seat != uint8(p) {
				kept = append(kept, t)
			}
		}
		g.timers = kept
		g.env.Crashed(w, p)
		w.settle(explore.Step{Label: label(doCrash, p, 0, 0)})
	}
}

// lossesTo calls f with every set of messages to p that may have been lost when it
// returns, one bit for each message: on a FIFO link, the first ones.
func (w *worker) lossesTo(p algorithm.ID, f func(set uint64)) {
	list := w.from.messages
	if len(list) > 64 {
		w.err = fmt.Errorf("%d messages are in flight, more than 64: too many to choose which are lost", len(list))
		return
	}
	var choose func(i int, set uint64, kept int)
	choose = func(i int, set uint64, kept int) {
		for i < len(list) && (w.from.to(&list[i]) != int(p) || w.counts(w.from, &list[i])) {
			i++
		}
		if i == len(list) {
			f(set)
			return
		}
		if (kept != int(list[i].link) || !w.ordered()) && (list[i].old || w.Pace != Slow) {
			choose(i+1, set|1<<i, kept)
		}
		choose(i+1, set, int(list[i].link))
	}
	choose(0, 0, -1)
}

// rise lets p return, remembering nothing, after the messages w.lost were lost. All other
// processes see it at once: a perfect failure detector never takes a live process for
// dead.
func (w *worker) rise(p algorithm.ID) {
	g := w.begin()
	g.messages = g.messages[:0]
	for i := range w.from.messages {
		if w.lost>>i&1 == 0 {
			g.messages = append(g.messages, w.from.messages[i])
		}
	}
	g.comebacks--
	b, err := w.newborn(p, algorithm.View{N: w.Seats, Late: true})
	if err != nil {
		w.fail(p, err)
		return
	}
	g.seats[p] = seat{blob: b.id}
	g.env.Returned(w, p)
	for q := range algorithm.ID(w.Seats) {
		if q != p && !g.seats[q].dead {
			g.env.Trusted(w, q, p)
			w.take(q, &host.Input{Kind: host.Trust, From: p}, 0)
		}
	}
	w.take(p, &host.Input{Kind: host.Start, From: algorithm.None}, 0)
	w.settle(explore.Step{Label: label(doReturn, p, 0, 0)})
}

// detect lets the failure detector notify p correctly, or once in error, as long as that
// changes anything.
func (w *worker) detect(p algorithm.ID) {
	g := w.from
	if !w.mortal || g.seats[p].dead {
		return
	}
	for q := range algorithm.ID(w.Seats) {
		switch {
		case q == p:
		case g.seats[q].dead:
			w.suspect(p, q, true)
		default:
			w.trust(p, q)
			if g.errors > 0 {
				w.suspect(p, q, false)
			}
		}
	}
}

// suspect notifies p that q is dead, correctly or in error.
func (w *worker) suspect(p, q algorithm.ID, right bool) {
	in := host.Input{Kind: host.Suspect, From: q}
	if w.at = w.from; !w.Moves(p, in) {
		return
	}
	if g := w.begin(); !right {
		g.errors--
	}
	w.take(p, &in, 0)
	l := label(doSuspect, p, q, 0)
	w.settle(explore.Step{Label: l, Class: l, Fair: right})
}

// trust notifies p that q is alive after all.
func (w *worker) trust(p, q algorithm.ID) {
	in := host.Input{Kind: host.Trust, From: q}
	if w.at = w.from; !w.Moves(p, in) {
		return
	}
	g := w.begin()
	g.env.Trusted(w, p, q)
	w.take(p, &in, 0)
	l := label(doTrust, p, q, 0)
	w.settle(explore.Step{Label: l, Class: l, Fair: true})
}
