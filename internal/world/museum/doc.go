// Package museum makes the museum of broken mutual exclusion, docs/results/museum.md:
// algorithms that were believed to be correct, or are used where they are not, each with
// the shortest run in which it fails as found by the checker, the fix, and the proof that
// the fix holds.
package museum
