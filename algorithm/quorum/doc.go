// Package quorum makes the voting sets of quorum algorithms: for each process
// the set of those whose votes it needs.
//
// Any two sets must intersect; that alone makes exclusion safe, and a system
// that breaks it is refused with the pair that does. Three more properties are
// wished for and only reported: every process is in its own set, all sets have
// one size K, and every process is in K sets.
//
// Systems are pure functions of the number of processes. Peers compute them
// independently, so golden vectors pin them.
package quorum
