package document

import (
	"fmt"
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/families"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// span formats the range that theory allows.
func span(r *algorithm.Range, unit string) string {
	if r == nil {
		return ""
	}
	return words.Range(r.Lo, r.Hi) + unit
}

// fits reports whether theory allows a value, which is rounded.
func fits(r *algorithm.Range, x float64) bool {
	const near = 1e-6
	return r == nil || x >= r.Lo-near && x <= r.Hi+near
}

// measures returns what was counted, next to theory.
func measures(back *sim.Playback, sc *scenario.Scenario, spec algorithm.Spec) []Measure {
	all := []Measure{{Name: "messages", Here: itoa(back.Messages), Fits: true}}
	if spec.Family != algorithm.MutualExclusion {
		all[0].Formula = spec.Theory.Messages.Text
	}
	if back.Sites != nil {
		return append(all, ofTransactions(back.Sites.Ledger, sc.Steps)...)
	}
	for _, m := range back.Measured {
		all = append(all, ofLock(m, back, sc, spec)...)
	}
	return all
}

// beside puts theory next to a counted value: a range, or the condition under which the
// formula holds, if the run does not meet it.
func beside(name string, x float64, unit string, r *algorithm.Range, c algorithm.Cost, unless string) Measure {
	m := Measure{name, words.Plain(x) + unit, span(r, unit), c.Text, fits(r, x)}
	if r == nil && c.Any != nil && unless != "" {
		m.Theory = unless + ":"
	}
	return m
}

func ofLock(m *sim.Result, back *sim.Playback, sc *scenario.Scenario, spec algorithm.Spec) []Measure {
	in := ""
	if m.Section != "" {
		in = m.Section + ": "
	}
	t := spec.Theory
	all := []Measure{{Name: in + "entries", Here: entriesOf(m, back, sc), Fits: true}}
	if m.Entries > 0 {
		all = append(all, beside(in+"messages per entry", m.PerEntry, "", m.Theory.Messages, t.Messages, m.Theory.IfCounts))
	}
	delay := func(name string, s *sim.Stats, r *algorithm.Range, c algorithm.Cost) {
		if s != nil && !sc.Steps {
			all = append(all, beside(in+name, s.Mean, " T", r, c, m.Theory.IfDelays))
		}
	}
	delay("client delay", m.Client, m.Theory.Client, t.Client)
	delay("synchronisation delay", m.Sync, m.Theory.Sync, t.Sync)
	if (m.Wait != nil || m.LongestWait > 0) && !sc.Steps {
		x := Measure{Name: in + "longest wait", Here: words.Plain(m.LongestWait) + " T", Formula: t.WaitText, Fits: true}
		if most := m.Theory.Wait; most != nil {
			x.Theory, x.Fits = "at most "+words.Plain(*most)+" T", m.LongestWait <= *most
		}
		all = append(all, x)
	}
	x := Measure{Name: in + "longest bypass", Here: itoa(m.MaxBypass), Fits: true}
	if most := m.Theory.Bypass; most != nil {
		x.Theory = "at most " + itoa(*most) + " entries of other processes after the request has arrived"
		x.Fits = seenWaiting(back.Events, m.Section, sc.Processes) <= *most
	}
	return append(all, x)
}

// entriesOf says how many entries into a section there were, including that of a process
// inside at the start, and how many have ended, if not all.
func entriesOf(m *sim.Result, back *sim.Playback, sc *scenario.Scenario) string {
	begun := 0
	if sc.Busy && m.Section == "" {
		begun++
	}
	for _, b := range sc.Begin {
		if b.Message == "" && b.Phase == script.Inside {
			begun++
		}
	}
	for _, e := range back.Entries {
		if e.Section == m.Section {
			begun++
		}
	}
	if begun > m.Entries {
		return itoa(begun) + ", " + itoa(m.Entries) + " ended"
	}
	return itoa(begun)
}

func ofTransactions(l *sim.Ledger, steps bool) []Measure {
	all := []Measure{
		{Name: "commits", Here: itoa(l.Committed), Fits: true}, {Name: "aborts", Here: itoa(l.Aborted), Fits: true},
		{Name: "deadlocks", Here: itoa(l.Deadlocks), Fits: true},
	}
	if l.Committed > 0 {
		all = append(all, Measure{Name: "messages per transaction", Here: words.Plain(l.PerTransaction), Fits: true})
	}
	if l.Resolved > 0 && !steps {
		all = append(all, Measure{Name: "mean time to break a deadlock", Here: words.Plain(l.DetectionDelay) + " T", Fits: true})
	}
	return all
}

// properties returns the properties that the run was judged by, and where it violated them.
// It leaves out what a run cannot show.
func (r *recorder) properties(back *sim.Playback, d *Document) []Property {
	all := []Property{}
	for _, rule := range families.Of(r.spec).Rules {
		p := Property{Name: rule.Name, Holds: true, Event: -1, Text: rule.Means}
		at := slices.IndexFunc(back.Violations, func(v sim.Violation) bool { return v.Property == p.Name })
		switch {
		case at >= 0:
			p.Holds, p.Text = false, back.Violations[at].String()
			p.Event = slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == trace.Violation.String() && e.Name == p.Name })
		case !r.shows(back, rule):
			continue
		case p.Name == family.LostRequest:
			r.answered(d, &p)
		case p.Name == family.NoDeadlock:
			r.stuck(d, &p)
		}
		all = append(all, p)
	}
	return all
}

