package recovery

import "github.com/stile-lock/stile/algorithm"

// own is the timer of the views; those of the election are numbered around it.
const own = 1

// wind sets the timer anew, or stops it: who waits and who stands still has one,
// if patience ends.
func (s *process) wind(o *out) {
	switch {
	case s.patience == 0:
	case s.frozen || s.phase == waits:
		o.SetTimer(own, s.patience)
	default:
		o.StopTimer(own)
	}
}

// expired: patience has come to an end, or the silence of a newcomer.
func (s *process) expired(o *out) {
	s.wind(o)
	switch {
	case s.silent:
		s.knock(o)
	case s.frozen:
		s.urge(o)
	case s.phase == waits && s.leader == s.self:
		s.doubted(o)
	case s.phase == waits && s.leader != algorithm.None:
		o.Send(s.leader, s.frame(doubt))
	}
}

// urge does again what the next view waits for, if that is lost: the election,
// if there may have been one, the leader's STOP, the others' report.
func (s *process) urge(o *out) {
	if s.leader == s.self {
		s.stop(o)
	} else {
		s.told = algorithm.None
	}
	if s.leader == algorithm.None || !s.dead.Empty() {
		s.poll(algorithm.Input{Kind: algorithm.Request}, o)
	}
	s.report(o)
}

// doubted: somebody has waited for long. The leader asks who is inside, and does
// nothing if anybody is: that one leaves. Whoever has answered is not asked
// again.
func (s *process) doubted(o *out) {
	if s.frozen || s.leader != s.self || s.phase == inside {
		return
	}
	s.heard.Add(s.self)
	for _, id := range s.members {
		if !s.heard.Has(id) {
			o.Send(id, s.frame(who))
		}
	}
	s.decide(o)
}

// asked says whether the process is inside.
func (s *process) asked(by algorithm.ID, o *out) {
	if !s.frozen {
		m := s.frame(here)
		m.Inside = s.phase == inside
		o.Send(by, m)
	}
}

// answered notes an answer.
func (s *process) answered(from algorithm.ID, in bool, o *out) {
	switch {
	case s.heard.Empty():
	case in:
		s.heard.Clear()
	default:
		s.heard.Add(from)
		s.decide(o)
	}
}

// decide makes a new view if all have said that they are not inside. It need
// not be true any more: the reports will tell.
func (s *process) decide(o *out) {
	for _, id := range s.members {
		if !s.heard.Has(id) {
			return
		}
	}
	s.heard.Clear()
	if s.phase != inside {
		s.halt(o)
	}
}
