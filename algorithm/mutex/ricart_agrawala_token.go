package mutex

import "github.com/stile-lock/stile/algorithm"

// RicartAgrawalaToken returns the broadcast token algorithm without a queue in the token:
// a process that releases it searches around the circle for the next one that has
// requested.
//
// G. Ricart, A. K. Agrawala: Author's response to "On Mutual Exclusion in Computer
// Networks" by Carvalho and Roucairol. Communications of the ACM 26(2), 1983, pages
// 147-148. (One of the lectures calls it Suzuki-Kasami.)
//
// Channels may reorder: requests are numbered, and the token shows that a late one is
// outdated.
//
// Departure: a process that finds the token here does not count its entry as a request,
// because it sends none.
func RicartAgrawalaToken() algorithm.Spec {
	return algorithm.Spec{
		Name: "ricart-agrawala-token", Title: "Ricart-Agrawala with a token", Authors: "Ricart, Agrawala", Year: 1983,
		Class:   algorithm.Token,
		Paper:   "Author's response to 'On Mutual Exclusion in Computer Networks'. CACM 26(2), 1983",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"REQUEST", "TOKEN"},
		Rules:   ratRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Ring, Title: "the token goes to the next process in the circle that has asked", Token: "token", Carrier: "TOKEN"},
		Theory:  tokenTheory("round the circle from the last holder; overtaken at most N-1 times; not ME3"),
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newRicartAgrawalaToken(self, v))
		}),
	}
}

const (
	ratRequest uint8 = iota
	ratToken
)

// The rules.
const (
	ratAtOnce = iota
	ratAsk
	ratGive
	ratNote
	ratInside
	ratOld
	ratEnter
	ratNext
	ratKeep
	ratVoid
)

func ratRules() []algorithm.Rule {
	return []algorithm.Rule{
		ratAtOnce: {ID: "1a", Text: "A process that has the token enters at once.", Why: "{self} enters, because the token is here", Enters: true},
		ratAsk:    {ID: "1b", Text: "To enter without the token, a process sends its numbered REQUEST to all others.", Why: "{self} asks all others for the token: its request {n}", Sends: "REQUEST"},
		ratGive:   {ID: "2a", Text: "A process that has the token and does not need it passes it to a process that has requested.", Why: "{self} passes the token to {who}, because it does not need it", Sends: "TOKEN"},
		ratNote:   {ID: "2b", Text: "A process without the token notes the number of a REQUEST.", Why: "{self} notes request {n} of {who}, because it does not have the token", Silent: true},
		ratInside: {ID: "2c", Text: "A process that is inside notes the number of a REQUEST.", Why: "{self} notes request {n} of {who}, because it is inside", Silent: true, Waits: "who", While: "inside"},
		ratOld:    {ID: "2d", Text: "A REQUEST that the token says was granted is outdated.", Why: "{self} ignores request {n} of {who}, because it was granted", Silent: true},
		ratEnter:  {ID: "3", Text: "A waiting process enters when the token arrives.", Why: "{self} enters, because the token has arrived", Enters: true},
		ratNext:   {ID: "4a", Text: "A process that leaves passes the token to the next in the circle that has requested.", Why: "{self} leaves, and passes the token to {who}, the next in the circle that has requested", Sends: "TOKEN"},
		ratKeep:   {ID: "4b", Text: "If no process has requested, the token stays.", Why: "{self} leaves, and keeps the token, because no process has requested it"},
		ratVoid:   ignored(),
	}
}

type ratMessage struct {
	Kind uint8
	From algorithm.ID // REQUEST: the requesting process
	N    uint64       // REQUEST: how many requests From has made
	T    []uint64     // TOKEN: the last granted request of each process
}

func (m *ratMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, ratToken)
	switch m.Kind {
	case ratRequest:
		c.Seat("from", &m.From)
		c.Seq("n", m.From, &m.N)
		c.Idempotent()
	case ratToken:
		c.Anchors("T", &m.T)
		c.Token()
	}
}

type ricartAgrawalaToken struct {
	self algorithm.ID

	state uint8
	r     []uint64 // highest request number heard of, by process
	token bool     // whether the token is here
	t     []uint64 // with the token: the last granted request, by process
}

func newRicartAgrawalaToken(self algorithm.ID, v algorithm.View) *ricartAgrawalaToken {
	return &ricartAgrawalaToken{
		self: self, state: born(self, v), token: self == v.Holder,
		r: make([]uint64, v.N), t: make([]uint64, v.N),
	}
}

func (s *ricartAgrawalaToken) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Seqs("R", &s.r)
	c.Bool("token", &s.token)
	c.When(s.token)
	c.Anchors("T", &s.t)
	c.Token()
	c.Always()
}

func (s *ricartAgrawalaToken) Request(out *algorithm.Out[ratMessage]) {
	if s.token {
		s.state = held
		out.Because(ratAtOnce, facts{})
		out.Enter()
		return
	}
	s.state = wanted
	s.r[s.self]++
	out.Because(ratAsk, facts{N: int(s.r[s.self])})
	out.Broadcast(ratMessage{Kind: ratRequest, From: s.self, N: s.r[s.self]})
}

func (s *ricartAgrawalaToken) Receive(from algorithm.ID, m *ratMessage, out *algorithm.Out[ratMessage]) {
	switch m.Kind {
	case ratRequest:
		s.r[from] = max(s.r[from], m.N)
		switch {
		case !s.token:
			out.Because(ratNote, facts{Who: from, N: int(m.N)})
		case s.state == released:
			if to := s.scan(); to != algorithm.None {
				out.Because(ratGive, facts{Who: to})
				s.pass(to, out)
			} else {
				out.Because(ratOld, facts{Who: from, N: int(m.N)})
			}
		default:
			out.Because(ratInside, facts{Who: from, N: int(m.N)})
		}
	case ratToken:
		s.token = true
		copy(s.t, m.T)
		if s.state != wanted {
			out.Because(ratVoid, facts{Who: from})
			return
		}
		s.state = held
		out.Because(ratEnter, facts{})
		out.Enter()
	}
}

func (s *ricartAgrawalaToken) Release(out *algorithm.Out[ratMessage]) {
	s.state = released
	s.t[s.self] = s.r[s.self]
	if to := s.scan(); to != algorithm.None {
		out.Because(ratNext, facts{Who: to})
		s.pass(to, out)
	} else {
		out.Because(ratKeep, facts{})
	}
}

// scan returns the first process after this one, around the circle, that has requested,
// or None.
func (s *ricartAgrawalaToken) scan() algorithm.ID {
	n := algorithm.ID(len(s.r))
	for d := algorithm.ID(1); d < n; d++ {
		if j := (s.self + d) % n; s.r[j] == s.t[j]+1 {
			return j
		}
	}
	return algorithm.None
}

func (s *ricartAgrawalaToken) pass(to algorithm.ID, out *algorithm.Out[ratMessage]) {
	out.Send(to, ratMessage{Kind: ratToken, T: s.t})
	s.token = false
	clear(s.t)
}

// Alibi implements algorithm.Alibier: while the token is here, no other process can
// enter.
func (s *ricartAgrawalaToken) Alibi(algorithm.ID) bool { return s.token }
