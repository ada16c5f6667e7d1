package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// Maekawa returns the algorithm in which a process needs only the votes of its quorum.
// Any two quorums share a voter, and a voter votes for one process at a time.
//
// M. Maekawa: A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems. ACM
// Transactions on Computer Systems 3(2), 1985, pages 145-159.
//
// Departures: every message names the request it is about and is void for any other. The
// published rules have a hole (see MaekawaPublished): a voter that made a request wait
// without FAILED, because it was then the oldest, must send it FAILED when a still older
// one arrives.
func Maekawa(quorums quorum.Builder) algorithm.Spec {
	return algorithm.Spec{
		Name: "maekawa", Title: "Maekawa", Authors: "Maekawa", Year: 1985,
		Class:   algorithm.Quorum,
		Paper:   "A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems. ACM TOCS 3(2), 1985",
		Version: 1,
		Network: algorithm.FIFO,
		Spreads: true,
		Kinds:   maekawaKinds(),
		Rules:   maekawaRules(),
		Shape:   votingShape(quorums),
		Theory:  maekawaTheory(quorums),
		Plan: func(n int) (algorithm.Birth, error) {
			sets, err := quorums(n)
			if err != nil {
				return nil, err
			}
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, newMaekawa(self, v, sets, 0))
			}, nil
		},
	}
}

// votingShape returns the shape of algorithms in which each process has a voting set,
// usually a grid.
func votingShape(quorums quorum.Builder) algorithm.Shape {
	return algorithm.Shape{
		Picture: algorithm.Grid, Title: "each process asks its row and column for votes", Vote: "vote", Got: "votes", Answer: "LOCKED",
		Sets: func(n int) []algorithm.Set {
			sets, err := quorums(n)
			if err != nil {
				return nil
			}
			return sets
		},
	}
}

// maekawaTheory counts, for each voter but the process itself, REQUEST, LOCKED and
// RELEASE and, when requests meet, at most four more messages that one request can cause:
// INQUIRE, RELINQUISH, a second LOCKED for the process that gave way, and FAILED. The
// literature quotes 5(K-1).
func maekawaTheory(quorums quorum.Builder) algorithm.Theory {
	voters := func(lo, hi float64) func(n int) algorithm.Range { return eachVoter(quorums, lo, hi) }
	return algorithm.Theory{
		Messages:   algorithm.Cost{Text: "3(K-1) light, 3..7(K-1)", Any: voters(3, 7), Light: voters(3, 3)},
		Multicasts: quorumMulticasts(quorums, 5),
		Client:     algorithm.Cost{Text: "2T", Any: between(0, 2), Light: between(2, 2)},
		Sync:       algorithm.Cost{Text: "1..2T", Any: between(1, 4), Saturated: between(1, 2)},
		Order:      "by stamp among the requests a voter knows; not ME3",
		Symmetric:  true,
	}
}

// eachVoter returns n -> lo(K-1) of the smallest quorum .. hi(K-1) of the largest.
func eachVoter(quorums quorum.Builder, lo, hi float64) func(n int) algorithm.Range {
	return func(n int) algorithm.Range {
		sets, err := quorums(n)
		if err != nil {
			return algorithm.Range{}
		}
		r := algorithm.Range{Lo: float64(n)}
		for i := range sets {
			k := float64(without(&sets[i], algorithm.ID(i)))
			r.Lo, r.Hi = min(r.Lo, k), max(r.Hi, k)
		}
		return algorithm.Range{Lo: lo * r.Lo, Hi: hi * r.Hi}
	}
}

// quorumMulticasts returns the cost in multicasts: REQUEST, RELEASE, and for each voter
// one to most messages addressed only to it.
func quorumMulticasts(quorums quorum.Builder, most float64) algorithm.Cost {
	return algorithm.Cost{Text: "K+1 light", Any: func(n int) algorithm.Range {
		r := eachVoter(quorums, 1, most)(n)
		if r.Hi == 0 {
			return r
		}
		return algorithm.Range{Lo: min(1, r.Lo), Hi: r.Hi + 2}
	}, Light: func(n int) algorithm.Range {
		r := eachVoter(quorums, 1, 1)(n)
		if r.Hi == 0 {
			return r
		}
		return algorithm.Range{Lo: r.Lo + min(2, 2*r.Lo), Hi: r.Hi + 2}
	}}
}

