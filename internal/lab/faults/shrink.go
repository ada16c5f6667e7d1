package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// shrink leaves out requests, the last ones first, as long as the run keeps its outcome.
func (t *trial) shrink(r *run) {
	for i := len(r.sc.Actions) - 1; i >= 0; i-- {
		if r.sc.Actions[i].Kind != script.Ask {
			continue
		}
		less := *r.sc
		less.Actions = slices.Delete(slices.Clone(r.sc.Actions), i, i+1)
		shorter := &run{sc: &less, probe: r.probe}
		if t.replay(shorter) == nil && t.same(r, shorter) {
			*r = *shorter
		}
	}
	slices.SortStableFunc(r.sc.Actions, func(a, b script.Action) int { return cmp.Compare(a.At, b.At) })
	less := *r.sc
	less.Until = 0
	endless := &run{sc: &less, probe: r.probe}
	if t.replay(endless) == nil && !slices.ContainsFunc(endless.back.Events, func(e trace.Event) bool { return e.At > r.sc.Until }) && t.same(r, endless) {
		*r = *endless // nothing continues forever, so no end is needed
	}
}

// same reports whether a shorter run has the same fault and the same outcome. In one that
// goes on, every live process must still get in.
func (t *trial) same(r, shorter *run) bool {
	for p := range algorithm.ID(t.Nodes) {
		if r.outcome == GoesOn && r.entered(p, r.probe) != shorter.entered(p, r.probe) {
			return false
		}
	}
	return r.outcome == shorter.outcome && slices.Equal(r.waiting, shorter.waiting) && slices.Equal(t.hits(r), t.hits(shorter))
}

// hits describes how the fault happens in a run.
func (t *trial) hits(r *run) []string {
	var all []string
	for _, e := range r.back.Events {
		switch e.Kind {
		case trace.Crash:
			all = append(all, fmt.Sprint(e.At, e.Proc, r.phase(e.Proc, e.At)))
		case trace.Drop, trace.Duplicate:
			if !t.Kind.crash() {
				all = append(all, fmt.Sprint(e.At, e.Kind, e.Proc, e.Peer, e.Name))
			}
		}
	}
	return all
}

// expect writes the outcome into a scenario, and makes sure that it comes true.
func (t *trial) expect(r *run) error {
	t.report.What = t.what(r)
	r.sc.Title = t.Spec.Name + ": " + t.report.What
	entries := script.Expectation{Kind: script.Entries}
	for _, e := range r.back.Entries {
		entries.Procs = append(entries.Procs, e.Proc)
	}
	r.sc.Expect = []script.Expectation{entries}
	for _, v := range r.back.Violations {
		e := script.Expectation{Kind: script.Violated, Name: v.Property}
		if !slices.ContainsFunc(r.sc.Expect, func(x script.Expectation) bool { return x.Kind == e.Kind && x.Name == e.Name }) {
			r.sc.Expect = append(r.sc.Expect, e)
		}
	}
	for _, p := range r.waiting {
		if r.phase(p, forever) == waits {
			r.sc.Expect = append(r.sc.Expect, script.Expectation{Kind: script.PhaseIs, Proc: p, Phase: script.Waits})
		}
	}
	sc, err := scenario.Parse("", scenario.Format(r.sc)) // as it will be read
	if err != nil {
		return err
	}
	r.sc = sc
	if err := t.replay(r); err != nil {
		return err
	}
	if len(r.back.Differences) > 0 {
		return fmt.Errorf("the scenario of the worst run has a different outcome: %v", r.back.Differences[0])
	}
	return nil
}

// what describes the fault and its outcome in words.
func (t *trial) what(r *run) string {
	s := t.Kind.Means()
	for _, a := range r.sc.Actions {
		switch a.Kind {
		case script.Crash:
			s = fmt.Sprintf("%v crashes %s", a.Proc, [...]string{Idle: "while idle", Waiting: "while waiting", Inside: "inside"}[t.Kind])
		case script.Drop:
			s = fmt.Sprintf("%s from %v to %v is lost", a.Message, a.Proc, a.Peer)
		case script.Duplicate:
			s = fmt.Sprintf("%s from %v to %v is duplicated", a.Message, a.Proc, a.Peer)
		}
	}
	return s + ", and " + r.says()
}

// says describes the outcome in words.
func (r *run) says() string {
	switch r.outcome {
	case Unsafe:
		return "two processes are inside"
	case AllWait:
		return "all processes wait forever"
	case SomeWait:
		var names []string
		for _, p := range r.waiting {
			names = append(names, p.String())
		}
		if len(names) == 1 {
			return names[0] + " waits forever"
		}
		return strings.Join(names, " and ") + " wait forever"
	}
	if !slices.ContainsFunc(r.sc.Actions, func(a script.Action) bool { return a.Kind == script.Crash }) {
		return "all processes go on"
	}
	return "the others go on"
}
