package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Mutant is a method with a bug planted into it.
type Mutant struct {
	Bug    string
	Mode   string
	Method Method
}

// Mutants returns the mutants, for tests outside of the package.
func Mutants() []Mutant {
	var all []Mutant
	add := func(m Method, mode, bug string, f func(l *Layout) method) {
		exact := m.Exact(mode)
		m.make, m.Modes, m.Exact = only(f), nil, func(string) bool { return exact }
		all = append(all, Mutant{bug, mode, m})
	}
	simple := func(m Method, bug string, mutant method) {
		add(m, "", bug, func(*Layout) method { return mutant })
	}
	simple(None(), "a lock is given to two", twice{})
	add(None(), "", "a free lock is not passed on", func(*Layout) method { return &passive{method: plain{}} })

	unsorted := Ordered()
	unsorted.Sorted = false
	simple(unsorted, "a request out of order is allowed", plain{})
	add(Ordered(), "", "a free lock is not passed on", func(*Layout) method { return &passive{method: ordered{}} })

	simple(Priority(), "the holder is never preempted", gentle(byNumber))
	add(Priority(), "", "the lowest rank goes first", judgedOnce(backwards(byNumber)))

	simple(PriorityRequester(), "no transaction is removed", plain{})
	add(PriorityRequester(), "", "the highest rank goes first", judgedOnce(patientDie(byNumber)))

	simple(WoundWait(), "the holder is never wounded", gentle(Attempt.older))
	add(WoundWait(), "", "the youngest goes first", judgedOnce(backwards(Attempt.older)))
	simple(WoundWait(), "a restarted one gets a new stamp", forgetting(preempting(Attempt.older)))

	simple(WaitDie(), "no transaction dies", plain{})
	add(WaitDie(), "", "the oldest goes first", judgedOnce(patientDie(Attempt.older)))
	simple(WaitDie(), "a restarted one gets a new stamp", forgetting(dying(Attempt.older)))

	simple(WaitDieRestamped(), "no transaction dies", plain{})
	add(WaitDieRestamped(), "", "a free lock is not passed on", func(*Layout) method { return &passive{method: forgetting(dying(Attempt.older))} })

	simple(WoundWaitRestamped(), "the holder is never wounded", forgetting(gentle(Attempt.older)))
	add(WoundWaitRestamped(), "", "a free lock is not passed on", func(*Layout) method { return &passive{method: forgetting(preempting(Attempt.older))} })

	add(Banker(), "", "every state is safe", func(l *Layout) method { return &reckless{banker{claimed: make([][]int, len(l.Home))}} })
	add(Banker(), "", "claims are not remembered", func(l *Layout) method { return &forgetful{banker{claimed: make([][]int, len(l.Home))}} })

	for _, mode := range DetectCentral().Modes {
		add(DetectCentral(), mode, "an edge is dropped", func(l *Layout) method { return drops{newCentral(mode, l)} })
		add(DetectCentral(), mode, "the oldest is the victim", func(l *Layout) method {
			m := newCentral(mode, l)
			m.victim = oldest
			return m
		})
	}
	add(DetectCentral(), OnDemand, "stamps are not looked at", func(l *Layout) method {
		m := newCentral(OnDemand, l)
		m.union = m.naive
		return m
	})

	add(DetectDistributed(), "", "the oldest is the victim", func(l *Layout) method {
		p := newPushing(l)
		p.victim = oldest
		return p
	})
	add(DetectDistributed(), "", "every other site has the rule reversed", func(l *Layout) method {
		p := newPushing(l)
		p.smaller = func(at algorithm.ID, last, first Attempt) bool { return (last.Tx < first.Tx) == (at%2 == 0) }
		return p
	})
	simple(Timeout(), "no transaction times out", plain{})
	simple(Timeout(), "a lock is given to two", twice{})

	add(DetectDistributed(), "", "waits at other sites are not reported", func(l *Layout) method { return silent{newPushing(l)} })
	return all
}

// Vacancies returns mutants that get along until their coordinator dies, for
// tests outside of the package.
func Vacancies(mode string) []Mutant {
	var all []Mutant
	add := func(bug string, wrap func(m *central) method) {
		m := DetectCentral()
		m.make, m.Modes = only(func(l *Layout) method { return wrap(newCentral(mode, l)) }), nil
		all = append(all, Mutant{bug, mode, m})
	}
	add("no site is elected", func(m *central) method { return vacant{m} })
	add("an election that was lost is not held anew", func(m *central) method { return lost{m} })
	add("the new coordinator gets no graphs", func(m *central) method { return uninformed{m} })
	return all
}

type vacant struct{ *central }

func (v vacant) died(_ *site, d algorithm.ID, _ *out) {
	v.reports[d] = report{}
	if v.coordinator == d {
		v.coordinator = algorithm.None
	}
}

type lost struct{ *central }

func (l lost) died(s *site, d algorithm.ID, o *out) {
	was := l.coordinator
	l.poll(s, host.Input{Kind: host.Suspect, From: d}, o)
	if was == d {
		l.coordinator = algorithm.None
		l.poll(s, host.Input{Kind: host.Request}, o)
	}
	l.follow(s, o)
}

