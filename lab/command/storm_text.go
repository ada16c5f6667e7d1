package command

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/terminal"
	"github.com/stile-lock/stile/internal/words"
)

// print prints the result of storms.
func (f *stormFlags) print(p *terminal.Printer, x *stormResult) {
	if x.alone {
		printOneStorm(p, x.Pick(x.Config.First))
	} else {
		f.printMany(p, x)
	}
	p.Gap()
	printTotals(p, x)
	if f.strikes && x.Sum.Seeds > 0 && x.Failures == 0 {
		p.Gap()
		p.Line("FAULTS")
		printFaults(p, x.blows)
	}
	if x.Failures > 0 {
		printFailure(p, x)
	}
	if _, there := x.shown(); f.output.requested() && !there {
		p.Gap()
		p.Text(0, "No storm was drawn, because no invariant was violated. Give a single --seed to draw one.")
	}
}

// printMany describes the storms.
func (f *stormFlags) printMany(p *terminal.Printer, x *stormResult) {
	p.Line("%s, seeds %d to %d", words.Plural(x.Config.Seeds, "storm"), x.Config.First, x.Last())
	p.Gap()
	var names []string
	for _, a := range x.Algorithms {
		names = append(names, a.Algorithm)
	}
	p.Row("algorithms", "%s", strings.Join(names, ", "))
	p.Row("members", "%s", strings.Trim(fmt.Sprint(x.Nodes), "[]"))
	p.Row("voters", "%s", strings.Trim(fmt.Sprint(x.Voters), "[]"))
	p.Row("faults", "%s", faultList(x.kinds()))
}

