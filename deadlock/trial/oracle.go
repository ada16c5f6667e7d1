package trial

import (
	"slices"
	"strconv"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
)

// An oracle knows who has which lock and who waits, from what processes do and
// are told, and so the true wait-for graph.
type oracle struct {
	w        *world
	holder   []int // of each lock, or -1
	standing []standing
	largest  int // the most edges there were
	bound    int // there are at most so many now, and one more for a request that is arriving
}

// A standing is a deadlock that stands.
type standing struct {
	members []int
	since   int64
}

func (o *oracle) init(w *world) {
	o.w = w
	o.holder = make([]int, len(w.Layout.At))
	for k := range o.holder {
		o.holder[k] = -1
	}
}

// blocked reports whether a process waits for a lock that cannot come yet.
func (o *oracle) blocked(i int) bool {
	p := &o.w.procs[i]
	return p.waits && p.arrived && !p.doomed && !p.dead
}

// next returns for whom a process waits, or -1.
func (o *oracle) next(i int) int {
	if !o.blocked(i) {
		return -1
	}
	p := &o.w.procs[i]
	h := o.holder[p.locks[p.got]]
	if h >= 0 && o.w.procs[h].doomed {
		return -1
	}
	return h
}

// graph returns the true wait-for graph.
func (o *oracle) graph() *deadlock.Graph {
	g := &deadlock.Graph{}
	for i := range o.w.procs {
		if h := o.next(i); h >= 0 {
			g.Add(core.ID(i), core.ID(h), deadlock.LockName(o.w.procs[i].locks[o.w.procs[i].got]))
		}
	}
	return g
}

// cycle returns the cycle that a process is part of, or nil.
func (o *oracle) cycle(i int) []int {
	members := []int{i}
	for at := o.next(i); at >= 0 && len(members) <= len(o.w.procs); at = o.next(at) {
		if at == i {
			return members
		}
		members = append(members, at)
	}
	return nil
}

// closed: the request of a process has arrived, which may close a cycle.
func (o *oracle) closed(i int) {
	r := &o.w.result
	if members := o.cycle(i); members != nil {
		o.standing = append(o.standing, standing{members, o.w.now})
		r.Deadlocks++
		if r.ring == nil {
			r.Graph, r.ring = o.graph(), members
		}
		if o.w.back != nil {
			o.w.back.Cycles = append(o.w.back.Cycles, ids(members))
		}
	}
	if o.bound++; r.ring == nil && o.bound+1 > o.largest {
		if o.bound = o.edges(); o.bound > o.largest {
			r.Graph, o.largest = o.graph(), o.bound
		}
	}
}

// edges counts who waits for somebody.
func (o *oracle) edges() int {
	n := 0
	for i := range o.w.procs {
		if o.next(i) >= 0 {
			n++
		}
	}
	return n
}

// took: a process has got a lock.
func (o *oracle) took(i, k int) {
	if h := o.holder[k]; h >= 0 && h != i {
		o.w.violate("two-holders", i)
	}
	o.holder[k] = i
	o.bound = len(o.w.procs) // any number may wait for it
}

// free: a process has nothing any more.
func (o *oracle) free(i int) {
	for k, h := range o.holder {
		if h == i {
			o.holder[k] = -1
		}
	}
}

// oldest returns since when the oldest deadlock stands, or -1.
func (o *oracle) oldest() int64 {
	if len(o.standing) == 0 {
		return -1
	}
	return o.standing[0].since
}

// broken ends the deadlocks that somebody is no part of any more.
func (o *oracle) broken(gone func(i int) bool) {
	o.standing = slices.DeleteFunc(o.standing, func(d standing) bool { return slices.ContainsFunc(d.members, gone) })
}

// decided: a site sends word that somebody is to abort. From then on that one
// is waited for by nobody in vain.
func (o *oracle) decided(from core.ID, name string, bytes []byte) {
	if name != "DIE" && name != "WOUND" {
		return
	}
	fields, err := core.DescribeMessage(o.w.machines[from], o.w.Layout.Sites, bytes)
	if err != nil {
		return
	}
	tx, attempt := 0, uint64(0)
	for _, f := range fields {
		switch f.Name {
		case "tx":
			tx, _ = strconv.Atoi(f.Value)
		case "attempt":
			attempt, _ = strconv.ParseUint(f.Value, 10, 64)
		}
	}
	if p := &o.w.procs[tx-1]; p.attempt == attempt && p.active {
		p.doomed = true
	}
}

// judge is told who has been told to abort, and for which deadlock.
func (o *oracle) judge(i int, cycle []core.ID) {
	w, r := o.w, &o.w.result
	r.Aborted++
	if w.back != nil {
		w.back.Aborts = append(w.back.Aborts, Ending{core.ID(i), w.now, cycle})
	}
	if r.burying {
		r.Buried++
		return
	}
	at := slices.IndexFunc(o.standing, func(d standing) bool { return slices.Contains(d.members, i) })
	if at < 0 && len(cycle) > 0 {
		// The request that closes the cycle may have been found out at once.
		if o.closed(i); len(o.standing) > 0 && slices.Contains(o.standing[len(o.standing)-1].members, i) {
			at = len(o.standing) - 1
		}
	}
	if at < 0 {
		r.Unnecessary++
		if len(cycle) == 0 {
			return
		}
		if o.recent(i, cycle) {
			r.Phantoms++
		} else {
			r.FalsePositives++
			if w.back != nil {
				w.back.False = append(w.back.False, cycle)
			}
			if r.False == nil {
				r.False = &FalseCycle{Cycle: cycle, Victim: core.ID(i), Graph: o.graph(), At: w.now}
			}
		}
		return
	}
	d := o.standing[at]
	o.standing = slices.Delete(o.standing, at, at+1)
	delay := w.now - d.since
	r.delays += delay
	r.LongestDelay = max(r.LongestDelay, delay)
	if r.Found == 0 {
		r.FirstVictim = core.ID(i)
	}
	r.Found++
	if len(cycle) > 0 && i != o.youngest(d.members) {
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
func (o *oracle) recent(victim int, cycle []core.ID) bool {
	w := o.w
	since := w.now - 12*w.slowest
	return slices.ContainsFunc(append(slices.Clone(cycle), core.ID(victim)), func(c core.ID) bool {
		p := &w.procs[c]
		return p.dead || p.aborted > 0 && p.aborted >= since
	})
}

// youngest returns the member that began last, by the stamps at their homes.
func (o *oracle) youngest(members []int) int {
	best, last := -1, core.Time{}
	for _, i := range members {
		stamp := deadlock.Stamp(o.w.machines[o.w.Layout.Home[i]], core.ID(i))
		if best < 0 || stamp.After(last) || stamp == last && i > best {
			best, last = i, stamp
		}
	}
	return best
}
