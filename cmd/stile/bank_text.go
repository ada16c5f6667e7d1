package main

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/bank"
)

// How many rows of a diagram fit on the screen.
const (
	storyRows = 14
	sceneRows = 60
)

// printStory tells what happens without a lock and with each. The first
// result is the one without, the second the one to be shown in full.
func printStory(w io.Writer, c bank.Config, results []*bank.Result) error {
	p := &page{w: w}
	for _, line := range wrap(fmt.Sprintf("An account holds %s. %s on it: each reads the balance over the network, adds, and writes the sum back. In the end it must hold %s.",
		grouped(c.Balance), depositors(c), grouped(results[0].Expected)), width) {
		p.line("%s", line)
	}
	p.line("")
	p.line("%s┊ idle  ┃ waiting  █ inside", right("WITHOUT A LOCK", 50))
	printDiagram(p, c, results[0], storyRows)
	printEnd(p, results[0])
	if results[0].Lost == 0 {
		p.line("They came one after the other: luck. Another --seed will lose money.")
	}
	if len(results) < 2 {
		return p.err
	}
	p.line("")
	p.line("THE SAME CUSTOMERS, WITH %s", results[1].Lock)
	printDiagram(p, c, results[1], storyRows)
	printEnd(p, results[1])
	p.line("")
	p.line("AND WITH EVERY OTHER SOUND ALGORITHM (balance, messages of the lock)")
	printOthers(p, results[2:])
	return p.err
}

// printOthers lists scenes in two columns, or in one if they are wide.
func printOthers(p *page, results []*bank.Result) {
	var cells []string
	room := 0
	for _, r := range results {
		cell := right(cut(r.Lock, 22), 22) + left(grouped(r.Balance), 8) + left(fmt.Sprint(r.Messages), 6) + lostMark(r)
		cells = append(cells, cell)
		room = max(room, utf8.RuneCountInString(cell))
	}
	columns := 2
	if 2*(room+2)+1 > width {
		columns = 1
	}
	rows := (len(cells) + columns - 1) / columns
	for i := range rows {
		line := cells[i]
		if i+rows < len(cells) {
			line = right(line, 40) + cells[i+rows]
		}
		p.line("  %s", line)
	}
}

func lostMark(r *bank.Result) string {
	if r.Lost != 0 {
		return " LOST"
	}
	return ""
}

// printScene shows one scene.
func printScene(w io.Writer, c bank.Config, r *bank.Result) error {
	p := &page{w: w}
	p.line("%s: %s on the account, seed %d.", bankTitle(c.Lock), grouped(c.Balance), c.Seed)
	p.line("%s.", depositors(c))
	p.line("")
	printDiagram(p, c, r, sceneRows)
	p.line("")
	printEnd(p, r)
	p.line("%s, %s of the lock", plural(r.Entries, "deposit"), plural(r.Messages, "message"))
	return p.err
}

func depositors(c bank.Config) string {
	each := ""
	if c.Deposits > 1 {
		each = fmt.Sprintf(" %d times", c.Deposits)
	}
	if c.Machines == 1 {
		return fmt.Sprintf("1 cash machine deposits %s%s", grouped(c.Amount), each)
	}
	return fmt.Sprintf("%s deposit %s each%s", plural(c.Machines, "cash machine"), grouped(c.Amount), each)
}

func printDiagram(p *page, c bank.Config, r *bank.Result, rows int) {
	if !bank.Fits(c.Machines, c.Deposits) {
		p.line("(too many machines or deposits for a diagram as text: --svg draws the first)")
		return
	}
	for _, row := range r.Diagram(c.Balance, rows) {
		p.line("%s", row)
	}
}

// printEnd says how it ended, and why.
func printEnd(p *page, r *bank.Result) {
	if r.Lost == 0 {
		p.line("The balance is %s: nothing is lost.", grouped(r.Balance))
		return
	}
	why := ""
	if len(r.Overwritten) > 0 {
		o := r.Overwritten[0]
		why = fmt.Sprintf(": %v read before %v had written", o.By, o.Of)
		if o.By == core.None || o.Of == core.None {
			why = ""
		}
	}
	text := fmt.Sprintf("The balance is %s. %s IS LOST%s.", grouped(r.Balance), grouped(r.Lost), why)
	for _, line := range wrap(text, width) {
		p.line("%s", line)
	}
}
