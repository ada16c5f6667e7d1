package mutex

import "github.com/stile-lock/stile/algorithm"

// Bakery returns the algorithm in which a process takes a number higher than all it sees,
// and the lowest number is served.
//
// L. Lamport: A New Solution of Dijkstra's Concurrent Programming Problem. Communications
// of the ACM 17(8), 1974, pages 453-455.
//
// Departure: the paper shares variables; here they are read by messages. choosing[i] and
// number[i] live at i. A READ is answered by a VALUE. Where the paper waits until a
// condition holds, the VALUE is held back until it does (BakeryPolling reads again and
// again instead). All others are read in parallel.
func Bakery() algorithm.Spec {
	return algorithm.Spec{
		Name: "bakery", Title: "Lamport's bakery", Authors: "Lamport", Year: 1974,
		Class:   algorithm.Permission,
		Paper:   "A New Solution of Dijkstra's Concurrent Programming Problem. CACM 17(8), 1974",
		Version: 1,
		Network: algorithm.Unordered,
		Spreads: true,
		Kinds:   []string{"READ", "VALUE"},
		Rules:   bakRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Tickets, Title: "each process draws a number, and the smallest goes first", Number: "number", Awaited: []string{"unread", "choosers", "ahead"}, Answer: "VALUE"},
		Theory: algorithm.Theory{
			Messages: algorithm.Cost{Text: "6(N-1)", Any: others(6)},
			Multicasts: algorithm.Cost{Text: "4N-2 light", Any: func(n int) algorithm.Range {
				return algorithm.Range{Lo: min(2, float64(2*n-2)) + float64(2*n-2), Hi: bakeryMulticasts(n)}
			}, Light: func(n int) algorithm.Range { return algorithm.Exact(bakeryMulticasts(n)) }},
			Client:    algorithm.Cost{Text: "6T", Any: between(6, 6)},
			Sync:      algorithm.Cost{Text: "1..6T", Any: between(1, 8), Saturated: between(1, 6)},
			Order:     "tickets: first come first served after the doorway; not ME3",
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newBakery(self, v))
		}),
	}
}

// bakeryMulticasts counts two multicasts, the READs of numbers and of choosing, and
// single messages for the rest.
func bakeryMulticasts(n int) float64 { return min(2, float64(2*n-2)) + float64(4*n-4) }

const (
	bakRead uint8 = iota
	bakValue
)

// The variables that are read.
const (
	bakNumber   uint8 = iota // number[j], as it is
	bakChoosing              // choosing[j], once it is false
	bakTurn                  // number[j], once it is 0 or behind the reader's
)

// The rules.
const (
	bakChoose = iota
	bakMore
	bakTake
	bakChosen
	bakAskChoosing
	bakAskTurn
	bakPassed
	bakEnter
	bakAnswer
	bakHoldChoosing
	bakHoldTurn
	bakLeave
	bakAgainChoosing
	bakAgainTurn
	bakNaive
	bakVoid
)

