package viewmodel

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/internal/member"
)

// deliveries are the frames that can arrive: the first of each link of the epoch that its
// receiver is in.
func (w *worker) deliveries() {
	for to := range w.now.procs {
		if w.now.procs[to].dead || w.epoch(to) == 0 {
			continue
		}
		view := w.view(w.epoch(to))
		for from := range w.now.procs {
			at := w.link(view, from, to)
			if len(w.now.links[at]) == 0 {
				continue
			}
			frame, rest := first(w.now.links[at])
			w.do(deed{label(Deliver, view, from<<4|to), to, true}, func(n *world, m *member.Member) error {
				n.links[at] = rest
				return m.Deliver(0, w.procs[from].Inc, frame)
			})
		}
	}
}

// installs are the views that a process can begin.
func (w *worker) installs(i int) {
	for v := range w.Views {
		if w.Views[v].Epoch <= w.epoch(i) || w.Views[v].Rank(w.procs[i].Inc) < 0 || !w.promised(v) {
			continue
		}
		w.do(deed{label(Install, i, v), i, true}, func(n *world, m *member.Member) error {
			for from := range n.procs { // frames of older epochs are dropped
				for old := range v {
					n.links[w.link(old, from, i)] = nil
				}
			}
			if w.Client.Through != 0 {
				n.client.newest = max(n.client.newest, v)
			}
			return m.Install(0, w.Views[v])
		})
	}
}

// reports are the REPORTs and QUERYs that a process can make, if it makes them later than
// the step that calls for them.
func (w *worker) reports(i int) {
	p := &w.now.procs[i]
	for rank := range 64 {
		if p.state.Present.Owes>>rank&1 == 0 {
			continue
		}
		to := w.Views[w.view(w.epoch(i))].Members[rank].Inc
		w.do(deed{label(More, i, w.index(to)), i, true}, func(_ *world, m *member.Member) error {
			m.More(0, to)
			return nil
		})
	}
}

// promised reports whether every process that is gone by a view has left in order.
func (w *worker) promised(view int) bool {
	for i, p := range w.procs {
		if p.out > 0 && p.out <= view && !w.now.procs[i].left {
			return false
		}
	}
	return true
}

// applies is what the application of a process can do.
func (w *worker) applies(i int) {
	p := &w.now.procs[i]
	if w.epoch(i) == 0 {
		return
	}
	if p.asks > 0 && !p.left {
		w.do(deed{label(Ask, i, 0), i, false}, func(n *world, m *member.Member) error {
			n.procs[i].asks--
			_, err := m.Lock(0, w.Lock, member.Ask{Deadline: member.Never})
			return err
		})
	}
	if !p.inside.IsNone() {
		w.do(deed{label(Unlock, i, 0), i, true}, func(n *world, m *member.Member) error {
			q := &n.procs[i]
			if q.inside, q.lost = (member.Token{}), false; n.late > 0 {
				q.stale = p.inside
			}
			if err := m.Unlock(0, w.Lock, p.inside); !p.lost || !errors.Is(err, member.ErrNotHeld) {
				return err
			}
			return nil // it is late, and rejected as such
		})
	}
	if w.now.cancels > 0 {
		for j, r := range p.state.Present.Waiters {
			w.do(deed{label(Cancel, i, j), i, false}, func(n *world, m *member.Member) error {
				n.cancels--
				m.Cancel(0, r.Ticket)
				return nil
			})
		}
	}
	if !p.stale.IsNone() && w.now.late > 0 {
		w.unlockAgain(i)
	}
}

// errLate is the error for a late unlock that was accepted.
var errLate = errors.New("a late unlock was accepted")

// unlockAgain releases what was released before.
func (w *worker) unlockAgain(i int) {
	p := &w.now.procs[i]
	w.do(deed{label(Again, i, 0), i, false}, func(n *world, m *member.Member) error {
		n.late--
		if n.late == 0 {
			for j := range n.procs {
				n.procs[j].stale = member.Token{}
			}
		}
		if m.Unlock(0, w.Lock, p.stale) == nil {
			return errLate
		}
		return nil
	})
}

