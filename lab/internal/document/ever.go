package document

import (
	"slices"

	"github.com/stile-lock/stile/lab/trace"
)

// Which processes wait forever once a run has come to rest.

// hopeless returns the transactions that wait forever: those in a cycle or behind one, and
// every other waiting transaction if none is left that could proceed.
func (r *recorder) hopeless() []int {
	goes := slices.ContainsFunc(r.lanes, func(l lane) bool { return l.does(Inside) })
	var who []int
	for i := range r.lanes {
		if r.lanes[i].does(Waiting) && (!goes || r.behind(i)) {
			who = append(who, i)
		}
	}
	return who
}

// behind reports whether the chain of waits from this transaction leads into a cycle.
func (r *recorder) behind(i int) bool {
	for range r.lanes {
		at := slices.IndexFunc(r.edges, func(e Edge) bool { return e.From == i })
		if at < 0 {
			return false
		}
		i = r.edges[at].To
	}
	return true
}

// ring returns processes each of which is inside a section and waits for another section
// that the next one is inside of, the last for one of the first; nothing if there is no
// such ring.
func (r *recorder) ring() []int {
	var path []int
	done := make([]bool, len(r.lanes))
	var walk func(i int) []int
	walk = func(i int) []int {
		if at := slices.Index(path, i); at >= 0 {
			return path[at:]
		}
		if done[i] {
			return nil
		}
		path, done[i] = append(path, i), true
		for q := range r.lanes {
			if q != i && r.waitsBehind(i, q) {
				if ring := walk(q); ring != nil {
					return ring
				}
			}
		}
		path = path[:len(path)-1]
		return nil
	}
	for i := range r.lanes {
		if ring := walk(i); ring != nil {
			return ring
		}
	}
	return nil
}

// waitsBehind reports whether process i waits for a section that process q is inside of.
func (r *recorder) waitsBehind(i, q int) bool {
	return slices.ContainsFunc(r.lanes[i].phases, func(x phase) bool {
		in := r.lanes[q].at(x.section)
		return x.is == Waiting && in != nil && in.is == Inside
	})
}

// named returns the names of lanes.
func named(d *Document, lanes []int) []string {
	var names []string
	for _, i := range lanes {
		names = append(names, d.Names[i])
	}
	return names
}

// lastAsk returns the last event in which one of the lanes asks.
func lastAsk(d *Document, lanes []int) int {
	for i := len(d.Events) - 1; i >= 0; i-- {
		if e := &d.Events[i]; e.Kind == trace.Ask.String() && slices.Contains(lanes, e.Proc) {
			return i
		}
	}
	return -1
}
