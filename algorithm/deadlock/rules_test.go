package deadlock

import (
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Rule is a rule of sites, or of a method, and what becomes of a site without it, for
// tests outside of the package.
type Rule struct {
	Bug    string
	Method Method
	Mode   string
	site   func(s *site) algorithm.Site[message] // nil: the method is changed
}

// Rules returns rules that comments say are needed, and that few runs need.
func Rules() []Rule {
	without := func(m Method, f func(l *Layout) method) Method {
		m.make = only(f)
		return m
	}
	return []Rule{
		{"a message about another attempt is not void", WoundWait(), "", func(s *site) algorithm.Site[message] { return attemptless{s} }},
		{"a message from a dead site is not void", WaitDie(), "", func(s *site) algorithm.Site[message] { return haunted{s} }},
		{"a transaction that runs again does not abort", WoundWait(), "", func(s *site) algorithm.Site[message] { return unbowed{s} }},
		{"transactions with locks at a dead site go on", WaitDie(), "", func(s *site) algorithm.Site[message] { return undaunted{s} }},
		{"a request that arrives before the news of a death is lost", Banker(), "", func(s *site) algorithm.Site[message] { return unaware{s} }},
		{"the next banker does not wait for the others", without(Banker(), func(l *Layout) method { return &unready{banker{claimed: make([][]int, len(l.Home))}} }), "", nil},
		{"a young transaction overtakes an older one", without(Banker(), func(l *Layout) method { return &pushy{banker{claimed: make([][]int, len(l.Home))}} }), "", nil},
		{"a demand during a round is forgotten", without(DetectCentral(), func(l *Layout) method { return busy{newCentral(OnDemand, l)} }), OnDemand, nil},
		{"a round waits for a site that has died", without(DetectCentral(), func(l *Layout) method { return loyal{newCentral(OnDemand, l)} }), OnDemand, nil},
	}
}

// ModeRules returns the rules that modes and cancelled requests make necessary.
func ModeRules() []Rule {
	change := DetectCentral()
	change.make = only(func(l *Layout) method { return impatient{newCentral(OnChange, l)} })
	arrival := func(m Method, p policy) Method {
		m.make = only(func(*Layout) method { return arriving{p: p} })
		return m
	}
	yes := func(s *site) algorithm.Site[message] { return credulous{s} }
	some := func(s *site) algorithm.Site[message] { return numberless{s} }
	return []Rule{
		{"requests do not wait for those before them", change, OnChange, nil},
		{"wait-die serves in order of arrival", arrival(WaitDie(), policy{dies: dying(Attempt.older).rank.dies}), "", nil},
		{"wound-wait serves in order of arrival", arrival(WoundWait(), policy{wounds: Attempt.older}), "", nil},
		{"a deadlock is not confirmed", DetectDistributed(), "", yes},
		{"attempts and requests have no numbers", DetectDistributed(), "", some},
	}
}

// An impatient coordinator forgets that a request waits for those before it.
type impatient struct{ *central }

func (m impatient) receive(s *site, from algorithm.ID, g *message, o *out) {
	all := slices.Clone(g.edges)
	g.edges = slices.DeleteFunc(g.edges, func(a Arc) bool {
		return slices.ContainsFunc(all, func(b Arc) bool { return b.From.Tx == a.To.Tx && b.Lock == a.Lock })
	})
	m.central.receive(s, from, g, o)
}

// An arriving method judges, but serves in order of arrival.
type arriving struct {
	plain
	p policy
}

func (a arriving) policy() policy { return a.p }

// Spec returns the method without the rule.
func (r Rule) Spec(l Layout) (algorithm.Spec, error) {
	spec, err := r.Method.Spec(l, r.Mode)
	spec.Plan = algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		s := newSite(self, &l, r.Method.make(r.Mode)(&l))
		broken := algorithm.Site[message](s)
		if r.site != nil {
			broken = r.site(s)
		}
		m := algorithm.NewSite(self, v, broken, len(l.Home))
		_ = m.Step(host.Input{Kind: host.Hear, From: algorithm.None, Time: 1}, new(host.Output)) // as transactions begin
		return m
	})
	return spec, err
}

