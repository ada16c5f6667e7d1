package main

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/compare"
)

// printLocks shows a comparison of algorithms: a table for each load, and then who
// is best where.
func printLocks(p *Page, m *compare.Map, out string) {
	p.Line("%s, runs of %s, seed %d; times in T, the latency of a message",
		words.Plural(len(m.Specs), "algorithm"), words.Plural(m.Entries, "entry"), m.Seed)
	if m.Topology != "" {
		p.Line("topology %s", m.Topology)
	}
	shown := pick(len(m.Nodes), 5)
	for h, hold := range m.Hold {
		for t, think := range m.Think {
			if !m.Begun(t, h) {
				continue
			}
			busy := ""
			if think.Max() == 0 {
				busy = " (saturated)"
			}
			p.Gap()
			p.Line("THINK %v%s, HOLD %v", think, busy, hold)
			comparePrintLoad(p, m, shown, t, h)
			printConstants(p, m, shown, t, h)
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
func printReport(p *Page, out string) {
	if out != "" && p.Written {
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

// comparePrintLoad shows all algorithms under one load: messages for each number
// of processes, theory's formula, and delay and throughput for the largest.
func comparePrintLoad(p *Page, m *compare.Map, shown []int, think, hold int) {
	by := compare.Measures()
	messages, sync, throughput := by[0], by[1], by[2]
	last := len(m.Nodes) - 1
	head := fmt.Sprintf("%-23s", "messages per entry, N =")
	for _, n := range shown {
		head += fmt.Sprintf("%6d", m.Nodes[n])
	}
	room := Width - 23 - 6*len(shown) - 2 - 7 - 8
	p.Line("%s  %-*s%7s%8s", head, room, "theory", "sync", "per T")
	for s, spec := range m.Specs {
		line := fmt.Sprintf("%-23s", Cut(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(messages.Value(m.Find(s, n, think, hold))))
		}
		c := m.Find(s, last, think, hold)
		p.Line("%s  %-*s%7s%8s", line, room, Cut(theoryText(messages, c), room), words.Compact(sync.Value(c)), words.Compact(throughput.Value(c)))
	}
	p.Line("%*s", Width, fmt.Sprintf("(theory, sync delay and throughput for N = %d)", m.Nodes[last]))
}

// printConstants shows Maekawa's constant c for each number of processes, if
// there are algorithms that ask quorums.
func printConstants(p *Page, m *compare.Map, shown []int, think, hold int) {
	head := "c = messages / sqrt(N) of those that ask quorums"
	for s, spec := range m.Specs {
		if spec.Class != algorithm.Quorum {
			continue
		}
		line := fmt.Sprintf("%-23s", Cut(spec.Name, 22))
		for _, n := range shown {
			line += fmt.Sprintf("%6s", words.Compact(m.Find(s, n, think, hold).Constant()))
		}
		if head != "" {
			p.Line("%s", head)
			head = ""
		}
		p.Line("%s", line)
	}
}

// theoryText says what theory expects of a cell.
func theoryText(by compare.Measure, c *compare.Cell) string {
	if r, ok := by.Range(c); ok {
		return words.Range(r.Lo, r.Hi)
	}
	return "-"
}

// printBest shows who is best where.
func printBest(p *Page, m *compare.Map, shown []int) {
	by := compare.Measures()[:3]
	if m.Stopped() != "" {
		p.Text(0, "Where a run is missing nobody is best.")
	}
	p.Line("BEST WHERE (+n: so many others come within 1 %%)")
	p.Line("%9s%5s%4s  %-20s%-20s%s", "think", "hold", "N", "fewest messages", "shortest sync delay", "highest throughput")
	for place, at := range m.Places() {
		if !slices.Contains(shown, place%len(m.Nodes)) || !m.Complete(place) {
			continue
		}
		line := fmt.Sprintf("%9s%5s%4d  ", Cut(at.Think.String(), 8), Cut(at.Hold.String(), 4), at.Nodes)
		for _, measure := range by {
			line += fmt.Sprintf("%-20s", bestName(m, measure, place, 19))
		}
		p.Line("%s", line)
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
	return Cut(m.Specs[best.Specs[0]].Name, room-len(more)) + more
}

// printMethods shows a comparison of methods: a table for each measure.
func printMethods(p *Page, m *compare.DeadlockMap, out string) {
	p.Line("Methods against deadlock: %s over %s at %s, seed %d", words.Plural(m.Transactions, "transaction"),
		words.Plural(m.Locks, "lock"), words.Plural(m.Sites, "site"), m.Seed)
	shown := pick(len(m.Processes), 6)
	for _, by := range compare.DeadlockMeasures() {
		p.Gap()
		head := fmt.Sprintf("%-32s", by.Title+", N =")
		if len(by.Title) > 26 {
			p.Line("%s", by.Title)
			head = fmt.Sprintf("%-32s", "N =")
		}
		for _, n := range shown {
			head += fmt.Sprintf("%8d", m.Processes[n])
		}
		p.Line("%s", head)
		for _, r := range m.Rows {
			line := fmt.Sprintf("  %-30s", r.Name)
			for _, n := range shown {
				line += fmt.Sprintf("%8s", words.Compact(by.Value(r.Results[n])))
			}
			p.Line("%s", line)
		}
	}
	p.Gap()
	printReport(p, out)
}