const (
	maeRequest    uint8 = iota
	maeLocked           // your request has my vote
	maeFailed           // your request is not the oldest I know
	maeInquire          // an older request arrived: do you need my vote?
	maeRelinquish       // take your vote back
	maeRelease
)

func maekawaKinds() []string {
	return []string{"REQUEST", "LOCKED", "FAILED", "INQUIRE", "RELINQUISH", "RELEASE"}
}

// The rules: first those of a candidate, then those of a voter.
const (
	maeAsk = iota
	maeVote
	maeEnter
	maeNoVote
	maeKeep
	maeGiveBack
	maeLeave
	maeLate
	maeFree
	maeFail
	maePrompt
	maeOvertaken
	maePrompted
	maeNext
	maeReturned
	maeGone
	maeQueue
	maeVoid
)

func maekawaRules() []algorithm.Rule {
	return []algorithm.Rule{
		maeAsk:       {ID: "1", Text: "To enter, a process sends REQUEST to its voters.", Why: "{self} asks {set} for their votes, with the stamp {a}", Sends: "REQUEST"},
		maeVote:      {ID: "2a", Text: "A candidate collects votes.", Why: "{self} has the vote of {who}, and needs {n} more", Silent: true},
		maeEnter:     {ID: "2b", Text: "A candidate enters when it has the votes that it needs.", Why: "{self} enters, because it has the votes that it needs", Enters: true},
		maeNoVote:    {ID: "2c", Text: "FAILED tells a candidate that it does not get a vote yet.", Why: "{self} notes that it does not get the vote of {who} yet"},
		maeKeep:      {ID: "3a", Text: "A candidate that may still get all votes does not give back one that is inquired about.", Why: "{self} keeps the vote of {who}, because it may still get all votes", Silent: true},
		maeGiveBack:  {ID: "3b", Text: "A candidate that has got FAILED gives back the votes that are inquired about.", Why: "{self} gives back the vote of {who}, because it does not get all votes yet", Sends: "RELINQUISH"},
		maeLeave:     {ID: "4", Text: "A process that leaves sends RELEASE to its voters.", Why: "{self} leaves, and gives back the votes of {set}", Sends: "RELEASE"},
		maeLate:      {ID: "5", Text: "A message about a request that no longer waits is void.", Why: "{self} ignores {who}: the message is not about a request that waits", Silent: true},
		maeFree:      {ID: "6a", Text: "A voter whose vote is free gives it to a request.", Why: "{self} votes for {who}, because its vote is free", Sends: "LOCKED"},
		maeFail:      {ID: "6b", Text: "A request that is not the oldest gets FAILED.", Why: "{self} queues {who} and sends FAILED, because {a} comes before {b}", Sends: "FAILED", Waits: "who"},
		maePrompt:    {ID: "6c", Text: "For an older request a voter sends INQUIRE to the one that has its vote.", Why: "{self} inquires whether {who} needs its vote, because {a} comes before {b}", Sends: "INQUIRE"},
		maeOvertaken: {ID: "6d", Text: "The oldest request that waits gets FAILED when an older one arrives (not in the paper).", Why: "{self} sends FAILED to {who} too, because {a} comes before {b}", Sends: "FAILED", Waits: "who"},
		maePrompted:  {ID: "6e", Text: "A voter inquires once.", Why: "{self} queues {who}, and has already inquired whether {other} needs its vote", Silent: true, Waits: "who", While: "other"},
		maeNext:      {ID: "7a", Text: "A voter that has its vote back gives it to the oldest request that waits.", Why: "{self} votes for {who}, because {a} is the oldest request that waits", Sends: "LOCKED"},
		maeReturned:  {ID: "7b", Text: "If no request waits, the vote is free.", Why: "{self} has its vote back from {who}, and no request waits", Silent: true},
		maeGone:      {},
		maeQueue:     {},
		maeVoid:      ignored(),
	}
}

type maeMessage struct {
	Kind  uint8
	Clock algorithm.Time
	Time  algorithm.Time // when the request that this is about was made
}

