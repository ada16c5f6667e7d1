// Package explore visits every state of a model.
//
// A [Model] is initial states, successors as bytes, and what is broken where.
// [Explore] visits all states of a model breadth first, with several workers, a
// table of 64-bit fingerprints and nothing else per state. Two different states
// that share a fingerprint would be taken for one. When something is broken,
// [BuildGraph], a sequential search that remembers every parent, finds the way
// there.
//
// A whole [Graph] also answers questions about infinite runs: a [Cut] is the
// part of it in which a process waits, taken apart into strongly connected
// components. Fair steps that remain possible for ever happen. [OutlookOf]
// finds out, with less memory, whether there are infinite runs at all.
package explore
