package deadlock

import (
	"cmp"
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
)

// A Deadlock is a set of transactions that wait for each other.
type Deadlock struct {
	Victim Attempt   // the youngest of the cycle, which must abort to break it
	Cycle  []Attempt // each waits for the next, and the last for the first
	Behind []Attempt // those on whose waiting the deadlock depends: the cycle and, with units, more
}

// Deadlocks returns the deadlocks of a wait-for graph, the union of local ones. Each is what
// remains once the victims of those before it are removed, so with all victims gone there
// is none. A transaction waits with one request: of several, the last counts. An arc to
// attempt 0 leads to whatever attempt waits.
func Deadlocks(arcs []Arc) []Deadlock { return deadlocks(arcs, youngest) }

// deadlocks is Deadlocks for any choice of victims.
func deadlocks(arcs []Arc, victim func(cycle []Attempt) Attempt) []Deadlock {
	var all []Deadlock
	j := newJam(arcs)
	for cycle := j.cycle(); cycle != nil; cycle = j.cycle() {
		d := Deadlock{Cycle: j.requests(cycle), Behind: j.requests(j.behind(cycle))}
		d.Victim = victim(d.Cycle)
		all = append(all, d)
		j.end(j.index(d.Victim))
	}
	return all
}

// Jammed returns, for a graph in which every transaction waits with one request, a
// shortest cycle through a transaction among those that are deadlocked. It begins with the
// transaction, and is nil if that is in no deadlock.
func Jammed(arcs []Arc, tx int) []algorithm.ID {
	g := &Graph{}
	j := newJam(arcs)
	for i := range arcs {
		if j.remains(i) {
			g.Add(algorithm.ID(arcs[i].From.Tx), algorithm.ID(arcs[i].To.Tx), "")
		}
	}
	return g.around(algorithm.ID(tx), g.Nodes())
}

// A jam is what remains of a wait-for graph when all transactions that can end have ended,
// one after the other: those that wait for none, then those that wait only for such, and
// so on. Where there are units, enough of those it waits for must end. Whatever remains is
// deadlocked, and has a cycle. Transactions have indices here, because their numbers may
// be large.
type jam struct {
	arcs     []Arc
	txs      []Attempt // those that wait, in order: any request of each
	from, to []int     // by arc: the indices of its ends, or -1 if To does not wait
	out      [][]int   // by index: the arcs that leave it
	in       [][]int   // and those that lead to it
	left     []int     // by index: the units held by those it waits for that remain
	is       []bool    // whether it remains
	ends     []int     // transactions that can end, while they are being removed
}

// newJam reduces a graph.
func newJam(arcs []Arc) *jam {
	j := &jam{arcs: arcs, from: make([]int, len(arcs)), to: make([]int, len(arcs))}
	for i := range arcs {
		j.txs = append(j.txs, arcs[i].From)
	}
	sort.SliceStable(j.txs, func(x, y int) bool { return byIdentity(j.txs[x], j.txs[y]) < 0 })
	j.txs = slices.CompactFunc(j.txs, Attempt.of)
	n := len(j.txs)
	j.out, j.in, j.left, j.is = make([][]int, n), make([][]int, n), make([]int, n), make([]bool, n)
	for i := range arcs {
		a := &arcs[i]
		from := j.index(a.From)
		out := j.out[from]
		if len(out) > 0 && (arcs[out[0]].From != a.From || arcs[out[0]].Lock != a.Lock) {
			out = out[:0]
		}
		j.from[i], j.out[from] = from, append(out, i)
	}
	for i := range arcs {
		if j.to[i] = j.index(arcs[i].To); j.to[i] >= 0 && !j.request(j.to[i]).answers(arcs[i].To) {
			j.to[i] = -1 // another attempt waits, or another request
		}
	}
	for tx, out := range j.out {
		for _, i := range out {
			if to := j.to[i]; to >= 0 {
				j.in[to] = append(j.in[to], i)
				j.left[tx] += arcs[i].Units
			}
		}
		j.is[tx] = true
	}
	for tx := range j.is {
		if j.is[tx] && !j.blocked(tx) {
			j.end(tx)
		}
	}
	return j
}

// answers reports whether a request that waits is what an arc leads to.
func (a Attempt) answers(to Attempt) bool {
	return to.Number == 0 || a.same(to) && (to.Seq == 0 || to.Seq == a.Seq)
}

// byIdentity orders attempts by the transactions to which they belong.
func byIdentity(a, b Attempt) int {
	return cmp.Or(cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Tx, b.Tx))
}

// index returns the index of a transaction, or -1 if it does not wait.
func (j *jam) index(a Attempt) int {
	i, ok := slices.BinarySearchFunc(j.txs, a, byIdentity)
	if !ok {
		return -1
	}
	return i
}

// request returns the request with which a transaction waits.
func (j *jam) request(tx int) Attempt { return j.arcs[j.out[tx][0]].From }

// requests returns the requests with which transactions wait.
func (j *jam) requests(txs []int) []Attempt {
	var all []Attempt
	for _, tx := range txs {
		all = append(all, j.request(tx))
	}
	return all
}

// remains reports whether both ends of an arc remain.
func (j *jam) remains(arc int) bool {
	return j.is[j.from[arc]] && j.to[arc] >= 0 && j.is[j.to[arc]]
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
			from := j.from[i]
			if j.left[from] -= j.arcs[i].Units; j.is[from] && !j.blocked(from) {
				j.is[from] = false
				j.ends = append(j.ends, from)
			}
		}
	}
}

// next returns the first transaction that remains and for which another one waits.
func (j *jam) next(tx int) int { return j.to[j.out[tx][slices.IndexFunc(j.out[tx], j.remains)]] }

// cycle returns a cycle of the deadlock, or nil.
func (j *jam) cycle() []int {
	at := slices.Index(j.is, true)
	if at < 0 {
		return nil
	}
	var walk []int
	for {
		if k := slices.Index(walk, at); k >= 0 {
			return walk[k:]
		}
		walk = append(walk, at)
		at = j.next(at)
	}
}

// behind returns those on whose waiting the deadlock of a cycle depends: its members, and
// for each that waits for units, all that keep them.
func (j *jam) behind(cycle []int) []int {
	all := slices.Clone(cycle)
	add := func(tx int) {
		if !slices.Contains(all, tx) {
			all = append(all, tx)
		}
	}
	for i := 0; i < len(all); i++ {
		tx := all[i]
		if j.arcs[j.out[tx][0]].Spare == 0 && i >= len(cycle) {
			add(j.next(tx)) // any one that remains keeps it waiting
		}
		for _, k := range j.out[tx] {
			if j.arcs[k].Spare > 0 && j.remains(k) {
				add(j.to[k])
			}
		}
	}
	return all
}
