package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// Replay runs the counterexample in the simulator: another host, with another network and
// no canonical states, but the same environment. The playback is nil if there is no
// counterexample. Differences between the simulator and the checker are in
// Playback.Differences.
func (p *Property) Replay() (*sim.Playback, error) {
	if p.Counterexample == nil {
		return nil, nil
	}
	return p.replay(false)
}

// replay is Replay, with the reasons for what processes do if explain is set.
func (p *Property) replay(explain bool) (*sim.Playback, error) {
	return sim.Replay(p.spec, p.Counterexample, sim.ReplayOptions{Family: p.family, Explain: explain})
}

// confirm replays a counterexample. If the simulator does not see the violation, there is
// no counterexample. The simulator checks more than the one property: whatever else it
// sees on the way is expected from now on.
func (p *Property) confirm() {
	back, err := p.Replay()
	if err != nil {
		p.Verdict, p.Note = Unfinished, fmt.Sprintf("no real run confirms the violation: %v", err)
		return
	}
	sc := p.Counterexample
	if back.Sites != nil {
		if back, err = p.witness(back); err != nil {
			p.Verdict, p.Note = Unfinished, "the simulator does not agree: "+err.Error()
			return
		}
	}
	if len(sc.Sections) > 0 {
		if back, err = p.apart(back); err != nil {
			p.Verdict, p.Note = Unfinished, "the simulator does not agree: "+err.Error()
			return
		}
	}
	for _, v := range back.Violations {
		expected := slices.ContainsFunc(sc.Expect, func(e script.Expectation) bool {
			return e.Kind == script.Violated && e.Name == v.Property
		})
		if !expected && slices.Contains(script.Properties(), v.Property) {
			sc.Expect = append(sc.Expect, script.Expectation{Kind: script.Violated, Name: v.Property})
		}
	}
	for _, d := range back.Differences {
		if d.Want != (script.Expectation{Kind: script.NotViolated}).What() {
			p.Verdict, p.Note = Unfinished, "the simulator does not agree: "+d.String()
		}
	}
}

// Story tells the counterexample: in words, and as a space-time diagram. It is empty if
// there is none. What the simulator cannot replay is only listed. With o.Why the words say
// why each process does what it does.
func (p *Property) Story(o trace.TextOptions) string {
	var back *sim.Playback
	if p.Counterexample != nil {
		back, _ = p.replay(o.Why)
	}
	var b strings.Builder
	switch {
	case len(p.Trace) == 0:
		return ""
	case back == nil:
		for i, line := range p.Trace {
			fmt.Fprintf(&b, "%5d  %s\n", i+1, line)
		}
	default:
		b.WriteString(tale(back, o) + standstill(back))
		if stand, ok := strings.CutPrefix(p.where, ": "); ok {
			fmt.Fprintf(&b, "       Nothing more need happen: %s.\n", stand)
		}
	}
	if (p.Name == Starvation || p.Name == Convergence || p.Name == Bypass) && p.Loop < len(p.Trace) {
		fmt.Fprintf(&b, "\nThe steps from %d on can be repeated forever.\n", p.Loop+1)
	}
	if back != nil {
		o.Why = false // the words have said it
		b.WriteString("\n" + diagram(back).Text(o))
	}
	return b.String()
}

// tale tells what happened: among sites by sim.Story.
func tale(b *sim.Playback, o trace.TextOptions) string {
	if b.Sites != nil {
		return sim.Story(b.Sites.Run.Layout, b.Trace())
	}
	t := b.Trace()
	t.Events = slices.DeleteFunc(slices.Clone(t.Events), func(e trace.Event) bool {
		return e.Kind == trace.Violation && e.Name == script.LostRequest // standstill reports it
	})
	return t.Tale(o)
}

// diagram returns the trace to draw: among sites without the notes at processes, which
// have lanes of their own.
func diagram(b *sim.Playback) *trace.Trace {
	t := b.Trace()
	t.Title = ""
	if b.Sites != nil {
		t.Events = slices.DeleteFunc(slices.Clone(t.Events), func(e trace.Event) bool { return e.Kind == trace.Note && e.Proc != algorithm.None })
	}
	return t
}

// standstill says which processes wait forever, if nothing more can happen.
func standstill(b *sim.Playback) string {
	var who []string
	for _, v := range b.Violations {
		if v.Property == script.LostRequest {
			who = append(who, v.Proc.String())
		}
	}
	switch len(who) {
	case 0:
		return ""
	case 1:
		return "       Nothing more need happen, and " + who[0] + " waits.\n"
	}
	return "       Nothing more need happen, and " + words.List(who) + " wait.\n"
}

// Err returns nil if all that was checked holds, at least up to the bound. The text of
// the error is the story of what goes wrong: it is meant for go test.
//
//	if err := report.Err(); err != nil {
//		t.Error(err)
//	}
func (r *Report) Err() error {
	if r.Verdict == Holds || r.Verdict == HoldsBounded {
		return nil
	}
	for _, p := range r.Properties {
		if p.Verdict != r.Verdict {
			continue
		}
		what := fmt.Sprintf("%s among %d: %s %s: %s", r.Algorithm, r.Nodes, p.Name, p.Verdict, p.Note)
		return errors.New(strings.TrimSpace(what + "\n\n" + p.Story(trace.TextOptions{})))
	}
	return fmt.Errorf("%s among %d: nothing was checked", r.Algorithm, r.Nodes)
}
