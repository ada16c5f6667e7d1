package mutex

import "github.com/stile-lock/stile/algorithm"

// Sanders returns the algorithm that has others as instances: each process asks the
// members of its request set before entry and informs the members of its inform set at
// exit. See Structure for the conditions on the sets.
//
// B. A. Sanders: The Information Structure of Distributed Mutual Exclusion Algorithms.
// ACM Transactions on Computer Systems 5(3), 1987, pages 284-299.
//
// A voter grants a request when its vote is not held by a process that will inform it of
// an exit. If the new process will inform it too, that process holds the vote until then;
// otherwise the vote remains free.
//
// Departure: there is no FAIL. A candidate that is not inside gives its vote back on
// every INQUIRE. So the instance of Ricart and Agrawala, in which only a process itself
// can have its vote, costs 2(N-1) under every load.
func Sanders(structures StructureOf) algorithm.Spec {
	s := SandersExperiment(func(n int) (Structure, error) {
		st, err := structures(n)
		if err != nil {
			return Structure{}, err
		}
		return st, st.Check()
	})
	s.Wrong, s.Fixed = "", ""
	return s
}

// SandersExperiment returns Sanders' algorithm over any sets, including those that break
// the rules.
func SandersExperiment(any StructureOf) algorithm.Spec {
	structures := StructureOf(func(n int) (Structure, error) {
		st, err := any(n)
		if err == nil {
			err = st.inside(n)
		}
		return st, err
	})
	kinds := []string{"REQUEST", "GRANT", "INQUIRE", "RELINQUISH", "RELEASE"}
	return algorithm.Spec{
		Name: "sanders", Title: "Sanders' information structures", Authors: "Sanders", Year: 1987,
		Class:   algorithm.Permission,
		Paper:   "The Information Structure of Distributed Mutual Exclusion Algorithms. ACM TOCS 5(3), 1987",
		Wrong:   "the sets are not checked: two processes can both be inside if they neither share an informed voter nor ask each other",
		Fixed:   "sanders",
		Version: 1,
		Network: algorithm.FIFO,
		Spreads: true,
		Kinds:   kinds,
		Rules:   sanRules(kinds),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "each process asks its request set", Vote: "vote", Got: "grants", Answer: "GRANT", Sets: structures.requests},
		Theory:  sandersTheory(structures),
		Plan: func(n int) (algorithm.Birth, error) {
			st, err := structures(n)
			if err != nil {
				return nil, err
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, newSanders(self, v, st))
			}, nil
		},
	}
}

// sandersTheory counts REQUEST and GRANT for each process asked and RELEASE for each
// process informed. When requests meet, each of those that may hold a vote can cost
// INQUIRE, RELINQUISH and a second GRANT on top.
func sandersTheory(structures StructureOf) algorithm.Theory {
	count := func(asked, informed, meeting float64) func(n int) algorithm.Range {
		return func(n int) algorithm.Range {
			st, err := structures(n)
			if err != nil {
				return algorithm.Range{}
			}
			r := algorithm.Range{Lo: asked*float64(n) + informed*float64(n)}
			for i := range algorithm.ID(n) {
				light := asked*float64(without(&st.Request[i], i)) + informed*float64(without(&st.Inform[i], i))
				r.Lo = min(r.Lo, light)
				r.Hi = max(r.Hi, light+meeting*float64(without(&st.Inform[i], i)))
			}
			return r
		}
	}
	round := func(lo, hi float64) func(n int) algorithm.Range {
		return func(n int) algorithm.Range {
			r := count(1, 0, 0)(n)
			return algorithm.Range{Lo: lo * min(1, r.Lo), Hi: hi * min(1, r.Hi)}
		}
	}
	return algorithm.Theory{
		Messages: algorithm.Cost{Text: "inform + 2 x request light", Any: count(2, 1, 6), Light: count(2, 1, 0)},
		Multicasts: algorithm.Cost{Text: "request + 2 light", Any: func(n int) algorithm.Range {
			r := count(1, 0, 6)(n)
			return algorithm.Range{Lo: min(1, r.Lo), Hi: r.Hi + 2*min(1, r.Hi)}
		}},
		Client:    algorithm.Cost{Text: "2T", Any: round(2, 2)},
		Sync:      algorithm.Cost{Text: "1..2T", Any: between(0, 6), Saturated: between(1, 2)},
		Order:     "by stamp among the requests a voter knows; not ME3",
		Symmetric: true,
	}
}

