package deadlock

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Text draws the graph for a terminal of 80 columns: for each resource a box for every
// instance, with its holder, and the requests with their amounts; then the transactions
// that can end, in order, and those that cannot.
func (a *Allocation) Text() string {
	var b strings.Builder
	b.WriteString(a.Units())
	order, left := a.Reduce()
	if len(order) > 0 {
		wrap(&b, append([]string{"can end, in this order:"}, names(order)...))
	}
	if len(left) > 0 {
		wrap(&b, append([]string{"deadlocked:"}, names(left)...))
	}
	return b.String()
}

// Units draws the graph without saying which transactions can end.
func (a *Allocation) Units() string {
	var b strings.Builder
	for r := range a.units {
		words := []string{ResourceName(r)}
		for tx := range a.assigned {
			for range a.assigned[tx][r] {
				words = append(words, fmt.Sprintf("[%v]", algorithm.ID(tx)))
			}
		}
		for range a.Free(r) {
			words = append(words, "[ ]")
		}
		for tx := range a.requests {
			if n := a.requests[tx][r]; n > 0 {
				words = append(words, fmt.Sprintf("<--%s %v", times(n), algorithm.ID(tx)))
			}
		}
		wrap(&b, words)
	}
	return b.String()
}

// String describes the step: P3 gets 1 R3, ends, and gives back 2 R2, 1 R3.
func (s Reduction) String() string {
	gets, back := "asks for nothing", ", has nothing, and ends"
	if slices.Max(s.Asks) > 0 {
		gets = "gets " + Amounts(s.Asks, false)
	}
	if slices.Max(s.Has) > 0 || slices.Max(s.Asks) > 0 {
		all := slices.Clone(s.Has)
		add(all, s.Asks, 1)
		back = ", ends, and gives back " + Amounts(all, false)
	}
	return s.Tx.String() + " " + gets + back
}

// Amounts formats the units of each resource: of all resources, or only of those with
// any.
func Amounts(units []int, all bool) string {
	var list []string
	for r, n := range units {
		if n > 0 || all {
			list = append(list, fmt.Sprintf("%d %s", n, ResourceName(r)))
		}
	}
	return strings.Join(list, ", ")
}

// times formats the number of instances of a request, unless it is one.
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

// wrap writes words in lines no wider than a ring may be.
func wrap(b *strings.Builder, words []string) {
	line := " "
	for _, w := range words {
		if len(line)+1+len(w) > ringWidth {
			b.WriteString(line + "\n")
			line = "     "
		}
		line += " " + w
	}
	b.WriteString(line + "\n")
}

// Sizes of the picture of an allocation.
const (
	seatWidth = 92.0 // from one transaction, or resource, to the next
	dotSpace  = 14.0 // from one instance to the next
	upper     = 96.0 // height at which transactions are drawn
	lower     = 226.0
)

// SVG draws the graph as textbooks do: transactions are circles, resources are boxes with
// a dot for every instance. A request leads from a circle to a box, an assignment from a
// dot to a circle. Deadlocked transactions are drawn in the colour of rings, edges
// included; above a transaction that can end is its place in the order of endings.
func (a *Allocation) SVG(title string) string {
	order, left := a.Reduce()
	p := &plan{a: a}
	width, height := max(p.width()+32, 360, 32+8.7*float64(len(title))), lower+64
	note := "nobody is deadlocked"
	if len(left) > 0 {
		note = "deadlocked: " + strings.Join(names(left), " ")
	}
	var b strings.Builder
	for r := range a.units {
		p.box(&b, r)
	}
	for tx := range a.requests {
		p.edges(&b, tx, slices.Contains(left, algorithm.ID(tx)))
	}
	for tx := range a.requests {
		look := circle{"#ffffff", ink, ink, false, ""}
		if slices.Contains(left, algorithm.ID(tx)) {
			look.line = alarm
		}
		look.draw(&b, p.circle(tx), radius)
		label(&b, p.circle(tx), look.text, algorithm.ID(tx).String())
	}
	for i, tx := range order {
		at := p.circle(int(tx))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="11" fill="%s" text-anchor="middle">%d.</text>`+"\n", at.x, at.y-radius-6, grey, i+1)
	}
	bottom := legend(&b, p.signs(len(left)), height-16, width)
	return frame(title, note, width, bottom, b.String())
}

// signs returns the legend of the drawing, given the number of deadlocked transactions.
func (p *plan) signs(deadlocked int) []sign {
	dot := sign{means: "a unit of a resource, the box", circle: func(b *strings.Builder, at point) {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", at.x, at.y, ink)
	}}
	all := []sign{dot}
	if deadlocked < len(p.a.requests) {
		wait := waitSign()
		wait.means = "to a box: asks; from a unit: is had by"
		end := sign{means: "who can end, in this order", circle: func(b *strings.Builder, at point) {
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="11" fill="%s" text-anchor="middle">1.</text>`+"\n", at.x, at.y+4, grey)
		}}
		all = append(all, wait, end)
	}
	if deadlocked > 0 {
		ring := ringSign()
		ring.means = "the same, of who is deadlocked"
		all = append(all, ring)
	}
	return all
}

