package faults

import (
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// A run is a scenario and its outcome.
type run struct {
	sc      *scenario.Scenario
	back    *sim.Playback
	probe   int64 // when every surviving process asks once more
	outcome Outcome
	waiting []algorithm.ID // processes that wait forever
}

// A phase is what a process is doing.
type phase uint8

const (
	idle phase = iota
	waits
	inside
	dead
)

// forever is after everything that happens.
const forever = math.MaxInt64

// phase returns what a process is doing right before what happens at a time.
func (r *run) phase(p algorithm.ID, at int64) phase {
	now := idle
	for _, e := range r.back.Events {
		if e.At >= at {
			break
		}
		if e.Proc != p {
			continue
		}
		switch e.Kind {
		case trace.Ask:
			now = waits
		case trace.Enter:
			now = inside
		case trace.Exit, trace.Deny:
			now = idle
		case trace.Crash:
			now = dead
		}
	}
	return now
}

// quiet returns when all processes have left for the last time before the last round, and
// a little more.
func (r *run) quiet() int64 {
	last := int64(0)
	for _, e := range r.back.Events {
		if e.Kind == trace.Exit && (r.probe == 0 || e.At < r.probe) {
			last = e.At
		}
	}
	return last + 3*scenario.T
}

// entered reports whether a process got in at this time or later.
func (r *run) entered(p algorithm.ID, since int64) bool { return r.did(trace.Enter, p, since) }

// did reports whether an event of this kind happened to a process at this time or later.
func (r *run) did(what trace.Kind, p algorithm.ID, since int64) bool {
	return slices.ContainsFunc(r.back.Events, func(e trace.Event) bool {
		return e.Kind == what && e.Proc == p && e.At >= since
	})
}

// base plays a plan without a fault: round by round, the processes that are idle by then
// ask.
func (t *trial) base(p plan) (*run, error) {
	r := t.begin(p)
	r.back, r.sc.Until = &sim.Playback{}, 100*scenario.T
	return r, t.rounds(r, p, rounds(), -1)
}

// play plays it with a fault. Up to the fault everything is as without it; afterwards
// there are rounds for the processes that have not been inside since the first of them.
func (t *trial) play(p plan, base *run, fault []script.Action) (*run, error) {
	r := t.begin(p)
	r.sc.Actions = slices.Clone(fault)
	from := fault[0].At
	for _, a := range base.sc.Actions {
		if a.At <= from && !r.dies(a.Proc, a.At) {
			r.sc.Actions = append(r.sc.Actions, a)
		}
	}
	all := rounds()
	r.probe = base.quiet() + pause
	for try := range int64(tries) {
		all = append(all, r.probe+try*again)
	}
	r.sc.Until = all[len(all)-1] + ends
	if err := t.replay(r); err != nil {
		return nil, err
	}
	return r, t.rounds(r, p, all, from)
}

// begin returns a scenario in which nothing happens yet.
func (t *trial) begin(p plan) *run {
	r := &run{sc: &scenario.Scenario{
		Algorithm: t.Spec.Name, Options: t.Options, Processes: t.Nodes, Seed: 1,
		Latency: scenario.Always(scenario.T), Links: p.links, Hold: scenario.Always(scenario.T),
	}}
	if t.Kind == Duplicated {
		r.sc.Network = algorithm.Unordered // a copy may be overtaken
	}
	return r
}

// rounds plays on, round by round, after the time up to which the lines are fixed.
func (t *trial) rounds(r *run, p plan, all []int64, after int64) error {
	for _, at := range all {
		if !t.round(r, p, at, after) {
			continue // no process asks, so nothing changes
		}
		if err := t.replay(r); err != nil {
			return err
		}
	}
	return nil
}

// round lets the processes ask that are idle at a time; in the last rounds, only if they
// have not been inside since these began. It reports whether any asks.
func (t *trial) round(r *run, p plan, at, after int64) bool {
	any := false
	for i, who := range p.order {
		when := at + int64(i)*apart
		if when <= after || r.phase(who, when) != idle || r.dies(who, when) || r.probe > 0 && at > r.probe && r.entered(who, r.probe) {
			continue
		}
		r.sc.Actions = append(r.sc.Actions, script.Action{At: when, Kind: script.Ask, Proc: who})
		any = true
	}
	return any
}

// dies reports whether a line lets a process die at this time or before.
func (r *run) dies(p algorithm.ID, at int64) bool {
	return slices.ContainsFunc(r.sc.Actions, func(a script.Action) bool {
		return a.Kind == script.Crash && a.Proc == p && a.At <= at
	})
}

// replay plays the scenario so far, and judges it. Whether encoded states are complete is
// checked only without a fault: there are many runs, and the check takes half of their
// time.
func (t *trial) replay(r *run) error {
	back, err := sim.Replay(t.Spec, r.sc, sim.ReplayOptions{Brief: r.probe > 0})
	if err != nil {
		return err
	}
	r.back = back
	r.judge(t.Nodes)
	return nil
}

// judge determines the outcome of a run.
func (r *run) judge(nodes int) {
	r.outcome, r.waiting = GoesOn, nil
	alive := 0
	for p := range algorithm.ID(nodes) {
		now := r.phase(p, forever)
		if now == dead {
			continue
		}
		alive++
		if now == waits || r.probe > 0 && r.did(trace.Deny, p, r.probe) && !r.entered(p, r.probe) {
			r.waiting = append(r.waiting, p)
		}
	}
	switch n := len(r.waiting); {
	case n > 0 && n == alive:
		r.outcome = AllWait
	case n > 0:
		r.outcome = SomeWait
	}
	for _, v := range r.back.Violations {
		if v.Property == script.MutualExclusion || v.Property == script.UnaskedEntry {
			r.outcome, r.waiting = Unsafe, nil
		}
	}
}
