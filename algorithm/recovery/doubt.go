package recovery

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// own is the timer of the views; those of the election are numbered around it.
const own = 1

// wind restarts the timer, or stops it: waiting and frozen processes have one, if
// patience is finite.
func (s *process) wind(o *out) {
	switch {
	case s.patience == 0:
	case s.frozen || s.phase == waits:
		o.SetTimer(own, s.patience)
	default:
		o.StopTimer(own)
	}
}

// expired handles the end of patience, or of a newcomer's silence.
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
		s.because(viewDoubt, facts{Who: s.leader}, o)
		o.Send(s.leader, s.frame(doubt))
	}
}

// urge repeats what the next view waits for, in case it was lost: the election, if there
// may have been one, the leader's STOP, the others' report.
func (s *process) urge(o *out) {
	if s.leader == s.self {
		s.stop(o)
	} else {
		s.told = algorithm.None
	}
	if s.leader == algorithm.None || !s.dead.Empty() {
		s.poll(host.Input{Kind: host.Request}, o)
	}
	s.report(o)
}

// doubted handles a DOUBT: a process has waited for long. The leader asks which process
// is inside, and does nothing if one is, because it will leave. A process that has
// answered is not asked again.
func (s *process) doubted(o *out) {
	if s.frozen || s.leader != s.self || s.phase == inside {
		s.because(viewHeard, facts{Who: s.self}, o)
		return
	}
	s.heard.Add(s.self)
	for _, id := range s.members {
		if !s.heard.Has(id) {
			s.because(viewWho, facts{Who: id}, o)
			o.Send(id, s.frame(who))
		}
	}
	s.decide(o)
}

// asked answers whether the process is inside.
func (s *process) asked(by algorithm.ID, o *out) {
	if s.frozen {
		s.because(viewFrozen, facts{}, o)
		return
	}
	m := s.frame(here)
	m.Inside = s.phase == inside
	s.because(viewHere, facts{Who: by}, o)
	o.Send(by, m)
}

// answered records an answer.
func (s *process) answered(from algorithm.ID, in bool, o *out) {
	s.because(viewHeard, facts{Who: from}, o)
	switch {
	case s.heard.Empty():
	case in:
		s.heard.Clear()
	default:
		s.heard.Add(from)
		s.decide(o)
	}
}

// decide makes a new view if all have answered that they are not inside. That need no
// longer be true: the reports will show it.
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
