package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/words"
)

// print prints the result of storms.
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
		p.line("FAULTS")
		printFaults(p, x.blows)
	}
	if x.Failures > 0 {
		printFailure(p, x)
	}
	if _, there := x.shown(); f.output.requested() && !there {
		p.gap()
		p.text(0, "No storm was drawn, because no invariant was violated. Give a single --seed to draw one.")
	}
}

// printMany describes the storms.
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

// printOneStorm describes a single storm.
func printOneStorm(p *printer, c storm.Config) {
	p.line("Storm %d: %s among %s", c.Seed, c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"))
	p.gap()
	if c.Faults&storm.Switch != 0 && len(c.Algorithms) > 1 {
		p.row("algorithms", "%s first, then others", c.Algorithms[0].Algorithm)
	}
	voters := words.Plural(c.Voters, "voter")
	if c.Shelter {
		voters += ", without faults"
	}
	p.row("voters", "%s", voters)
	p.row("locks", "%s", describeLoad(&c))
	s := c.Settings
	p.row("settings", "lease %s, renewal %s, drift %.0f %%, act %d %%, handover %d, view life %s",
		formatSpan(s.Lease), formatSpan(s.Renew), float64(s.Drift)/10_000, s.Act, s.Handover, formatSpan(s.ViewLife))
	p.row("faults", "%s; for %s, then all heal", faultList(faultKinds(c.Faults)), formatSpan(c.Length))
}

// describeLoad says how many locks there are and what requests them.
func describeLoad(c *storm.Config) string {
	text := fmt.Sprintf("%d, requested by %s of each member and %s", c.Locks, words.Plural(c.Apps, "application"), words.Plural(c.Clients, "client"))
	if c.Kept > 0 {
		text += fmt.Sprintf("; %s (%s), used by transactions of %s of each member", words.Plural(c.Kept, "kept lock"), c.Methods[0].Algorithm, words.Plural(c.Workers, "application"))
	}
	return text
}

// printTotals prints the totals of all storms.
func printTotals(p *printer, x *stormResult) {
	r := &x.Runs
	p.row("simulated", "%s", formatLongSpan(r.Simulated))
	p.row("struck", "%s", words.Plural(r.Strikes, "fault"))
	p.row("views", "%s; %s, %s", words.Grouped(r.Views), words.Plural(r.Terms, "leader term"), words.Plural(r.Revotes, "voter change"))
	p.row("entries", "%s; %s lost and reported, %s refused", words.Grouped(r.Entries), words.Plural(r.Lost, "lock"), words.Plural(r.Tries, "try"))
	p.row("claims", "%s by clients through another node", words.Plural(r.Claims, "lock"))
	p.row("kept", "%s over kept locks committed, %s aborted", words.Plural(r.Commits, "transaction"), words.Plural(r.Victims, "victim"))
	p.row("disks", "%s rolled back, %s noticed; %s restored, %s refused",
		words.Plural(r.Rollbacks, "disk"), words.Grouped(r.Noticed), words.Plural(r.Restores, "backup"), words.Plural(r.Returns, "return"))
	p.row("writes", "%s accepted, %s refused because of their tokens", words.Grouped(r.Deposits), words.Grouped(r.Refused))
	if x.Bank {
		printBank(p, x)
	}
	p.row("longest", "wait %s after healing; at most %s allowed", formatSpan(r.Longest), formatSpan(r.Bound))
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

// printFailure prints the first failure, how to repeat it, and a short counterexample.
func printFailure(p *printer, x *stormResult) {
	first := x.Sum.First[0]
	c := x.Pick(first.Seed)
	p.gap()
	p.line("SEED %d VIOLATES %s", first.Seed, first.Violation.Invariant)
	p.row("run", "%s among %s; %s", c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"), faultList(faultKinds(c.Faults)))
	p.row("violated", "at %s: %s", formatMoment(first.Violation.At), first.Violation.Text)
	p.row("commit", "%s", buildVersion().commit())
	p.row("again", "%s", x.again)
	if x.story == nil {
		return
	}
	s := &x.story.Config
	p.gap()
	p.line("SHORT COUNTEREXAMPLE, found in %s", words.Plural(x.story.Tries, "run"))
	p.text(0, fmt.Sprintf("%s among %s; locks: %s.", s.Algorithms[0].Algorithm, words.Plural(s.Nodes, "member"), describeLoad(s)))
	printFaults(p, x.blows)
	if len(x.blows) == 0 {
		p.line("No faults.")
	}
	p.text(0, fmt.Sprintf("At %s %s is violated: %s", formatMoment(x.story.Violation.At), x.story.Violation.Invariant, x.story.Violation.Text))
	if x.unfenced() {
		printLost(p, x)
	}
}

// printFaults lists faults.
func printFaults(p *printer, blows []storm.StruckFault) {
	for _, b := range blows {
		printIndented(p, fmt.Sprintf("%9.1f ms  %-9s  ", millis(b.At), b.Kind), b.Text)
	}
}

// faultList formats kinds of faults.
func faultList(kinds []string) string {
	if len(kinds) == 0 {
		return noNames
	}
	return strings.Join(kinds, ", ")
}

// kinds lists the kinds of faults to choose from.
func (f *stormResult) kinds() []string { return faultKinds(f.Faults) }

func faultKinds(f storm.Faults) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), ",")
}