// without counts the members of s other than i.
func without(s *algorithm.Set, i algorithm.ID) int {
	k := s.Len()
	if s.Has(i) {
		k--
	}
	return k
}

const (
	sanRequest    uint8 = iota
	sanGrant            // go ahead, as far as I know
	sanInquire          // an older request arrived: give my vote back unless you are inside
	sanRelinquish       // here it is
	sanRelease
)

// The rules: first those of a candidate, then those of a voter.
const (
	sanAsk = iota
	sanVote
	sanEnter
	sanGiveBack
	sanLeave
	sanLate
	sanHeld
	sanFree
	sanQueue
	sanPrompt
	sanPrompted
	sanReturned
	sanVoid
)

// sanRules returns the rules, with messages of the given kinds.
func sanRules(kinds []string) []algorithm.Rule {
	grant, inquire := kinds[sanGrant], kinds[sanInquire]
	return []algorithm.Rule{
		sanAsk:      {ID: "1", Text: "To enter, a process sends REQUEST to its request set.", Why: "{self} asks {set}, with the stamp {a}", Sends: kinds[sanRequest]},
		sanVote:     {ID: "2a", Text: "A candidate waits until all that it asked have granted.", Why: "{self} has " + grant + " from {who}, and needs {n} more", Silent: true},
		sanEnter:    {ID: "2b", Text: "When all that it asked have granted, it enters.", Why: "{self} enters, because all that it asked have granted", Enters: true},
		sanGiveBack: {ID: "3", Text: "A candidate that is not inside gives a vote back on every " + inquire + ".", Why: "{self} gives back the vote of {who}, because it is not inside", Sends: kinds[sanRelinquish]},
		sanLeave:    {ID: "4", Text: "A process that leaves sends RELEASE to its inform set.", Why: "{self} leaves, and informs {set}", Sends: kinds[sanRelease]},
		sanLate:     {ID: "5", Text: "A message about a request that no longer waits is void.", Why: "{self} ignores {who}: the message is not about a request that waits", Silent: true},
		sanHeld:     {ID: "6a", Text: "A voter whose vote is free grants the oldest request, which has the vote until the voter is informed.", Why: "{self} grants {who}, because its vote is free and {a} is the oldest request that waits", Sends: grant},
		sanFree:     {ID: "6b", Text: "If that process will not inform it, the vote remains free.", Why: "{self} grants {who}, and its vote remains free, because {who} does not inform it", Sends: grant},
		sanQueue:    {ID: "6c", Text: "As long as its vote is held, a voter makes requests wait.", Why: "{self} queues {who}, because {a} comes before {b}", Silent: true, Waits: "who"},
		sanPrompt:   {ID: "6d", Text: "For an older request a voter sends " + inquire + " to the one that has its vote.", Why: "{self} asks {who} for its vote back, because {a} comes before {b}", Sends: inquire},
		sanPrompted: {ID: "6e", Text: "A voter asks for its vote once.", Why: "{self} queues {who}, and has already asked {other} for its vote", Silent: true, Waits: "who", While: "other"},
		sanReturned: {ID: "7", Text: "A vote that is given back is free.", Why: "{self} has its vote back from {who}"},
		sanVoid:     ignored(),
	}
}

type sanMessage struct {
	Kind  uint8
	Clock algorithm.Time
	Time  algorithm.Time // when the request that this is about was made
}

func (m *sanMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, sanRelease)
	c.Time("clock", &m.Clock)
	c.Time("time", &m.Time)
}

type sanders struct {
	self algorithm.ID
	sets Structure

	clock  algorithm.Time // stamp of the next request
	voter  voter
	state  uint8
	asked  algorithm.Time // time of this process's request, until the exit
	grants algorithm.Set  // while WANTED: processes that have granted it
}

func newSanders(self algorithm.ID, v algorithm.View, sets Structure) *sanders {
	s := &sanders{self: self, sets: sets, state: born(self, v), clock: algorithm.First()}
	s.voter.waiting = make([]algorithm.Time, v.N)
	if v.Busy {
		asked := s.clock.Tick()
		if s.state == held {
			s.asked = asked
		}
		if sets.Inform[v.Holder].Has(self) {
			s.voter.vote = algorithm.Stamp{Time: asked, ID: v.Holder}
		}
	}
	return s
}

