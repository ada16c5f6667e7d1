package compare

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/compare"
	"github.com/stile-lock/stile/internal/words"
)

// printLocks shows a comparison of algorithms: a table for each load, and then who
// is best where.
func printLocks(p *tell.Page, m *compare.Map, out string) {
	p.Line("%s, runs of %s, seed %d; times in T, the latency of a message",
		words.Plural(len(m.Specs), "algorithm"), words.Plural(m.Entries, "entry"), m.Seed)
	shown := pick(len(m.Nodes), 5)
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			busy := ""
			if think.Max() == 0 {
				busy = " (saturated)"
			}
			p.Gap()
			p.Line("THINK %v%s, HOLD %v", think, busy, hold)
			printLoadTable(p, m, shown, t, h)
		}
	}
	p.Gap()
	printBest(p, m, shown)
	p.Gap()
	if len(shown) < len(m.Nodes) {
		p.Line("Not all numbers of processes are shown here; the report and --json have them.")
	}
	printReport(p, out)
}

// printReport says where the web page is, if there is one.
func printReport(p *tell.Page, out string) {
	if out != "" {
		p.Line("Report: %s", out)
	}
}

// pick chooses at most k of n things, the first and the last among them, evenly.
func pick(n, k int) []int {
	var chosen []int
	for i := range min(n, k) {
		if n <= k {
			chosen = append(chosen, i)
		} else {
			chosen = append(chosen, i*(n-1)/(k-1))
		}
	}
	return chosen
}

// printLoadTable shows all algorithms under one load: messages for each number
// of processes, theory's formula, and delay and throughput for the largest.
func printLoadTable(p *tell.Page, m *compare.Map, shown []int, think, hold int) {
	by := compare.Measures()
	messages, sync, throughput := by[0], by[1], by[2]
	last := len(m.Nodes) - 1
	head := tell.Right("messages per entry, N =", 23)
	for _, n := range shown {
		head += tell.Left(fmt.Sprint(m.Nodes[n]), 6)
	}
	room := tell.Width - 23 - 6*len(shown) - 2 - 7 - 8
	p.Line("%s  %s%s%s", head, tell.Right("theory", room), tell.Left("sync", 7), tell.Left("per T", 8))
	for s, spec := range m.Specs {
		line := tell.Right(tell.Cut(spec.Name, 22), 23)
		for _, n := range shown {
			line += tell.Left(compact(messages.Value(m.Find(s, n, think, hold))), 6)
		}
		c := m.Find(s, last, think, hold)
		p.Line("%s  %s%s%s", line, tell.Right(tell.Cut(theoryText(messages, c), room), room), tell.Left(compact(sync.Value(c)), 7), tell.Left(compact(throughput.Value(c)), 8))
	}
	p.Line("%s", tell.Left(fmt.Sprintf("(theory, sync delay and throughput for N = %d)", m.Nodes[last]), tell.Width))
}

// theoryText says what theory expects of a cell.
func theoryText(by compare.Measure, c *compare.Cell) string {
	r, ok := by.Range(c)
	switch {
	case !ok:
		return "-"
	case r.Lo == r.Hi:
		return words.Plain(r.Lo)
	}
	return words.Plain(r.Lo) + ".." + words.Plain(r.Hi)
}

// compact writes x in few characters, or a dash if there is none.
func compact(x float64, ok bool) string {
	if !ok {
		return "-"
	}
	return words.Compact(x)
}

// printBest shows who is best where.
func printBest(p *tell.Page, m *compare.Map, shown []int) {
	by := compare.Measures()[:3]
	p.Line("BEST WHERE (+n: so many others come within 1 %%)")
	p.Line("%s%s%s  %s%s%s", tell.Left("think", 9), tell.Left("hold", 5), tell.Left("N", 4),
		tell.Right("fewest messages", 20), tell.Right("shortest sync delay", 20), "highest throughput")
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			for _, n := range shown {
				place := (h*len(m.Think)+t)*len(m.Nodes) + n
				line := tell.Left(tell.Cut(think.String(), 8), 9) + tell.Left(tell.Cut(hold.String(), 4), 5) + tell.Left(fmt.Sprint(m.Nodes[n]), 4) + "  "
				for _, measure := range by {
					line += tell.Right(bestName(m, measure, place, 19), 20)
				}
				p.Line("%s", line)
			}
		}
	}
}

func bestName(m *compare.Map, by compare.Measure, place, room int) string {
	best := m.Best(by, place)
	if len(best.Specs) == 0 {
		return "-"
	}
	if best.All {
		return "all alike"
	}
	more := ""
	if n := len(best.Specs) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	return tell.Cut(m.Specs[best.Specs[0]].Name, room-len(more)) + more
}

// printMethods shows a comparison of methods: a table for each measure.
func printMethods(p *tell.Page, m *compare.DeadlockMap, out string) {
	p.Line("Methods against deadlock: %s over %s at %s, seed %d", words.Plural(m.Transactions, "transaction"),
		words.Plural(m.Locks, "lock"), words.Plural(m.Sites, "site"), m.Seed)
	shown := pick(len(m.Processes), 6)
	for _, by := range compare.DeadlockMeasures() {
		p.Gap()
		head := tell.Right(by.Title+", N =", 32)
		if len(by.Title) > 26 {
			p.Line("%s", by.Title)
			head = tell.Right("N =", 32)
		}
		for _, n := range shown {
			head += tell.Left(fmt.Sprint(m.Processes[n]), 8)
		}
		p.Line("%s", head)
		for _, r := range m.Rows {
			line := "  " + tell.Right(r.Name, 30)
			for _, n := range shown {
				x := by.Of(r.Results[n])
				line += tell.Left(compact(x, !math.IsNaN(x)), 8)
			}
			p.Line("%s", line)
		}
	}
	p.Gap()
	printReport(p, out)
}
