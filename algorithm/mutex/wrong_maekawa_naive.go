package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// MaekawaNaive returns Maekawa with only REQUEST, LOCKED and RELEASE.
//
// M. Maekawa: A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems. ACM
// Transactions on Computer Systems 3(2), 1985, pages 145-159, says why that is not
// enough.
func MaekawaNaive(quorums quorum.Builder) algorithm.Spec {
	s := Maekawa(quorums)
	s.Name, s.Title = "maekawa-naive", "Maekawa without FAILED and INQUIRE"
	s.Wrong = "it deadlocks when each of several candidates has a vote that another needs"
	s.Fixed = "maekawa"
	s.Shown = "stile-lab check maekawa-naive"
	s.Theory.Messages = algorithm.Cost{Text: "3(K-1)", Any: s.Theory.Messages.Light}
	naiveRules(s.Rules)
	s.Plan = func(n int) (algorithm.Birth, error) {
		sets, err := quorums(n)
		if err != nil {
			return nil, err
		}
		return naiveVoting(sets, 0), nil
	}
	return s
}

// MajorityNaive returns Majority without a way to take a vote back.
//
// R. H. Thomas: A Majority Consensus Approach to Concurrency Control for Multiple Copy
// Databases. ACM Transactions on Database Systems 4(2), 1979, pages 180-209, is the
// origin of voting.
func MajorityNaive() algorithm.Spec {
	s := Majority()
	s.Name, s.Title = "majority-naive", "Majority voting without INQUIRE"
	s.Wrong = "it deadlocks when the votes are split: if three of six processes ask at once, each can get two votes"
	s.Fixed = "majority"
	naiveRules(s.Rules)
	s.Shown = "stile-lab check majority-naive --property deadlock"
	s.Theory.Messages = algorithm.Cost{Text: "3(N-1)", Any: func(n int) algorithm.Range {
		return algorithm.Range{Lo: float64(2*(n-1) + n/2), Hi: 3 * float64(n-1)}
	}, Light: others(3)}
	s.Plan = func(n int) (algorithm.Birth, error) { return naiveVoting(wholeGroup(n), minority(n)), nil }
	return s
}

func naiveVoting(sets quorum.System, spare int) algorithm.Birth {
	return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
		return algorithm.New(self, v, &maekawaNaive{*newMaekawa(self, v, sets, spare)})
	}
}

// naiveRules removes the rules about FAILED and INQUIRE.
func naiveRules(rules []algorithm.Rule) {
	for _, i := range []int{maeNoVote, maeKeep, maeGiveBack, maeFail, maePrompt, maeOvertaken, maePrompted} {
		rules[i] = algorithm.Rule{}
	}
	rules[maeQueue] = algorithm.Rule{ID: "6b", Text: "As long as a request has the vote, others wait.", Why: "{self} queues {who}, because {other} has its vote", Silent: true, Waits: "who", While: "other"}
}

type maekawaNaive struct{ maekawa }

// Receive makes a request wait in silence when the vote is taken.
func (s *maekawaNaive) Receive(from algorithm.ID, m *maeMessage, out *algorithm.Out[maeMessage]) {
	if m.Kind == maeRequest && !s.voter.vote.Time.IsNone() {
		s.clock.See(m.Clock)
		out.Because(maeQueue, facts{Who: from, Other: s.voter.vote.ID})
		s.voter.waiting[from] = m.Time
		return
	}
	s.maekawa.Receive(from, m, out)
}
