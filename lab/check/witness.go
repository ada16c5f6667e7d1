package check

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// witness verifies that the simulator has seen what a counterexample among sites shows,
// and replays it once more, expecting all that was seen.
func (p *Property) witness(back *sim.Playback) (*sim.Playback, error) {
	sc := p.Counterexample
	if len(sc.Expect)+len(back.Violations) == 0 {
		return nil, errors.New("nothing is violated")
	}
	for _, e := range sc.Expect {
		if err := shows(sc, back, e); err != nil {
			return nil, err
		}
	}
	sc.Expect = slices.DeleteFunc(sc.Expect, func(e script.Expectation) bool { return e.Kind != script.Violated })
	sc.Expect = append(sc.Expect, outcome(back.Sites)...)
	return p.Replay()
}

// shows reports whether something like the expectation was seen.
func shows(sc *scenario.Scenario, b *sim.Playback, e script.Expectation) error {
	s := b.Sites
	switch {
	case e.Kind == script.Stuck && len(s.Stuck) == 0:
		return errors.New("no process is stuck")
	case e.Kind == script.Cycle && len(s.Cycles) == 0:
		return errors.New("there is no cycle")
	case e.Kind == script.FalseCycle && len(s.False) == 0:
		return errors.New("no false deadlock is reported")
	case e.Kind == script.Aborts && len(s.Wrong) == 0:
		return errors.New("no process is wrongly chosen to abort")
	case e.Kind == script.PhaseIs && !inProgress(sc, s, e.Proc):
		return errors.New(e.Proc.String() + " has no transaction at the end")
	}
	return nil
}

// inProgress reports whether a process has begun a transaction and not committed.
func inProgress(sc *scenario.Scenario, s *sim.SitesPlayback, p algorithm.ID) bool {
	began := 0
	for i, a := range sc.Actions {
		if a.Kind == script.Take && a.Proc == p {
			began = i + 1 // times are counted in actions, from 1
		}
	}
	return began > 0 && !slices.ContainsFunc(s.Commits, func(e sim.Ending) bool { return e.Proc == p && e.At > int64(began) })
}

// outcome returns all that the simulator has seen of the transactions' outcomes.
func outcome(s *sim.SitesPlayback) []script.Expectation {
	var all []script.Expectation
	add := func(e script.Expectation) {
		if !slices.ContainsFunc(all, func(o script.Expectation) bool { return o.What() == e.What() }) {
			all = append(all, e)
		}
	}
	for _, c := range s.Cycles {
		add(script.Expectation{Kind: script.Cycle, Procs: c})
	}
	for _, c := range s.False {
		add(script.Expectation{Kind: script.FalseCycle, Procs: c})
	}
	if len(s.Stuck) > 0 {
		add(script.Expectation{Kind: script.Stuck, Procs: s.Stuck})
	}
	add(script.Expectation{Kind: script.Commits, Procs: procs(s.Commits)})
	add(script.Expectation{Kind: script.Aborts, Procs: procs(s.Aborts)})
	return all
}

func procs(all []sim.Ending) []algorithm.ID {
	var ids []algorithm.ID
	for _, e := range all {
		ids = append(ids, e.Proc)
	}
	return ids
}
