package recovery

import (
	"errors"
	"slices"

	"github.com/stile-lock/stile/core"
)

// report tells the leader, once, what it has to know to make a view. From then
// on only that leader's view counts.
func (s *process) report(o *out) {
	if !s.frozen || s.leader == core.None || s.told == s.leader {
		return
	}
	s.told = s.leader
	if s.leader == s.self {
		s.reported(s.self, s.epoch, s.phase == inside, o)
		return
	}
	o.Send(s.leader, frame{Kind: uint8(s.all + report), Epoch: s.epoch, Inside: s.phase == inside})
}

// reported notes a report.
func (s *process) reported(from core.ID, epoch int, in bool, o *out) {
	if s.dead.Has(from) {
		return
	}
	s.reports.Add(from)
	s.latest = max(s.latest, epoch)
	if in {
		s.holder = from
	}
	s.collect(o)
}

// collect makes the next view when everybody alive has reported.
func (s *process) collect(o *out) {
	if s.told != s.self {
		return
	}
	var alive []core.ID
	for id := range core.ID(s.n) {
		switch {
		case s.dead.Has(id):
		case !s.reports.Has(id):
			return
		default:
			alive = append(alive, id)
		}
	}
	m := frame{Kind: uint8(s.all + view), Epoch: s.latest + 1, Inside: s.holder != core.None, Holder: s.holder, Members: alive}
	if !m.Inside {
		m.Holder = s.self
	}
	s.reports.Clear()
	s.latest, s.holder = 0, core.None
	for _, id := range alive {
		if id != s.self {
			o.Send(id, m)
		}
	}
	s.install(s.self, &m, o)
}

// install begins a view: the lock is born anew, held by whoever is inside, and
// whoever waits asks again.
func (s *process) install(maker core.ID, m *frame, o *out) {
	s.epoch, s.members, s.maker = m.Epoch, slices.Clone(m.Members), maker
	s.frozen, s.told, s.started = false, core.None, true
	v := core.View{N: len(s.members), Holder: s.seat(m.Holder), Busy: m.Inside}
	s.lock = s.machine(s.seat(s.self), max(0, s.seat(maker)), v)
	if m.Inside && m.Holder == s.self && s.phase != inside {
		o.Fail(s.step(core.Input{Kind: core.Release}, o)) // it left in between
	}
	if s.phase == waits {
		o.Fail(s.step(core.Input{Kind: core.Request}, o))
	}
	o.Fail(s.step(core.Input{Kind: core.Start}, o))
	kept := s.early
	s.early = nil
	for _, e := range kept {
		// What does not decode is dropped: whoever sent it is not the one
		// whose message this step is about.
		if err := s.receive(e.from, e.epoch, e.bytes, o); !errors.Is(err, core.ErrMalformed) {
			o.Fail(err)
		}
	}
	if slices.ContainsFunc(s.members, func(id core.ID) bool { return s.dead.Has(id) }) {
		s.freeze(o)
	}
}
