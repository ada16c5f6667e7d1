package bank

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// The layout of a diagram, in columns.
const (
	timeWidth = 7
	noteWidth = 13
	columns   = 80
	maxLanes  = 4 // machines that fit beside the account
	maxDrawn  = 1000
)

// Fits reports whether a scene with this many machines and deposits of each is small
// enough for a diagram as text.
func Fits(machines, deposits int) bool {
	return machines <= maxLanes && deposits <= maxDrawn
}

// A canvas draws a scene as text: time runs down, the account has the lane in the middle,
// and a message is drawn where it arrives.
type canvas struct {
	machines int
	lanes    []int // column of each machine, and of the account after them
	phase    []rune
	balance  int64
	sumWidth int          // width of the account's lane
	refused  map[int]bool // rejected writes, by number
	rows     []string
}

// The phases of a machine.
const (
	idle    = '┊'
	waiting = '┃'
	inside  = '█'
	dead    = ' '
)

// Diagram draws the events of a scene that began with this balance. If there are more
// rows than maxRows, the rest is only counted.
func (r *Result) Diagram(balance int64, maxRows int) []string {
	c := &canvas{machines: r.Machines, balance: balance, sumWidth: len(words.Grouped(max(balance, r.Expected))), refused: map[int]bool{}}
	for _, e := range r.Events {
		if e.Kind == trace.Send && e.Name == Refusal {
			c.refused[e.Msg-1] = true // the answer comes right after its question
		}
	}
	c.place()
	for range r.Machines {
		c.phase = append(c.phase, idle)
	}
	c.header()
	for i := 0; i < len(r.Events); {
		j := i + 1
		for j < len(r.Events) && together(r.Events[i], r.Events[j]) {
			j++
		}
		c.moment(r.Events[i:j])
		i = j
	}
	if left := len(c.rows) - 1 - maxRows; left > 0 {
		c.rows = append(c.rows[:maxRows+1], fmt.Sprintf("%*s  ... %d more rows", timeWidth, "", left))
	}
	return c.rows
}

// together reports whether y belongs in the same row as x: one process at one time, and
// at most one arrival.
func together(x, y trace.Event) bool {
	return x.At == y.At && x.Proc == y.Proc && y.Kind != trace.Receive
}

// place gives every machine a lane, half of them on each side of the account.
func (c *canvas) place() {
	n := c.machines
	first, last := timeWidth+2, columns-noteWidth-3
	at := func(slot int) int { return first + slot*(last-first)/max(n, 1) }
	half := (n + 1) / 2
	for p := range n {
		slot := p
		if p >= half {
			slot++
		}
		c.lanes = append(c.lanes, at(slot))
	}
	c.lanes = append(c.lanes, at(half))
}

func (c *canvas) account() algorithm.ID { return algorithm.ID(c.machines) }

// blank returns a row with the lanes as they are.
func (c *canvas) blank() []rune {
	row := []rune(strings.Repeat(" ", columns))
	for p, phase := range c.phase {
		row[c.lanes[p]] = phase
	}
	center(row, c.lanes[c.account()], words.Grouped(c.balance))
	return row
}

func (c *canvas) header() {
	row := []rune(strings.Repeat(" ", columns))
	put(row, timeWidth-4, "time")
	for p := range algorithm.ID(c.machines) {
		center(row, c.lanes[p], p.String())
	}
	center(row, c.lanes[c.account()], "account")
	c.rows = append(c.rows, strings.TrimRight(string(row), " "))
}

// moment draws what one process did at one time, if there is anything to see.
func (c *canvas) moment(events []trace.Event) {
	first := events[0]
	var notes []string
	for i, e := range events {
		note := c.change(e)
		if e.Kind == trace.Ask && i+1 < len(events) && events[i+1].Kind == trace.Enter {
			continue // it does not wait
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if first.Kind != trace.Receive && len(notes) == 0 {
		return
	}
	row := c.blank()
	put(row, 0, fmt.Sprintf("%*s", timeWidth, hundredths(first.At)))
	if first.Kind == trace.Receive {
		c.arrow(row, first)
	}
	if len(notes) > 0 {
		who := first.Proc.String() + " "
		if first.Proc == c.account() {
			who = ""
		}
		put(row, columns-noteWidth, who+strings.Join(notes, ", "))
	}
	c.rows = append(c.rows, strings.TrimRight(string(row), " "))
}

// change follows an event, and returns the word for it, if it needs one.
func (c *canvas) change(e trace.Event) string {
	switch {
	case e.Proc == c.account():
		if e.Kind == trace.Receive && e.Name == "WRITE" && !c.refused[e.Msg] {
			c.balance = sumOf(e)
		}
		if e.Kind == trace.Send && e.Name == Refusal {
			return "refuses"
		}
	case e.Kind == trace.Ask:
		c.phase[e.Proc] = waiting
		return "asks"
	case e.Kind == trace.Enter:
		c.phase[e.Proc] = inside
		return "enters"
	case e.Kind == trace.Exit:
		c.phase[e.Proc] = idle
		return "leaves"
	case e.Kind == trace.Crash:
		c.phase[e.Proc] = dead
		return "dies"
	case e.Kind == trace.Deny:
		c.phase[e.Proc] = idle
		return "denied"
	}
	return ""
}

// arrow draws the message that e receives.
func (c *canvas) arrow(row []rune, e trace.Event) {
	from, to := c.edge(e.Peer, e.Proc), c.edge(e.Proc, e.Peer)
	lo, hi := min(from, to), max(from, to)
	for x := lo; x <= hi; x++ {
		row[x] = '─'
	}
	if to == hi {
		row[hi] = '▶'
	} else {
		row[lo] = '◀'
	}
	label := " " + e.Name + " "
	if len(e.Fields) > 0 && (e.Name == "VALUE" || e.Name == "WRITE") {
		label = " " + e.Name + " " + words.Grouped(sumOf(e)) + " "
	}
	if len(label)+2 > hi-lo {
		label = " " + e.Name + " "
	}
	if len(label)+2 > hi-lo {
		label = " " + e.Name[:1] + " "
	}
	center(row, (lo+hi+1)/2, label)
}

// edge returns the column beside p's lane that is nearest to other.
func (c *canvas) edge(p, other algorithm.ID) int {
	gap := 1
	if p == c.account() {
		gap = c.sumWidth/2 + 2
	}
	if c.lanes[other] < c.lanes[p] {
		gap = -gap
	}
	return c.lanes[p] + gap
}

func put(row []rune, at int, text string) {
	for i, r := range []rune(text) {
		if x := at + i; x >= 0 && x < len(row) {
			row[x] = r
		}
	}
}

func center(row []rune, at int, text string) { put(row, at-len([]rune(text))/2, text) }

func sumOf(e trace.Event) int64 {
	n, _ := strconv.ParseInt(e.Fields[0].Value, 10, 64)
	return n
}

// hundredths formats a time in units of T, with two decimals.
func hundredths(ticks int64) string {
	return strconv.FormatFloat(float64(ticks)/scenario.T, 'f', 2, 64)
}
