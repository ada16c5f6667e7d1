package mutex

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// MaekawaReject returns Maekawa without FAILED: a candidate that is not inside gives a
// vote back as soon as its voter asks for it, whatever its other voters say.
//
// B. A. Sanders: The Information Structure of Distributed Mutual Exclusion Algorithms.
// ACM Transactions on Computer Systems 5(3), 1987, pages 284-299. It corrects M. Maekawa:
// A sqrt(N) Algorithm for Mutual Exclusion in Decentralized Systems, 1985, in this way;
// textbooks present it with REJECT for INQUIRE.
//
// It is Sanders' algorithm over quorums, with the textbooks' names and no rules of its
// own. Giving way at once can be in vain, if the candidate would soon have had all votes.
// It saves the FAILED that Maekawa must send to every request that is not the oldest, and
// with it the paper's hole.
//
// Departure: as in Maekawa, a message names the request it is about.
func MaekawaReject(quorums quorum.Builder) algorithm.Spec {
	s := SandersExperiment(AskQuorum(quorums)) // the builder guarantees the properties of a quorum system
	s.Name, s.Title = "maekawa-reject", "Maekawa with REJECT"
	s.Wrong, s.Fixed = "", ""
	s.Class = algorithm.Quorum
	s.Shape = votingShape(quorums)
	s.Shape.Got = "grants"
	s.Kinds = []string{"REQUEST", "LOCKED", "REJECT", "RELINQUISH", "RELEASE"}
	s.Rules = sanRules(s.Kinds)
	s.Rules[sanFree] = algorithm.Rule{} // all that are asked are informed
	// On top of REQUEST, LOCKED and RELEASE a request can cause, at each voter, one
	// REJECT, one RELINQUISH and a second LOCKED for the process that gave way. A
	// process's own voter rejects no request for it: a new request is later than all that
	// the process knows of.
	s.Theory.Messages = algorithm.Cost{Text: "3(K-1) light, 3..6(K-1)", Any: eachVoter(quorums, 3, 6), Light: eachVoter(quorums, 3, 3)}
	s.Theory.Multicasts = quorumMulticasts(quorums, 4)
	return s
}
