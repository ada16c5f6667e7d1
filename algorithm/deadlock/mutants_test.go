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
	simple(None(), "a free lock is not passed on", keeps{})

	unsorted := Ordered()
	unsorted.Sorted = false
	simple(unsorted, "a request out of order is allowed", plain{})
	simple(Ordered(), "a free lock is not passed on", keeps{})

	simple(Priority(), "the holder is never preempted", gentle{preempting{above: byNumber}})
	simple(Priority(), "the lowest rank goes first", backwards{preempting{above: byNumber}})

	simple(PriorityRequester(), "no transaction is removed", plain{})
	simple(PriorityRequester(), "the highest rank goes first", patientDie{dying{above: byNumber}})

	simple(WoundWait(), "the holder is never wounded", gentle{preempting{above: node.older}})
	simple(WoundWait(), "the youngest goes first", backwards{preempting{above: node.older}})
	simple(WoundWait(), "a restarted one gets a new stamp", forgetting{preempting{above: node.older}})

	simple(WaitDie(), "no transaction dies", plain{})
	simple(WaitDie(), "the oldest goes first", patientDie{dying{above: node.older}})
	simple(WaitDie(), "a restarted one gets a new stamp", forgetting{dying{above: node.older}})

	simple(WaitDieRestamped(), "no transaction dies", plain{})
	simple(WaitDieRestamped(), "a free lock is not passed on", forgetting{keepsAll{dying{above: node.older}}})

	simple(WoundWaitRestamped(), "the holder is never wounded", forgetting{gentle{preempting{above: node.older}}})
	simple(WoundWaitRestamped(), "a free lock is not passed on", forgetting{keepsAll{preempting{above: node.older}}})

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
		p.smaller = func(at algorithm.ID, last, first node) bool { return (last.tx < first.tx) == (at%2 == 0) }
		return p
	})
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
		p.smaller = func(_ algorithm.ID, last, first node) bool { return last.tx > first.tx }
		return p
	})
	return m
}

func oldest(cycle []node) node {
	return slices.MinFunc(cycle, func(a, b node) int {
		if a.older(b) {
			return -1
		}
		return 1
	})
}

type twice struct{ plain }

func (twice) meet(s *site, k int, who node, o *out) { s.give(k, who, o) }

type keeps struct{ plain }

func (keeps) pass(*site, *out) {}

type keepsAll struct{ method }

func (keepsAll) pass(*site, *out) {}

type gentle struct{ preempting }

func (g gentle) meet(s *site, k int, who node, _ *out) { s.enqueue(k, who) }

type backwards struct{ preempting }

func (b backwards) turn(queue []node) int {
	worst := 0
	for i := range queue {
		if b.above(queue[worst], queue[i]) {
			worst = i
		}
	}
	return worst
}

type patientDie struct{ dying }

func (p patientDie) turn(queue []node) int { return preempting{above: p.above}.turn(queue) }

type reckless struct{ banker }

func (*reckless) may(*site, int, node) bool { return true }

func (r *reckless) pass(s *site, o *out) { s.passEach(o) }

type forgetful struct{ banker }

func (*forgetful) heard(*site, node, *message) {}

type drops struct{ *central }

func (d drops) receive(s *site, from algorithm.ID, m *message, o *out) {
	if m.kind == graph && len(m.edges) > 0 {
		m.edges = m.edges[1:]
	}
	d.central.receive(s, from, m, o)
}

type silent struct{ *pushing }

func (silent) asked(*site, node, int, *out) {}

// StalePaths returns mutants of path pushing that keep paths after an attempt on them has
// ended, for tests outside of the package.
func StalePaths() []Mutant {
	var all []Mutant
	for bug, wrap := range map[string]func(h hoarding) method{
		"paths of ended attempts are kept":            func(h hoarding) method { return h },
		"paths are kept, whatever has become of them": func(h hoarding) method { return hoardingAll{h} },
	} {
		m := DetectDistributed()
		m.make = only(func(l *Layout) method { return wrap(hoarding{newPushing(l)}) })
		all = append(all, Mutant{bug, "", m})
	}
	return all
}

// A hoarding method puts back what path pushing forgets.
type hoarding struct{ *pushing }

func (h hoarding) receive(s *site, from algorithm.ID, m *message, o *out) {
	kept := slices.Clone(h.paths)
	if r := (route{slices.Clone(m.path), m.lock}); m.kind == path && h.useful(s, r) {
		kept = append(slices.DeleteFunc(kept, r.equal), r)
	}
	h.pushing.receive(s, from, m, o)
	h.paths = kept
}

func (h hoarding) heard(s *site, who node, m *message) {
	kept := slices.Clone(h.paths)
	h.pushing.heard(s, who, m)
	h.paths = kept
}

func (h hoarding) ended(s *site, who node) {
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

func (h hoardingAll) granted(s *site, k int, who node) {
	kept := slices.Clone(h.paths)
	h.hoarding.granted(s, k, who)
	h.paths = kept
}