type uninformed struct{ *central }

func (u uninformed) receive(s *site, from algorithm.ID, m *message, o *out) {
	if m.kind != elect && m.kind != elected {
		u.central.receive(s, from, m, o)
		return
	}
	u.poll(s, host.Input{Kind: host.Receive, From: from, Bytes: m.bytes}, o)
	u.settle(s)
}

// Reversed is path pushing with the rule the other way round everywhere, which
// is right too: then the smallest instead of the largest goes all the way.
func Reversed() Method {
	m := DetectDistributed()
	m.make = only(func(l *Layout) method {
		p := newPushing(l)
		p.smaller = func(_ algorithm.ID, last, first Attempt) bool { return last.Tx > first.Tx }
		return p
	})
	return m
}

func oldest(cycle []Attempt) Attempt {
	return slices.MinFunc(cycle, func(a, b Attempt) int {
		if a.older(b) {
			return -1
		}
		return 1
	})
}

type twice struct{ plain }

func (twice) pass(s *site, changed []int, o *out) {
	for _, k := range changed {
		for len(s.locks[k].queue) > 0 {
			s.do(k, []Effect{s.locks[k].grant(0)}, o)
		}
	}
}

// A passive method judges only when a request arrives.
type passive struct {
	method
	request bool
}

func (m *passive) heard(s *site, who Attempt, g *message) {
	m.request = true
	m.method.heard(s, who, g)
}

func (m *passive) pass(s *site, changed []int, o *out) {
	if m.request {
		m.method.pass(s, changed, o)
	}
	m.request = false
}

// A lenient method judges a request when it arrives, and never again: what is passed on must
// then be passed on in the right order.
type lenient struct{ passive }

func (m *lenient) pass(s *site, changed []int, o *out) {
	for _, k := range changed {
		if !m.request {
			s.do(k, s.locks[k].grants(nil), o)
		}
	}
	m.passive.pass(s, changed, o)
}

func judgedOnce(m method) func(*Layout) method {
	return func(*Layout) method { return &lenient{passive{method: m}} }
}

func gentle(above func(a, b Attempt) bool) ranked { return ranked{rank: policy{first: above}} }

func backwards(above func(a, b Attempt) bool) ranked {
	return ranked{rank: policy{first: dying(above).rank.first, wounds: above}}
}

func patientDie(above func(a, b Attempt) bool) ranked {
	return ranked{rank: policy{first: above, dies: dying(above).rank.dies}}
}

func forgetting(r ranked) ranked {
	r.forgets = true
	return r
}

type reckless struct{ banker }

func (r *reckless) pass(s *site, changed []int, o *out) { s.settle(changed, o) }

type forgetful struct{ banker }

func (*forgetful) heard(*site, Attempt, *message) {}

type drops struct{ *central }

func (d drops) receive(s *site, from algorithm.ID, m *message, o *out) {
	if m.kind == graph && len(m.edges) > 0 {
		m.edges = m.edges[1:]
	}
	d.central.receive(s, from, m, o)
}

type silent struct{ *pushing }

func (silent) asked(*site, Attempt, int, *out) {}

// StalePaths returns path pushing that keeps paths after an attempt on them has ended, at
// homes that confirm every deadlock: where they do not, a stale path does no harm.
func StalePaths() []Rule {
	var all []Rule
	for bug, wrap := range map[string]func(h hoarding) method{
		"paths of ended attempts are kept":            func(h hoarding) method { return h },
		"paths are kept, whatever has become of them": func(h hoarding) method { return hoardingAll{h} },
	} {
		m := DetectDistributed()
		m.make = only(func(l *Layout) method { return wrap(hoarding{newPushing(l)}) })
		all = append(all, Rule{bug, m, "", func(s *site) algorithm.Site[message] { return credulous{s} }})
	}
	return all
}

// A hoarding method puts back what path pushing forgets.
type hoarding struct{ *pushing }

func (h hoarding) receive(s *site, from algorithm.ID, m *message, o *out) {
	kept := slices.Clone(h.paths)
	if r := (Path{slices.Clone(m.path), m.lock}); m.kind == path && h.useful(s, r) {
		kept = append(slices.DeleteFunc(kept, r.equal), r)
	}
	h.pushing.receive(s, from, m, o)
	h.paths = kept
}

func (h hoarding) heard(s *site, who Attempt, m *message) {
	kept := slices.Clone(h.paths)
	h.pushing.heard(s, who, m)
	h.paths = kept
}

func (h hoarding) ended(s *site, who Attempt) {
	kept := slices.Clone(h.paths)
	h.pushing.ended(s, who)
	h.paths = kept
}

func (h hoarding) changed(s *site, o *out) {
	kept := slices.Clone(h.paths)
	h.pushing.changed(s, o)
	h.paths = kept
}

type hoardingAll struct{ hoarding }

func (h hoardingAll) granted(s *site, k int, who Attempt) {
	kept := slices.Clone(h.paths)
	h.hoarding.granted(s, k, who)
	h.paths = kept
}
