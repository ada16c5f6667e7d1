package election

import "github.com/stile-lock/stile/algorithm"

// A circle is a process's place in a ring of all processes, with those left
// out that are believed dead.
type circle struct {
	self algorithm.ID
	n    int
	down bool          // the next process is the one with the next lower number
	dead algorithm.Set // who is believed dead
}

// next returns the next process that is alive, or the process itself.
func (c *circle) next() algorithm.ID {
	step := algorithm.ID(1)
	if c.down {
		step = algorithm.ID(c.n) - 1
	}
	id := (c.self + step) % algorithm.ID(c.n)
	for id != c.self && c.dead.Has(id) {
		id = (id + step) % algorithm.ID(c.n)
	}
	return id
}

// toHear is why a process waits that takes part.
func toHear() []algorithm.Wait {
	return []algorithm.Wait{{Field: "part", Value: "yes", Why: "takes part, and waits to hear who has won"}}
}

// A member is what the processes of both ring algorithms have in common.
type member[M any] struct {
	circle

	part   bool         // it takes part in an election whose end it has not heard
	leader algorithm.ID // or None
}

func newMember[M any](self algorithm.ID, v algorithm.View, down bool) member[M] {
	return member[M]{circle: circle{self: self, n: v.N, down: down}, leader: born(v)}
}

// Fields implements algorithm.Fielder.
func (s *member[M]) Fields(c *algorithm.Coder) {
	c.Bool("part", &s.part)
	c.Maybe("leader", &s.leader)
	c.Set("dead", &s.dead)
}

// join takes part in an election whose end must come within so many rounds.
func (s *member[M]) join(rounds int, out *algorithm.Out[M]) {
	s.part = true
	s.forget(out)
	out.SetTimer(0, rounds*s.n)
}

// follow ends the election here, unless its outcome is stale: a process follows
// nobody as long as it takes somebody higher to be alive.
func (s *member[M]) follow(leader algorithm.ID, out *algorithm.Out[M]) bool {
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

func (s *member[M]) forget(out *algorithm.Out[M]) {
	if s.leader != algorithm.None {
		s.leader = algorithm.None
		out.Lead(algorithm.None)
	}
}

// Suspect closes the ring without the dead. A leader that is dead is none.
func (s *member[M]) Suspect(id algorithm.ID, out *algorithm.Out[M]) {
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
func (s *member[M]) Trust(id algorithm.ID, out *algorithm.Out[M]) {
	s.dead.Remove(id)
	if s.leader != algorithm.None && id > s.leader {
		s.forget(out)
	}
}
