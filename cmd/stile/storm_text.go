package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/storm"
	"github.com/stile-lock/stile/internal/words"
)

// print tells what came of the storms.
func (f *stormFlags) print(p *printer, x *stormResult) {
	if x.alone {
		printOneStorm(p, x.Pick(x.Config.First))
	} else {
		f.printMany(p, x)
	}
	p.gap()
	printTotals(p, x)
	if f.strikes && x.Sum.Seeds > 0 && x.Failures == 0 {
		p.gap()
		p.line("WHAT STRUCK")
		printFaults(p, x.blows)
	}
	if x.Failures > 0 {
		printFailure(p, x)
	}
	if _, there := x.shown(); f.output.requested() && !there {
		p.gap()
		p.text(0, "No storm to draw: nothing was broken. Give one --seed to see that.")
	}
}

// printMany says which storms there were.
func (f *stormFlags) printMany(p *printer, x *stormResult) {
	p.line("%s, seeds %d to %d", words.Plural(x.Config.Seeds, "storm"), x.Config.First, x.Last())
	p.gap()
	var names []string
	for _, a := range x.Algorithms {
		names = append(names, a.Algorithm)
	}
	p.row("algorithms", "%s", strings.Join(names, ", "))
	p.row("members", "%s", strings.Trim(fmt.Sprint(x.Nodes), "[]"))
	p.row("voters", "%s", strings.Trim(fmt.Sprint(x.Voters), "[]"))
	p.row("faults", "%s", faultList(x.kinds()))
}

