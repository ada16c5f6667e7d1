package election

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Mutant is an election with one bug planted. A few runs of the simulator or
// the checker must find it.
type Mutant struct {
	Bug    string
	Sound  algorithm.Spec
	birth  func(self algorithm.ID, v algorithm.View) algorithm.Machine
	Broken algorithm.Spec // the sound one with the bug
}

// Mutants returns the mutants, for tests outside of the package.
func Mutants() []Mutant {
	all := planted()
	for i := range all {
		all[i].Broken = all[i].Sound
		all[i].Broken.Plan = algorithm.Always(all[i].birth)
	}
	return all
}

func planted() []Mutant {
	return slices.Concat(bullyMutants(), ringMutants(), changRobertsMutants())
}

func wrap[M any, P algorithm.Message[M]](f func(self algorithm.ID, v algorithm.View) algorithm.Elector[M]) func(self algorithm.ID, v algorithm.View) algorithm.Machine {
	return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.NewElection[M, P](self, v, f(self, v))
	}
}

// The bully.

type bullyTooEarly struct{ bully }

func (s *bullyTooEarly) Request(out *algorithm.Out[bullyMessage]) {
	s.bully.Request(out)
	if s.state == electing {
		s.win(out)
	}
}

type bullyReversed struct{ bully }

func (s *bullyReversed) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	if m.Kind == bullyElection {
		return // the lower one wins: higher ones keep quiet
	}
	s.bully.Receive(from, m, out)
}

type bullyForgetsOne struct{ bully }

func (s *bullyForgetsOne) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	if m.Kind == bullyCoordinator && s.self == 0 {
		return // as if it had not been sent
	}
	s.bully.Receive(from, m, out)
}

type bullyFollowsAnybody struct{ bully }

func (s *bullyFollowsAnybody) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
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
		{"a coordinator announced too early", spec, wrap[bullyMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[bullyMessage] {
			return &bullyTooEarly{of(self, v)}
		}), algorithm.Spec{}},
		{"higher ones do not answer", spec, wrap[bullyMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[bullyMessage] {
			return &bullyReversed{of(self, v)}
		}), algorithm.Spec{}},
		{"COORDINATOR is not sent to one", spec, wrap[bullyMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[bullyMessage] {
			return &bullyForgetsOne{of(self, v)}
		}), algorithm.Spec{}},
		{"stale news are followed", spec, wrap[bullyMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[bullyMessage] {
			return &bullyFollowsAnybody{of(self, v)}
		}), algorithm.Spec{}},
	}
}

// The ring.

type ringLowest struct{ ring }

func (s *ringLowest) Receive(from algorithm.ID, m *ringMessage, out *algorithm.Out[ringMessage]) {
	if m.Kind == ringElection && slices.Contains(m.List, s.self) {
		m = &ringMessage{Kind: ringElection, List: []algorithm.ID{slices.Min(m.List), s.self}}
		s.dead.Fill(s.n)
		defer s.dead.Clear()
	}
	s.ring.Receive(from, m, out)
}

type ringTooEarly struct{ ring }

func (s *ringTooEarly) Receive(from algorithm.ID, m *ringMessage, out *algorithm.Out[ringMessage]) {
	if m.Kind == ringElection && len(m.List) == 2 {
		leader := slices.Max(append(m.List, s.self))
		s.leader, s.part = leader, false
		out.Lead(leader)
		s.pass(leLannTell, ringMessage{Kind: ringCoordinator, Leader: leader}, out)
		return
	}
	s.ring.Receive(from, m, out)
}

type ringNoTimeout struct{ ring }

func (s *ringNoTimeout) Expire(int, *algorithm.Out[ringMessage]) {}

func ringMutants() []Mutant {
	spec := Ring()
	of := func(self algorithm.ID, v algorithm.View) ring { return ring{newMember[ringMessage](self, v, false)} }
	return []Mutant{
		{"the lowest number is chosen", spec, wrap[ringMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[ringMessage] {
			return &ringLowest{of(self, v)}
		}), algorithm.Spec{}},
		{"a coordinator announced too early", spec, wrap[ringMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[ringMessage] {
			return &ringTooEarly{of(self, v)}
		}), algorithm.Spec{}},
		{"a lost election is waited for", spec, wrap[ringMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[ringMessage] {
			return &ringNoTimeout{of(self, v)}
		}), algorithm.Spec{}},
	}
}

// Chang and Roberts.

type crReversed struct{ changRoberts }

func (s *crReversed) Receive(from algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	if m.Kind == crElection && m.Number < s.self {
		s.join(crRounds, out)
		s.pass(crPass, *m, out)
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

func (s *crTooEarly) Receive(from algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	if m.Kind == crElection && m.Number < s.self && s.leader != s.self {
		s.leader, s.part = s.self, false // it has beaten one, but not all
		out.Lead(s.self)
		s.pass(crTell, crMessage{Kind: crCoordinator, Number: s.self}, out)
		return
	}
	s.changRoberts.Receive(from, m, out)
}

type crForgetsTheRest struct{ changRoberts }

func (s *crForgetsTheRest) Receive(from algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	if m.Kind == crCoordinator && s.self == 1 {
		s.follow(m.Number, out) // and nobody is told
		return
	}
	s.changRoberts.Receive(from, m, out)
}

func changRobertsMutants() []Mutant {
	spec := ChangRoberts(false)
	of := func(self algorithm.ID, v algorithm.View) changRoberts {
		return changRoberts{newMember[crMessage](self, v, false)}
	}
	return []Mutant{
		{"the id rule reversed", spec, wrap[crMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[crMessage] {
			return &crReversed{of(self, v)}
		}), algorithm.Spec{}},
		{"a coordinator announced too early", spec, wrap[crMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[crMessage] {
			return &crTooEarly{of(self, v)}
		}), algorithm.Spec{}},
		{"COORDINATOR stops on the way", spec, wrap[crMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[crMessage] {
			return &crForgetsTheRest{of(self, v)}
		}), algorithm.Spec{}},
	}
}
