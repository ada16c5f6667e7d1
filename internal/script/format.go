package script

import (
	"fmt"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// Format formats s as a file. For a scenario that passes Check, Parse reads the same
// value back, apart from File and the line numbers.
func Format(s *Scenario) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	option := func(name, value string) {
		if value != "" {
			say("%s %s", name, value)
		}
	}
	option("title", s.Title)
	say("algorithm %s", s.Algorithm)
	option("topology", s.Topology)
	option("sets", s.Sets)
	option("inform", s.Inform)
	if s.K != 0 {
		say("k %d", s.K)
	}
	if s.Coordinator != 0 {
		say("coordinator %d", s.Coordinator)
	}
	if s.Experiment {
		say("experiment")
	}
	if s.Patience != 0 {
		say("patience %d", s.Patience)
	}
	option("mode", s.Mode)
	say("processes %d", s.Processes)
	s.formatSites(say)
	for _, x := range s.Sections {
		say("section %s among %s", x.Name, strings.ReplaceAll(numbers(x.Members), " ", ","))
	}
	if s.Busy {
		say("holder %d busy", s.Holder+1)
	} else if s.Holder != 0 {
		say("holder %d", s.Holder+1)
	}
	if s.Network != algorithm.FIFO {
		say("network %v", s.Network)
	}
	if s.Seed != defaultSeed {
		say("seed %d", s.Seed)
	}
	if s.Steps {
		say("schedule steps")
	} else {
		formatTimes(s, say)
	}
	for _, d := range s.Deposits {
		say("deposit %v %d", d.Proc, d.Amount)
	}
	for _, begin := range s.Begin {
		say("%v", begin)
	}
	for _, set := range s.Set {
		say("set %v%s %s %s", set.Proc, behind(set.Section), set.Field, set.Value)
	}
	formatSchedule(s, say)
	return b.String()
}

func formatTimes(s *Scenario, say func(string, ...any)) {
	if s.Latency != Always(T) {
		say("latency %v", s.Latency)
	}
	for _, l := range s.Links {
		say("latency %d -> %d %v", l.From+1, l.To+1, l.Latency)
	}
	if s.Manual {
		say("hold manual")
	} else if s.Hold != Always(T) {
		say("hold %v", s.Hold)
	}
	if s.Sites > 0 && s.Backoff != Always(T) {
		say("backoff %v", s.Backoff)
	}
	if s.Until != 0 {
		say("until %s", FormatTime(s.Until))
	}
}

// formatSchedule writes the actions and the expectations. An expectation that is tied to
// a place between the actions is written at its place.
func formatSchedule(s *Scenario, say func(string, ...any)) {
	placed := func(count int) {
		for _, c := range s.Captions {
			if c.When.Kind == AfterActions && c.When.Count == count {
				say("%v", c)
			}
		}
		for _, e := range s.Expect {
			if e.When.Kind == AfterActions && e.When.Count == count {
				say("%v", e)
			}
		}
	}
	if len(s.Captions) > 0 {
		say("")
	}
	for _, c := range s.Captions {
		if c.When.Kind != AfterActions {
			say("%v", c)
		}
	}
	if len(s.Actions) > 0 {
		say("")
	}
	placed(0)
	for i, a := range s.Actions {
		if s.Steps {
			say("%v", a)
			placed(i + 1)
		} else {
			say("at %s %v", FormatTime(a.At), a)
		}
	}
	if len(s.Expect) > 0 {
		say("")
	}
	for _, e := range s.Expect {
		if e.When.Kind != AfterActions {
			say("%v", e)
		}
	}
}
