package mutex

import "github.com/stile-lock/stile/algorithm"

// TokenRing returns the algorithm in which a token circulates in a ring forever, and the
// process that has it may enter.
//
// G. Le Lann: Distributed Systems - Towards a Formal Approach. Information Processing 77
// (Proceedings of the IFIP Congress), North-Holland, 1977, pages 155-160.
//
// The token is the only message, so channels may reorder. A single process sends nothing.
// TokenRingLazy is the variant that costs nothing when idle.
func TokenRing() algorithm.Spec {
	return algorithm.Spec{
		Name: "token-ring", Title: "Token ring", Authors: "Le Lann", Year: 1977,
		Class:   algorithm.Token,
		Paper:   "Distributed Systems - Towards a Formal Approach. Information Processing 77, 1977",
		Version: 1,
		Network: algorithm.Unordered,
		Kinds:   []string{"TOKEN"},
		Rules:   ringRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Ring, Title: "the token goes round", Token: "token", Carrier: "TOKEN"},
		Theory: algorithm.Theory{
			Messages:   algorithm.Cost{Text: "1 full, unbounded idle", Saturated: between(1, 1)},
			Multicasts: algorithm.Cost{Text: "the same", Saturated: between(1, 1)},
			// N, not N-1: the token may have left just before the request.
			Client:    algorithm.Cost{Text: "0..N T", Any: roundTrip},
			Sync:      algorithm.Cost{Text: "1..(N-1)T", Any: ahead, Saturated: between(1, 1)},
			Order:     "ring order; overtaken at most once by each other process; not ME3 (open)",
			Bypass:    onceEach,
			Wait:      ringWait,
			WaitText:  "N*T + (N-1)*H",
			Symmetric: false,
		},
		Plan: algorithm.Always(func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, newTokenRing(self, v))
		}),
	}
}

// roundTrip returns 0 .. n, and exactly 0 for a single process.
func roundTrip(n int) algorithm.Range { return between(0, float64(n))(n) }

// ahead returns the distance to another process in the ring, 1 .. n-1.
func ahead(n int) algorithm.Range { return between(1, float64(n-1))(n) }

// ringWait assumes that the token has just left and makes a whole round, on which every
// other process enters.
func ringWait(n int, latency, hold float64) float64 {
	if n == 1 {
		return 0
	}
	return float64(n)*latency + float64(n-1)*hold
}

// The rules.
const (
	ringEnter = iota
	ringPass
	ringAwait
	ringKeep
)

func ringRules() []algorithm.Rule {
	return []algorithm.Rule{
		ringEnter: {ID: "1a", Text: "A process that has the token and wants to enter does so.", Why: "{self} enters, because it has the token", Enters: true},
		ringAwait: {ID: "1b", Text: "A process that wants to enter waits for the token.", Why: "{self} waits for the token"},
		ringPass:  {ID: "2", Text: "A process that has the token and does not want to enter passes it to the next.", Why: "{self} passes the token to {who}, because it does not want to enter", Sends: "TOKEN"},
		ringKeep:  {ID: "3", Text: "A process keeps the token as long as it is inside, or alone.", Why: "{self} keeps the token"},
	}
}

type ringMessage struct{ Kind uint8 }

func (m *ringMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 0)
	c.Token()
}

type tokenRing struct {
	self algorithm.ID
	n    int

	state uint8
	token bool // whether the token is here: while inside, before the start, and in a single process
}

func newTokenRing(self algorithm.ID, v algorithm.View) *tokenRing {
	return &tokenRing{self: self, n: v.N, state: born(self, v), token: self == v.Holder}
}

func (s *tokenRing) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Bool("token", &s.token)
	if s.token {
		c.Token()
	}
}

// Start makes the token circulate. The application may have been faster: then the token
// is in use, or has already moved.
func (s *tokenRing) Start(out *algorithm.Out[ringMessage]) { s.use(out) }

func (s *tokenRing) Request(out *algorithm.Out[ringMessage]) {
	s.state = wanted
	s.use(out)
}

func (s *tokenRing) Receive(_ algorithm.ID, _ *ringMessage, out *algorithm.Out[ringMessage]) {
	s.token = true
	s.use(out)
}

func (s *tokenRing) Release(out *algorithm.Out[ringMessage]) {
	s.state = released
	s.use(out)
}

// use enters with the token, if it is here and wanted, and passes it on at once if the
// process is not inside.
func (s *tokenRing) use(out *algorithm.Out[ringMessage]) {
	switch {
	case !s.token:
		if s.state == wanted {
			out.Because(ringAwait, facts{})
		}
	case s.state == wanted:
		s.state = held
		out.Because(ringEnter, facts{})
		out.Enter()
	case s.state == released && s.n > 1:
		s.token = false
		next := (s.self + 1) % algorithm.ID(s.n)
		out.Because(ringPass, facts{Who: next})
		out.Send(next, ringMessage{})
	default:
		out.Because(ringKeep, facts{})
	}
}

// Alibi implements algorithm.Alibier: while the token is here, no other process can
// enter.
func (s *tokenRing) Alibi(algorithm.ID) bool { return s.token }
