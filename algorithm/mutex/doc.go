// Package mutex holds the mutual exclusion algorithms, one file each, in the words of
// their papers.
//
// Every file has the same parts: the Spec (with citation, network and theory), the
// message, the state, and the three verbs Request, Release and Receive. Files that begin
// with wrong_ hold famous wrong or weaker variants; their Spec says what goes wrong and
// which sound algorithm fixes it.
//
// Where an algorithm departs from its paper, its file says so. Three departures are
// common to all:
//
//   - Every message of a clocked algorithm carries the sender's clock, and every receive
//     merges it. The clock is the time that the next request would get, so it starts at
//     1.
//   - A field that no longer matters is cleared at once.
//   - Some states remember a little more than the paper requires, so that they can give
//     an alibi (see algorithm.Machine).
package mutex
