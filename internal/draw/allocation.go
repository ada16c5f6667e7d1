package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Sizes of the picture of an allocation.
const (
	seatWidth = 92.0 // from one transaction, or resource, to the next
	dotSpace  = 14.0 // from one unit to the next
	upper     = 96.0 // height at which transactions are drawn
	lower     = 226.0
)

// Allocation draws a resource-allocation graph as textbooks do: transactions are circles,
// resources are boxes with a dot for every unit. A request leads from a circle to a box,
// an assignment from a dot to a circle. Deadlocked transactions are drawn in the colour of
// rings, edges included; above a transaction that can end is its place in the order of
// endings.
func Allocation(a *deadlock.Allocation, title string) string {
	order, left := a.Reduce()
	p := &plan{units: a.Units()}
	for tx := range algorithm.ID(a.Transactions()) {
		p.has, p.asks = append(p.has, a.Assigned(tx)), append(p.asks, a.Requested(tx))
	}
	width, height := max(p.width()+32, 360, 32+8.7*float64(len(title))), lower+64
	note := "no deadlock"
	if len(left) > 0 {
		note = "deadlocked: " + strings.Join(names(left), " ")
	}
	c := &Canvas{}
	for r := range p.units {
		p.box(c, r)
	}
	for tx := range algorithm.ID(len(p.has)) {
		p.edges(c, tx, slices.Contains(left, tx))
	}
	for tx := range algorithm.ID(len(p.has)) {
		look := circle{fill: Paper, text: Ink, line: Ink}
		if slices.Contains(left, tx) {
			look.line = alarm
		}
		look.draw(c, p.circle(tx), radius)
		look.label(c, p.circle(tx), tx.String())
	}
	for i, tx := range order {
		at := p.circle(tx)
		place(c, point{at.x, at.y - radius - 6}, i+1)
	}
	bottom := legend(c, p.signs(len(left)), height-16, width)
	return graphPage(title, note, width, bottom, c)
}

// place writes a place in the order of endings.
func place(c *Canvas, at point, n int) {
	c.Text(px(at.x), px(at.y), fmt.Sprintf("%d.", n), "font-size", "11", "fill", Grey, "text-anchor", "middle")
}

// unit draws a unit of a resource.
func unit(c *Canvas, at point) {
	c.Leaf("circle", "", "cx", px(at.x), "cy", px(at.y), "r", "3.5", "fill", Ink)
}

// signs returns the legend of the drawing, given the number of deadlocked transactions.
func (p *plan) signs(deadlocked int) []sign {
	all := []sign{{means: "a unit of a resource (box)", draw: unit}}
	if deadlocked < len(p.has) {
		wait := waitSign()
		wait.means = "to a box: asks for; from a unit: held by"
		end := sign{means: "can end, in this order", draw: func(c *Canvas, at point) { place(c, point{at.x, at.y + 4}, 1) }}
		all = append(all, wait, end)
	}
	if deadlocked > 0 {
		ring := ringSign()
		ring.means = "the same, for deadlocked processes"
		all = append(all, ring)
	}
	return all
}

// A plan says where each part of an allocation is drawn.
type plan struct {
	units     []int   // by resource
	has, asks [][]int // by transaction and resource
}

func (p *plan) width() float64 {
	right := 0.0
	for r := range p.units {
		_, right = p.sides(r)
	}
	return max(seatWidth*float64(len(p.has)), right)
}

func (p *plan) circle(tx algorithm.ID) point {
	return point{16 + seatWidth*(float64(tx)+0.5), upper}
}

// boxWidth returns the width that the dots of a resource need.
func (p *plan) boxWidth(r int) float64 { return max(44, dotSpace*float64(p.units[r]+1)) }

// sides returns where the box of a resource begins and ends. Boxes are spread below all
// circles, if there is room.
func (p *plan) sides(r int) (left, right float64) {
	room := seatWidth * float64(len(p.has))
	for i := range p.units {
		room -= p.boxWidth(i)
	}
	gap := max(20, room/float64(max(1, len(p.units))))
	left = 16 + gap/2
	for i := range r {
		left += p.boxWidth(i) + gap
	}
	return left, left + p.boxWidth(r)
}

func (p *plan) dot(r, i int) point {
	left, right := p.sides(r)
	return point{(left+right)/2 + dotSpace*(float64(i)-float64(p.units[r]-1)/2), lower}
}

func (p *plan) box(c *Canvas, r int) {
	left, right := p.sides(r)
	c.Leaf("rect", "", "x", px(left), "y", px(lower-14), "width", px(right-left), "height", "28", "rx", "3", "fill", Paper, "stroke", Ink, "stroke-width", "1.6")
	for i := range p.units[r] {
		unit(c, p.dot(r, i))
	}
	c.Text(px((left+right)/2), px(lower+32), deadlock.ResourceName(r), "fill", Ink, "text-anchor", "middle")
}

// edges draws what a transaction has and requests.
func (p *plan) edges(c *Canvas, tx algorithm.ID, stuck bool) {
	at := p.circle(tx)
	look := waitSign().edge
	if stuck {
		look = ringSign().edge
	}
	for r := range p.units {
		first := 0 // the dots before belong to earlier transactions
		for other := range tx {
			first += p.has[other][r]
		}
		for i := range p.has[tx][r] {
			look.straight(c, p.dot(r, first+i), at, 5, radius+5, fmt.Sprintf("%v holds %s", tx, deadlock.ResourceName(r)))
		}
		if n := p.asks[tx][r]; n > 0 {
			left, right := p.sides(r)
			to := point{min(max(at.x, left+6), right-6), lower - 14}
			look.straight(c, at, to, radius+3, 3, fmt.Sprintf("%v asks for %d of %s", tx, n, deadlock.ResourceName(r)))
			if n > 1 {
				onEdge(c, point{(at.x + to.x) / 2, (at.y+to.y)/2 + 3.5}, "10", fmt.Sprint(n))
			}
		}
	}
}

// straight draws an arrow that begins and ends slightly off its points.
func (s stroke) straight(c *Canvas, from, to point, off, before float64, tip string) {
	dx, dy := to.x-from.x, to.y-from.y
	length := math.Hypot(dx, dy)
	ux, uy := dx/length, dy/length
	start, end := point{from.x + ux*off, from.y + uy*off}, point{to.x - ux*before, to.y - uy*before}
	s.arrow(c, fmt.Sprintf("M%v L%v", start, end), tip)
}