// printOneStorm says which storm it is.
func printOneStorm(p *printer, c storm.Config) {
	p.line("Storm %d: %s among %s", c.Seed, c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"))
	p.gap()
	if c.Faults&storm.Switch != 0 && len(c.Algorithms) > 1 {
		p.row("algorithms", "%s first, then others", c.Algorithms[0].Algorithm)
	}
	voters := words.Plural(c.Voters, "voter")
	if c.Shelter {
		voters += ", whom nothing befalls"
	}
	p.row("voters", "%s", voters)
	p.row("locks", "%s", describeLoad(&c))
	s := c.Settings
	p.row("settings", "lease %s, renewal %s, drift %.0f %%, act %d %%, handover %d, view life %s",
		formatSpan(s.Lease), formatSpan(s.Renew), float64(s.Drift)/10_000, s.Act, s.Handover, formatSpan(s.ViewLife))
	p.row("faults", "%s; for %s, then all heals", faultList(faultKinds(c.Faults)), formatSpan(c.Length))
}

// describeLoad says who asks for how many locks.
func describeLoad(c *storm.Config) string {
	return fmt.Sprintf("%d, asked for by %s of each member and %s", c.Locks, words.Plural(c.Apps, "application"), words.Plural(c.Clients, "client"))
}

// printTotals tells what happened in all storms.
func printTotals(p *printer, x *stormResult) {
	r := &x.Runs
	p.row("simulated", "%s", formatLongSpan(r.Simulated))
	p.row("struck", "%s", words.Plural(r.Strikes, "fault"))
	p.row("views", "%s; %s of leaders, %s of voters", words.Grouped(r.Views), words.Plural(r.Terms, "term"), words.Plural(r.Revotes, "change"))
	p.row("entries", "%s; %s lost and told, %s refused", words.Grouped(r.Entries), words.Plural(r.Lost, "hold"), words.Plural(r.Tries, "try"))
	p.row("writes", "%s accepted, %s refused by their tokens", words.Grouped(r.Deposits), words.Grouped(r.Refused))
	if x.Bank {
		printBank(p, x)
	}
	p.row("longest", "%s of waiting, once healed; at most %s allowed", formatSpan(r.Longest), formatSpan(r.Bound))
	p.row("frames", "%s", frameCounts(r))
	switch {
	case x.Failures > 0:
		p.row("violations", "%s of %s", words.Grouped(x.Failures), words.Plural(x.Sum.Seeds, "seed"))
	case x.stopped() != "":
		p.row("violations", "none so far")
	default:
		p.row("violations", "none")
	}
}

func frameCounts(r *storm.Result) string {
	var parts []string
	for i, kind := range storm.FrameNames() {
		if r.Frames[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", kind, words.Grouped(r.Frames[i])))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// printFailure tells the first failure: how to make it again, and its story.
func printFailure(p *printer, x *stormResult) {
	first := x.Sum.First[0]
	c := x.Pick(first.Seed)
	p.gap()
	p.line("SEED %d BREAKS %s", first.Seed, first.Violation.Invariant)
	p.row("run", "%s among %s; %s", c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"), faultList(faultKinds(c.Faults)))
	p.row("broken", "at %s: %s", formatMoment(first.Violation.At), first.Violation.Text)
	p.row("commit", "%s", buildVersion().commit())
	p.row("again", "%s", x.again)
	if x.story == nil {
		return
	}
	s := &x.story.Config
	p.gap()
	p.line("ITS SHORT STORY, found in %s", words.Plural(x.story.Tries, "run"))
	p.text(0, fmt.Sprintf("%s among %s; locks: %s.", s.Algorithms[0].Algorithm, words.Plural(s.Nodes, "member"), describeLoad(s)))
	printFaults(p, x.blows)
	if len(x.blows) == 0 {
		p.line("Nothing strikes.")
	}
	p.text(0, fmt.Sprintf("At %s %s is broken: %s", formatMoment(x.story.Violation.At), x.story.Violation.Invariant, x.story.Violation.Text))
	if x.unfenced() {
		printLost(p, x)
	}
}

// printFaults lists faults.
func printFaults(p *printer, blows []storm.Blow) {
	for _, b := range blows {
		printIndented(p, fmt.Sprintf("%9.1f ms  %-9s  ", millis(b.At), b.Kind), b.Text)
	}
}

// faultList lists kinds of faults.
func faultList(kinds []string) string {
	if len(kinds) == 0 {
		return noNames
	}
	return strings.Join(kinds, ", ")
}

// kinds names the kinds of faults that were chosen from.
func (f *stormResult) kinds() []string { return faultKinds(f.Faults) }

func faultKinds(f storm.Faults) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), ",")
}

// formatMoment writes a moment.
func formatMoment(d member.Span) string { return fmt.Sprintf("%.3f ms", millis(d)) }

// formatSpan writes a length of time.
func formatSpan(d member.Span) string { return words.Trimmed(millis(d), 1) + " ms" }

// formatLongSpan writes a long one.
func formatLongSpan(d member.Span) string {
	if d < 3600*member.Second {
		return words.Trimmed(float64(d)/float64(member.Second), 1) + " s"
	}
	return words.Trimmed(hours(d), 2) + " hours"
}

// printBank tells what the bank has done, and what it has.
func printBank(p *printer, x *stormResult) {
	b := &x.Runs.Books
	stale := "refused by the fence"
	if x.Unfenced {
		stale = "taken: there is no fence"
	}
	p.row("bank", "%s moved %s; %s %s", words.Plural(b.Transfers, "transfer"), words.Grouped(b.Moved), words.Plural(b.Stale, "stale write"), stale)
	switch {
	case !b.Exact():
		p.row("total", "%s where %s must be: %s missing, %s too much", words.Grouped(b.Total), words.Grouped(b.Expected), words.Grouped(b.Missing), words.Grouped(b.Surplus))
	case x.Unfenced:
		p.row("total", "%s of %s: exact, by luck", words.Grouped(b.Total), words.Grouped(b.Expected))
	default:
		p.row("total", "%s of %s: exact", words.Grouped(b.Total), words.Grouped(b.Expected))
	}
}

// How much of how money was lost is told: the beginning and the end.
const (
	mostEntries  = 14
	firstEntries = 6
)

// printLost tells how money was lost, and that it had to be.
func printLost(p *printer, x *stormResult) {
	p.gap()
	p.line("AT THE BANK, from when the one read who came too late")
	list := x.lost
	for i, e := range list {
		switch {
		case len(list) > mostEntries && i == firstEntries:
			p.line("%14s%s between them", "", words.Plural(len(list)-mostEntries, "more line"))
		case len(list) <= mostEntries || i < firstEntries || i >= len(list)-(mostEntries-firstEntries):
			printIndented(p, fmt.Sprintf("%9.1f ms  ", millis(e.At)), e.Text)
		}
	}
	p.gap()
	again := strings.TrimSuffix(x.again, " --no-fence")
	p.text(0, "THIS IS TO BE EXPECTED without the fence: no lease stops a write that comes late, such as that of one who stood still. With the fence the bank refuses it, and its totals are exact:")
	p.line("  %s", again)
}

// printIndented writes a text behind how its first line begins.
func printIndented(p *printer, begin, text string) {
	for _, line := range wrap(text, screenWidth-len(begin)) {
		p.line("%s%s", begin, line)
		begin = strings.Repeat(" ", len(begin))
	}
}
