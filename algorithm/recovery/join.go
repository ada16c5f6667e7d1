package recovery

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// silence is how long a newcomer says and hears nothing, in units of the longest
// latency: what was meant for its predecessor has come by then.
const silence = 2

// newcomer makes a process of one that comes late: a member of no view, that
// knows no leader.
func (s *process) newcomer() {
	s.fresh, s.silent, s.frozen, s.met = true, true, true, true
	s.members, s.maker, s.leader = []algorithm.ID{s.self}, s.self, algorithm.None
	s.lock = s.machine(0, 0, algorithm.View{N: 1})
}

// knock tells everybody that this is a new process. Channels keep the order, so
// it has then got all that the predecessor had sent.
func (s *process) knock(o *out) {
	s.silent = false
	for id := range algorithm.ID(s.n) {
		if id != s.self && !s.dead.Has(id) {
			o.Send(id, s.frame(join))
		}
	}
	if s.leader == algorithm.None {
		s.poll(algorithm.Input{Kind: algorithm.Request}, o)
	}
	s.report(o)
}

// joined: a process is new. If it was a member before, that one is dead, and so
// is what it has reported.
func (s *process) joined(id algorithm.ID, o *out) {
	s.met = true
	if s.foretold.Has(id) {
		s.foretold.Remove(id)
		return
	}
	s.dead.Remove(id)
	s.back.Remove(id)
	s.reports.Remove(id)
	s.news.Remove(id)
	if s.holder == id {
		s.holder = algorithm.None
	}
	s.early = slices.DeleteFunc(s.early, func(e early) bool { return e.from == id })
	s.asks.Add(id)
	if s.frozen && s.told == s.self && s.leader == s.self {
		s.stop(o)
	}
	s.admit(o)
	s.report(o)
}

// welcome notes who is let in by a view, which may have come before its JOIN.
func (s *process) welcome(entrants []algorithm.ID) {
	for _, id := range entrants {
		switch {
		case id == s.self:
		case s.asks.Has(id):
			s.asks.Remove(id)
		default:
			s.foretold.Add(id)
			s.dead.Remove(id)
			s.back.Remove(id)
		}
	}
}

// admit lets newcomers in: the leader ends the view.
func (s *process) admit(o *out) {
	if !s.frozen && s.leader == s.self && !s.asks.Empty() {
		s.halt(o)
	}
}

// Trust is for the election: the process may lead again. For the views it is
// dead until it says that it is there.
func (s *process) Trust(id algorithm.ID, o *out) {
	if id == s.self {
		return
	}
	if s.dead.Has(id) {
		s.back.Add(id)
	}
	s.poll(algorithm.Input{Kind: algorithm.Trust, From: id}, o)
}