func (m *maeMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, maeRelease)
	c.Time("clock", &m.Clock)
	c.Time("time", &m.Time)
}

type maekawa struct {
	self  algorithm.ID
	sets  quorum.System
	spare int // number of voters that a candidate may do without

	clock   algorithm.Time // stamp of the next request
	voter   voter
	state   uint8
	asked   algorithm.Time // time of this process's request, until the exit
	votes   algorithm.Set  // while WANTED: voters that are LOCKED for us
	failed  algorithm.Set  // while WANTED: voters that will not vote for us yet
	inquiry algorithm.Set  // while WANTED: voters whose INQUIRE is unanswered
}

// A voter has one vote and knows which requests wait for it.
type voter struct {
	vote     algorithm.Stamp  // the request that has the vote
	inquired bool             // whether an INQUIRE about it is unanswered
	waiting  []algorithm.Time // when each waiting request was made, by seat
}

func newMaekawa(self algorithm.ID, v algorithm.View, sets quorum.System, spare int) *maekawa {
	s := &maekawa{self: self, sets: sets, spare: spare, state: born(self, v), clock: algorithm.First()}
	s.voter.waiting = make([]algorithm.Time, v.N)
	if v.Busy {
		asked := s.clock.Tick()
		if s.state == held {
			s.asked = asked
		}
		if sets[v.Holder].Has(self) {
			s.voter.vote = algorithm.Stamp{Time: asked, ID: v.Holder}
		}
	}
	return s
}

func (s *maekawa) Fields(c *algorithm.Coder) {
	phase(c, &s.state)
	c.Time("clock", &s.clock)
	c.When(s.state != released)
	c.Time("asked", &s.asked)
	c.Set("votes", &s.votes)
	c.Set("failed", &s.failed)
	c.Set("inquiries", &s.inquiry)
	c.Always()
	s.voter.Fields(c)
}

func (v *voter) Fields(c *algorithm.Coder) {
	c.Stamp("vote", &v.vote)
	c.When(!v.vote.Time.IsNone())
	c.Bool("inquired", &v.inquired)
	c.Times("waiting", &v.waiting)
	c.Always()
}

func (s *maekawa) Request(out *algorithm.Out[maeMessage]) {
	s.state = wanted
	s.asked = s.clock.Tick()
	out.Because(maeAsk, facts{Set: &s.sets[s.self], A: algorithm.Stamp{Time: s.asked, ID: s.self}})
	out.Multicast(&s.sets[s.self], s.about(maeRequest, s.asked))
}

func (s *maekawa) Release(out *algorithm.Out[maeMessage]) {
	s.state = released
	out.Because(maeLeave, facts{Set: &s.sets[s.self]})
	out.Multicast(&s.sets[s.self], s.about(maeRelease, s.asked))
	s.asked = algorithm.Time{}
}

func (s *maekawa) about(kind uint8, time algorithm.Time) maeMessage {
	return maeMessage{Kind: kind, Clock: s.clock, Time: time}
}

func (s *maekawa) Receive(from algorithm.ID, m *maeMessage, out *algorithm.Out[maeMessage]) {
	s.clock.See(m.Clock)
	switch m.Kind {
	case maeRequest, maeRelinquish, maeRelease:
		s.receiveAsVoter(algorithm.Stamp{Time: m.Time, ID: from}, m.Kind, out)
	default:
		if s.state != wanted || s.asked != m.Time {
			out.Because(maeLate, facts{Who: from})
			return
		}
		s.receiveAsCandidate(from, m.Kind, out)
	}
}

func (s *maekawa) receiveAsVoter(r algorithm.Stamp, kind uint8, out *algorithm.Out[maeMessage]) {
	v := &s.voter
	switch {
	case kind == maeRequest && v.vote.Time.IsNone():
		v.vote = r
		out.Because(maeFree, facts{Who: r.ID})
		out.Send(r.ID, s.about(maeLocked, r.Time))
	case kind == maeRequest:
		s.queue(r, out)
	case r.Time.IsNone(): // no request has a zero time
		out.Because(maeVoid, facts{Who: r.ID})
	case r != v.vote && kind == maeRelease && v.waiting[r.ID] == r.Time: // it entered without this vote
		out.Because(maeGone, facts{Who: r.ID})
		v.waiting[r.ID] = algorithm.Time{}
	case r != v.vote:
		out.Because(maeVoid, facts{Who: r.ID})
	default:
		if kind == maeRelinquish {
			v.waiting[r.ID] = r.Time
		}
		v.inquired = false
		v.vote = v.oldest()
		if v.vote.Time.IsNone() {
			out.Because(maeReturned, facts{Who: r.ID})
			return
		}
		v.waiting[v.vote.ID] = algorithm.Time{}
		out.Because(maeNext, facts{Who: v.vote.ID, A: v.vote})
		out.Send(v.vote.ID, s.about(maeLocked, v.vote.Time))
	}
}

