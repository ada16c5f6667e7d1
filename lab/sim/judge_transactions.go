package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/script"
)

// state checks an expectation about a process now.
func (c *siteCast) state(j *judge, e script.Expectation) {
	is, next := c.stands(e.Proc), c.env.Next(e.Proc)
	switch {
	case e.Kind == script.WaitsFor && len(next) > 0 && !slices.Contains(next, e.Peer):
		j.differ(e, fmt.Sprintf("%s%v waits for %s", e.When, e.Proc, processNames(next)))
	case e.Kind == script.WaitsFor && len(next) == 0:
		j.differ(e, fmt.Sprintf("%s%v %s, but for no process", e.When, e.Proc, is))
	case e.Kind == script.PhaseIs && is != e.Phase.String():
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
		return script.Waits.String()
	case c.env.Waits(p) && got == 0:
		return "is about to retry"
	case c.env.Waits(p):
		return "works"
	}
	return script.Idle.String()
}

func (c *siteCast) whole(j *judge, e script.Expectation) {
	s := c.back
	switch e.Kind {
	case script.Commits:
		j.inOrder(e, s.Commits)
	case script.Aborts:
		j.inOrder(e, s.Aborts)
	case script.CommitsAt:
		j.atTime(e, "at ", s.Commits)
	case script.AbortsAt:
		j.atTime(e, "at ", s.Aborts)
	case script.Deadlocks:
		if len(s.Cycles) != e.N {
			j.differ(e, strconv.Itoa(len(s.Cycles)))
		}
	case script.Cycle:
		c.ring(j, e, s.Cycles)
	case script.FalseCycle:
		c.ring(j, e, s.False)
	case script.Phantom:
		c.ring(j, e, s.Phantoms)
	}
}

// unsaid checks the default expectations: no process is stuck, and no deadlock is
// reported that never existed.
func (c *siteCast) unsaid(j *judge) {
	stuck, falses := script.Expectation{Kind: script.Stuck}, script.Expectation{Kind: script.NoFalseCycle}
	var foreseen [][]algorithm.ID
	for _, e := range c.p.sc.Expect {
		switch e.Kind {
		case script.Stuck:
			stuck = e
		case script.NoFalseCycle:
			falses = e
		case script.FalseCycle:
			foreseen = append(foreseen, e.Procs)
		}
	}
	if s := c.back.Stuck; !slices.Equal(s, slices.Sorted(slices.Values(stuck.Procs))) {
		j.differ(stuck, script.Expectation{Kind: script.Stuck, Procs: s}.What())
	}
	for _, f := range c.back.False {
		if !slices.ContainsFunc(foreseen, func(g []algorithm.ID) bool { return sameRing(f, g) }) {
			j.differ(falses, script.Expectation{Kind: script.FalseCycle, Procs: f}.What())
			break
		}
	}
}

// ring checks that a cycle is among those that occurred.
func (c *siteCast) ring(j *judge, e script.Expectation, all [][]algorithm.ID) {
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
