package sim

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/family"
)

// Measurements of deadlocks.

// A standing is a deadlock that stands.
type standing struct {
	members []algorithm.ID
	since   int64
}

// graph returns the true wait-for graph.
func (t *transacting) graph() *deadlock.Graph {
	g := &deadlock.Graph{}
	for p := range algorithm.ID(len(t.procs)) {
		for _, h := range t.env.Next(p) {
			locks, got := t.env.Program(p)
			g.Add(p, h, deadlock.LockName(locks[got]))
		}
	}
	return g
}

// Arrived implements transactions.Watcher.
func (t *transacting) Arrived(p algorithm.ID) {
	r := &t.ledger
	if members := t.env.Cycle(p); members != nil {
		t.standing = append(t.standing, standing{members, t.w.Now()})
		r.Deadlocks++
		if !r.ring {
			r.Graph, r.ring = t.graph(), true
		}
		if t.back != nil {
			t.back.Cycles = append(t.back.Cycles, turned(members))
		}
	}
	if n := t.env.Edges(); !r.ring && n > t.largest {
		r.Graph, t.largest = t.graph(), n
	}
}

// broken ends the deadlocks that a process is no longer part of.
func (t *transacting) broken(p algorithm.ID) {
	if len(t.standing) > 0 {
		t.standing = slices.DeleteFunc(t.standing, func(d standing) bool { return slices.Contains(d.members, p) })
	}
}

// Told implements transactions.Watcher.
func (t *transacting) Told(p algorithm.ID, cycle []algorithm.ID, wrong string, burying bool) {
	r := &t.ledger
	r.Aborted++
	if t.back != nil {
		t.back.Aborts = append(t.back.Aborts, Ending{p, t.w.Now(), slices.Clone(cycle)})
		if wrong == family.OneVictim {
			t.back.Wrong = append(t.back.Wrong, p)
		}
	}
	if burying {
		r.Buried++
		return
	}
	at := slices.IndexFunc(t.standing, func(d standing) bool { return slices.Contains(d.members, p) })
	if at < 0 && len(cycle) > 0 {
		// The request that closes the cycle may have been detected at once.
		if t.Arrived(p); len(t.standing) > 0 && slices.Contains(t.standing[len(t.standing)-1].members, p) {
			at = len(t.standing) - 1
		}
	}
	if at < 0 {
		r.Unnecessary++
		if len(cycle) > 0 {
			t.phantom(p, slices.Clone(cycle), wrong)
		}
		return
	}
	d := t.standing[at]
	t.standing = slices.Delete(t.standing, at, at+1)
	delay := t.w.Now() - d.since
	r.delays += delay
	r.LongestDelay = max(r.LongestDelay, delay)
	if r.Resolved == 0 {
		r.FirstVictim = p
	}
	r.Resolved++
	if len(cycle) > 0 && p != t.env.Youngest(t.group, d.members) {
		r.WrongVictims++
	}
}

// phantom counts a reported deadlock that does not exist: one that was lately broken, or
// one that never existed. Of an exact method it is known which; of another, it is guessed.
func (t *transacting) phantom(victim algorithm.ID, cycle []algorithm.ID, wrong string) {
	r := &t.ledger
	broken := t.recent(victim) || slices.ContainsFunc(cycle, t.recent)
	if t.Method.Exact != nil && t.Method.Exact(t.Mode) {
		broken = wrong != family.FalseReport
	}
	if broken {
		r.Phantoms++
		if t.back != nil {
			t.back.Phantoms = append(t.back.Phantoms, cycle)
		}
		return
	}
	r.FalsePositives++
	if t.back != nil {
		t.back.False = append(t.back.False, cycle)
	}
	if r.False == nil {
		r.False = &FalseCycle{Cycle: cycle, Victim: victim, Graph: t.graph(), At: t.w.Now()}
	}
}

// recent reports whether a process has lately aborted or died.
func (t *transacting) recent(p algorithm.ID) bool {
	aborted := t.procs[p].aborted
	return t.w.Crashed(t.Layout.Home[p]) || aborted > 0 && aborted >= t.w.Now()-12*t.w.Unit()
}

// turned returns a cycle rotated to begin with its smallest member.
func turned(members []algorithm.ID) []algorithm.ID {
	first := slices.Index(members, slices.Min(members))
	return slices.Concat(members[first:], members[:first])
}