// A plan says where each part of an allocation is drawn.
type plan struct{ a *Allocation }

func (p *plan) width() float64 {
	right := 0.0
	for r := range p.a.units {
		_, right = p.sides(r)
	}
	return max(seatWidth*float64(len(p.a.requests)), right)
}

func (p *plan) circle(tx int) point {
	return point{16 + seatWidth*(float64(tx)+0.5), upper}
}

// boxWidth returns the width that the dots of a resource need.
func (p *plan) boxWidth(r int) float64 { return max(44, dotSpace*float64(p.a.units[r]+1)) }

// sides returns where the box of a resource begins and ends. Boxes are spread below all
// circles, if there is room.
func (p *plan) sides(r int) (left, right float64) {
	room := seatWidth * float64(len(p.a.requests))
	for i := range p.a.units {
		room -= p.boxWidth(i)
	}
	gap := max(20, room/float64(max(1, len(p.a.units))))
	left = 16 + gap/2
	for i := range r {
		left += p.boxWidth(i) + gap
	}
	return left, left + p.boxWidth(r)
}

func (p *plan) dot(r, i int) point {
	left, right := p.sides(r)
	return point{(left+right)/2 + dotSpace*(float64(i)-float64(p.a.units[r]-1)/2), lower}
}

func (p *plan) box(b *strings.Builder, r int) {
	left, right := p.sides(r)
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="28" rx="3" fill="#ffffff" stroke="%s" stroke-width="1.6"/>`+"\n", left, lower-14, right-left, ink)
	for i := range p.a.units[r] {
		at := p.dot(r, i)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", at.x, at.y, ink)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" text-anchor="middle">%s</text>`+"\n", (left+right)/2, lower+32, ink, ResourceName(r))
}

// edges draws what a transaction has and requests.
func (p *plan) edges(b *strings.Builder, tx int, stuck bool) {
	at := p.circle(tx)
	for r := range p.a.units {
		first := 0 // the dots before belong to earlier transactions
		for other := range tx {
			first += p.a.assigned[other][r]
		}
		for i := range p.a.assigned[tx][r] {
			straight(b, p.dot(r, first+i), at, 5, radius+5, stuck, fmt.Sprintf("%v has %s", algorithm.ID(tx), ResourceName(r)))
		}
		if n := p.a.requests[tx][r]; n > 0 {
			left, right := p.sides(r)
			to := point{min(max(at.x, left+6), right-6), lower - 14}
			straight(b, at, to, radius+3, 3, stuck, fmt.Sprintf("%v asks for %d of %s", algorithm.ID(tx), n, ResourceName(r)))
			if n > 1 {
				fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="10" fill="%s" stroke="#ffffff" stroke-width="3" paint-order="stroke" text-anchor="middle">%d</text>`+"\n", (at.x+to.x)/2, (at.y+to.y)/2+3.5, grey, n)
			}
		}
	}
}

// straight draws an arrow that begins and ends slightly off its points.
func straight(b *strings.Builder, from, to point, off, before float64, stuck bool, title string) {
	dx, dy := to.x-from.x, to.y-from.y
	length := math.Hypot(dx, dy)
	ux, uy := dx/length, dy/length
	colour, head, stroke := blue, "wait", "1.6"
	if stuck {
		colour, head, stroke = alarm, "ring", "2.4"
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1f L%.1f %.1f" fill="none" stroke="%s" stroke-width="%s" marker-end="url(#%s)"><title>%s</title></path>`+"\n",
		from.x+ux*off, from.y+uy*off, to.x-ux*before, to.y-uy*before, colour, stroke, head, html.EscapeString(title))
}
