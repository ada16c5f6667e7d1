package sim

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// A shadow decides which steps are taken twice, the second time by a machine that knows
// only the bytes of the state: all of the first ones, and then fewer and fewer, until
// their cost is not noticeable.
type shadow struct {
	taken int // steps so far
	next  int // next step to take twice
	twin  mistake.Twin
}

// wait sets when to take a step twice again: after one 64th of the steps so far, or 8192.
// A large state, such as that of a site with its locks, takes as long as many steps to
// compare, so the wait is at least as many steps as the state has bytes.
func (s *shadow) wait(size int) {
	const large = 64
	pause := min(s.taken/64, max(8192, 64*size))
	if size > large {
		pause = max(pause, size)
	}
	s.next = s.taken + pause
}

// takeTwice makes the machine of a seat take a step, and its twin too.
func (g *group) takeTwice(seat algorithm.ID, in host.Input, out *host.Output) error {
	m := g.machines[seat]
	twin := &g.shadow.twin
	if err := twin.Before(m, g.birth(seat, g.view)); err != nil {
		return err
	}
	if err := m.Step(in, out); err != nil {
		return err
	}
	g.state = m.AppendState(g.state[:0])
	g.shadow.wait(len(g.state))
	return twin.After(seat, in, m, out)
}

// takeRebuilt makes the machine of a seat take a step, after it has been rebuilt from its
// bytes.
func (g *group) takeRebuilt(seat algorithm.ID, in host.Input, out *host.Output) error {
	g.state = g.machines[seat].AppendState(g.state[:0])
	if err := g.spare[seat].LoadState(g.state); err != nil {
		return mistake.Unreadable("state", err)
	}
	g.machines[seat], g.spare[seat] = g.spare[seat], g.machines[seat]
	return g.machines[seat].Step(in, out)
}

// blame adds to the violations, at the end of the run, which fields are missing from
// Fields: too few steps may have been taken twice to find out.
func (g *group) blame() {
	if len(g.found) == 0 {
		return
	}
	var names []string
	for i, m := range g.machines {
		g.let(algorithm.ID(i), "when its state is read", func() {
			names = append(names, mistake.Unwritten(m, g.birth(algorithm.ID(i), g.view))...)
		})
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return
	}
	for i := range g.found {
		g.found[i].Hint = strings.Join(names, " and ") + " changes but is missing from Fields"
	}
}