func bakRules() []algorithm.Rule {
	return []algorithm.Rule{
		bakChoose:        {ID: "1a", Text: "To choose a number, a process reads the numbers of all others.", Why: "{self} is choosing, and reads the numbers of all others", Sends: "READ"},
		bakMore:          {ID: "1b", Text: "It is choosing until it has read all numbers.", Why: "{self} has read the number of {who}, and still has to read that of {set}", Silent: true},
		bakTake:          {ID: "1c", Text: "Its number is one more than the highest that it has read.", Why: "{self} takes a number: {a}, one more than the highest that it has read"},
		bakChosen:        {ID: "1d", Text: "A process that has chosen notifies those that wait for that.", Why: "{self} is no longer choosing, and notifies {set}", Sends: "VALUE"},
		bakAskChoosing:   {ID: "2a", Text: "With a number, a process waits for those that are choosing.", Why: "{self} reads whether the others are choosing", Sends: "READ"},
		bakAskTurn:       {ID: "2b", Text: "Then it waits for those with a smaller number.", Why: "{self} reads the number of {who}, which is not choosing", Sends: "READ"},
		bakPassed:        {ID: "2c", Text: "It passes a process that has no number, or a larger one.", Why: "{self} no longer waits for {who}: it has no number, or is behind", Silent: true},
		bakEnter:         {ID: "2d", Text: "It enters when no process is before it.", Why: "{self} enters, because no process is before it", Enters: true},
		bakAnswer:        {ID: "3a", Text: "A READ is answered by a VALUE.", Why: "{self} answers {who}", Sends: "VALUE"},
		bakHoldChoosing:  {ID: "3b", Text: "The answer to a READ of choosing is held back while the process is choosing.", Why: "{self} makes {who} wait, because it is choosing", Silent: true, Waits: "who"},
		bakHoldTurn:      {ID: "3c", Text: "The answer to a READ of turn is held back until the reader is before the process.", Why: "{self} makes {who} wait, because {a} comes before {b}", Silent: true, Waits: "who"},
		bakLeave:         {ID: "4", Text: "A process that leaves gives up its number, and answers those that wait for that.", Why: "{self} leaves, and answers those that wait for it: {set}", Sends: "VALUE"},
		bakAgainChoosing: {},
		bakAgainTurn:     {},
		bakNaive:         {},
		bakVoid:          ignored(),
	}
}

type bakMessage struct {
	Kind     uint8
	What     uint8
	Choosing bool           // VALUE of choosing
	Number   algorithm.Time // other VALUEs: number[j]; READ of turn: the reader's number
}

func (m *bakMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, bakValue)
	c.Uint8("what", &m.What, "number", "choosing", "turn")
	switch {
	case m.Kind == bakValue && m.What == bakChoosing:
		c.Bool("choosing", &m.Choosing)
	case m.Kind == bakValue || m.What == bakTurn:
		c.Ticket("number", &m.Number)
	}
}

type bakery struct {
	self    algorithm.ID
	n       int
	polling bool // whether VALUEs are never held back

	state    uint8
	number   algorithm.Time // the paper's number[i]
	choosing bool           // the paper's choosing[i]
	highest  algorithm.Time // while choosing: the highest number read
	unread   algorithm.Set  // while choosing: processes whose number is not read yet
	choosers algorithm.Set  // while WANTED: processes that may still be choosing
	ahead    algorithm.Set  // while WANTED: processes that may still be served first
	readers  algorithm.Set  // processes whose READ waits here: of choosing if choosing, else of turn
}

func newBakery(self algorithm.ID, v algorithm.View) *bakery {
	s := &bakery{self: self, n: v.N, state: born(self, v)}
	if s.state == held {
		s.number = algorithm.First()
	}
	return s
}

func (s *bakery) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Ticket("number", &s.number)
	c.When(s.state == wanted)
	c.Bool("choosing", &s.choosing)
	c.Ticket("highest", &s.highest)
	c.Set("unread", &s.unread)
	c.Set("choosers", &s.choosers)
	c.Set("ahead", &s.ahead)
	c.Always()
	c.When(s.state != released)
	c.Set("readers", &s.readers)
	c.Always()
}

func (s *bakery) Request(out *algorithm.Out[bakMessage]) {
	s.state = wanted
	s.choosing = true
	s.allOthers(&s.unread)
	out.Because(bakChoose, facts{})
	out.Broadcast(bakMessage{Kind: bakRead, What: bakNumber})
	if s.unread.Empty() {
		s.takeNumber(out)
		s.tryEnter(out)
	}
}