// answered says what became of the processes that asked, in a run that lost no request: a
// process that crashes no longer waits, and where requests may be denied not every process
// gets in.
func (r *recorder) answered(d *Document, p *Property) {
	denied := slices.IndexFunc(d.Events, func(e Event) bool { return e.Kind == trace.Deny.String() })
	who, end := "every process that asks", "enters"
	if r.bereft {
		who += " and does not crash"
	}
	if r.spec.TryLock {
		end = "enters or is denied"
	}
	p.Text = who + " " + end
	switch ring := r.ring(); {
	case len(ring) > 0:
		p.Holds, p.Event = false, lastAsk(d, ring)
		p.Text = list(named(d, ring)) + " wait forever unless one of them leaves a section first: each is inside one section and waits for one that the next process is inside"
	case denied >= 0 && r.spec.TryLock:
		p.Event = denied
		p.Text += ", as " + d.Names[d.Events[denied].Proc] + " is"
	case denied >= 0:
		p.Holds, p.Event = false, denied
		p.Text = d.Names[d.Events[denied].Proc] + " asked and was denied, but " + r.spec.Name + " does not claim to deny requests"
	}
}

// stuck says which processes wait when nothing more can happen, and since which event.
func (r *recorder) stuck(d *Document, p *Property) {
	who := named(d, r.hopeless())
	if len(who) == 0 {
		return
	}
	p.Holds, p.Text = false, list(who)+" wait forever"
	if len(who) == 1 {
		p.Text = who[0] + " waits forever"
	}
	if n := len(d.Graph); n > 0 && len(d.Graph[n-1].Cycles) > 0 {
		p.Event = d.Graph[n-1].Event - 1
	}
}

// shows reports whether a run that has not violated a property shows that it holds: some
// properties are watched only if they are promised, and some are judged only at the end.
func (r *recorder) shows(back *sim.Playback, rule family.Rule) bool {
	asked := slices.ContainsFunc(back.Events, func(e trace.Event) bool { return e.Kind == trace.Ask })
	waits := slices.ContainsFunc(r.lanes, func(l lane) bool { return l.does(Waiting) })
	switch rule.Name {
	case family.Order:
		return r.spec.Theory.ME3 || slices.ContainsFunc(r.sc.Expect, func(e script.Expectation) bool { return e.Name == family.Order })
	case family.LostRequest:
		return asked && !back.Stopped && (!waits || back.Still && len(r.ring()) > 0)
	case family.NoDeadlock:
		return asked && back.Still && (!waits || len(r.hopeless()) > 0)
	}
	return !rule.AtRest || back.Still
}

