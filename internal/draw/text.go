package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// textWidth is the greatest width of a ring, and of a line of an allocation.
const textWidth = 74

// WaitForText draws a wait-for graph for a terminal of 80 columns: each cycle as a ring of
// its own, and below them the transactions that wait outside.
func WaitForText(g *deadlock.Graph) string {
	var b strings.Builder
	inside := map[[2]algorithm.ID]bool{}
	for _, cycle := range g.Cycles() {
		ring(&b, g, cycle)
		for i, tx := range cycle {
			inside[[2]algorithm.ID{tx, cycle[(i+1)%len(cycle)]}] = true
		}
	}
	for _, e := range g.Edges() {
		if !inside[[2]algorithm.ID{e.From, e.To}] {
			fmt.Fprintf(&b, "  %v %s %v\n", e.From, arrow(e.Label), e.To)
		}
	}
	if b.Len() == 0 {
		return "  no process waits\n"
	}
	return b.String()
}

func arrow(label string) string {
	if label == "" {
		return "-->"
	}
	return "--" + label + "-->"
}

// ring draws one cycle: a line of arrows to the right, and one back.
func ring(b *strings.Builder, g *deadlock.Graph, cycle []algorithm.ID) {
	words := names(cycle)
	for i := range len(cycle) - 1 {
		words[i] += " " + arrow(edgeLabel(g, cycle[i], cycle[i+1])) + " "
	}
	var lines []string
	line := ""
	for _, w := range words {
		if len(line)+len(w) > textWidth {
			lines, line = append(lines, line), ""
		}
		line += w
	}
	lines = append(lines, line)
	width := 0
	for _, l := range lines {
		width = max(width, len(l))
	}
	for i, l := range lines {
		left, right := " |  ", " |"
		if i == 0 {
			left = " +->"
		}
		pad := strings.Repeat(" ", width-len(l))
		if i == len(lines)-1 {
			right = "-+"
			pad = strings.ReplaceAll(pad, " ", "-")
		}
		fmt.Fprintf(b, "%s%s %s%s\n", left, l, pad, right)
	}
	back := edgeLabel(g, cycle[len(cycle)-1], cycle[0])
	half := max(0, width+1-len(back)) / 2
	fmt.Fprintf(b, " +--%s%s%s-+\n", strings.Repeat("-", half), back, strings.Repeat("-", max(0, width+1-len(back)-half)))
}

func edgeLabel(g *deadlock.Graph, from, to algorithm.ID) string {
	edges := g.From(from)
	if i := slices.IndexFunc(edges, func(e deadlock.Edge) bool { return e.To == to }); i >= 0 {
		return edges[i].Label
	}
	return ""
}

// AllocationText draws an allocation for a terminal of 80 columns: its units, and then the
// transactions that can end, in order, and those that cannot.
func AllocationText(a *deadlock.Allocation) string {
	var b strings.Builder
	b.WriteString(UnitsText(a))
	order, left := a.Reduce()
	if len(order) > 0 {
		wrap(&b, append([]string{"can end, in this order:"}, names(order)...))
	}
	if len(left) > 0 {
		wrap(&b, append([]string{"deadlocked:"}, names(left)...))
	}
	return b.String()
}

// UnitsText draws, for each resource of an allocation, a box for every unit, with its
// holder, and the requests with their amounts.
func UnitsText(a *deadlock.Allocation) string {
	var b strings.Builder
	for r := range a.Units() {
		words := []string{deadlock.ResourceName(r)}
		for tx := range algorithm.ID(a.Transactions()) {
			for range a.Assigned(tx)[r] {
				words = append(words, fmt.Sprintf("[%v]", tx))
			}
		}
		for range a.Free(r) {
			words = append(words, "[ ]")
		}
		for tx := range algorithm.ID(a.Transactions()) {
			if n := a.Requested(tx)[r]; n > 0 {
				words = append(words, fmt.Sprintf("<--%s %v", times(n), tx))
			}
		}
		wrap(&b, words)
	}
	return b.String()
}

// times formats the number of units of a request, unless it is one.
func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%d--", n)
}

func names(ids []algorithm.ID) []string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return words
}

// wrap writes words in lines of limited width.
func wrap(b *strings.Builder, words []string) {
	line := " "
	for _, w := range words {
		if len(line)+1+len(w) > textWidth {
			b.WriteString(line + "\n")
			line = "     "
		}
		line += " " + w
	}
	b.WriteString(line + "\n")
}