func (s *bakery) Receive(from algorithm.ID, m *bakMessage, out *algorithm.Out[bakMessage]) {
	if m.Kind == bakRead {
		s.answer(from, m, out)
		return
	}
	switch {
	case m.What == bakNumber && s.unread.Has(from):
		s.highest.See(m.Number)
		s.unread.Remove(from)
		if !s.unread.Empty() {
			out.Because(bakMore, facts{Who: from, Set: &s.unread})
		} else {
			s.takeNumber(out)
			s.allOthers(&s.choosers)
			out.Because(bakAskChoosing, facts{})
			out.Broadcast(bakMessage{Kind: bakRead, What: bakChoosing})
		}
	case m.What == bakChoosing && s.choosers.Has(from):
		if m.Choosing {
			out.Because(bakAgainChoosing, facts{Who: from})
			out.Send(from, bakMessage{Kind: bakRead, What: bakChoosing})
			return
		}
		s.choosers.Remove(from)
		s.ahead.Add(from)
		out.Because(bakAskTurn, facts{Who: from})
		out.Send(from, s.readTurn())
	case m.What == bakTurn && s.ahead.Has(from):
		if !m.Number.IsNone() && s.before(from, m.Number) {
			out.Because(bakAgainTurn, facts{Who: from, A: algorithm.Stamp{Time: m.Number, ID: from}, B: s.ticket()})
			out.Send(from, s.readTurn())
			return
		}
		s.ahead.Remove(from)
		out.Because(bakPassed, facts{Who: from})
		s.tryEnter(out)
	default:
		out.Because(bakVoid, facts{Who: from})
	}
}

// answer sends the value asked for, or makes the reader wait for it.
func (s *bakery) answer(from algorithm.ID, m *bakMessage, out *algorithm.Out[bakMessage]) {
	wait := false
	switch m.What {
	case bakChoosing:
		wait = s.choosing
	case bakTurn:
		wait = !s.number.IsNone() && !s.before(from, m.Number)
	}
	if wait && !s.polling {
		if m.What == bakChoosing {
			out.Because(bakHoldChoosing, facts{Who: from})
		} else {
			out.Because(bakHoldTurn, facts{Who: from, A: s.ticket(), B: algorithm.Stamp{Time: m.Number, ID: from}})
		}
		s.readers.Add(from)
		return
	}
	out.Because(bakAnswer, facts{Who: from})
	out.Send(from, bakMessage{Kind: bakValue, What: m.What, Choosing: s.choosing, Number: s.number})
}

// takeNumber ends the doorway.
func (s *bakery) takeNumber(out *algorithm.Out[bakMessage]) {
	s.number = s.highest.Next()
	s.highest = algorithm.Time{}
	s.choosing = false
	out.Because(bakTake, facts{A: s.ticket()})
	if !s.readers.Empty() {
		out.Because(bakChosen, facts{Set: &s.readers})
	}
	s.tell(bakMessage{Kind: bakValue, What: bakChoosing}, out)
}

func (s *bakery) readTurn() bakMessage {
	return bakMessage{Kind: bakRead, What: bakTurn, Number: s.number}
}

// before reports whether j, with the given number, is served before this process.
func (s *bakery) before(j algorithm.ID, number algorithm.Time) bool {
	return algorithm.Stamp{Time: number, ID: j}.Less(s.ticket())
}

// ticket returns the number of this process, with its seat.
func (s *bakery) ticket() algorithm.Stamp { return algorithm.Stamp{Time: s.number, ID: s.self} }

func (s *bakery) tryEnter(out *algorithm.Out[bakMessage]) {
	if s.choosers.Empty() && s.ahead.Empty() {
		s.state = held
		out.Because(bakEnter, facts{})
		out.Enter()
	}
}

func (s *bakery) Release(out *algorithm.Out[bakMessage]) {
	s.state = released
	s.number = algorithm.Time{}
	out.Because(bakLeave, facts{Set: &s.readers})
	s.tell(bakMessage{Kind: bakValue, What: bakTurn}, out)
}

// tell answers the READs that were waiting.
func (s *bakery) tell(m bakMessage, out *algorithm.Out[bakMessage]) {
	out.Multicast(&s.readers, m)
	s.readers.Clear()
}

func (s *bakery) allOthers(set *algorithm.Set) {
	set.Fill(s.n)
	set.Remove(s.self)
}
