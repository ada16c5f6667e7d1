package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/words"
)

// printBooks tells what the bank has done, and what it has.
func printBooks(p *Page, x *found) {
	b := &x.Runs.Books
	stale := "refused by the fence"
	if x.Unfenced {
		stale = "taken: there is no fence"
	}
	p.Row("bank", "%s moved %s; %s %s", words.Plural(b.Transfers, "transfer"), words.Grouped(b.Moved), words.Plural(b.Stale, "stale write"), stale)
	switch {
	case !b.Exact():
		p.Row("total", "%s where %s must be: %s missing, %s too much", words.Grouped(b.Total), words.Grouped(b.Expected), words.Grouped(b.Missing), words.Grouped(b.Surplus))
	case x.Unfenced:
		p.Row("total", "%s of %s: exact, by luck", words.Grouped(b.Total), words.Grouped(b.Expected))
	default:
		p.Row("total", "%s of %s: exact", words.Grouped(b.Total), words.Grouped(b.Expected))
	}
}

// How much of how money was lost is told: the beginning and the end.
const (
	mostEntries  = 14
	firstEntries = 6
)

// printLost tells how money was lost, and that it had to be.
func printLost(p *Page, x *found) {
	p.Gap()
	p.Line("AT THE BANK, from when the one read who came too late")
	list := x.lost
	for i, e := range list {
		switch {
		case len(list) > mostEntries && i == firstEntries:
			p.Line("%14s%s between them", "", words.Plural(len(list)-mostEntries, "more line"))
		case len(list) <= mostEntries || i < firstEntries || i >= len(list)-(mostEntries-firstEntries):
			printIndented(p, fmt.Sprintf("%9.1f ms  ", millis(e.At)), e.Text)
		}
	}
	p.Gap()
	again := strings.TrimSuffix(x.again, " --no-fence")
	p.Text(0, "THIS IS TO BE EXPECTED without the fence: no lease stops a write that comes late, such as that of one who stood still. With the fence the bank refuses it, and its totals are exact:")
	p.Line("  %s", again)
}

// printIndented writes a text behind how its first line begins.
func printIndented(p *Page, begin, text string) {
	for _, line := range Wrap(text, Width-len(begin)) {
		p.Line("%s%s", begin, line)
		begin = strings.Repeat(" ", len(begin))
	}
}
