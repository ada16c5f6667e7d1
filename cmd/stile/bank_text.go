package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/internal/world/bank"
)

// How many rows of a diagram fit on the screen.
const (
	storyRows = 14
	bankRows  = 60
	deathRows = 30
)

// printStory tells what happens without a lock and with each. The first
// result is the one without, the second the one to be shown in full.
func printStory(p *Page, c bank.Config, results []*bank.Result, others string) {
	who := "each"
	if c.Machines == 1 {
		who = "it"
	}
	first := results[0]
	p.Text(0, fmt.Sprintf("An account holds %s. %s on it: %s reads the balance over the network, adds, and writes the sum back. In the end it must hold %s.",
		words.Grouped(c.Balance), depositors(c), who, words.Grouped(first.Expected)))
	p.Gap()
	p.Line("%-50s┊ idle  ┃ waiting  █ inside", "WITHOUT A LOCK")
	printDiagram(p, c, first, storyRows, "--svg FILE draws it")
	printEnd(p, c, first)
	if text := luck(c, first); text != "" {
		p.Text(0, text)
	}
	if len(results) < 2 {
		return
	}
	p.Gap()
	p.Line("THE SAME CUSTOMERS, WITH %s", results[1].Lock)
	printDiagram(p, c, results[1], storyRows, fmt.Sprintf("--lock %s --svg FILE draws it", results[1].Lock))
	printEnd(p, c, results[1])
	if len(results) < 3 {
		return
	}
	p.Gap()
	p.Line("AND WITH %s (balance, messages of the lock)", others)
	printOthers(p, results[2:])
}

// luck says why nothing was lost without a lock.
func luck(c bank.Config, r *bank.Result) string {
	switch {
	case r.Lost > 0 || r.Stopped:
		return ""
	case c.Machines == 1:
		return "There is nobody else to be in the way: it takes two machines to lose money."
	case c.Amount == 0:
		return "Deposits of 0 cannot be lost: give an --amount."
	}
	return "Each read after the one before had written: luck. Another --seed may lose money."
}

// printDeath tells what comes of a death, without recovery and with it.
func printDeath(p *Page, c bank.Config, without, with *bank.Result) {
	p.Text(0, fmt.Sprintf("An account holds %s. %s on it, and %v dies inside.", words.Grouped(c.Balance), depositors(c), c.Crash.Who))
	for _, r := range []*bank.Result{without, with} {
		p.Gap()
		p.Line("WITH %s", r.Lock)
		printDiagram(p, c, r, deathRows, fmt.Sprintf("--lock %s --svg FILE draws it", r.Lock))
		printEnd(p, c, r)
	}
}

// printOthers lists scenes in two columns, or in one if they are wide.
func printOthers(p *Page, results []*bank.Result) {
	var cells []string
	room := 0
	for _, r := range results {
		cell := fmt.Sprintf("%-22s%8s%6d", Cut(r.Lock, 22), words.Grouped(r.Balance), r.Messages)
		if r.Lost != 0 {
			cell += " LOST"
		}
		cells = append(cells, cell)
		room = max(room, utf8.RuneCountInString(cell))
	}
	columns := 2
	if 2*(room+2)+1 > Width {
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
func printScene(p *Page, c bank.Config, r *bank.Result) {
	p.Line("%s: %s on the account, seed %d.", bankTitle(c.Lock), words.Grouped(c.Balance), c.Seed)
	p.Line("%s.", depositors(c))
	p.Gap()
	printDiagram(p, c, r, bankRows, "--svg FILE draws it")
	p.Gap()
	printEnd(p, c, r)
	p.Line("%s, %s of the lock", words.Plural(r.Entries, "deposit"), words.Plural(r.Messages, "message"))
}

func depositors(c bank.Config) string {
	each := ""
	if c.Deposits > 1 {
		each = fmt.Sprintf(" %s times", words.Grouped(c.Deposits))
	}
	if c.Machines == 1 {
		return fmt.Sprintf("1 cash machine deposits %s%s", words.Grouped(c.Amount), each)
	}
	return fmt.Sprintf("%s deposit %s each%s", words.Plural(c.Machines, "cash machine"), words.Grouped(c.Amount), each)
}

// printDiagram draws a scene, or says how it can be drawn.
func printDiagram(p *Page, c bank.Config, r *bank.Result, rows int, draws string) {
	if !bank.Fits(c.Machines, c.Deposits) {
		p.Line("(too much for a diagram as text: %s)", draws)
		return
	}
	for _, row := range r.Diagram(c.Balance, rows) {
		p.Line("%s", row)
	}
}

// printEnd says how it ended, and why.
func printEnd(p *Page, c bank.Config, r *bank.Result) {
	end := "The balance is " + words.Grouped(r.Balance)
	if r.Stopped {
		end += " so far"
	}
	why := overwritten(r)
	switch {
	case r.Lost > 0:
		end += fmt.Sprintf(". %s IS LOST%s.", words.Grouped(r.Lost), why)
	case why != "":
		end += fmt.Sprintf(": nothing is lost, since a deposit is 0%s.", strings.Replace(why, ":", ", but", 1))
	default:
		end += ": nothing is lost."
	}
	all := c.Machines * c.Deposits
	switch {
	case c.Crash.On && !r.Stopped:
		end = died(c, r) + " " + end
	case r.Entries < all && !r.Stopped:
		end += fmt.Sprintf(" But %s of %s were never made: whoever asks is not let in any more.", words.Grouped(all-r.Entries), words.Plural(all, "deposit"))
	}
	p.Text(0, end)
}

// died says how a machine died, and what that means to the others.
func died(c bank.Config, r *bank.Result) string {
	who := c.Crash.Who
	end := fmt.Sprintf("%v died when it had read and not yet written: that deposit was never made, and is known to nobody.", who)
	switch {
	case c.Crash.Fenced:
		end = fmt.Sprintf("%v died while its WRITE was under way, very slowly. The account had heard of a later turn by then, and refused it: that deposit was not made.", who)
		if r.Refused == 0 {
			end = fmt.Sprintf("%v died while its WRITE was under way, very slowly. Nobody had a later turn, so the account took it.", who)
		}
	case c.Crash.Moment == bank.Late:
		end = fmt.Sprintf("%v died while its WRITE was under way, so slowly that it came 40 message times later.", who)
		if r.Lost > 0 {
			end += fmt.Sprintf(" No lock can call it back; an account that looks at whose turn it is can refuse it: --crash %d@fenced.", who+1)
		}
	case c.Crash.Moment == bank.Write:
		end = fmt.Sprintf("%v died while its WRITE was under way; it arrived, so that deposit was made.", who)
	}
	switch n := len(r.Waiting); {
	case n == 0 && r.After > 0:
		end += " The others went on without it."
	case n == 0 && c.Machines > 1:
		end += " Nobody wanted in after it: let another machine die, or give another --seed, to see more."
	case n == 1:
		end += fmt.Sprintf(" P%d waits for ever for somebody who is dead.", r.Waiting[0])
	case n > 1:
		end += fmt.Sprintf(" %d wait for ever for somebody who is dead.", n)
	}
	return end
}

// overwritten says how deposits were overwritten, if some were.
func overwritten(r *bank.Result) string {
	if len(r.Overwritten) == 0 {
		return ""
	}
	o := r.Overwritten[0]
	why := fmt.Sprintf(": %v read before %v had written", o.By, o.Of)
	if more := len(r.Overwritten) - 1; more > 0 {
		why += fmt.Sprintf(", and %s like that", words.Plural(more, "more case"))
	}
	return why
}
