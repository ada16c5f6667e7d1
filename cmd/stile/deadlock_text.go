package main

import (
	"io"
	"strings"

	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// printDeadlock shows a run to people.
func printDeadlock(w io.Writer, c sim.Transactions, r *sim.Ledger) error {
	p := &page{w: w}
	mode := c.Mode
	if mode == "" && len(c.Method.Modes) > 0 {
		mode = c.Method.Modes[0]
	}
	if mode != "" {
		mode = ", mode " + mode
	}
	p.line("%s%s", c.Method.Title, mode)
	p.line("%s of %s over %s at %s, seed %d",
		plural(c.Number, "transaction"), plural(len(c.Layout.Home), "process"),
		plural(len(c.Layout.At), "lock"), plural(c.Layout.Sites, "site"), c.Seed)
	p.line("")
	row := func(name, value, note string) { p.line("%s%s  %s", right(name, 26), left(value, 10), note) }
	row("committed", grouped(int64(r.Committed)), "")
	row("aborted", grouped(int64(r.Aborted)), "attempts, retried until they commit")
	row("unnecessary aborts", grouped(int64(r.Unnecessary)), "of transactions in no deadlock")
	row("deadlocks", grouped(int64(r.Deadlocks)), "that arose")
	if c.Method.Family == deadlock.Detection {
		row("found", grouped(int64(r.Resolved)), "")
		row("detection delay", number(r.DetectionDelay), "T on average, "+number(float64(r.LongestDelay)/scenario.T)+" at most")
		row("false positives", grouped(int64(r.FalsePositives)), "reported, but never there")
		row("phantoms", grouped(int64(r.Phantoms)), "reported, but just broken by an abort")
	}
	row("messages per transaction", number(r.PerTransaction), "")
	row("throughput", number(r.Throughput), "commits per T")
	row("most aborts", grouped(int64(r.MostAborts)), "of one transaction")
	row("longest life", number(float64(r.LongestLife)/scenario.T), "T from first request to commit")
	if len(c.Crashes) > 0 {
		row("lost", grouped(int64(r.Lost)), "with dead sites")
		row("aborted by deaths", grouped(int64(r.Buried)), "had or wanted locks there")
	}
	row("stuck", grouped(int64(r.Stuck)), "")
	if r.False != nil {
		p.line("")
		p.line("A false cycle, at %s: %s", scenario.FormatTime(r.False.At), deadlock.Round(r.False.Cycle))
		p.line("What was true:")
		printGraph(p, r.False.Graph)
	}
	if r.Stuck > 0 {
		p.line("")
		p.line("Stuck for ever. Who waits for whom, and for which lock:")
		printGraph(p, r.Graph)
	}
	return p.err
}

// printGraph draws a graph, but no more of it than can be read.
func printGraph(p *page, g *deadlock.Graph) {
	const most = 40
	lines := strings.Split(strings.TrimRight(g.Text(), "\n"), "\n")
	for _, l := range lines[:min(len(lines), most)] {
		p.line("%s", l)
	}
	if more := len(lines) - most; more > 0 {
		p.line("  and %s", plural(more, "more edge"))
	}
}
