// Package explore visits every state of a model.
//
// A [Model] is initial states, successors as bytes, and the properties violated in each.
// [Explore] visits all states of a model breadth first, with several workers, a table of
// 64-bit fingerprints and nothing else per state. Two different states that share a
// fingerprint would be taken for one. When a property is violated, [BuildGraph], a
// sequential search that remembers every parent, finds the way there.
//
// A whole [Graph] also answers questions about infinite runs: a [Cut] is the part of it
// in which a process waits, divided into strongly connected components. Fair steps that
// remain possible forever eventually happen, even if their names change on the way: see
// [Renames]. [OutlookOf] finds out, with less memory,
// whether there are infinite runs at all.
package explore
