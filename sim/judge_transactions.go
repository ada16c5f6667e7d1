package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/scenario"
)

// state checks an expectation about a process now.
func (c *siteCast) state(j *judge, e scenario.Expectation) {
	is, next := c.stands(e.Proc), c.env.Next(e.Proc)
	switch {
	case e.Kind == scenario.WaitsFor && next != algorithm.None && next != e.Peer:
		j.differ(e, fmt.Sprintf("%s%v waits for %v", e.When, e.Proc, next))
	case e.Kind == scenario.WaitsFor && next == algorithm.None:
		j.differ(e, fmt.Sprintf("%s%v %s, for nobody", e.When, e.Proc, is))
	case e.Kind == scenario.PhaseIs && is != e.Phase.String():
		j.differ(e, fmt.Sprintf("%s%v %s", e.When, e.Proc, is))
	}
}

// stands describes what a process is doing.
func (c *siteCast) stands(p algorithm.ID) string {
	_, got := c.env.Program(p)
	switch {
	case c.w.Crashed(c.Layout.Home[p]):
		return "is dead"
	case c.env.Blocked(p):
		return scenario.Waits.String()
	case c.env.Waits(p) && got == 0:
		return "is about to try again"
	case c.env.Waits(p):
		return "works"
	}
	return scenario.Idle.String()
}

func (c *siteCast) whole(j *judge, e scenario.Expectation) {
	s := c.back
	switch e.Kind {
	case scenario.Commits:
		j.inOrder(e, s.Commits)
	case scenario.Aborts:
		j.inOrder(e, s.Aborts)
	case scenario.CommitsAt:
		j.atTime(e, "at ", s.Commits)
	case scenario.AbortsAt:
		j.atTime(e, "at ", s.Aborts)
	case scenario.Deadlocks:
		if len(s.Cycles) != e.N {
			j.differ(e, strconv.Itoa(len(s.Cycles)))
		}
	case scenario.Cycle:
		c.ring(j, e, s.Cycles)
	case scenario.FalseCycle:
		c.ring(j, e, s.False)
	case scenario.Phantom:
		c.ring(j, e, s.Phantoms)
	}
}

// unsaid checks the default expectations: no process is stuck, and no deadlock is
// reported that never existed.
func (c *siteCast) unsaid(j *judge) {
	stuck, falses := scenario.Expectation{Kind: scenario.Stuck}, scenario.Expectation{Kind: scenario.NoFalseCycle}
	var foreseen [][]algorithm.ID
	for _, e := range c.p.sc.Expect {
		switch e.Kind {
		case scenario.Stuck:
			stuck = e
		case scenario.NoFalseCycle:
			falses = e
		case scenario.FalseCycle:
			foreseen = append(foreseen, e.Procs)
		}
	}
	if s := c.back.Stuck; !slices.Equal(s, slices.Sorted(slices.Values(stuck.Procs))) {
		j.differ(stuck, scenario.Expectation{Kind: scenario.Stuck, Procs: s}.What())
	}
	for _, f := range c.back.False {
		if !slices.ContainsFunc(foreseen, func(g []algorithm.ID) bool { return sameRing(f, g) }) {
			j.differ(falses, scenario.Expectation{Kind: scenario.FalseCycle, Procs: f}.What())
			break
		}
	}
}

// ring checks that a cycle is among those that occurred.
func (c *siteCast) ring(j *judge, e scenario.Expectation, all [][]algorithm.ID) {
	var words []string
	for _, c := range all {
		if sameRing(c, e.Procs) {
			return
		}
		words = append(words, deadlock.Round(c))
	}
	if words == nil {
		words = []string{"none"}
	}
	j.differ(e, strings.Join(words, ", "))
}

// sameRing reports whether two cycles are equal, whichever member comes first.
func sameRing(a, b []algorithm.ID) bool {
	for i := range b {
		if slices.Equal(a, slices.Concat(b[i:], b[:i])) {
			return true
		}
	}
	return false
}
