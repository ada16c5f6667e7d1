package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/stile-lock/stile/internal/compare"
)

// printCompare shows a comparison to people: a table for each load, and then
// who is best where.
func printCompare(w io.Writer, m *compare.Map, out string) error {
	p := &page{w: w}
	p.line("%s, runs of %s, seed %d; times in T, the latency of a message",
		plural(len(m.Specs), "algorithm"), plural(m.Entries, "entry"), m.Seed)
	shown := pick(len(m.Nodes), 5)
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			busy := ""
			if think.Max() == 0 {
				busy = " (saturated)"
			}
			p.line("")
			p.line("THINK %v%s, HOLD %v", think, busy, hold)
			printLoadTable(p, m, shown, t, h)
		}
	}
	p.line("")
	printBest(p, m, shown)
	p.line("")
	if len(shown) < len(m.Nodes) {
		p.line("Not all numbers of processes are shown here; the report and --json have them.")
	}
	if out != "" {
		p.line("Report: %s", out)
	}
	return p.err
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
func printLoadTable(p *page, m *compare.Map, shown []int, think, hold int) {
	by := compare.Measures()
	messages, sync, throughput := by[0], by[1], by[2]
	last := len(m.Nodes) - 1
	head := right("messages per entry, N =", 23)
	for _, n := range shown {
		head += left(fmt.Sprint(m.Nodes[n]), 6)
	}
	room := width - 23 - 6*len(shown) - 2 - 7 - 8
	p.line("%s  %s%s%s", head, right("theory", room), left("sync", 7), left("per T", 8))
	for s, spec := range m.Specs {
		line := right(cut(spec.Name, 22), 23)
		for _, n := range shown {
			line += left(value(messages, m.Find(s, n, think, hold)), 6)
		}
		c := m.Find(s, last, think, hold)
		p.line("%s  %s%s%s", line, right(cut(theoryText(messages, c), room), room), left(value(sync, c), 7), left(value(throughput, c), 8))
	}
	p.line("%s", left(fmt.Sprintf("(theory, sync delay and throughput for N = %d)", m.Nodes[last]), width))
}

// theoryText says what theory expects of a cell.
func theoryText(by compare.Measure, c *compare.Cell) string {
	r, ok := by.Range(c)
	switch {
	case !ok:
		return "-"
	case r.Lo == r.Hi:
		return plain(r.Lo)
	}
	return plain(r.Lo) + ".." + plain(r.Hi)
}

func value(by compare.Measure, c *compare.Cell) string {
	x, ok := by.Value(c)
	if !ok {
		return "-"
	}
	return compact(x)
}

// printBest shows who is best where.
func printBest(p *page, m *compare.Map, shown []int) {
	by := compare.Measures()[:3]
	p.line("BEST WHERE (+n: so many others come within 1 %%)")
	p.line("%s%s%s  %s%s%s", left("think", 9), left("hold", 5), left("N", 4),
		right("fewest messages", 20), right("shortest sync delay", 20), "highest throughput")
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			for _, n := range shown {
				place := (h*len(m.Think)+t)*len(m.Nodes) + n
				line := left(cut(think.String(), 8), 9) + left(cut(hold.String(), 4), 5) + left(fmt.Sprint(m.Nodes[n]), 4) + "  "
				for _, measure := range by {
					line += right(bestName(m, measure, place, 19), 20)
				}
				p.line("%s", line)
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
	return cut(m.Specs[best.Specs[0]].Name, room-len(more)) + more
}

// bars returns a bar of n columns.
func bars(n int) string { return strings.Repeat("#", n) }