// queue makes r wait. A request that is not the oldest must learn so: r, or the one that
// was the oldest so far.
func (s *maekawa) queue(r algorithm.Stamp, out *algorithm.Out[maeMessage]) {
	v := &s.voter
	oldest := v.oldest()
	v.waiting[r.ID] = r.Time
	if first := v.before(r, oldest); first != r {
		out.Because(maeFail, facts{Who: r.ID, A: first, B: r})
		out.Send(r.ID, s.about(maeFailed, r.Time))
		return
	}
	if !oldest.Time.IsNone() && oldest.Less(v.vote) {
		out.Because(maeOvertaken, facts{Who: oldest.ID, A: r, B: oldest})
		out.Send(oldest.ID, s.about(maeFailed, oldest.Time))
	}
	s.inquire(r, out)
}

// inquire asks, once, whether the request that has the vote needs it, on behalf of r.
func (s *maekawa) inquire(r algorithm.Stamp, out *algorithm.Out[maeMessage]) {
	v := &s.voter
	if v.inquired {
		out.Because(maePrompted, facts{Who: r.ID, Other: v.vote.ID})
		return
	}
	v.inquired = true
	out.Because(maePrompt, facts{Who: v.vote.ID, A: r, B: v.vote})
	out.Send(v.vote.ID, s.about(maeInquire, v.vote.Time))
}

// before returns a request that is known here and older than r: the one that has the vote,
// or the oldest that waits. If there is none it returns r.
func (v *voter) before(r, oldest algorithm.Stamp) algorithm.Stamp {
	switch {
	case v.vote.Less(r):
		return v.vote
	case !oldest.Time.IsNone() && oldest.Less(r):
		return oldest
	}
	return r
}

// oldest returns the oldest waiting request.
func (v *voter) oldest() algorithm.Stamp { return oldest(v.waiting) }

func (s *maekawa) receiveAsCandidate(from algorithm.ID, kind uint8, out *algorithm.Out[maeMessage]) {
	switch kind {
	case maeLocked:
		s.votes.Add(from)
		s.failed.Remove(from)
		if s.votes.Len()+s.spare >= s.sets[s.self].Len() {
			s.state = held
			s.votes.Clear()
			s.failed.Clear()
			s.inquiry.Clear()
			out.Because(maeEnter, facts{})
			out.Enter()
		} else {
			out.Because(maeVote, facts{Who: from, N: s.sets[s.self].Len() - s.spare - s.votes.Len()})
		}
		return
	case maeFailed:
		out.Because(maeNoVote, facts{Who: from})
		s.failed.Add(from)
	case maeInquire:
		s.inquiry.Add(from)
	}
	if s.failed.Empty() {
		out.Because(maeKeep, facts{Who: from})
		return
	}
	for v := range s.inquiry.All() {
		s.votes.Remove(v)
		s.failed.Add(v)
		out.Because(maeGiveBack, facts{Who: v})
		out.Send(v, s.about(maeRelinquish, s.asked))
	}
	s.inquiry.Clear()
}

// Alibi implements algorithm.Alibier: d needs this seat's vote and does not have it.
func (s *maekawa) Alibi(d algorithm.ID) bool {
	return s.spare == 0 && s.sets[d].Has(s.self) && (s.voter.vote.Time.IsNone() || s.voter.vote.ID != d)
}

// Clock implements algorithm.Hearer.
func (s *maekawa) Clock() algorithm.Time { return s.clock }

// Hear implements algorithm.Hearer.
func (s *maekawa) Hear(t algorithm.Time) { s.clock.See(t) }
