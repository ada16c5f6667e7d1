package recovery

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// silence is how long a newcomer takes part only in elections, in units of the longest
// latency: messages meant for its predecessor have arrived by then. Two processes do not
// need it. Without it, the states of three are too many to explore.
const silence = 2

// newcomer initializes a process that comes late: a member of no view, that knows no
// leader.
func (s *process) newcomer() {
	s.fresh, s.silent, s.frozen, s.met = true, true, true, true
	s.members, s.maker, s.leader = []algorithm.ID{s.self}, s.self, algorithm.None
	s.lock = s.machine(0, 0, algorithm.View{N: 1})
}

// knock notifies all processes that this one is new. Channels preserve order, so a
// receiver then has everything that the predecessor sent.
func (s *process) knock(o *out) {
	s.silent = false
	for id := range algorithm.ID(s.n) {
		if id != s.self && !s.dead.Has(id) {
			s.because(viewJoin, facts{Who: id}, o)
			o.Send(id, s.frame(join))
		}
	}
	if s.leader == algorithm.None {
		s.poll(host.Input{Kind: host.Request}, o)
	}
	s.report(o)
}

// joined handles a JOIN: a process is new. If it was a member before, its predecessor is
// dead, and the predecessor's report is void: either this or what fits refuses is needed.
// No run is known that needs the predecessor's frames to be dropped.
func (s *process) joined(id algorithm.ID, o *out) {
	s.met = true
	if s.foretold.Has(id) {
		s.foretold.Remove(id)
		s.because(viewForetold, facts{Who: id}, o)
		return
	}
	s.because(viewNew, facts{Who: id}, o)
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

// welcome records the processes that a view lets in; the view may arrive before their
// JOIN.
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

// Trust is for the election: the process may lead again. For the views it is dead until
// it announces itself.
func (s *process) Trust(id algorithm.ID, o *out) {
	if id == s.self {
		return
	}
	if s.dead.Has(id) {
		s.back.Add(id)
	}
	s.poll(host.Input{Kind: host.Trust, From: id}, o)
}
