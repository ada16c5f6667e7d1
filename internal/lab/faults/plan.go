package faults

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A plan is the order in which processes ask, and how long messages take.
type plan struct {
	order []algorithm.ID
	links []script.Link // links whose messages do not take 1
}

// When idle processes ask, and how long after the one before. The second round begins
// while the first is in progress, so some processes ask while others wait.
const (
	apart = scenario.T / 5
	pause = 30 * scenario.T // from the end of everything until all ask once more
	again = 15 * scenario.T // until a process that was refused asks once more
	tries = 4               // number of attempts
	late  = 12 * scenario.T // maximum lateness of a copy
	ends  = 60 * scenario.T // time after which a waiting process waits forever
)

// rounds are the times at which idle processes ask.
func rounds() []int64 { return []int64{0, 4 * scenario.T, 9 * scenario.T} }

// plans lists the plans: all orders of two or three processes, or each one of more to
// begin; and then the same with a different latency on each link.
func (c Config) plans() []plan {
	var all, uneven []plan
	for turn := range c.Nodes {
		var order []algorithm.ID
		for i := range c.Nodes {
			order = append(order, algorithm.ID((turn+i)%c.Nodes))
		}
		all = append(all, plan{order: order})
		uneven = append(uneven, plan{order, links(order)})
		if c.Nodes == 3 {
			back := slices.Clone(order)
			slices.Reverse(back)
			all = append(all, plan{order: back})
		}
	}
	return append(all, uneven...)
}

// links gives each link a latency of its own, from 0.3 to 2.7.
func links(order []algorithm.ID) []script.Link {
	var all []script.Link
	for i, p := range order {
		for j, q := range order {
			if i != j {
				steps := int64((i*len(order)+2*j)%9 + 1)
				all = append(all, script.Link{From: p, To: q, Latency: scenario.Always(steps * 3 * scenario.T / 10)})
			}
		}
	}
	return all
}

// faults lists what can be done to a fault-free run.
func (t *trial) faults(base *run) [][]script.Action {
	if t.Kind.crash() {
		return t.crashes(base)
	}
	var all [][]script.Action
	for _, e := range base.back.Events {
		if e.Kind != trace.Receive || e.At >= base.quiet() || !t.may(e.Peer) {
			continue
		}
		hit := script.Action{At: e.At, Kind: script.Drop, Proc: e.Peer, Peer: e.Proc, Message: e.Name}
		if t.Kind == Lost {
			all = append(all, []script.Action{hit})
			continue
		}
		hit.Kind = script.Duplicate
		twin := hit
		twin.Kind, twin.Nth = script.Delay, 2
		all = append(all, []script.Action{hit})
		for _, twin.By = range base.later(e.At) {
			all = append(all, []script.Action{hit, twin})
		}
	}
	return all
}

// later returns how much later a copy can arrive: shortly after each time from then on at
// which a process has asked, entered or left.
func (r *run) later(at int64) []int64 {
	var all []int64
	for _, e := range r.back.Events {
		if by := e.At + scenario.T/10 - at; by > 0 && by < late && e.At < r.quiet() && (e.Kind == trace.Ask || e.Kind == trace.Enter || e.Kind == trace.Exit) {
			all = append(all, by)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// crashes lets each process die right before anything that happens, if it is then doing
// what the fault says.
func (t *trial) crashes(base *run) [][]script.Action {
	want := [...]phase{Idle: idle, Waiting: waits, Inside: inside}[t.Kind]
	var all [][]script.Action
	for p := range algorithm.ID(t.Nodes) {
		if !t.may(p) {
			continue
		}
		last := int64(-1)
		for _, e := range base.back.Events {
			if e.At == last || e.At >= base.quiet() {
				continue
			}
			last = e.At
			if base.phase(p, e.At) == want {
				all = append(all, []script.Action{{At: e.At, Kind: script.Crash, Proc: p}})
			}
		}
	}
	return all
}