// violations lists what was violated, with the events that report it.
func violations(d *Document) []Violation {
	all := []Violation{}
	for i := range d.Events {
		if e := &d.Events[i]; e.Kind == trace.Violation.String() {
			all = append(all, Violation{Event: i, Property: e.Name, Text: e.Text})
		}
	}
	return all
}

// compared says for every expectation whether it was met.
func compared(differences []sim.Difference, expected []script.Expectation, stopped bool) []Expect {
	all := []Expect{}
	if stopped {
		return all
	}
	for _, e := range expected {
		x := Expect{Line: e.Line, OK: true, Want: e.What()}
		if i := slices.IndexFunc(differences, func(d sim.Difference) bool { return d.Line == e.Line }); i >= 0 {
			x.OK, x.Got = false, differences[i].Got
		}
		all = append(all, x)
	}
	for _, d := range differences {
		if d.Line == 0 {
			all = append(all, Expect{Want: d.Want, Got: d.Got})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Line < all[j].Line })
	return all
}

// badges lists what the scenario does that the algorithm does not promise to tolerate.
func badges(sc *scenario.Scenario, spec algorithm.Spec) []string {
	all := []string{}
	say := func(if_ bool, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); if_ && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	reorders := spec.Network != algorithm.FIFO && spec.Network != algorithm.Lossy
	say(sc.Network > spec.Network || sc.Network == algorithm.Unordered && !reorders, "the network is %v, but %s needs a %v one", sc.Network, spec.Name, spec.Network)
	mortal := families.Of(spec).Detects
	say(sc.Experiment, "the sets break the rules")
	who := "process"
	if sc.Transacts() {
		who = "site"
	}
	say(mortal && slandered(sc), "a live %s is suspected; %s does not tolerate that", who, spec.Name)
	for _, a := range sc.Actions {
		switch a.Kind {
		case script.Drop:
			say(spec.Network != algorithm.Lossy && !patient(sc, spec), "a message is lost; %s does not tolerate that", spec.Name)
		case script.Duplicate:
			say(spec.Network != algorithm.Duplicating, "a message is duplicated; %s does not tolerate that", spec.Name)
		case script.Reorder:
			say(!reorders, "a message overtakes another; %s does not tolerate that", spec.Name)
		case script.Deliver:
			say(!reorders && a.Overtakes, "a message overtakes another; %s does not tolerate that", spec.Name)
		case script.Crash, script.Restart, script.CrashSite:
			say(!mortal, "a process crashes; %s does not tolerate that", spec.Name)
		case script.Suspect, script.SuspectSite, script.Trust:
			say(!mortal, "a process is notified of a crash; %s ignores that", spec.Name)
		}
	}
	return all
}

// patient reports whether losses are repaired: a waiting process loses patience, and a new
// view is made. That restores what is missing, but does not correct what was believed: with
// a Gapless lock, two processes can be inside before any has waited for long.
func patient(sc *scenario.Scenario, spec algorithm.Spec) bool {
	return sc.Options.Patience > 0 && !spec.Gapless
}

// slandered reports whether a process is notified of the death of a live one. Every
// algorithm that wants such notices relies on a perfect failure detector.
func slandered(sc *scenario.Scenario) bool {
	inTime := slices.Clone(sc.Actions)
	if !sc.Steps {
		sort.SliceStable(inTime, func(i, j int) bool { return inTime[i].At < inTime[j].At })
	}
	dead := make([]bool, max(sc.Processes, sc.Sites))
	for _, a := range inTime {
		switch a.Kind {
		case script.Crash, script.CrashSite:
			dead[a.Proc] = true
		case script.Restart:
			dead[a.Proc] = false
		case script.Suspect, script.SuspectSite:
			if !dead[a.Peer] {
				return true
			}
		}
	}
	return false
}
