package mutex

import "github.com/stile-lock/stile/algorithm"

// RicartAgrawala returns the algorithm in which every process needs permission from every
// other, and the one with the earlier request answers later.
//
// G. Ricart, A. K. Agrawala: An Optimal Algorithm for Mutual Exclusion in Computer
// Networks. Communications of the ACM 24(1), 1981, pages 9-17.
//
// Departure: in the paper only REQUESTs advance clocks. Then a request can be granted
// before one that happened before it (see RicartAgrawala1981); here OK carries the clock
// too.
func RicartAgrawala() algorithm.Spec {
	return algorithm.Spec{
		Name: "ricart-agrawala", Title: "Ricart-Agrawala", Authors: "Ricart, Agrawala", Year: 1981,
		Class:   algorithm.Permission,
		Paper:   "An Optimal Algorithm for Mutual Exclusion in Computer Networks. CACM 24(1), 1981",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "OK"},
		Rules:   raRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "a process enters when all others have sent OK", Awaited: []string{"missing"}, Queue: "deferred", Stamp: "asked", Answer: "OK"},
		Theory: algorithm.Theory{
			Messages: algorithm.Cost{Text: "2(N-1)", Any: others(2)},
			Multicasts: algorithm.Cost{Text: "N, 1 at exit", Any: func(n int) algorithm.Range {
				return algorithm.Range{Lo: min(float64(n-1), 1), Hi: multicastAndAnswers(n)}
			}, Light: func(n int) algorithm.Range { return algorithm.Exact(multicastAndAnswers(n)) }},
			Client: algorithm.Cost{Text: "2T", Any: between(2, 2)},
			// Up to 3T: a process with a smaller stamp may request just before it hears
			// of a request that was made just before the exit.
			Sync:      algorithm.Cost{Text: "T", Any: between(1, 3), Saturated: between(1, 1)},
			Order:     "happened-before (ME3)",
			Bypass:    onceEach,
			ME3:       true,
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newRicartAgrawala(self, v))
		}),
	}
}

// multicastAndAnswers counts one multicast and n-1 answers.
func multicastAndAnswers(n int) float64 {
	if n == 1 {
		return 0
	}
	return float64(n)
}

const (
	raRequest uint8 = iota
	raOK
)

// The rules.
const (
	raAsk = iota
	raAnswer
	raYield
	raInside
	raDefer
	raWait
	raEnter
	raLeave
	raVoid
)

func raRules() []algorithm.Rule {
	return []algorithm.Rule{
		raAsk:    {ID: "1", Text: "To enter, a process sends REQUEST with its stamp to all others.", Why: "{self} asks all others, with the stamp {a}", Sends: "REQUEST"},
		raAnswer: {ID: "2a", Text: "A process that does not want to enter answers REQUEST with OK.", Why: "{self} sends OK to {who}, because it does not want to enter", Sends: "OK"},
		raYield:  {ID: "2b", Text: "A waiting process sends OK to a request that is earlier than its own.", Why: "{self} sends OK to {who}, because {a} comes before {b}", Sends: "OK"},
		raInside: {ID: "2c", Text: "A process that is inside defers its OK.", Why: "{self} defers {who}, because it is inside", Silent: true, Waits: "who", While: "inside"},
		raDefer:  {ID: "2d", Text: "A waiting process defers its OK to a request that is later than its own.", Why: "{self} defers {who}, because {a} comes before {b}", Silent: true, Waits: "who"},
		raWait:   {ID: "3a", Text: "A process waits until all others have sent OK.", Why: "{self} has the OK of {who}, and waits for {set}", Silent: true},
		raEnter:  {ID: "3b", Text: "When all others have sent OK, the process enters.", Why: "{self} enters, because all others have sent OK", Enters: true},
		raLeave:  {ID: "4", Text: "A process that leaves sends the OKs that it has deferred.", Why: "{self} leaves, and sends OK to those it deferred: {set}", Sends: "OK"},
		raVoid:   ignored(),
	}
}

type raMessage struct {
	Kind uint8
	Time algorithm.Time // REQUEST: when it was made; OK: the sender's clock
}

