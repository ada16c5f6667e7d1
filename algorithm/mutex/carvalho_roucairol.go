package mutex

import "github.com/stile-lock/stile/algorithm"

// CarvalhoRoucairol returns Ricart-Agrawala with permissions that last: an OK from
// another process is good for any number of entries until that process makes a request.
//
// O. S. F. Carvalho, G. Roucairol: On Mutual Exclusion in Computer Networks.
// Communications of the ACM 26(2), 1983, pages 146-147.
//
// Channels may reorder: between two processes at most one REQUEST and one OK are in
// flight in each direction, and a REQUEST that overtakes the OK before it is later than
// the request that the OK answers, so it is deferred.
//
// Departures: OK carries the clock, as in RicartAgrawala; an entry without messages does
// not tick it. Initially the holder has all permissions, and no two other processes have
// each other's.
func CarvalhoRoucairol() algorithm.Spec {
	return algorithm.Spec{
		Name: "carvalho-roucairol", Title: "Carvalho-Roucairol", Authors: "Carvalho, Roucairol", Year: 1983,
		Class:   algorithm.Permission,
		Paper:   "On Mutual Exclusion in Computer Networks. CACM 26(2), 1983",
		Version: 1,
		Network: algorithm.Unordered,
		Spreads: true,
		Kinds:   []string{"REQUEST", "OK"},
		Rules:   croRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "a process keeps an OK until it is asked for it", Got: "have", Queue: "deferred", Stamp: "asked", Answer: "OK"},
		Theory: algorithm.Theory{
			Messages: algorithm.Cost{Text: "0..2(N-1), 2(N-1) full", Any: upTo(2), Saturated: func(n int) algorithm.Range {
				return algorithm.Range{Lo: float64(n - 1), Hi: 2 * float64(n-1)}
			}},
			Multicasts: algorithm.Cost{Text: "0..N light", Any: upTo(2), Light: func(n int) algorithm.Range {
				return algorithm.Range{Hi: multicastAndAnswers(n)}
			}},
			Client: algorithm.Cost{Text: "0..2T", Any: between(0, 2)},
			// From 0: a process that has all OKs may enter again before it hears of a
			// request. Up to N T: a request goes only to the processes whose OK is
			// missing, so the rest may request with smaller stamps, one after the other.
			Sync:  algorithm.Cost{Text: "T", Any: roundTrip, Saturated: between(1, 1)},
			Order: "by stamp among processes that ask each other; not ME3",
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newCarvalhoRoucairol(self, v))
		}),
	}
}

// The rules beside those of Ricart and Agrawala.
const (
	croAtOnce = raVoid + 1 + iota
	croAgain
)

func croRules() []algorithm.Rule {
	rules := append(raRules(),
		algorithm.Rule{ID: "1b", Text: "A process that still has the OK of all others enters at once.", Why: "{self} enters, because it still has the OK of all others", Enters: true},
		algorithm.Rule{ID: "2e", Text: "A waiting process that gives up an OK it had asks for it again.", Why: "{self} asks {who} again, because it has just given up the OK of {who}", Sends: "REQUEST"},
	)
	rules[raAsk] = algorithm.Rule{ID: "1a", Text: "To enter, a process sends REQUEST to those whose OK it does not have.", Why: "{self} asks {set}, whose OK it does not have, with the stamp {a}", Sends: "REQUEST"}
	rules[raWait].Why = "{self} has the OK of {who}, and waits for {n} more"
	return rules
}

type carvalhoRoucairol struct {
	self algorithm.ID
	n    int

	state    uint8
	clock    algorithm.Time // stamp of the next request
	asked    algorithm.Time // while WANTED: stamp of this process's request
	have     algorithm.Set  // processes whose permission is here; while WANTED all others have been asked
	given    algorithm.Set  // processes that have our OK and have not given us one since
	deferred algorithm.Set  // while WANTED or HELD: processes that wait for our OK
}

