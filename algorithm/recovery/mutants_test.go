package recovery

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Mutant is a lock that survives deaths, but lacks one rule, for tests outside of the
// package.
type Mutant struct {
	Bug  string
	Run  string // of Newcomers: file of a run that needs the rule
	wrap func(s *process) algorithm.Mutex[frame]
}

// Mutants returns mutants, each without a rule that comments say is needed.
func Mutants() []Mutant {
	return []Mutant{
		{"a frozen lock goes on", "", func(s *process) algorithm.Mutex[frame] { return unfrozen{s} }},
		{"news of a leader that has died since is believed", "", func(s *process) algorithm.Mutex[frame] { return credulous{s} }},
		{"a process that left in between does not release", "", func(s *process) algorithm.Mutex[frame] { return lingering{s} }},
		{"a waiting process does not request again", "", func(s *process) algorithm.Mutex[frame] { return resigned{s} }},
		{"a view with a dead member is kept", "", func(s *process) algorithm.Mutex[frame] { return hopeful{s} }},
	}
}

// Newcomers returns mutants, each without a rule that is needed only if processes come
// back.
func Newcomers() []Mutant {
	return []Mutant{
		{"reports are kept by a process that reports to another", "reports-kept.stile", func(s *process) algorithm.Mutex[frame] { return hoarding{s} }},
		{"a newcomer's report counts although it has been let in", "let-in-twice.stile", func(s *process) algorithm.Mutex[frame] { return forgetful{s} }},
		{"a predecessor's report counts, and its view is accepted", "predecessor.stile", func(s *process) algorithm.Mutex[frame] { return impostor{s} }},
	}
}

// Spec is With, for the mutant.
func (m Mutant) Spec(lock Lock, elect algorithm.Spec) algorithm.Spec {
	spec := With(lock, elect)
	locks := len(lock(0).Kinds)
	f := &family{lock: lock, locks: locks, all: locks + len(elect.Kinds)}
	spec.Plan = func(n int) (algorithm.Birth, error) {
		vote, err := elect.Birth(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, m.wrap(newProcess(f, vote, self, v)))
		}, err
	}
	return spec
}

// isView reports whether a frame is a view.
func (s *process) isView(m *frame) bool { return int(m.Kind) == s.all+view }

// unaware calls f while no death is known.
func (s *process) unaware(f func()) {
	var dead []algorithm.ID
	for id := range s.dead.All() {
		dead = append(dead, id)
	}
	s.dead.Clear()
	f()
	for _, id := range dead {
		s.dead.Add(id)
	}
}

type unfrozen struct{ *process }

func (s unfrozen) Receive(from algorithm.ID, m *frame, o *out) {
	was := s.frozen
	if int(m.Kind) < s.locks {
		s.frozen = false
	}
	s.process.Receive(from, m, o)
	if int(m.Kind) < s.locks {
		s.frozen = was
	}
}

type credulous struct{ *process }

func (s credulous) Receive(from algorithm.ID, m *frame, o *out) {
	if kind := int(m.Kind); kind < s.locks || kind >= s.all {
		s.process.Receive(from, m, o)
		return
	}
	s.unaware(func() { s.process.Receive(from, m, o) })
}

type lingering struct{ *process }

func (s lingering) Receive(from algorithm.ID, m *frame, o *out) {
	lingers := s.isView(m) && m.Inside && m.Holder == s.self && s.phase == idle
	if lingers {
		s.phase = inside
	}
	s.process.Receive(from, m, o)
	if lingers {
		s.phase = idle
	}
}

type resigned struct{ *process }

func (s resigned) Receive(from algorithm.ID, m *frame, o *out) {
	resigns := s.isView(m) && !m.Inside && s.phase == waits
	if resigns {
		s.phase = idle
	}
	s.process.Receive(from, m, o)
	if resigns {
		s.phase = waits
	}
}

type hopeful struct{ *process }

func (s hopeful) Receive(from algorithm.ID, m *frame, o *out) {
	if !s.isView(m) {
		s.process.Receive(from, m, o)
		return
	}
	s.unaware(func() { s.process.Receive(from, m, o) })
}

type hoarding struct{ *process }

// keep calls f, and undoes what forget does if f makes the process report to another.
func (s hoarding) keep(f func()) {
	told, latest, holder := s.told, s.latest, s.holder
	reports, news := slices.Collect(s.reports.All()), slices.Collect(s.news.All())
	if f(); s.told == told || s.told == algorithm.None || s.told == s.self {
		return
	}
	s.latest, s.holder = latest, holder
	for _, id := range reports {
		s.reports.Add(id)
	}
	for _, id := range news {
		s.news.Add(id)
	}
}

func (s hoarding) Receive(from algorithm.ID, m *frame, o *out) {
	s.keep(func() { s.process.Receive(from, m, o) })
}

func (s hoarding) Suspect(id algorithm.ID, o *out) { s.keep(func() { s.process.Suspect(id, o) }) }
func (s hoarding) Trust(id algorithm.ID, o *out)   { s.keep(func() { s.process.Trust(id, o) }) }
func (s hoarding) Expire(timer int, o *out)        { s.keep(func() { s.process.Expire(timer, o) }) }

type forgetful struct{ *process }

func (s forgetful) Receive(from algorithm.ID, m *frame, o *out) {
	again := int(m.Kind) == s.all+report && slices.Contains(m.New, from) && !s.asks.Has(from)
	if again {
		s.asks.Add(from)
	}
	s.process.Receive(from, m, o)
	if again {
		s.asks.Remove(from)
	}
}

type impostor struct{ *process }

func (s impostor) Receive(from algorithm.ID, m *frame, o *out) {
	had, fresh := s.reports.Has(from), s.fresh
	if s.isView(m) {
		s.fresh = slices.Contains(m.New, s.self)
	}
	s.process.Receive(from, m, o)
	switch int(m.Kind) - s.all {
	case view:
		s.fresh = fresh && s.epoch != m.Epoch
	case join:
		if had {
			s.reports.Add(from)
		}
	}
}
