package election

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A circle is a process's place in a ring of all processes, without those that are
// believed dead.
type circle struct {
	self algorithm.ID
	n    int
	down bool          // whether the next process is the one with the next lower number
	dead algorithm.Set // processes believed dead
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

// toHear returns the reason why a participating process waits.
func toHear() []algorithm.Wait {
	return []algorithm.Wait{{Field: "part", Value: "yes", Why: "takes part, and waits for the result"}}
}

// The rules that both ring algorithms have; their own follow.
const (
	ringFollow = iota
	ringForget
	ringRefuse
	ringSkip
	ringBusy
	ringOwn
)

// ringRules returns the rules of both ring algorithms, and then their own.
func ringRules(own ...algorithm.Rule) []algorithm.Rule {
	return append([]algorithm.Rule{
		ringFollow: {ID: "1a", Text: "A process follows the highest process that it does not believe dead.", Why: "{self} follows {who}, because no higher process is alive", Notices: []host.NoticeKind{host.Leader}},
		ringForget: {ID: "1b", Text: "A process in an election follows no leader, nor does one whose leader is dead or outranked.", Why: "{self} no longer follows {other}", Notices: []host.NoticeKind{host.Leader}},
		ringRefuse: {ID: "1c", Text: "An outcome is stale if a higher process is alive.", Why: "{self} does not follow {who}, because it believes {other} to be alive"},
		ringSkip:   {ID: "2a", Text: "Processes that are believed dead are left out of the ring.", Why: "{self} leaves {who} out of the ring, because it is dead", Silent: true},
		ringBusy:   {ID: "2b", Text: "A process takes part in one election at a time.", Why: "{self} already takes part in an election"},
	}, own...)
}

// A member is what the processes of both ring algorithms have in common.
type member[M any] struct {
	circle

	part   bool         // whether it takes part in an election whose end it has not heard
	leader algorithm.ID // the leader, or None
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

// join takes part in an election that must end within the given number of rounds.
func (s *member[M]) join(rounds int, out *algorithm.Out[M]) {
	s.part = true
	s.forget(out)
	out.SetTimer(0, rounds*s.n)
}

// follow ends the election here, unless its outcome is stale: a process follows no leader
// as long as it believes a higher process to be alive.
func (s *member[M]) follow(leader algorithm.ID, out *algorithm.Out[M]) bool {
	for id := leader + 1; int(id) < s.n; id++ {
		if !s.dead.Has(id) {
			out.Because(ringRefuse, facts{Who: leader, Other: id})
			return false
		}
	}
	if s.part {
		s.part = false
		out.StopTimer(0)
	}
	if s.leader != leader {
		s.leader = leader
		out.Because(ringFollow, facts{Who: leader})
		out.Lead(leader)
	}
	return true
}

func (s *member[M]) forget(out *algorithm.Out[M]) {
	if s.leader != algorithm.None {
		out.Because(ringForget, facts{Other: s.leader})
		s.leader = algorithm.None
		out.Lead(algorithm.None)
	}
}

// Suspect closes the ring without the dead process. A dead leader no longer counts.
func (s *member[M]) Suspect(id algorithm.ID, out *algorithm.Out[M]) {
	if id == s.self {
		return
	}
	out.Because(ringSkip, facts{Who: id})
	s.dead.Add(id)
	if id == s.leader {
		s.forget(out)
	}
}

// Trust takes a process that is back into the ring. A leader with a lower number no
// longer leads.
func (s *member[M]) Trust(id algorithm.ID, out *algorithm.Out[M]) {
	s.dead.Remove(id)
	if s.leader != algorithm.None && id > s.leader {
		s.forget(out)
	}
}