// times is what the passing of time does to a process.
func (w *worker) times(i int) {
	p := &w.now.procs[i]
	who := &w.procs[i]
	switch {
	case w.holdsThrough(i):
	case who.ghost && !p.ended && p.state.Lease == member.Runs && (!p.inside.IsNone() || p.state.Present.Holder.Client):
		w.lose(i, Warn)
	case who.ghost && !p.ended:
		w.lose(i, End)
	case who.ghost || w.epoch(i) == 0:
	case p.state.Lease == member.Over:
		w.do(deed{label(Renew, i, 0), i, true}, func(_ *world, m *member.Member) error {
			m.Renewed(0, member.BeforeLoss)
			return nil
		})
	case w.now.lapses > 0:
		w.lose(i, Lapse)
	}
	if who.ghost && !p.ended && w.Crashes {
		w.crash(i)
	}
	if !who.ghost && p.state.Present.Lapsed && !p.state.Present.Proof {
		w.lose(i, Pass)
	}
	if who.out > 0 && !p.left && !p.state.Present.Lapsed && !p.state.Session { // its host waits for that
		w.do(deed{label(Leave, i, 0), i, true}, func(n *world, m *member.Member) error {
			n.procs[i].left = true
			m.Leave(0)
			return nil
		})
	}
	w.ghosts(i, Bury, &p.state.Present)
	w.ghosts(i, BuryOld, &p.state.Before)
}

// lose takes a process one step closer to the expiry of its lease: first it is notified
// that it has lost what it holds, then that is passed on. A process that holds nothing
// need not be notified.
func (w *worker) lose(i int, kind Kind) {
	w.do(deed{label(kind, i, 0), i, kind != Lapse}, func(n *world, m *member.Member) error {
		d := w.templates[i]
		if kind != Pass {
			d.Lapse()
		}
		if kind == End || kind == Pass {
			d.Pass()
		}
		n.client.ended(i)
		switch p := &n.procs[i]; kind {
		case Lapse:
			n.lapses--
		case End, Pass:
			p.ended = kind == End
			p.inside, p.lost = member.Token{}, false
		}
		m.Wake(0)
		return nil
	})
}

// crash ends a process. Nothing reaches it afterwards.
func (w *worker) crash(i int) {
	d := deed{label: label(Crash, i, 0), proc: i}
	if w.err != nil || w.left(d) {
		return
	}
	n := &w.next
	n.copy(&w.now)
	n.procs[i] = proc{dead: true, ended: n.procs[i].ended}
	n.client.ended(i)
	w.deafen(n, i)
	w.give(d, 0)
}

// deafen removes what is in flight to a process.
func (w *worker) deafen(n *world, to int) {
	for from := range n.procs {
		for v := range w.Views {
			n.links[w.link(v, from, to)] = nil
		}
	}
}

// buried is what the passing of time does to a crashed process: its lease expires.
func (w *worker) buried(i int) {
	if w.now.procs[i].ended || w.holdsThrough(i) || w.err != nil {
		return
	}
	w.next.copy(&w.now)
	w.next.procs[i].ended = true
	w.next.client.ended(i)
	w.give(deed{label: label(End, i, 0), must: true}, 0)
}

// ghosts are those of an epoch whose rest has ended, as a member counts it: after their
// leases have expired.
func (w *worker) ghosts(i int, kind Kind, part *member.Part) {
	if part.Epoch == 0 {
		return
	}
	for g, ghost := range w.Views[w.view(part.Epoch)].Ghosts {
		if part.Over>>g&1 == 1 || !w.now.procs[w.index(ghost.Inc)].ended {
			continue
		}
		w.do(deed{label(kind, i, g), i, kind == Bury}, func(_ *world, m *member.Member) error {
			if d := w.templates[i]; kind == BuryOld {
				d.OutliveBefore(g)
			} else {
				d.Outlive(g)
				w.older(d, w.now.procs[i].state.Before.Epoch, ghost.Inc)
			}
			m.Wake(0)
			return nil
		})
	}
}

// older ends the rest of a ghost in the view before, too: a ghost that is over for the later
// epoch is over for that one.
func (w *worker) older(d *member.Template, epoch uint64, inc uint64) {
	if epoch == 0 {
		return
	}
	if g := slices.IndexFunc(w.Views[w.view(epoch)].Ghosts, func(g member.Ghost) bool { return g.Inc == inc }); g >= 0 {
		d.OutliveBefore(g)
	}
}