func (s *sanders) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.When(s.state != released)
	c.Time("asked", &s.asked)
	c.Set("grants", &s.grants)
	c.Always()
	s.voter.Fields(c)
}

func (s *sanders) about(kind uint8, time algorithm.Time) sanMessage {
	return sanMessage{Kind: kind, Clock: s.clock, Time: time}
}

func (s *sanders) Request(out *algorithm.Out[sanMessage]) {
	s.state = wanted
	s.asked = s.clock.Tick()
	out.Because(sanAsk, facts{Set: &s.sets.Request[s.self], A: algorithm.Stamp{Time: s.asked, ID: s.self}})
	out.Multicast(&s.sets.Request[s.self], s.about(sanRequest, s.asked))
}

func (s *sanders) Release(out *algorithm.Out[sanMessage]) {
	s.state = released
	out.Because(sanLeave, facts{Set: &s.sets.Inform[s.self]})
	out.Multicast(&s.sets.Inform[s.self], s.about(sanRelease, s.asked))
	s.asked = algorithm.Time{}
}

func (s *sanders) Receive(from algorithm.ID, m *sanMessage, out *algorithm.Out[sanMessage]) {
	s.clock.See(m.Clock)
	switch m.Kind {
	case sanGrant, sanInquire:
		if s.state != wanted || s.asked != m.Time {
			out.Because(sanLate, facts{Who: from})
			return
		}
		s.receiveAsCandidate(from, m.Kind, out)
	default:
		if m.Time.IsNone() { // no request has a zero time
			out.Because(sanVoid, facts{Who: from})
			return
		}
		s.receiveAsVoter(algorithm.Stamp{Time: m.Time, ID: from}, m.Kind, out)
	}
}

func (s *sanders) receiveAsCandidate(from algorithm.ID, kind uint8, out *algorithm.Out[sanMessage]) {
	if kind == sanInquire {
		s.grants.Remove(from)
		out.Because(sanGiveBack, facts{Who: from})
		out.Send(from, s.about(sanRelinquish, s.asked))
		return
	}
	s.grants.Add(from)
	if s.grants.Equal(&s.sets.Request[s.self]) {
		s.state = held
		s.grants.Clear()
		out.Because(sanEnter, facts{})
		out.Enter()
	} else {
		out.Because(sanVote, facts{Who: from, N: s.sets.Request[s.self].Len() - s.grants.Len()})
	}
}

func (s *sanders) receiveAsVoter(r algorithm.Stamp, kind uint8, out *algorithm.Out[sanMessage]) {
	v := &s.voter
	if kind != sanRequest {
		if r != v.vote {
			out.Because(sanVoid, facts{Who: r.ID}) // about a request that does not have the vote
			return
		}
		out.Because(sanReturned, facts{Who: r.ID})
		v.vote, v.inquired = algorithm.Stamp{}, false
	}
	if kind != sanRelease {
		v.waiting[r.ID] = r.Time
	}
	for first := v.oldest(); v.vote.Time.IsNone() && !first.Time.IsNone(); first = v.oldest() {
		v.waiting[first.ID] = algorithm.Time{}
		if s.sets.Inform[first.ID].Has(s.self) {
			out.Because(sanHeld, facts{Who: first.ID, A: first})
			v.vote = first
		} else {
			out.Because(sanFree, facts{Who: first.ID})
		}
		out.Send(first.ID, s.about(sanGrant, first.Time))
	}
	switch {
	case kind != sanRequest || v.waiting[r.ID].IsNone():
	case !r.Less(v.vote):
		out.Because(sanQueue, facts{Who: r.ID, A: v.vote, B: r})
	case v.inquired:
		out.Because(sanPrompted, facts{Who: r.ID, Other: v.vote.ID})
	default:
		v.inquired = true
		out.Because(sanPrompt, facts{Who: v.vote.ID, A: r, B: v.vote})
		out.Send(v.vote.ID, s.about(sanInquire, v.vote.Time))
	}
}

// Alibi implements algorithm.Alibier: d informs this seat when it leaves, so it needs
// this seat's vote, and it does not have it.
func (s *sanders) Alibi(d algorithm.ID) bool {
	return s.sets.Inform[d].Has(s.self) && (s.voter.vote.Time.IsNone() || s.voter.vote.ID != d)
}

// Clock implements algorithm.Hearer.
func (s *sanders) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *sanders) Hear(t algorithm.Time) { s.clock.See(t) }