type attemptless struct{ *site }

func (a attemptless) Receive(from algorithm.ID, m *message, o *out) {
	if a.atHome(m.from.Tx) && m.kind == grant {
		m.from = a.txs[m.from.Tx].Attempt
	}
	a.site.Receive(from, m, o)
}

// A credulous site confirms whatever it is asked, so that detectors go by what they have
// heard alone.
type credulous struct{ *site }

func (c credulous) Receive(from algorithm.ID, m *message, o *out) {
	if m.kind == confirm && c.atHome(m.from.Tx) {
		c.send(from, message{kind: answer, from: m.from, yes: true}, o)
		return
	}
	c.site.Receive(from, m, o)
}

// A numberless site confirms that a transaction waits, in whatever attempt and with
// whatever request, and aborts it as well.
type numberless struct{ *site }

func (n numberless) Receive(from algorithm.ID, m *message, o *out) {
	if m.kind == confirm && n.atHome(m.from.Tx) {
		n.send(from, message{kind: answer, from: m.from, yes: n.txs[m.from.Tx].phase == waiting}, o)
		return
	}
	if m.kind == abort && n.atHome(m.from.Tx) {
		m.from = n.txs[m.from.Tx].Attempt
	}
	n.site.Receive(from, m, o)
}

type haunted struct{ *site }

func (h haunted) Receive(from algorithm.ID, m *message, o *out) {
	if !h.dead.Has(from) {
		h.site.Receive(from, m, o)
		return
	}
	h.dead.Remove(from)
	h.site.Receive(from, m, o)
	h.dead.Add(from)
}

type unbowed struct{ *site }

func (u unbowed) Receive(from algorithm.ID, m *message, o *out) {
	if m.kind == wound && u.atHome(m.from.Tx) && u.txs[m.from.Tx].phase == running {
		return
	}
	u.site.Receive(from, m, o)
}

type undaunted struct{ *site }

func (u undaunted) Suspect(d algorithm.ID, o *out) {
	was := slices.Clone(u.txs)
	for tx := range u.txs {
		u.txs[tx].phase = doomed // so it need not be
	}
	u.site.Suspect(d, o)
	for tx := range u.txs {
		u.txs[tx].phase = was[tx].phase
	}
}

type unaware struct{ *site }

func (u unaware) Receive(from algorithm.ID, m *message, o *out) {
	if m.kind != request || u.lowest() == u.self {
		u.site.Receive(from, m, o)
	}
}

type unready struct{ banker }

func (u *unready) died(s *site, d algorithm.ID, o *out) {
	for id := range algorithm.ID(s.layout.Sites) {
		u.ready.Add(id)
	}
	u.banker.died(s, d, o)
}

type pushy struct{ banker }

func (p *pushy) pass(s *site, _ []int, o *out) {
	for _, w := range p.waiting(s) {
		if l := &s.locks[w.lock]; p.opens(s) && l.holder() < 0 && p.safeWith(s, w.lock, w.from) {
			i := slices.IndexFunc(l.queue, func(r Request) bool { return r.Attempt == w.from })
			s.do(w.lock, []Effect{l.grant(i)}, o)
		}
	}
}

type busy struct{ *central }

func (b busy) receive(s *site, from algorithm.ID, m *message, o *out) {
	if m.kind != demand || b.missing.Empty() {
		b.central.receive(s, from, m, o)
	}
}

type loyal struct{ *central }

func (l loyal) died(s *site, d algorithm.ID, o *out) {
	waits := l.missing.Has(d)
	l.missing.Remove(d)
	l.central.died(s, d, o)
	if waits {
		l.missing.Add(d)
	}
}
