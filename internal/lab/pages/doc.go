// Package pages makes docs/algorithms: a page for every sound algorithm, with a picture,
// and the index of these pages.
//
// Most of a page is generated. Its rules and theory are those of the algorithm's Spec, its
// picture is a run of a worked example, and its costs are measured by the simulator with
// fixed seeds. What is proved, what one fault does, and what a live lock costs are rows of
// pages in docs/results, which take hours to make and are therefore read, not made again. Only the idea, when to use
// the algorithm, and known mistakes are written by hand, in notes.txt.
//
// Make is pure: it takes the text of the results and returns files. 'make pages' writes
// them, and a test compares them with those that are committed.
package pages
