package deadlock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Text draws the graph for a terminal of 80 columns: each cycle as a ring of its own, and
// below them the transactions that wait outside.
func (g *Graph) Text() string {
	var b strings.Builder
	inside := map[Edge]bool{}
	for _, cycle := range g.Cycles() {
		g.ring(&b, cycle)
		for i, tx := range cycle {
			inside[Edge{From: tx, To: cycle[(i+1)%len(cycle)]}] = true
		}
	}
	for _, e := range g.edges {
		if !inside[Edge{From: e.From, To: e.To}] {
			fmt.Fprintf(&b, "  %v %s %v\n", e.From, arrow(e.Label), e.To)
		}
	}
	if b.Len() == 0 {
		return "  nobody waits\n"
	}
	return b.String()
}

func arrow(label string) string {
	if label == "" {
		return "-->"
	}
	return "--" + label + "-->"
}

// ringWidth is the greatest width of a ring.
const ringWidth = 74

// ring draws one cycle: a line of arrows to the right, and one back.
func (g *Graph) ring(b *strings.Builder, cycle []algorithm.ID) {
	words := make([]string, 0, len(cycle))
	for i, tx := range cycle {
		words = append(words, tx.String())
		if i+1 < len(cycle) {
			words[i] += " " + arrow(g.label(tx, cycle[i+1])) + " "
		}
	}
	var lines []string
	line := ""
	for _, w := range words {
		if len(line)+len(w) > ringWidth {
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
		if len(lines) > 1 && i < len(lines)-1 {
			right = " |"
		}
		fmt.Fprintf(b, "%s%s %s%s\n", left, l, pad, right)
	}
	back := g.label(cycle[len(cycle)-1], cycle[0])
	half := max(0, width+1-len(back)) / 2
	fmt.Fprintf(b, " +--%s%s%s-+\n", strings.Repeat("-", half), back, strings.Repeat("-", max(0, width+1-len(back)-half)))
}

func (g *Graph) label(from, to algorithm.ID) string {
	if i := slices.IndexFunc(g.From(from), func(e Edge) bool { return e.To == to }); i >= 0 {
		return g.From(from)[i].Label
	}
	return ""
}

// Chain formats transactions one after the other: P1->P5->P2.
func Chain(ids []algorithm.ID) string {
	return strings.Join(names(ids), "->")
}

// Round formats a cycle, with the first member again at its end.
func Round(cycle []algorithm.ID) string {
	if len(cycle) == 0 {
		return ""
	}
	return Chain(append(slices.Clone(cycle), cycle[0]))
}
