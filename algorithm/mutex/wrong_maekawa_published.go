package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// MaekawaPublished returns Maekawa by the rules of the paper.
//
// M. Maekawa: A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems. ACM
// Transactions on Computer Systems 3(2), 1985, pages 145-159.
//
// The hole: a voter that sends INQUIRE on behalf of a request does not send it FAILED,
// because it is the oldest waiting request. When a still older request arrives, the first
// one is not notified either. It never learns that it must give its other votes back.
// Small systems in which the candidates are also the voters hide this.
func MaekawaPublished(quorums quorum.Builder) algorithm.Spec {
	s := Maekawa(quorums)
	s.Name, s.Title = "maekawa-published", "Maekawa as published"
	s.Wrong = "it can deadlock: the oldest waiting request is not notified when an older one arrives, and keeps its votes"
	s.Fixed = "maekawa"
	s.Shown = "stile-lab check maekawa-published --requests 1 --sets '1:1,2,3;2:2,3;3:3'"
	s.Rules[maeOvertaken] = algorithm.Rule{}
	s.Plan = func(n int) (algorithm.Birth, error) {
		sets, err := quorums(n)
		if err != nil {
			return nil, err
		}
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
			return algorithm.New(self, v, &maekawaPublished{*newMaekawa(self, v, sets, 0)})
		}, nil
	}
	return s
}

type maekawaPublished struct{ maekawa }

// Receive is Maekawa's, without FAILED to the request that was the oldest so far.
func (s *maekawaPublished) Receive(from algorithm.ID, m *maeMessage, out *algorithm.Out[maeMessage]) {
	v := &s.voter
	if m.Kind != maeRequest || v.vote.Time.IsNone() {
		s.maekawa.Receive(from, m, out)
		return
	}
	s.clock.See(m.Clock)
	r, oldest := algorithm.Stamp{Time: m.Time, ID: from}, v.oldest()
	v.waiting[from] = m.Time
	if first := v.before(r, oldest); first != r {
		out.Because(maeFail, facts{Who: from, A: first, B: r})
		out.Send(from, s.about(maeFailed, r.Time))
	} else {
		s.inquire(r, out)
	}
}
