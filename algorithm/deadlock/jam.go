package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Jammed returns, for a graph in which every transaction waits with one request, a
// shortest cycle through a transaction among those that are deadlocked. It begins with the
// transaction, and is nil if that is in no deadlock.
func Jammed(arcs []Arc, tx int) []algorithm.ID {
	g := &Graph{}
	j := newJam(arcs)
	for i := range arcs {
		if from, to := arcs[i].From.Tx, arcs[i].To; j.is[from] && j.waits(to) && j.is[to.Tx] {
			g.Add(algorithm.ID(from), algorithm.ID(to.Tx), "")
		}
	}
	return g.around(algorithm.ID(tx), g.Nodes())
}

// A jam is what remains of a wait-for graph when all transactions that can end have ended,
// one after the other: those that wait for none, then those that wait only for such, and
// so on. Where there are units, enough of those it waits for must end. Whatever remains is
// deadlocked, and has a cycle.
type jam struct {
	arcs []Arc
	out  [][]int // by transaction: the arcs that leave it
	in   [][]int // and those that lead to it
	left []int   // by transaction: the units held by those it waits for that remain
	is   []bool  // whether it remains
	ends []int   // transactions that can end, while they are being removed
}

// newJam reduces a graph. A transaction waits with one request: of several, the last
// counts. An arc to attempt 0 leads to whatever attempt waits.
func newJam(arcs []Arc) *jam {
	n := 0
	for i := range arcs {
		n = max(n, arcs[i].From.Tx+1)
	}
	j := &jam{arcs: arcs, out: make([][]int, n), in: make([][]int, n), left: make([]int, n), is: make([]bool, n)}
	for i := range arcs {
		a := &arcs[i]
		out := j.out[a.From.Tx]
		if len(out) > 0 && (arcs[out[0]].From != a.From || arcs[out[0]].Lock != a.Lock) {
			out = out[:0]
		}
		j.out[a.From.Tx] = append(out, i)
	}
	for tx, out := range j.out {
		for _, i := range out {
			if to := arcs[i].To; j.waits(to) {
				j.in[to.Tx] = append(j.in[to.Tx], i)
				j.left[tx] += arcs[i].Units
			}
		}
		j.is[tx] = len(out) > 0
	}
	for tx := range j.is {
		if j.is[tx] && !j.blocked(tx) {
			j.end(tx)
		}
	}
	return j
}

// waits reports whether an attempt waits.
func (j *jam) waits(a Attempt) bool {
	return a.Tx < len(j.out) && len(j.out[a.Tx]) > 0 && (a.Number == 0 || j.arcs[j.out[a.Tx][0]].From.same(a))
}

// blocked reports whether a transaction that waits cannot go on.
func (j *jam) blocked(tx int) bool { return j.left[tx] > j.arcs[j.out[tx][0]].Spare }

// end removes a transaction, and then all that can end because of that.
func (j *jam) end(tx int) {
	j.is[tx] = false
	j.ends = append(j.ends[:0], tx)
	for len(j.ends) > 0 {
		tx := j.ends[len(j.ends)-1]
		j.ends = j.ends[:len(j.ends)-1]
		for _, i := range j.in[tx] {
			from := j.arcs[i].From.Tx
			if j.left[from] -= j.arcs[i].Units; j.is[from] && !j.blocked(from) {
				j.is[from] = false
				j.ends = append(j.ends, from)
			}
		}
	}
}

// next returns the first arc from a transaction that remains to another one.
func (j *jam) next(tx int) *Arc {
	i := slices.IndexFunc(j.out[tx], func(i int) bool { return j.waits(j.arcs[i].To) && j.is[j.arcs[i].To.Tx] })
	return &j.arcs[j.out[tx][i]]
}

// cycle returns a cycle of the deadlock, or nil.
func (j *jam) cycle() []Attempt {
	at := slices.Index(j.is, true)
	if at < 0 {
		return nil
	}
	var walk []Attempt
	for {
		if k := slices.IndexFunc(walk, func(a Attempt) bool { return a.Tx == at }); k >= 0 {
			return walk[k:]
		}
		a := j.next(at)
		walk = append(walk, a.From)
		at = a.To.Tx
	}
}

// behind returns those on whose waiting the deadlock of a cycle depends: its members, and
// for each that waits for units, all that keep them.
func (j *jam) behind(cycle []Attempt) []Attempt {
	all := slices.Clone(cycle)
	add := func(a *Arc) {
		if !slices.ContainsFunc(all, func(b Attempt) bool { return a.To.Tx == b.Tx }) {
			all = append(all, j.arcs[j.out[a.To.Tx][0]].From)
		}
	}
	for i := 0; i < len(all); i++ {
		out := j.out[all[i].Tx]
		if j.arcs[out[0]].Spare == 0 && i >= len(cycle) {
			add(j.next(all[i].Tx)) // any one that remains keeps it waiting
		}
		for _, k := range out {
			if a := &j.arcs[k]; a.Spare > 0 && j.waits(a.To) && j.is[a.To.Tx] {
				add(a)
			}
		}
	}
	return all
}
