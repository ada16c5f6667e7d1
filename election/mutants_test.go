package election

import (
	"slices"

	"github.com/stile-lock/stile/core"
)

// A Mutant is an election with one bug planted. A few runs of the simulator or
// the checker must find it.
type Mutant struct {
	Bug    string
	Sound  core.Spec
	birth  func(self core.ID, v core.View) core.Machine
	Broken core.Spec // the sound one with the bug
}

// Mutants returns the mutants, for tests outside of the package.
func Mutants() []Mutant {
	all := planted()
	for i := range all {
		all[i].Broken = all[i].Sound
		all[i].Broken.Plan = core.Always(all[i].birth)
	}
	return all
}

func planted() []Mutant {
	return slices.Concat(bullyMutants(), ringMutants(), changRobertsMutants())
}

func wrap[M any, P core.Message[M]](f func(self core.ID, v core.View) core.Elector[M]) func(self core.ID, v core.View) core.Machine {
	return func(self core.ID, v core.View) core.Machine { return core.NewElection[M, P](self, v, f(self, v)) }
}

// The bully.

type bullyTooEarly struct{ bully }

func (s *bullyTooEarly) Request(out *core.Out[bullyMessage]) {
	s.bully.Request(out)
	if s.state == electing {
		s.win(out)
	}
}

type bullyReversed struct{ bully }

func (s *bullyReversed) Receive(from core.ID, m *bullyMessage, out *core.Out[bullyMessage]) {
	if m.Kind == bullyElection {
		return // the lower one wins: higher ones keep quiet
	}
	s.bully.Receive(from, m, out)
}

type bullyForgetsOne struct{ bully }

func (s *bullyForgetsOne) Receive(from core.ID, m *bullyMessage, out *core.Out[bullyMessage]) {
	if m.Kind == bullyCoordinator && s.self == 0 {
		return // as if it had not been sent
	}
	s.bully.Receive(from, m, out)
}

type bullyFollowsAnybody struct{ bully }

func (s *bullyFollowsAnybody) Receive(from core.ID, m *bullyMessage, out *core.Out[bullyMessage]) {
	if m.Kind == bullyCoordinator {
		s.follow(from, out)
		return
	}
	s.bully.Receive(from, m, out)
}

func bullyMutants() []Mutant {
	spec := Bully()
	of := newBully
	return []Mutant{
		{"a coordinator announced too early", spec, wrap[bullyMessage](func(self core.ID, v core.View) core.Elector[bullyMessage] {
			return &bullyTooEarly{of(self, v)}
		}), core.Spec{}},
		{"higher ones do not answer", spec, wrap[bullyMessage](func(self core.ID, v core.View) core.Elector[bullyMessage] {
			return &bullyReversed{of(self, v)}
		}), core.Spec{}},
		{"COORDINATOR is not sent to one", spec, wrap[bullyMessage](func(self core.ID, v core.View) core.Elector[bullyMessage] {
			return &bullyForgetsOne{of(self, v)}
		}), core.Spec{}},
		{"stale news are followed", spec, wrap[bullyMessage](func(self core.ID, v core.View) core.Elector[bullyMessage] {
			return &bullyFollowsAnybody{of(self, v)}
		}), core.Spec{}},
	}
}

// The ring.

type ringLowest struct{ ring }

func (s *ringLowest) Receive(from core.ID, m *ringMessage, out *core.Out[ringMessage]) {
	if m.Kind == ringElection && slices.Contains(m.List, s.self) {
		m = &ringMessage{Kind: ringElection, List: []core.ID{slices.Min(m.List), s.self}}
		s.dead.Fill(s.n)
		defer s.dead.Clear()
	}
	s.ring.Receive(from, m, out)
}

type ringTooEarly struct{ ring }

func (s *ringTooEarly) Receive(from core.ID, m *ringMessage, out *core.Out[ringMessage]) {
	if m.Kind == ringElection && len(m.List) == 2 {
		leader := slices.Max(append(m.List, s.self))
		s.leader, s.part = leader, false
		out.Lead(leader)
		s.pass(ringMessage{Kind: ringCoordinator, Leader: leader}, out)
		return
	}
	s.ring.Receive(from, m, out)
}

type ringNoTimeout struct{ ring }

func (s *ringNoTimeout) Expire(int, *core.Out[ringMessage]) {}

func ringMutants() []Mutant {
	spec := Ring()
	of := func(self core.ID, v core.View) ring { return ring{newMember[ringMessage](self, v, false)} }
	return []Mutant{
		{"the lowest number is chosen", spec, wrap[ringMessage](func(self core.ID, v core.View) core.Elector[ringMessage] {
			return &ringLowest{of(self, v)}
		}), core.Spec{}},
		{"a coordinator announced too early", spec, wrap[ringMessage](func(self core.ID, v core.View) core.Elector[ringMessage] {
			return &ringTooEarly{of(self, v)}
		}), core.Spec{}},
		{"a lost election is waited for", spec, wrap[ringMessage](func(self core.ID, v core.View) core.Elector[ringMessage] {
			return &ringNoTimeout{of(self, v)}
		}), core.Spec{}},
	}
}

// Chang and Roberts.

type crReversed struct{ changRoberts }

func (s *crReversed) Receive(from core.ID, m *crMessage, out *core.Out[crMessage]) {
	if m.Kind == crElection && m.Number < s.self {
		s.join(crRounds, out)
		s.pass(*m, out)
		return
	}
	if m.Kind == crElection && m.Number > s.self {
		if !s.part {
			s.elect(out)
		}
		return
	}
	s.changRoberts.Receive(from, m, out)
}

type crTooEarly struct{ changRoberts }

func (s *crTooEarly) Receive(from core.ID, m *crMessage, out *core.Out[crMessage]) {
	if m.Kind == crElection && m.Number < s.self && s.leader != s.self {
		s.leader, s.part = s.self, false // it has beaten one, but not all
		out.Lead(s.self)
		s.pass(crMessage{Kind: crCoordinator, Number: s.self}, out)
		return
	}
	s.changRoberts.Receive(from, m, out)
}

type crForgetsTheRest struct{ changRoberts }

func (s *crForgetsTheRest) Receive(from core.ID, m *crMessage, out *core.Out[crMessage]) {
	if m.Kind == crCoordinator && s.self == 1 {
		s.follow(m.Number, out) // and nobody is told
		return
	}
	s.changRoberts.Receive(from, m, out)
}

func changRobertsMutants() []Mutant {
	spec := ChangRoberts(false)
	of := func(self core.ID, v core.View) changRoberts {
		return changRoberts{newMember[crMessage](self, v, false)}
	}
	return []Mutant{
		{"the id rule reversed", spec, wrap[crMessage](func(self core.ID, v core.View) core.Elector[crMessage] {
			return &crReversed{of(self, v)}
		}), core.Spec{}},
		{"a coordinator announced too early", spec, wrap[crMessage](func(self core.ID, v core.View) core.Elector[crMessage] {
			return &crTooEarly{of(self, v)}
		}), core.Spec{}},
		{"COORDINATOR stops on the way", spec, wrap[crMessage](func(self core.ID, v core.View) core.Elector[crMessage] {
			return &crForgetsTheRest{of(self, v)}
		}), core.Spec{}},
	}
}
