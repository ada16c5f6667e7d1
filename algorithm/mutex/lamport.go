package mutex

import "github.com/stile-lock/stile/algorithm"

// Lamport returns the algorithm in which every process keeps the queue of all requests,
// ordered by stamp, and knows when no earlier one can still arrive.
//
// L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System.
// Communications of the ACM 21(7), 1978, pages 558-565; the five rules are on page 561.
//
// Channels must be FIFO: a later stamp from a process proves that all its earlier
// requests have arrived.
//
// Departures: a REPLY names the request it answers and counts for no other. (Counting any
// REPLY lets two processes in: it may belong to an earlier request that was granted
// without it.) Clocks advance only on requests. A clock is the stamp of the next request,
// so a process that has heard of a request has a clock above it, and a message is later
// than a request if the clock it carries is.
func Lamport() algorithm.Spec {
	return algorithm.Spec{
		Name: "lamport", Title: "Lamport", Authors: "Lamport", Year: 1978,
		Class:   algorithm.Permission,
		Paper:   "Time, Clocks, and the Ordering of Events in a Distributed System. CACM 21(7), 1978",
		Version: 1,
		Network: algorithm.FIFO,
		Gapless: true,
		Spreads: true,
		Kinds:   []string{"REQUEST", "REPLY", "RELEASE"},
		Rules:   lamRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "each process keeps the whole queue", Awaited: []string{"missing"}, Stamps: "requests", Answer: "REPLY", Release: "RELEASE"},
		Theory: algorithm.Theory{
			Messages: algorithm.Cost{Text: "3(N-1)", Any: others(3)},
			Multicasts: algorithm.Cost{Text: "N+1", Any: func(n int) algorithm.Range {
				return between(float64(n+1), float64(n+1))(n)
			}},
			Client: algorithm.Cost{Text: "2T", Any: between(2, 2)},
			// From 0: a process that requests again with the smallest stamp enters when
			// the REQUESTs of all others, which are later, arrive. Up to 3T: a process
			// with a smaller stamp may request just before it hears of a request that was
			// made just before the exit.
			Sync:      algorithm.Cost{Text: "T", Any: between(0, 3), Saturated: between(1, 1)},
			Order:     "happened-before (ME3)",
			Bypass:    onceEach,
			ME3:       true,
			Symmetric: true,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newLamport(self, v))
		}),
	}
}

const (
	lamRequest uint8 = iota
	lamReply
	lamRelease
)

// The rules, numbered as in the paper.
const (
	lamAsk = iota
	lamAnswer
	lamLeave
	lamRemove
	lamEnter
	lamMissing
	lamOlder
	lamOutdated
)

func lamRules() []algorithm.Rule {
	return []algorithm.Rule{
		lamAsk:      {ID: "1", Text: "To enter, a process queues its request and sends it to all others.", Why: "{self} queues its request {a}, and sends it to all others", Sends: "REQUEST"},
		lamAnswer:   {ID: "2", Text: "A process queues each REQUEST and sends REPLY.", Why: "{self} queues {a}, the request of {who}, and sends REPLY", Sends: "REPLY"},
		lamLeave:    {ID: "3", Text: "A process that leaves removes its request and sends RELEASE to all others.", Why: "{self} leaves, and sends RELEASE to all others", Sends: "RELEASE"},
		lamRemove:   {ID: "4", Text: "A process that receives RELEASE removes the sender's request.", Why: "{self} removes the request of {who} from its queue", Silent: true},
		lamEnter:    {ID: "5a", Text: "A process enters if its request is the oldest and all others have sent something later.", Why: "{self} enters: its request is the oldest, and all others have sent something later", Enters: true},
		lamMissing:  {ID: "5b", Text: "It waits as long as another may still send an older request.", Why: "{self} waits for {set}, which may still send an older request"},
		lamOlder:    {ID: "5c", Text: "It waits as long as an older request is in its queue.", Why: "{self} waits for {who}, because {a} comes before {b}", Waits: "self"},
		lamOutdated: {ID: "5d", Text: "A REPLY counts only for the request that it answers.", Why: "{self} ignores the REPLY of {who} to a request that was granted without it", Silent: true},
	}
}

type lamMessage struct {
	Kind  uint8
	Clock algorithm.Time // REPLY, RELEASE: the sender's clock
	Time  algorithm.Time // REQUEST: when it was made; REPLY: when the request it answers was made
}

func (m *lamMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, lamRelease)
	if m.Kind != lamRequest {
		c.Time("clock", &m.Clock)
	}
	if m.Kind != lamRelease {
		c.Time("time", &m.Time)
	}
}

// clock returns the sender's clock, which a request has just advanced by one.
func (m *lamMessage) clock() algorithm.Time {
	if m.Kind == lamRequest {
		return m.Time.Next()
	}
	return m.Clock
}

