package recovery

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// frame returns a frame about views.
func (s *process) frame(kind int) frame { return frame{Kind: uint8(s.all + kind), Epoch: s.epoch} }

// report sends the leader, once, what it needs to make a view. From then on only that
// leader's view counts. Once is enough, and bounds the number of messages. No run is known
// in which a second report, or the view of an earlier leader, does harm.
func (s *process) report(o *out) { s.answer(0, o) }

// answer is report, to the leader that has stopped this process. If stop is not 0 it
// identifies the STOP that is answered.
func (s *process) answer(stop int, o *out) {
	if !s.frozen || s.silent || s.leader == algorithm.None || s.told == s.leader || s.back.Has(s.leader) {
		return
	}
	s.told = s.leader
	m := s.frame(report)
	m.Inside, m.Answers = s.phase == inside, stop
	if s.fresh {
		m.New = []algorithm.ID{s.self}
	}
	if s.leader != s.self {
		s.forget() // processes that have reported here must report there
		s.because(viewReport, facts{Who: s.leader}, o)
		o.Send(s.leader, m)
		return
	}
	s.because(viewOwn, facts{}, o)
	if s.fresh || !s.asks.Empty() {
		s.stop(o) // others may not have heard of a death, before the newcomer came
	}
	s.reported(s.self, &m, o)
}

// forget drops all reports.
func (s *process) forget() {
	s.reports.Clear()
	s.news.Clear()
	s.latest, s.holder = 0, algorithm.None
}

// reported records a report.
func (s *process) reported(from algorithm.ID, m *frame, o *out) {
	newcomer := slices.Contains(m.New, from)
	switch {
	case s.dead.Has(from) || newcomer && from != s.self && !s.asks.Has(from):
		s.because(viewVoid, facts{Who: from}, o)
		return // dead, or already let in
	case !newcomer && s.behind(from, m):
		s.because(viewAgain, facts{Who: from}, o)
		if m.Answers == 0 {
			s.ask(from, o)
		}
		return
	}
	if from != s.self {
		s.because(viewGot, facts{Who: from}, o)
	}
	s.reports.Add(from)
	if newcomer {
		s.news.Add(from)
	}
	s.latest = max(s.latest, m.Epoch)
	if m.Inside {
		s.holder = from
	}
	if s.stirred(from, m) {
		s.halt(o)
		return
	}
	s.collect(o)
}

// stirred reports whether a member is frozen for a reason of which this leader may not
// hear: a message was lost, or a newcomer that led has died. No run is known in which a
// process would otherwise wait forever.
func (s *process) stirred(from algorithm.ID, m *frame) bool {
	return !s.frozen && s.leader == s.self && (s.patience > 0 || s.met) && m.Epoch == s.epoch && s.seat(from) != algorithm.None
}

// behind reports whether a member has not heard of the view that this process has made:
// the message was lost, or the member followed another leader then, or the message is
// still in flight. The member may then enter in spite of its report, unless that answers
// a STOP of this epoch, which is behind the VIEW in the channel.
func (s *process) behind(from algorithm.ID, m *frame) bool {
	return s.maker == s.self && m.Epoch < s.epoch && m.Answers != s.epoch+1 && s.seat(from) != algorithm.None
}

// ask makes a member report once more, for the next view.
func (s *process) ask(id algorithm.ID, o *out) {
	switch {
	case s.leader != s.self:
	case s.frozen:
		s.because(viewStop, facts{Who: id}, o)
		o.Send(id, s.frame(stop))
	default:
		s.halt(o)
	}
}

// collect makes the next view when all live processes have reported.
func (s *process) collect(o *out) {
	if s.told != s.self {
		return
	}
	var alive, entrants []algorithm.ID
	for id := range algorithm.ID(s.n) {
		switch {
		case s.dead.Has(id):
			continue
		case !s.reports.Has(id):
			s.because(viewAwait, facts{Who: id}, o)
			return
		case s.news.Has(id):
			entrants = append(entrants, id)
		}
		alive = append(alive, id)
	}
	m := s.frame(view)
	m.Epoch, m.Inside, m.Holder, m.Members, m.New = s.latest+1, s.holder != algorithm.None, s.holder, alive, entrants
	if !m.Inside {
		m.Holder = s.self
	}
	s.forget()
	set := algorithm.SetOf(alive...)
	s.because(viewMake, facts{N: m.Epoch, Set: &set}, o)
	for _, id := range alive {
		if id != s.self {
			o.Send(id, m)
		}
	}
	s.install(s.self, &m, o)
}

// install begins a view: the lock is created anew, held by the process that is inside,
// and waiting processes request again.
func (s *process) install(maker algorithm.ID, m *frame, o *out) {
	s.epoch, s.members, s.maker = m.Epoch, slices.Clone(m.Members), maker
	s.frozen, s.told, s.started, s.fresh = false, algorithm.None, true, false
	set := algorithm.SetOf(s.members...)
	s.because(viewBegin, facts{N: s.epoch, Set: &set}, o)
	s.welcome(m.New)
	s.heard.Clear()
	v := algorithm.View{N: len(s.members), Holder: s.seat(m.Holder), Busy: m.Inside}
	s.lock = s.machine(s.seat(s.self), max(0, s.seat(maker)), v)
	s.wind(o)
	if m.Inside && m.Holder == s.self && s.phase != inside {
		o.Fail(s.step(host.Input{Kind: host.Release}, o)) // it left in between
	}
	if s.phase == waits {
		o.Fail(s.step(host.Input{Kind: host.Request}, o))
	}
	o.Fail(s.step(host.Input{Kind: host.Start}, o))
	kept := s.early
	s.early = nil
	for _, e := range kept {
		// Bytes that do not decode are dropped: their sender is not the one whose message
		// this step is about.
		if err := s.receive(e.from, e.epoch, e.bytes, o); !errors.Is(err, host.ErrMalformed) {
			o.Fail(err)
		}
	}
	if slices.ContainsFunc(s.members, func(id algorithm.ID) bool { return s.dead.Has(id) }) {
		s.freeze(o)
	}
	s.admit(o)
}

// halt ends a view although no process has died. Only the leader does that.
func (s *process) halt(o *out) {
	s.still(o)
	if s.asks.Empty() {
		s.stop(o)
	}
	s.report(o)
}

// stop notifies the members that have not reported that the view has ended.
func (s *process) stop(o *out) {
	for id := range algorithm.ID(s.n) {
		if id != s.self && !s.dead.Has(id) && !s.reports.Has(id) {
			s.because(viewStop, facts{Who: id}, o)
			o.Send(id, s.frame(stop))
		}
	}
}

// stopped handles a STOP: a leader has ended the view. A process that has already
// reported to it does so again, because the report may not have arrived. A process that
// follows another leader reports to that one, now or when it is known.
func (s *process) stopped(by algorithm.ID, epoch int, o *out) {
	s.still(o)
	s.because(viewFrozen, facts{}, o)
	if s.told == by {
		s.told = algorithm.None
	}
	if s.leader == by {
		s.answer(epoch+1, o)
	} else {
		s.report(o)
	}
}

// still freezes the lock.
func (s *process) still(o *out) {
	if !s.frozen {
		s.because(viewFreeze, facts{}, o)
		s.frozen = true
		s.heard.Clear()
		s.wind(o)
	}
}