func newCarvalhoRoucairol(self algorithm.ID, v algorithm.View) *carvalhoRoucairol {
	s := &carvalhoRoucairol{self: self, n: v.N, state: born(self, v), clock: algorithm.First()}
	if self == v.Holder {
		s.have.Fill(v.N)
		s.have.Remove(self)
	} else {
		s.given.Add(v.Holder)
	}
	return s
}

func (s *carvalhoRoucairol) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.Set("have", &s.have)
	c.Set("given", &s.given)
	c.When(s.state != released)
	c.Time("asked", &s.asked)
	c.Set("deferred", &s.deferred)
	c.Always()
}

func (s *carvalhoRoucairol) Request(out *algorithm.Out[raMessage]) {
	s.state = wanted
	if s.complete() {
		out.Because(croAtOnce, facts{})
		s.enter(out)
		return
	}
	s.asked = s.clock.Tick()
	var missing algorithm.Set
	for j := range algorithm.ID(s.n) {
		if j != s.self && !s.have.Has(j) {
			missing.Add(j)
		}
	}
	out.Because(raAsk, facts{A: algorithm.Stamp{Time: s.asked, ID: s.self}, Set: &missing})
	out.Multicast(&missing, raMessage{Kind: raRequest, Time: s.asked})
}

func (s *carvalhoRoucairol) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
	s.clock.See(m.clock())
	switch {
	case m.Kind == raRequest:
		s.receiveRequest(algorithm.Stamp{Time: m.Time, ID: from}, out)
	case s.state == wanted:
		s.given.Remove(from)
		s.have.Add(from)
		if s.complete() {
			out.Because(raEnter, facts{})
			s.enter(out)
		} else {
			out.Because(raWait, facts{Who: from, N: s.n - 1 - s.have.Len()})
		}
	default:
		out.Because(raVoid, facts{Who: from})
	}
}

func (s *carvalhoRoucairol) receiveRequest(theirs algorithm.Stamp, out *algorithm.Out[raMessage]) {
	ours := algorithm.Stamp{Time: s.asked, ID: s.self}
	switch {
	case s.state == held:
		out.Because(raInside, facts{Who: theirs.ID})
		s.deferred.Add(theirs.ID)
		return
	case s.state == wanted && ours.Less(theirs):
		out.Because(raDefer, facts{Who: theirs.ID, A: ours, B: theirs})
		s.deferred.Add(theirs.ID)
		return
	case s.state == wanted:
		out.Because(raYield, facts{Who: theirs.ID, A: theirs, B: ours})
	default:
		out.Because(raAnswer, facts{Who: theirs.ID})
	}
	had := s.have.Has(theirs.ID)
	s.give(theirs.ID)
	out.Send(theirs.ID, raMessage{Kind: raOK, Time: s.clock})
	if s.state == wanted && had {
		out.Because(croAgain, facts{Who: theirs.ID})
		out.Send(theirs.ID, raMessage{Kind: raRequest, Time: s.asked})
	}
}

func (s *carvalhoRoucairol) give(to algorithm.ID) {
	s.have.Remove(to)
	s.given.Add(to)
}

// complete reports whether all permissions are here.
func (s *carvalhoRoucairol) complete() bool { return s.have.Len() >= s.n-1 }

func (s *carvalhoRoucairol) enter(out *algorithm.Out[raMessage]) {
	s.state = held
	s.asked = algorithm.Time{}
	out.Enter()
}

func (s *carvalhoRoucairol) Release(out *algorithm.Out[raMessage]) {
	s.state = released
	for j := range s.deferred.All() {
		s.give(j)
	}
	out.Because(raLeave, facts{Set: &s.deferred})
	out.Multicast(&s.deferred, raMessage{Kind: raOK, Time: s.clock})
	s.deferred.Clear()
}

// Alibi implements algorithm.Alibier: to enter, d needs an OK from here that it does not
// have.
func (s *carvalhoRoucairol) Alibi(d algorithm.ID) bool { return !s.given.Has(d) }

// Clock implements algorithm.Hearer.
func (s *carvalhoRoucairol) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *carvalhoRoucairol) Hear(t algorithm.Time) { s.clock.See(t) }