type lamport struct {
	self algorithm.ID
	n    int

	state    uint8
	clock    algorithm.Time   // stamp of the next request
	requests []algorithm.Time // the queue: when each request was made, by seat; this process's own while WANTED
	missing  algorithm.Set    // while WANTED: processes that have sent nothing later than this request
	level    algorithm.Set    // processes whose last message carried a clock equal to this one
	told     algorithm.Set    // processes that may have been sent a clock above the last one received from them
}

func newLamport(self algorithm.ID, v algorithm.View) *lamport {
	s := &lamport{self: self, n: v.N, state: born(self, v), clock: algorithm.First(), requests: make([]algorithm.Time, v.N)}
	if v.Busy {
		asked := s.clock.Tick()
		if self != v.Holder {
			s.requests[v.Holder] = asked
		}
	}
	s.level.Fill(v.N)
	s.level.Remove(self)
	return s
}

func (s *lamport) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.Times("requests", &s.requests)
	c.Set("level", &s.level)
	c.Set("told", &s.told)
	c.When(s.state == wanted)
	c.Set("missing", &s.missing)
	c.Always()
}

// Request implements rule 1.
func (s *lamport) Request(out *algorithm.Out[lamMessage]) {
	s.state = wanted
	s.requests[s.self] = s.clock
	s.raise(s.clock.Next())
	s.missing.Fill(s.n)
	s.missing.Remove(s.self)
	s.told.Union(&s.missing)
	out.Because(lamAsk, facts{A: algorithm.Stamp{Time: s.requests[s.self], ID: s.self}})
	out.Broadcast(lamMessage{Kind: lamRequest, Time: s.requests[s.self]})
	s.tryEnter(out)
}

// Release implements rule 3.
func (s *lamport) Release(out *algorithm.Out[lamMessage]) {
	s.state = released
	for d := range algorithm.ID(s.n) {
		s.tell(d)
	}
	out.Because(lamLeave, facts{})
	out.Broadcast(lamMessage{Kind: lamRelease, Clock: s.clock})
}

// Receive implements rules 2 and 4, and the second half of rule 5: a REQUEST or RELEASE
// with a later clock is as good as a REPLY.
func (s *lamport) Receive(from algorithm.ID, m *lamMessage, out *algorithm.Out[lamMessage]) {
	s.merge(from, m.clock())
	later := s.state == wanted && m.clock().After(s.requests[s.self])
	switch m.Kind {
	case lamRequest:
		s.requests[from] = m.Time
		s.tell(from)
		out.Because(lamAnswer, facts{Who: from, A: algorithm.Stamp{Time: m.Time, ID: from}})
		out.Send(from, lamMessage{Kind: lamReply, Clock: s.clock, Time: m.Time})
	case lamRelease:
		s.requests[from] = algorithm.Time{}
		out.Because(lamRemove, facts{Who: from})
	case lamReply:
		if later = later && m.Time == s.requests[s.self]; !later {
			out.Because(lamOutdated, facts{Who: from})
		}
	}
	if later {
		s.missing.Remove(from)
	}
	if s.state == wanted && (later || m.Kind == lamRelease) {
		s.tryEnter(out)
	}
}

// tryEnter implements rule 5.
func (s *lamport) tryEnter(out *algorithm.Out[lamMessage]) {
	if !s.missing.Empty() {
		out.Because(lamMissing, facts{Set: &s.missing})
		return
	}
	if first := oldest(s.requests); first.ID != s.self {
		out.Because(lamOlder, facts{Who: first.ID, A: first, B: algorithm.Stamp{Time: s.requests[s.self], ID: s.self}})
		return
	}
	s.state = held
	s.requests[s.self] = algorithm.Time{}
	out.Because(lamEnter, facts{})
	out.Enter()
}

// merge merges a received clock.
func (s *lamport) merge(from algorithm.ID, clock algorithm.Time) {
	s.raise(clock)
	if clock == s.clock { // so no process was ever sent a higher one
		s.level.Add(from)
		s.told.Remove(from)
	}
}

func (s *lamport) raise(clock algorithm.Time) {
	if clock.After(s.clock) {
		s.clock = clock
		s.level.Clear()
	}
}

// tell records that the clock is sent to d.
func (s *lamport) tell(d algorithm.ID) {
	if d != s.self && !s.level.Has(d) {
		s.told.Add(d)
	}
}

// Alibi implements algorithm.Alibier: d has no request here, and one that is in flight is
// at least as late as the last clock that d got from here, so d lacks a later one.
func (s *lamport) Alibi(d algorithm.ID) bool { return s.requests[d].IsNone() && !s.told.Has(d) }

// Clock implements algorithm.Hearer.
func (s *lamport) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *lamport) Hear(t algorithm.Time) { s.raise(t) }
