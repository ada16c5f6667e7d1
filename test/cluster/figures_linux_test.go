package cluster

import (
	"fmt"
	"strings"
	"time"
)

// figures says what came of a run in which nothing was broken.
func (n *nemesis) figures(took, last time.Duration) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	how := "in network namespaces"
	if n.net == nil {
		how = "by proxies"
	}
	line("%d nodes of which %d vote, %d clients, %s, a lease of %v, seed %d, %.0f s:", len(n.nodes), n.voters, len(n.procs)-len(n.nodes), how, n.lease, *seed, took.Seconds())
	line("")
	total := 0
	for _, f := range n.kinds {
		line("%6d  %s", n.struck[f.name], f.name)
		total += n.struck[f.name]
	}
	line("%6d  faults", total)
	line("")
	holds := n.journal.all()
	lost, died := 0, 0
	for _, h := range holds {
		switch {
		case h.end == never:
			died++
		case h.lost:
			lost++
		}
	}
	starts := 0
	for _, p := range n.procs {
		starts += p.starts
	}
	r := n.things
	line("%6d  entries of 3 locks", len(holds))
	line("%6d  of them lost, and told so", lost)
	line("%6d  of them ended by a death", died)
	line("%6d  starts of processes", starts)
	line("%6d  ends of processes by themselves, since they could not save", n.ends)
	line("%6d  operations of fenced registers", len(r.history))
	line("%6d  of them refused by the fence", r.refused)
	line("%6d  increments without a fence", r.puts)
	line("%6d  of them written late, after the time in which they may", r.late)
	line("%6d  of them lost, since one was written late", r.excused)
	line("")
	line("%6.1f s was the longest that a lock was not entered, faults included", n.journal.longest().Seconds())
	line("%6.1f s was the longest from a repair until all processes were back and all locks were entered", n.worst.Seconds())
	line("%6.1f s took it at the end until every process had entered every lock", last.Seconds())
	line("")
	line("violations: none. The lock and the fenced register are linearizable (porcupine), and no increment was lost but by late writes.")
	line("")
	return b.String()
}
