// Package pages makes docs/algorithms: a page for every sound algorithm, with a picture,
// and the index of these pages, with the algorithms that fail.
//
// Rules and costs are those of the algorithm's Spec, the picture is a run of a worked
// example, and what is proved is the algorithm's row in docs/results/proofs.md. The idea,
// when to use the algorithm, and known mistakes are written by hand, in notes.txt.
//
// Make is pure. 'make pages' writes its files, and a test compares them with those that are
// committed.
package pages
