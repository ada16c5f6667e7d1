package election

import "github.com/stile-lock/stile/core"

// A circle is a process's place in a ring of all processes, with those left
// out that are believed dead.
type circle struct {
	self core.ID
	n    int
	down bool     // the next process is the one with the next lower number
	dead core.Set // who is believed dead
}

// next returns the next process that is alive, or the process itself.
func (c *circle) next() core.ID {
	step := core.ID(1)
	if c.down {
		step = core.ID(c.n) - 1
	}
	id := (c.self + step) % core.ID(c.n)
	for id != c.self && c.dead.Has(id) {
		id = (id + step) % core.ID(c.n)
	}
	return id
}

// toHear is why a process waits that takes part.
func toHear() []core.Wait {
	return []core.Wait{{Field: "part", Value: "yes", Why: "takes part, and waits to hear who has won"}}
}

// A member is what the processes of both ring algorithms have in common.
type member[M any] struct {
	circle

	part   bool    // it takes part in an election whose end it has not heard
	leader core.ID // or None
}

func newMember[M any](self core.ID, v core.View, down bool) member[M] {
	return member[M]{circle: circle{self: self, n: v.N, down: down}, leader: born(v)}
}

// Fields implements core.Fielder.
func (s *member[M]) Fields(c *core.Coder) {
	c.Bool("part", &s.part)
	c.Maybe("leader", &s.leader)
	c.Set("dead", &s.dead)
}

// join takes part in an election whose end must come within so many rounds.
func (s *member[M]) join(rounds int, out *core.Out[M]) {
	s.part = true
	s.forget(out)
	out.SetTimer(0, rounds*s.n)
}

// follow ends the election here, unless its outcome is stale: a process follows
// nobody as long as it takes somebody higher to be alive.
func (s *member[M]) follow(leader core.ID, out *core.Out[M]) bool {
	for id := leader + 1; int(id) < s.n; id++ {
		if !s.dead.Has(id) {
			return false
		}
	}
	if s.part {
		s.part = false
		out.StopTimer(0)
	}
	if s.leader != leader {
		s.leader = leader
		out.Lead(leader)
	}
	return true
}

func (s *member[M]) forget(out *core.Out[M]) {
	if s.leader != core.None {
		s.leader = core.None
		out.Lead(core.None)
	}
}

// Suspect closes the ring without the dead. A leader that is dead is none.
func (s *member[M]) Suspect(id core.ID, out *core.Out[M]) {
	if id == s.self {
		return
	}
	s.dead.Add(id)
	if id == s.leader {
		s.forget(out)
	}
}

// Trust takes a process that is back into the ring. A leader that is lower
// leads no more.
func (s *member[M]) Trust(id core.ID, out *core.Out[M]) {
	s.dead.Remove(id)
	if s.leader != core.None && id > s.leader {
		s.forget(out)
	}
}
