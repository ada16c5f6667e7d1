package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// Majority returns the algorithm in which a process asks all processes and enters with
// the votes of more than half, its own included.
//
// R. H. Thomas: A Majority Consensus Approach to Concurrency Control for Multiple Copy
// Databases. ACM Transactions on Database Systems 4(2), 1979, pages 180-209.
//
// Departure: plain voting deadlocks when the votes are split (see MajorityNaive). Here
// voters and candidates resolve that as in Maekawa's algorithm. Unlike there, a process
// may leave while its request still waits at some voters: its RELEASE, which goes to all,
// removes it from their queues. Votes that arrive after entry are kept until the exit.
func Majority() algorithm.Spec {
	return algorithm.Spec{
		Name: "majority", Title: "Majority voting", Authors: "Thomas", Year: 1979,
		Class:   algorithm.Quorum,
		Paper:   "A Majority Consensus Approach to Concurrency Control for Multiple Copy Databases. ACM TODS 4(2), 1979",
		Version: 1,
		Network: algorithm.FIFO,
		Spreads: true,
		Endless: "no process waits for a slow voter, so messages to it accumulate",
		Kinds:   maekawaKinds(),
		Rules:   majorityRules(),
		Shape:   algorithm.Shape{Picture: algorithm.Mesh, Title: "a majority of the votes lets a process enter", Vote: "vote", Got: "votes", Answer: "LOCKED", Enough: func(n int) int { return n/2 + 1 }},
		Theory:  majorityTheory(),
		Plan: func(n int) (algorithm.Birth, error) {
			sets := wholeGroup(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine {
				return algorithm.New(self, v, newMaekawa(self, v, sets, minority(n)))
			}, nil
		},
	}
}

// majorityRules are those of Maekawa, and one for processes that enter without some votes.
func majorityRules() []algorithm.Rule {
	rules := maekawaRules()
	rules[maeEnter].Text = "A candidate enters when it has the votes of a majority."
	rules[maeGone] = algorithm.Rule{ID: "7c", Text: "RELEASE removes a request that was granted without this vote.", Why: "{self} removes the request of {who}, which entered without this vote", Silent: true}
	return rules
}

// wholeGroup returns the system in which each process has the set of all processes.
func wholeGroup(n int) quorum.System {
	var all algorithm.Set
	all.Fill(n)
	sets := make(quorum.System, n)
	for i := range sets {
		sets[i] = all // shared: never changed
	}
	return sets
}

// minority returns how many votes a majority of n can do without.
func minority(n int) int { return (n - 1) / 2 }

// majorityTheory counts, when requests meet, at least REQUEST and RELEASE for every other
// process and the votes that are needed, and at most what Maekawa's algorithm needs for a
// quorum of all processes.
func majorityTheory() algorithm.Theory {
	return algorithm.Theory{
		Messages: algorithm.Cost{Text: "3(N-1) light, 2.5..7(N-1)", Any: func(n int) algorithm.Range {
			return algorithm.Range{Lo: float64(2*(n-1) + n/2), Hi: 7 * float64(n-1)}
		}, Light: others(3)},
		Multicasts: algorithm.Cost{Text: "N+1 light", Any: func(n int) algorithm.Range {
			return algorithm.Range{Lo: min(2, float64(n-1)) + float64(n/2), Hi: min(2, 2*float64(n-1)) + 5*float64(n-1)}
		}, Light: func(n int) algorithm.Range { return algorithm.Exact(min(2, 2*float64(n-1)) + float64(n-1)) }},
		Client:    algorithm.Cost{Text: "2T", Any: between(2, 2)},
		Sync:      algorithm.Cost{Text: "1..2T", Any: between(1, 4), Saturated: between(1, 2)},
		Order:     "by stamp among the requests a voter knows; not ME3",
		Symmetric: true,
	}
}