func (m *raMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, raOK)
	c.Time("time", &m.Time)
}

// clock returns a clock that is later than every time the message carries.
func (m *raMessage) clock() algorithm.Time {
	if m.Kind == raRequest {
		return m.Time.Next()
	}
	return m.Time
}

type ricartAgrawala struct {
	self algorithm.ID
	n    int

	state    uint8
	clock    algorithm.Time // stamp of the next request
	asked    algorithm.Time // while WANTED: stamp of this process's request
	missing  algorithm.Set  // while WANTED: processes that have not sent OK
	deferred algorithm.Set  // processes that wait for our OK
	given    algorithm.Set  // processes that have our OK and have not given us one since
}

func newRicartAgrawala(self algorithm.ID, v algorithm.View) *ricartAgrawala {
	s := &ricartAgrawala{self: self, n: v.N, state: born(self, v), clock: algorithm.First()}
	if self != v.Holder {
		s.given.Add(v.Holder)
	}
	return s
}

func (s *ricartAgrawala) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.Set("given", &s.given)
	c.When(s.state != released)
	c.Time("asked", &s.asked)
	c.Set("missing", &s.missing)
	c.Set("deferred", &s.deferred)
	c.Always()
}

func (s *ricartAgrawala) Request(out *algorithm.Out[raMessage]) {
	s.state = wanted
	s.asked = s.clock.Tick()
	s.missing.Fill(s.n)
	s.missing.Remove(s.self)
	out.Because(raAsk, facts{A: algorithm.Stamp{Time: s.asked, ID: s.self}})
	out.Broadcast(raMessage{Kind: raRequest, Time: s.asked})
	s.tryEnter(s.self, out)
}

func (s *ricartAgrawala) Receive(from algorithm.ID, m *raMessage, out *algorithm.Out[raMessage]) {
	s.clock.See(m.clock())
	switch m.Kind {
	case raRequest:
		theirs := algorithm.Stamp{Time: m.Time, ID: from}
		ours := algorithm.Stamp{Time: s.asked, ID: s.self}
		switch {
		case s.state == held:
			out.Because(raInside, facts{Who: from})
			s.deferred.Add(from)
			return
		case s.state == wanted && ours.Less(theirs):
			out.Because(raDefer, facts{Who: from, A: ours, B: theirs})
			s.deferred.Add(from)
			return
		case s.state == wanted:
			out.Because(raYield, facts{Who: from, A: theirs, B: ours})
		default:
			out.Because(raAnswer, facts{Who: from})
		}
		s.given.Add(from)
		out.Send(from, raMessage{Kind: raOK, Time: s.clock})
	case raOK:
		s.given.Remove(from)
		if s.state != wanted {
			out.Because(raVoid, facts{Who: from})
			return
		}
		s.missing.Remove(from)
		s.tryEnter(from, out)
	}
}

// tryEnter enters if no OK is missing, now that there is news of a process.
func (s *ricartAgrawala) tryEnter(news algorithm.ID, out *algorithm.Out[raMessage]) {
	if s.missing.Empty() {
		s.state = held
		s.asked = algorithm.Time{}
		out.Because(raEnter, facts{})
		out.Enter()
	} else if news != s.self {
		out.Because(raWait, facts{Who: news, Set: &s.missing})
	}
}

func (s *ricartAgrawala) Release(out *algorithm.Out[raMessage]) {
	s.state = released
	s.given.Union(&s.deferred)
	out.Because(raLeave, facts{Set: &s.deferred})
	out.Multicast(&s.deferred, raMessage{Kind: raOK, Time: s.clock})
	s.deferred.Clear()
}

// Alibi implements algorithm.Alibier: to enter, d needs an OK from here that it does not
// have.
func (s *ricartAgrawala) Alibi(d algorithm.ID) bool { return !s.given.Has(d) }

// Clock implements algorithm.Hearer.
func (s *ricartAgrawala) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *ricartAgrawala) Hear(t algorithm.Time) { s.clock.See(t) }
