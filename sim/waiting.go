package sim

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
)

// Who waits for whom is known from what processes do and are told.

// A standing is a deadlock that stands.
type standing struct {
	members []int
	since   int64
}

// blocked reports whether a process waits for a lock that cannot come yet.
func (t *transacting) blocked(i int) bool {
	p := &t.procs[i]
	return p.waits && p.arrived && !p.doomed && !p.dead
}

// waitsFor returns for whom a process waits, or -1.
func (t *transacting) waitsFor(i int) int {
	if !t.blocked(i) {
		return -1
	}
	p := &t.procs[i]
	h := t.holder[p.locks[p.got]]
	if h >= 0 && t.procs[h].doomed {
		return -1
	}
	return h
}

// graph returns the true wait-for graph.
func (t *transacting) graph() *deadlock.Graph {
	g := &deadlock.Graph{}
	for i := range t.procs {
		if h := t.waitsFor(i); h >= 0 {
			g.Add(core.ID(i), core.ID(h), deadlock.LockName(t.procs[i].locks[t.procs[i].got]))
		}
	}
	return g
}

// cycle returns the cycle that a process is part of, or nil.
func (t *transacting) cycle(i int) []int {
	members := []int{i}
	for at := t.waitsFor(i); at >= 0 && len(members) <= len(t.procs); at = t.waitsFor(at) {
		if at == i {
			return members
		}
		members = append(members, at)
	}
	return nil
}

// closed: the request of a process has arrived, which may close a cycle.
func (t *transacting) closed(i int) {
	r := &t.ledger
	if members := t.cycle(i); members != nil {
		t.standing = append(t.standing, standing{members, t.w.Now()})
		r.Deadlocks++
		if r.ring == nil {
			r.Graph, r.ring = t.graph(), members
		}
		if t.back != nil {
			t.back.Cycles = append(t.back.Cycles, ids(members))
		}
	}
	if t.bound++; r.ring == nil && t.bound+1 > t.largest {
		if t.bound = t.edges(); t.bound > t.largest {
			r.Graph, t.largest = t.graph(), t.bound
		}
	}
}

// edges counts who waits for somebody.
func (t *transacting) edges() int {
	n := 0
	for i := range t.procs {
		if t.waitsFor(i) >= 0 {
			n++
		}
	}
	return n
}

// gave: a process has got a lock.
func (t *transacting) gave(i, k int) {
	if h := t.holder[k]; h >= 0 && h != i {
		t.broke(Violation{Property: scenario.MutualExclusion, Proc: core.ID(i), Other: core.ID(h), Section: deadlock.LockName(k)})
	}
	t.holder[k] = i
	t.bound = len(t.procs) // any number may wait for it
}

// free: a process has nothing any more.
func (t *transacting) free(i int) {
	for k, h := range t.holder {
		if h == i {
			t.holder[k] = -1
		}
	}
}

// oldest returns since when the oldest deadlock stands, or -1.
func (t *transacting) oldest() int64 {
	if len(t.standing) == 0 {
		return -1
	}
	return t.standing[0].since
}

// broken ends the deadlocks that somebody is no part of any more.
func (t *transacting) broken(gone func(i int) bool) {
	t.standing = slices.DeleteFunc(t.standing, func(d standing) bool { return slices.ContainsFunc(d.members, gone) })
}

// told is told who has been told to abort, and for which deadlock.
func (t *transacting) told(i int, cycle []core.ID, burying bool) {
	r := &t.ledger
	r.Aborted++
	if t.back != nil {
		t.back.Aborts = append(t.back.Aborts, Ending{core.ID(i), t.w.Now(), cycle})
	}
	if burying {
		r.Buried++
		return
	}
	at := slices.IndexFunc(t.standing, func(d standing) bool { return slices.Contains(d.members, i) })
	if at < 0 && len(cycle) > 0 {
		// The request that closes the cycle may have been found out at once.
		if t.closed(i); len(t.standing) > 0 && slices.Contains(t.standing[len(t.standing)-1].members, i) {
			at = len(t.standing) - 1
		}
	}
	if at < 0 {
		r.Unnecessary++
		if len(cycle) == 0 {
			return
		}
		if t.recent(i, cycle) {
			r.Phantoms++
		} else {
			r.FalsePositives++
			if t.back != nil {
				t.back.False = append(t.back.False, cycle)
			}
			if r.False == nil {
				r.False = &FalseCycle{Cycle: cycle, Victim: core.ID(i), Graph: t.graph(), At: t.w.Now()}
			}
		}
		return
	}
	d := t.standing[at]
	t.standing = slices.Delete(t.standing, at, at+1)
	delay := t.w.Now() - d.since
	r.delays += delay
	r.LongestDelay = max(r.LongestDelay, delay)
	if r.Resolved == 0 {
		r.FirstVictim = core.ID(i)
	}
	r.Resolved++
	if len(cycle) > 0 && i != t.youngest(d.members) {
		r.WrongVictims++
	}
}

// ids returns who the members of a cycle are, the smallest number first.
func ids(members []int) []core.ID {
	first := slices.Index(members, slices.Min(members))
	all := make([]core.ID, len(members))
	for i := range members {
		all[i] = core.ID(members[(first+i)%len(members)])
	}
	return all
}

// recent reports whether a member of a reported cycle has lately aborted or
// died: the cycle was there, or would have been.
func (t *transacting) recent(victim int, cycle []core.ID) bool {
	since := t.w.Now() - 12*t.w.Unit()
	return slices.ContainsFunc(append(slices.Clone(cycle), core.ID(victim)), func(c core.ID) bool {
		p := &t.procs[c]
		return p.dead || p.aborted > 0 && p.aborted >= since
	})
}

// youngest returns the member that began last, by the stamps at their homes.
func (t *transacting) youngest(members []int) int {
	best, last := -1, core.Time{}
	for _, i := range members {
		stamp := deadlock.Stamp(t.machines[t.Layout.Home[i]], core.ID(i))
		if best < 0 || stamp.After(last) || stamp == last && i > best {
			best, last = i, stamp
		}
	}
	return best
}
