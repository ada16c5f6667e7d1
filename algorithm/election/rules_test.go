package election

import "github.com/stile-lock/stile/algorithm"

// RuleMutants returns elections that each lack one rule, and that few runs tell from
// the sound ones, for tests outside of the package.
func RuleMutants() []Mutant {
	ofBully := func(f func(b bully) algorithm.Elector[bullyMessage]) func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return wrap[bullyMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[bullyMessage] { return f(newBully(self, v)) })
	}
	ofRing := func(f func(r ring) algorithm.Elector[ringMessage]) func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return wrap[ringMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[ringMessage] {
			return f(ring{newMember[ringMessage](self, v, false)})
		})
	}
	all := []Mutant{
		{Bug: "refused news is not remembered", Sound: Bully(), birth: ofBully(func(b bully) algorithm.Elector[bullyMessage] { return &bullyUnmindful{b} })},
		{Bug: "what was refused is remembered during an election", Sound: Bully(), birth: ofBully(func(b bully) algorithm.Elector[bullyMessage] { return &bullyMindful{b} })},
		{Bug: "the time for an answer is that of one message", Sound: Bully(), birth: ofBully(func(b bully) algorithm.Elector[bullyMessage] { return &bullyImpatient{b} })},
		{Bug: "a process that was answered wins by a timeout", Sound: Bully(), birth: ofBully(func(b bully) algorithm.Elector[bullyMessage] { return &bullyUnyielding{b} })},
		{Bug: "a leader that is asked does not say so", Sound: Bully(), birth: ofBully(func(b bully) algorithm.Elector[bullyMessage] { return &bullyModest{b} })},
		{Bug: "an election has no time to go round", Sound: Ring(), birth: ofRing(func(r ring) algorithm.Elector[ringMessage] { return &ringImpatient{r} })},
		{Bug: "the number of a dead process goes on", Sound: ChangRoberts(false), birth: wrap[crMessage](func(self algorithm.ID, v algorithm.View) algorithm.Elector[crMessage] {
			return &crUndead{changRoberts{newMember[crMessage](self, v, false)}}
		})},
	}
	for i := range all {
		all[i].Broken = all[i].Sound
		all[i].Broken.Plan = algorithm.Always(all[i].birth)
	}
	return all
}

type bullyUnmindful struct{ bully }

func (s *bullyUnmindful) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	s.bully.Receive(from, m, out)
	s.refused = algorithm.None
}

type bullyMindful struct{ bully }

func (s *bullyMindful) Request(out *algorithm.Out[bullyMessage]) {
	was := s.refused
	s.bully.Request(out)
	s.refused = was
}

func (s *bullyMindful) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	was := s.refused
	s.bully.Receive(from, m, out)
	if m.Kind == bullyElection {
		s.refused = was
	}
}

func (s *bullyMindful) Expire(timer int, out *algorithm.Out[bullyMessage]) {
	was := s.refused
	s.bully.Expire(timer, out)
	s.refused = was
}

type bullyImpatient struct{ bully }

func (s *bullyImpatient) Request(out *algorithm.Out[bullyMessage]) {
	was := s.state
	s.bully.Request(out)
	if was == quiet && s.state == electing {
		out.SetTimer(0, answerWait/2)
	}
}

type bullyUnyielding struct{ bully }

func (s *bullyUnyielding) Expire(_ int, out *algorithm.Out[bullyMessage]) {
	if s.state != quiet {
		s.win(out)
	}
}

type bullyModest struct{ bully }

func (s *bullyModest) Receive(from algorithm.ID, m *bullyMessage, out *algorithm.Out[bullyMessage]) {
	if m.Kind == bullyElection && s.leader == s.self {
		out.Send(from, bullyMessage{Kind: bullyAnswer})
		return
	}
	s.bully.Receive(from, m, out)
}

type ringImpatient struct{ ring }

func (s *ringImpatient) Request(out *algorithm.Out[ringMessage]) {
	s.ring.Request(out)
	if s.part {
		out.SetTimer(0, 0)
	}
}

func (s *ringImpatient) Expire(timer int, out *algorithm.Out[ringMessage]) {
	s.ring.Expire(timer, out)
	if s.part {
		out.SetTimer(0, 0)
	}
}

type crUndead struct{ changRoberts }

func (s *crUndead) Receive(from algorithm.ID, m *crMessage, out *algorithm.Out[crMessage]) {
	if m.Kind == crElection && m.Number > s.self {
		s.join(crRounds, out)
		s.pass(crPass, *m, out)
		return
	}
	s.changRoberts.Receive(from, m, out)
}