// formatMoment formats a moment.
func formatMoment(d member.Span) string { return fmt.Sprintf("%.3f ms", millis(d)) }

// formatSpan formats a length of time.
func formatSpan(d member.Span) string { return words.Trimmed(millis(d), 1) + " ms" }

// formatLongSpan formats a long time.
func formatLongSpan(d member.Span) string {
	if d < 3600*member.Second {
		return words.Trimmed(float64(d)/float64(member.Second), 1) + " s"
	}
	return words.Trimmed(hours(d), 2) + " hours"
}

// printBank prints the totals of the bank.
func printBank(p *printer, x *stormResult) {
	b := &x.Runs.Books
	stale := "refused by the fence"
	if x.Unfenced {
		stale = "accepted, without a fence"
	}
	p.row("bank", "%s moved %s; %s %s", words.Plural(b.Transfers, "transfer"), words.Grouped(b.Moved), words.Plural(b.Stale, "stale write"), stale)
	switch {
	case !b.Exact():
		p.row("total", "%s, expected %s: %s missing, %s surplus", words.Grouped(b.Total), words.Grouped(b.Expected), words.Grouped(b.Missing), words.Grouped(b.Surplus))
	case x.Unfenced:
		p.row("total", "%s of %s: exact, by luck", words.Grouped(b.Total), words.Grouped(b.Expected))
	default:
		p.row("total", "%s of %s: exact", words.Grouped(b.Total), words.Grouped(b.Expected))
	}
}

// How many lines of a loss are printed: the first and the last ones.
const (
	mostEntries  = 14
	firstEntries = 6
)

// printLost prints how money was lost, and that this is expected.
func printLost(p *printer, x *stormResult) {
	p.gap()
	p.line("AT THE BANK, from the read of the process that wrote too late")
	list := x.lost
	for i, e := range list {
		switch {
		case len(list) > mostEntries && i == firstEntries:
			p.line("%14s%s omitted", "", words.Plural(len(list)-mostEntries, "line"))
		case len(list) <= mostEntries || i < firstEntries || i >= len(list)-(mostEntries-firstEntries):
			printIndented(p, fmt.Sprintf("%9.1f ms  ", millis(e.At)), e.Text)
		}
	}
	p.gap()
	again := strings.TrimSuffix(x.again, " --no-fence")
	p.text(0, "THIS IS EXPECTED without the fence: no lease can stop a late write, such as that of a paused process. With the fence the bank refuses it, and its totals are exact:")
	p.line("  %s", again)
}

// printIndented prints wrapped text after the beginning of its first line.
func printIndented(p *printer, begin, text string) {
	for _, line := range words.Wrap(text, screenWidth-len(begin)) {
		p.line("%s%s", begin, line)
		begin = strings.Repeat(" ", len(begin))
	}
}
