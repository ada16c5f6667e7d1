package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// deadlockListed lists the methods for the help: the sound ones by name, the others with
// what is wrong with them, which is sound instead, and what shows it.
func deadlockListed() string {
	var names []string
	var apart strings.Builder
	for _, m := range deadlock.Methods() {
		if fault := fault(m); fault == "" {
			names = append(names, m.Name)
		} else {
			fmt.Fprintf(&apart, "  ! %s\n      %s\n      see: %s\n", m.Name, strings.Join(Wrap(fault, Width-8), "\n      "), m.Shown)
		}
	}
	return strings.Join(Wrap("The methods: "+strings.Join(names, ", ")+"; and these, which starve somebody:", Width), "\n") + "\n" + apart.String()
}

// fault says what is to be known of a method that is not sound, or "".
func fault(m deadlock.Method) string {
	switch {
	case m.Wrong != "":
		return "WRONG: " + m.Wrong + " (sound: " + m.Fixed + ")"
	case m.Weaker != "":
		return "WEAKER: " + m.Weaker + " (sound: " + m.Fixed + ")"
	}
	return ""
}

// deadlockPrintRun shows a run to people.
func deadlockPrintRun(p *Page, c sim.Transactions, r *sim.Ledger) {
	mode := c.Mode
	if mode != "" {
		mode = ", mode " + mode
	}
	p.Line("%s%s", c.Method.Title, mode)
	p.Line("%s of %s over %s at %s, seed %d",
		words.Plural(c.Number, "transaction"), words.Plural(len(c.Layout.Home), "process"),
		words.Plural(len(c.Layout.At), "lock"), words.Plural(c.Layout.Sites, "site"), c.Seed)
	if fault := fault(c.Method); fault != "" {
		p.Text(0, fault)
		p.Line("see: %s", c.Method.Shown)
	}
	p.Gap()
	row := func(name, value, note string) { p.Line("%-26s%10s  %s", name, value, note) }
	row("committed", words.Grouped(r.Committed), "")
	row("aborted", words.Grouped(r.Aborted), "attempts, retried until they commit")
	row("unnecessary aborts", words.Grouped(r.Unnecessary), "of transactions in no deadlock")
	row("deadlocks", words.Grouped(r.Deadlocks), "that arose")
	if c.Method.Family == deadlock.Detection {
		row("found", words.Grouped(r.Resolved), "")
		row("detection delay", words.Number(r.DetectionDelay), "T on average, "+words.Number(float64(r.LongestDelay)/scenario.T)+" at most")
		row("false positives", words.Grouped(r.FalsePositives), "reported, but never there")
		row("phantoms", words.Grouped(r.Phantoms), "reported, but just broken by an abort")
	}
	row("messages per transaction", words.Number(r.PerTransaction), "")
	row("throughput", words.Number(r.Throughput), "commits per T")
	row("most aborts", words.Grouped(r.MostAborts), "of one transaction")
	row("longest life", words.Number(float64(r.LongestLife)/scenario.T), "T from first request to commit")
	if len(c.Crashes) > 0 {
		row("lost", words.Grouped(r.Lost), "with dead sites")
		row("aborted by deaths", words.Grouped(r.Buried), "had or wanted locks there")
	}
	row("stuck", words.Grouped(r.Stuck), "")
	if r.False != nil {
		p.Gap()
		p.Line("A false cycle, at %s: %s", scenario.FormatTime(r.False.At), deadlock.Round(r.False.Cycle))
		p.Line("What was true:")
		p.Graph(r.False.Graph)
	}
	if r.Stuck > 0 {
		p.Gap()
		p.Line("Stuck for ever. Who waits for whom, and for which lock:")
		p.Graph(r.Graph)
	}
}
