package main

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/internal/live/member"
	"github.com/stile-lock/stile/internal/live/storm"
	"github.com/stile-lock/stile/internal/words"
)

// print tells what came of the storms.
func (f *stormFlags) print(p *Page, x *found) {
	if x.alone {
		printOne(p, x.Pick(x.Config.First))
	} else {
		f.printMany(p, x)
	}
	p.Gap()
	printSums(p, x)
	if f.strikes && x.Sum.Seeds > 0 && x.Failures == 0 {
		p.Gap()
		p.Line("WHAT STRUCK")
		printBlows(p, x.blows)
	}
	if x.Failures > 0 {
		printFailure(p, x)
	}
	if _, there := x.shown(); f.scene.Asked() && !there {
		p.Gap()
		p.Text(0, "No storm to draw: nothing was broken. Give one --seed to see that.")
	}
}

// printMany says which storms there were.
func (f *stormFlags) printMany(p *Page, x *found) {
	p.Line("%s, seeds %d to %d", words.Plural(x.Config.Seeds, "storm"), x.Config.First, x.Last())
	p.Gap()
	var names []string
	for _, a := range x.Algorithms {
		names = append(names, a.Algorithm)
	}
	p.Row("algorithms", "%s", strings.Join(names, ", "))
	p.Row("members", "%s", strings.Trim(fmt.Sprint(x.Nodes), "[]"))
	p.Row("voters", "%s", strings.Trim(fmt.Sprint(x.Voters), "[]"))
	p.Row("faults", "%s", stormListed(x.kinds()))
}

// printOne says which storm it is.
func printOne(p *Page, c storm.Config) {
	p.Line("Storm %d: %s among %s", c.Seed, c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"))
	p.Gap()
	if c.Faults&storm.Switch != 0 && len(c.Algorithms) > 1 {
		p.Row("algorithms", "%s first, then others", c.Algorithms[0].Algorithm)
	}
	voters := words.Plural(c.Voters, "voter")
	if c.Shelter {
		voters += ", whom nothing befalls"
	}
	p.Row("voters", "%s", voters)
	p.Row("locks", "%s", load(&c))
	s := c.Settings
	p.Row("settings", "lease %s, renewal %s, drift %.0f %%, act %d %%, handover %d, view life %s",
		stormSpan(s.Lease), stormSpan(s.Renew), float64(s.Drift)/10_000, s.Act, s.Handover, stormSpan(s.ViewLife))
	p.Row("faults", "%s; for %s, then all heals", stormListed(namesOf(c.Faults)), stormSpan(c.Length))
}

// load says who asks for how many locks.
func load(c *storm.Config) string {
	return fmt.Sprintf("%d, asked for by %s of each member and %s", c.Locks, words.Plural(c.Apps, "application"), words.Plural(c.Clients, "client"))
}

// printSums tells what happened in all storms.
func printSums(p *Page, x *found) {
	r := &x.Runs
	p.Row("simulated", "%s", lasted(r.Simulated))
	p.Row("struck", "%s", words.Plural(r.Strikes, "fault"))
	p.Row("views", "%s; %s of leaders, %s of voters", words.Grouped(r.Views), words.Plural(r.Terms, "term"), words.Plural(r.Revotes, "change"))
	p.Row("entries", "%s; %s lost and told, %s refused", words.Grouped(r.Entries), words.Plural(r.Lost, "hold"), words.Plural(r.Tries, "try"))
	p.Row("writes", "%s accepted, %s refused by their tokens", words.Grouped(r.Deposits), words.Grouped(r.Refused))
	if x.Bank {
		printBooks(p, x)
	}
	p.Row("longest", "%s of waiting, once healed; at most %s allowed", stormSpan(r.Longest), stormSpan(r.Bound))
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

// printFailure tells the first failure: how to make it again, and its story.
func printFailure(p *Page, x *found) {
	first := x.Sum.First[0]
	c := x.Pick(first.Seed)
	p.Gap()
	p.Line("SEED %d BREAKS %s", first.Seed, first.Violation.Invariant)
	p.Row("run", "%s among %s; %s", c.Algorithms[0].Algorithm, words.Plural(c.Nodes, "member"), stormListed(namesOf(c.Faults)))
	p.Row("broken", "at %s: %s", stormAt(first.Violation.At), first.Violation.Text)
	p.Row("commit", "%s", Build().Commit())
	p.Row("again", "%s", x.again)
	if x.story == nil {
		return
	}
	s := &x.story.Config
	p.Gap()
	p.Line("ITS SHORT STORY, found in %s", words.Plural(x.story.Tries, "run"))
	p.Text(0, fmt.Sprintf("%s among %s; locks: %s.", s.Algorithms[0].Algorithm, words.Plural(s.Nodes, "member"), load(s)))
	printBlows(p, x.blows)
	if len(x.blows) == 0 {
		p.Line("Nothing strikes.")
	}
	p.Text(0, fmt.Sprintf("At %s %s is broken: %s", stormAt(x.story.Violation.At), x.story.Violation.Invariant, x.story.Violation.Text))
	if x.unfenced() {
		printLost(p, x)
	}
}

// printBlows lists faults.
func printBlows(p *Page, blows []storm.StruckFault) {
	for _, b := range blows {
		printIndented(p, fmt.Sprintf("%9.1f ms  %-9s  ", millis(b.At), b.Kind), b.Text)
	}
}

// stormListed lists kinds of faults.
func stormListed(kinds []string) string {
	if len(kinds) == 0 {
		return none
	}
	return strings.Join(kinds, ", ")
}

// kinds names the kinds of faults that were chosen from.
func (f *found) kinds() []string { return namesOf(f.Faults) }

func namesOf(f storm.Faults) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), ",")
}

// stormAt writes a moment.
func stormAt(d member.Span) string { return fmt.Sprintf("%.3f ms", millis(d)) }

// stormSpan writes a length of time.
func stormSpan(d member.Span) string { return words.Trimmed(millis(d), 1) + " ms" }

// lasted writes a long one.
func lasted(d member.Span) string {
	if d < 3600*member.Second {
		return words.Trimmed(float64(d)/float64(member.Second), 1) + " s"
	}
	return words.Trimmed(hours(d), 2) + " hours"
}
