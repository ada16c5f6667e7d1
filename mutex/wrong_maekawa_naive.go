package mutex

import (
	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/quorum"
)

// MaekawaNaive is Maekawa with REQUEST, LOCKED and RELEASE only.
//
// M. Maekawa: A sqrt(N) Algorithm for Mutual Exclusion in Decentralized
// Systems. ACM Transactions on Computer Systems 3(2), 1985, pages 145-159,
// says why that is not enough.
func MaekawaNaive(quorums quorum.Builder) core.Spec {
	s := Maekawa(quorums)
	s.Name, s.Title = "maekawa-naive", "Maekawa without FAILED and INQUIRE"
	s.Wrong = "it comes to a standstill when each of several candidates has a vote that another one needs"
	s.Fixed = "maekawa"
	s.Shown = "stile check maekawa-naive"
	s.Theory.Messages = core.Cost{Text: "3(K-1)", Any: s.Theory.Messages.Light}
	s.Plan = func(n int) (core.Birth, error) {
		sets, err := quorums(n)
		if err != nil {
			return nil, err
		}
		return naiveVoting(sets, 0), nil
	}
	return s
}

// MajorityNaive is Majority without a way to take a vote back.
//
// R. H. Thomas: A Majority Consensus Approach to Concurrency Control for
// Multiple Copy Databases. ACM Transactions on Database Systems 4(2), 1979,
// pages 180-209, is where voting comes from.
func MajorityNaive() core.Spec {
	s := Majority()
	s.Name, s.Title = "majority-naive", "Majority voting without INQUIRE"
	s.Wrong = "it comes to a standstill when the votes are split: of six processes three that ask at once can get two votes each"
	s.Fixed = "majority"
	s.Shown = "stile check majority-naive --property deadlock"
	s.Theory.Messages = core.Cost{Text: "3(N-1)", Any: func(n int) core.Range {
		return core.Range{Lo: float64(2*(n-1) + n/2), Hi: 3 * float64(n-1)}
	}, Light: others(3)}
	s.Plan = func(n int) (core.Birth, error) { return naiveVoting(everybody(n), minority(n)), nil }
	return s
}

func naiveVoting(sets quorum.System, spare int) core.Birth {
	return func(self core.ID, v core.View) core.Machine {
		return core.New(self, v, &maekawaNaive{*newMaekawa(self, v, sets, spare)})
	}
}

type maekawaNaive struct{ maekawa }

// Receive lets a request wait in silence when the vote is given away.
func (s *maekawaNaive) Receive(from core.ID, m *maeMessage, out *core.Out[maeMessage]) {
	if m.Kind == maeRequest && !s.voter.vote.Time.IsNone() {
		s.clock.See(m.Clock)
		s.voter.waiting[from] = m.Time
		return
	}
	s.maekawa.Receive(from, m, out)
}
