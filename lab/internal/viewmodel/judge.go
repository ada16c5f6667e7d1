package viewmodel

import (
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// judge checks what a process has done: w.saved is its member afterwards.
func (w *worker) judge(n *world, d deed, events []member.Event) explore.Broken {
	p := &n.procs[d.proc]
	for _, e := range events {
		switch {
		case e.Kind != member.Lost || e.Token != p.inside:
		case e.Cause == member.Lease: // it may have checked just before
			p.lost = true
		default:
			p.inside = member.Token{}
		}
	}
	broken := w.opens(n, d.proc, events)
	w.usedUp(n, d)
	for _, e := range events {
		switch {
		case e.Kind == member.Wanted:
			n.client.lent.wanted = n.client.lent.last > 0
		case e.Kind == member.Lost && (e.Cause == member.NoCause || e.Cause == member.Released) && n.client.holds > 0 && w.saved.Lease == member.Runs:
			broken |= Refused // by the home: no operator has taken the lock
		case e.Kind != member.Held:
		case w.saved.Present.Holder.Client:
			broken |= w.granted(n, d.proc, &e)
		default:
			broken |= w.entry(n, d.proc, e.Token)
			p.inside = e.Token
		}
	}
	if !p.inside.IsNone() && !p.lost && (w.saved.Lease != member.Runs || p.left) {
		broken |= Leased
	}
	return broken
}

// opens notes that the home of an epoch has begun to let other processes, or its own, in:
// no process may be inside by an older epoch.
func (w *worker) opens(n *world, at int, events []member.Event) explore.Broken {
	part := &w.saved.Present
	if part.Epoch <= n.opened {
		return 0
	}
	v := &w.Views[w.view(part.Epoch)]
	if v.Members[v.Home(w.Lock)].Inc != w.procs[at].Inc {
		return 0
	}
	enters := false
	for _, e := range events {
		enters = enters || e.Kind == member.Held && e.Token.Epoch == part.Epoch
	}
	if !enters && !part.Cleared && !part.Lent {
		return 0
	}
	n.opened, n.ordered = part.Epoch, part.Reported == w.survivors(v)
	for i := range n.procs {
		if e := n.procs[i].inside.Epoch; e != 0 && e < part.Epoch {
			return Older
		}
	}
	if c := &n.client; c.holds > 0 && c.token.Epoch < part.Epoch && c.by <= part.Epoch {
		return Older // homes before the one that has honoured its claim no longer matter: no process of theirs can get in
	}
	return 0
}

// survivors returns the bits of the processes that report in a view.
func (w *worker) survivors(v *member.View) uint64 {
	bits := uint64(0)
	for _, inc := range v.Before {
		if v.Rank(inc) >= 0 {
			bits = bits<<1 | 1
		}
	}
	return bits
}

// entry judges one entry.
func (w *worker) entry(n *world, at int, t member.Token) explore.Broken {
	broken := n.alone()
	if n.client.holds > 0 {
		broken |= Mutual
	}
	if t.Epoch < n.opened {
		broken |= Older
	}
	if l := n.last; !l.Less(t) || t.Epoch == l.Epoch && t.Count != l.Count+1 || t.Epoch != l.Epoch && t.Count != 1 {
		broken |= Tokens
	}
	n.last = t
	if n.ordered && t.Epoch == n.opened && w.overtakes(n, at) {
		broken |= Order
	}
	return broken
}

// overtakes reports whether a process that waited in an older epoch, and longer than the
// one that has just entered, still waits.
func (w *worker) overtakes(n *world, at int) bool {
	for i := range n.procs {
		part := &w.now.procs[i].state.Present
		if i == at || n.procs[i].dead || part.Epoch != n.opened || len(part.Waiters) == 0 {
			continue
		}
		if s := part.Waiters[0].Stamp; s.Epoch < n.opened && s.Less(w.saved.Present.Holder.Stamp) {
			return true
		}
	}
	return false
}