// printOneStorm describes a single storm.
func printOneStorm(p *terminal.Printer, c storm.Config) {
	p.Line("Storm %d: %s among %s", c.Seed, c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"))
	p.Gap()
	if c.Faults&storm.Switch != 0 && len(c.Algorithms) > 1 {
		p.Row("algorithms", "%s first, then others", c.Algorithms[0].Algorithm)
	}
	voters := words.Plural(c.Voters, "voter")
	if c.Shelter {
		voters += ", without faults"
	}
	p.Row("voters", "%s", voters)
	p.Row("locks", "%s", describeLoad(&c))
	s := c.Settings
	p.Row("settings", "lease %s, renewal %s, drift %.0f %%, act %d %%, handover %d, view life %s",
		formatSpan(s.Lease), formatSpan(s.Renew), float64(s.Drift)/10_000, s.Act, s.Handover, formatSpan(s.ViewLife))
	p.Row("faults", "%s; for %s, then all heal", faultList(faultKinds(c.Faults)), formatSpan(c.Length))
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
func printTotals(p *terminal.Printer, x *stormResult) {
	r := &x.Runs
	p.Row("simulated", "%s", formatLongSpan(r.Simulated))
	p.Row("struck", "%s", words.Plural(r.Strikes, "fault"))
	p.Row("views", "%s; %s, %s", words.Grouped(r.Views), words.Plural(r.Terms, "leader term"), words.Plural(r.Revotes, "voter change"))
	p.Row("entries", "%s; %s lost and reported, %s refused", words.Grouped(r.Entries), words.Plural(r.Lost, "lock"), words.Plural(r.Tries, "try"))
	p.Row("claims", "%s by clients through another node", words.Plural(r.Claims, "lock"))
	p.Row("kept", "%s over kept locks committed, %s aborted", words.Plural(r.Commits, "transaction"), words.Plural(r.Victims, "victim"))
	p.Row("disks", "%s rolled back, %s noticed; %s restored, %s refused",
		words.Plural(r.Rollbacks, "disk"), words.Grouped(r.Noticed), words.Plural(r.Restores, "backup"), words.Plural(r.Returns, "return"))
	p.Row("writes", "%s accepted, %s refused because of their tokens", words.Grouped(r.Deposits), words.Grouped(r.Refused))
	if x.Bank {
		printBank(p, x)
	}
	p.Row("longest", "wait %s after healing; at most %s allowed", formatSpan(r.Longest), formatSpan(r.Bound))
	p.Row("frames", "%s", frameCounts(r))
	switch {
	case x.Failures > 0:
		p.Row("violations", "%s of %s", words.Grouped(x.Failures), words.Plural(x.Sum.Seeds, "seed"))
	case x.stopped() != "":
		p.Row("violations", "none so far")
	default:
		p.Row("violations", "none")
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
func printFailure(p *terminal.Printer, x *stormResult) {
	first := x.Sum.First[0]
	c := x.Pick(first.Seed)
	p.Gap()
	p.Line("SEED %d VIOLATES %s", first.Seed, first.Violation.Invariant)
	p.Row("run", "%s among %s; %s", c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"), faultList(faultKinds(c.Faults)))
	p.Row("violated", "at %s: %s", formatMoment(first.Violation.At), first.Violation.Text)
	p.Row("commit", "%s", terminal.CurrentBuild().Commit())
	p.Row("again", "%s", x.again)
	if x.story == nil {
		return
	}
	s := &x.story.Config
	p.Gap()
	p.Line("SHORT COUNTEREXAMPLE, found in %s", words.Plural(x.story.Tries, "run"))
	p.Text(0, fmt.Sprintf("%s among %s; locks: %s.", s.Algorithms[0].Algorithm, words.Plural(s.Nodes, "member"), describeLoad(s)))
	printFaults(p, x.blows)
	if len(x.blows) == 0 {
		p.Line("No faults.")
	}
	p.Text(0, fmt.Sprintf("At %s %s is violated: %s", formatMoment(x.story.Violation.At), x.story.Violation.Invariant, x.story.Violation.Text))
	if x.unfenced() {
		printLost(p, x)
	}
}

// printFaults lists faults.
func printFaults(p *terminal.Printer, blows []storm.StruckFault) {
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
func printBank(p *terminal.Printer, x *stormResult) {
	b := &x.Runs.Books
	stale := "refused by the fence"
	if x.Unfenced {
		stale = "accepted, without a fence"
	}
	p.Row("bank", "%s moved %s; %s %s", words.Plural(b.Transfers, "transfer"), words.Grouped(b.Moved), words.Plural(b.Stale, "stale write"), stale)
	switch {
	case !b.Exact():
		p.Row("total", "%s, expected %s: %s missing, %s surplus", words.Grouped(b.Total), words.Grouped(b.Expected), words.Grouped(b.Missing), words.Grouped(b.Surplus))
	case x.Unfenced:
		p.Row("total", "%s of %s: exact, by luck", words.Grouped(b.Total), words.Grouped(b.Expected))
	default:
		p.Row("total", "%s of %s: exact", words.Grouped(b.Total), words.Grouped(b.Expected))
	}
}

// How many lines of a loss are printed: the first and the last ones.
const (
	mostEntries  = 14
	firstEntries = 6
)

// printLost prints how money was lost, and that this is expected.
func printLost(p *terminal.Printer, x *stormResult) {
	p.Gap()
	p.Line("AT THE BANK, from the read of the process that wrote too late")
	list := x.lost
	for i, e := range list {
		switch {
		case len(list) > mostEntries && i == firstEntries:
			p.Line("%14s%s omitted", "", words.Plural(len(list)-mostEntries, "line"))
		case len(list) <= mostEntries || i < firstEntries || i >= len(list)-(mostEntries-firstEntries):
			printIndented(p, fmt.Sprintf("%9.1f ms  ", millis(e.At)), e.Text)
		}
	}
	p.Gap()
	again := strings.TrimSuffix(x.again, " --no-fence")
	p.Text(0, "THIS IS EXPECTED without the fence: no lease can stop a late write, such as that of a paused process. With the fence the bank refuses it, and its totals are exact:")
	p.Line("  %s", again)
}

// printIndented prints wrapped text after the beginning of its first line.
func printIndented(p *terminal.Printer, begin, text string) {
	for _, line := range words.Wrap(text, terminal.ScreenWidth-len(begin)) {
		p.Line("%s%s", begin, line)
		begin = strings.Repeat(" ", len(begin))
	}
}
