package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

// A judge compares a run with what a scenario expects of it.
type judge struct {
	w     *world
	all   []scenario.Expectation
	open  []scenario.Expectation // those at a moment that has not come yet
	found []sim.Difference
}

// take refuses names of messages that there are not.
func (j *judge) take(all []scenario.Expectation) error {
	j.all = all
	for _, e := range all {
		switch e.Kind {
		case scenario.PhaseIs, scenario.WaitsFor:
			j.open = append(j.open, e)
		case scenario.Messages:
			if e.Name != "" && !slices.Contains(deadlock.Kinds(), e.Name) {
				return fmt.Errorf("line %d: there is no message %q: the messages are %v", e.Line, e.Name, deadlock.Kinds())
			}
		}
	}
	return nil
}

// before is told that everything before a time has happened.
func (j *judge) before(at int64) {
	j.due(func(m scenario.Moment) bool { return m.Kind == scenario.AtTime && m.At < at })
}

func (j *judge) due(now func(m scenario.Moment) bool) {
	j.open = slices.DeleteFunc(j.open, func(e scenario.Expectation) bool {
		if now(e.When) {
			j.state(e)
			return true
		}
		return false
	})
}

func (j *judge) differ(e scenario.Expectation, format string, args ...any) {
	j.found = append(j.found, sim.Difference{Line: e.Line, Want: e.What(), Got: fmt.Sprintf(format, args...)})
}

// state checks what is expected of a process now.
func (j *judge) state(e scenario.Expectation) {
	is := j.w.stands(int(e.Proc))
	next := j.w.oracle.next(int(e.Proc))
	switch {
	case e.Kind == scenario.WaitsFor && next >= 0 && core.ID(next) != e.Peer:
		j.differ(e, "%s%v waits for %v", e.When, e.Proc, core.ID(next))
	case e.Kind == scenario.WaitsFor && next < 0:
		j.differ(e, "%s%v %s, for nobody", e.When, e.Proc, is)
	case e.Kind == scenario.PhaseIs && is != e.Phase.String():
		j.differ(e, "%s%v %s", e.When, e.Proc, is)
	}
}

// stands says what a process is doing.
func (w *world) stands(i int) string {
	p := &w.procs[i]
	switch {
	case p.dead:
		return "is dead"
	case p.waits:
		return scenario.Waits.String()
	case p.active && p.got == 0:
		return "is about to try again"
	case p.active:
		return "works"
	}
	return scenario.Idle.String()
}

// stuck returns whose transactions never end.
func (w *world) stuck() []core.ID {
	var ids []core.ID
	for i := range w.procs {
		if p := &w.procs[i]; p.active && !p.dead && w.result.Stuck > 0 {
			ids = append(ids, core.ID(i))
		}
	}
	return ids
}

// verdict checks what is expected of the run as a whole. Nothing being said,
// nobody is stuck, and no deadlock is reported that never was.
func (j *judge) verdict() []sim.Difference {
	j.due(func(scenario.Moment) bool { return true })
	stuck, falses := scenario.Expectation{Kind: scenario.Stuck}, scenario.Expectation{Kind: scenario.NoFalseCycle}
	var foreseen [][]core.ID
	for _, e := range j.all {
		switch e.Kind {
		case scenario.Stuck:
			stuck = e
		case scenario.NoFalseCycle:
			falses = e
		case scenario.FalseCycle:
			foreseen = append(foreseen, e.Procs)
		}
		j.whole(e)
	}
	b := j.w.back
	if !slices.Equal(b.Stuck, slices.Sorted(slices.Values(stuck.Procs))) {
		j.differ(stuck, "%s", scenario.Expectation{Kind: scenario.Stuck, Procs: b.Stuck}.What())
	}
	for _, c := range b.False {
		if !slices.ContainsFunc(foreseen, func(f []core.ID) bool { return sameRing(f, c) }) {
			j.differ(falses, "%s", scenario.Expectation{Kind: scenario.FalseCycle, Procs: c}.What())
			break
		}
	}
	for _, v := range b.Result.Violations {
		j.found = append(j.found, sim.Difference{Want: "no violation", Got: v})
	}
	slices.SortStableFunc(j.found, func(a, b sim.Difference) int { return a.Line - b.Line })
	return j.found
}

func (j *judge) whole(e scenario.Expectation) {
	b := j.w.back
	switch e.Kind {
	case scenario.Commits:
		j.inOrder(e, b.Commits)
	case scenario.Aborts:
		j.inOrder(e, b.Aborts)
	case scenario.CommitsAt:
		j.at(e, b.Commits)
	case scenario.AbortsAt:
		j.at(e, b.Aborts)
	case scenario.Deadlocks:
		if len(b.Cycles) != e.N {
			j.differ(e, "%d", len(b.Cycles))
		}
	case scenario.Cycle:
		j.ring(e, b.Cycles)
	case scenario.FalseCycle:
		j.ring(e, b.False)
	case scenario.Messages:
		n := b.Result.Messages
		if e.Name != "" {
			n = b.ByKind[e.Name]
		}
		if n != e.N {
			j.differ(e, "%d", n)
		}
	}
}

// inOrder checks who committed or aborted, in order.
func (j *judge) inOrder(e scenario.Expectation, all []Ending) {
	got := scenario.Expectation{Kind: e.Kind}
	for _, x := range all {
		got.Procs = append(got.Procs, x.Proc)
	}
	if !slices.Equal(got.Procs, e.Procs) {
		j.differ(e, "%s", got.What())
	}
}

// at checks when somebody committed or aborted.
func (j *judge) at(e scenario.Expectation, all []Ending) {
	var times []string
	for _, x := range all {
		if x.Proc != e.Proc {
			continue
		}
		if x.At == e.At {
			return
		}
		times = append(times, scenario.FormatTime(x.At))
	}
	if times == nil {
		times = []string{"no time"}
	}
	j.differ(e, "at %s", strings.Join(times, " "))
}

// ring checks that a cycle is among those that there were.
func (j *judge) ring(e scenario.Expectation, all [][]core.ID) {
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
	j.differ(e, "%s", strings.Join(words, ", "))
}

// sameRing reports whether two cycles are one, whoever is named first.
func sameRing(a, b []core.ID) bool {
	for i := range b {
		if slices.Equal(a, slices.Concat(b[i:], b[:i])) {
			return true
		}
	}
	return false
}
