// Package quorum makes the voting sets of quorum algorithms: for each process, the set of
// processes whose votes it needs.
//
// Any two sets must intersect. That property by itself makes exclusion safe, and a system
// that lacks it is refused with the pair that does not intersect. Three more properties
// are desirable and only reported: every process is in its own set, all sets have one
// size K, and every process is in K sets.
//
// Systems are pure functions of the number of processes. Peers compute them
// independently, so golden vectors pin them.
package quorum
