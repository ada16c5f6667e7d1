package bank

import (
	"fmt"
	"unicode/utf8"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/bank"
	"github.com/stile-lock/stile/internal/cli/tell"
	"github.com/stile-lock/stile/internal/words"
)

// How many rows of a diagram fit on the screen.
const (
	storyRows = 14
	sceneRows = 60
)

// printStory tells what happens without a lock and with each. The first
// result is the one without, the second the one to be shown in full.
func printStory(p *tell.Page, c bank.Config, results []*bank.Result) {
	p.Text(0, fmt.Sprintf("An account holds %s. %s on it: each reads the balance over the network, adds, and writes the sum back. In the end it must hold %s.",
		words.Grouped(c.Balance), depositors(c), words.Grouped(results[0].Expected)))
	p.Gap()
	p.Line("%-50s┊ idle  ┃ waiting  █ inside", "WITHOUT A LOCK")
	printDiagram(p, c, results[0], storyRows)
	printEnd(p, results[0])
	if results[0].Lost == 0 {
		p.Line("They came one after the other: luck. Another --seed will lose money.")
	}
	if len(results) < 2 {
		return
	}
	p.Gap()
	p.Line("THE SAME CUSTOMERS, WITH %s", results[1].Lock)
	printDiagram(p, c, results[1], storyRows)
	printEnd(p, results[1])
	p.Gap()
	p.Line("AND WITH EVERY OTHER SOUND ALGORITHM (balance, messages of the lock)")
	printOthers(p, results[2:])
}

// printOthers lists scenes in two columns, or in one if they are wide.
func printOthers(p *tell.Page, results []*bank.Result) {
	var cells []string
	room := 0
	for _, r := range results {
		cell := fmt.Sprintf("%-22s%8s%6d", tell.Cut(r.Lock, 22), words.Grouped(r.Balance), r.Messages)
		if r.Lost != 0 {
			cell += " LOST"
		}
		cells = append(cells, cell)
		room = max(room, utf8.RuneCountInString(cell))
	}
	columns := 2
	if 2*(room+2)+1 > tell.Width {
		columns = 1
	}
	rows := (len(cells) + columns - 1) / columns
	for i := range rows {
		line := cells[i]
		if i+rows < len(cells) {
			line = fmt.Sprintf("%-40s%s", line, cells[i+rows])
		}
		p.Line("  %s", line)
	}
}

// printScene shows one scene.
func printScene(p *tell.Page, c bank.Config, r *bank.Result) {
	p.Line("%s: %s on the account, seed %d.", title(c.Lock), words.Grouped(c.Balance), c.Seed)
	p.Line("%s.", depositors(c))
	p.Gap()
	printDiagram(p, c, r, sceneRows)
	p.Gap()
	printEnd(p, r)
	p.Line("%s, %s of the lock", words.Plural(r.Entries, "deposit"), words.Plural(r.Messages, "message"))
}

func depositors(c bank.Config) string {
	each := ""
	if c.Deposits > 1 {
		each = fmt.Sprintf(" %d times", c.Deposits)
	}
	if c.Machines == 1 {
		return fmt.Sprintf("1 cash machine deposits %s%s", words.Grouped(c.Amount), each)
	}
	return fmt.Sprintf("%s deposit %s each%s", words.Plural(c.Machines, "cash machine"), words.Grouped(c.Amount), each)
}

func printDiagram(p *tell.Page, c bank.Config, r *bank.Result, rows int) {
	if !bank.Fits(c.Machines, c.Deposits) {
		p.Line("(too many machines or deposits for a diagram as text: --svg draws the first)")
		return
	}
	for _, row := range r.Diagram(c.Balance, rows) {
		p.Line("%s", row)
	}
}

// printEnd says how it ended, and why.
func printEnd(p *tell.Page, r *bank.Result) {
	if r.Lost == 0 {
		p.Line("The balance is %s: nothing is lost.", words.Grouped(r.Balance))
		return
	}
	why := ""
	if len(r.Overwritten) > 0 {
		if o := r.Overwritten[0]; o.By != core.None && o.Of != core.None {
			why = fmt.Sprintf(": %v read before %v had written", o.By, o.Of)
		}
	}
	p.Text(0, fmt.Sprintf("The balance is %s. %s IS LOST%s.", words.Grouped(r.Balance), words.Grouped(r.Lost), why))
}
