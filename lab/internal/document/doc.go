// Package document turns the text of a scenario into everything that a page shows of it.
//
// The lab's document is a scenario file. Every click is a line that could have been written
// by hand: [Act] decides which line, and where it goes; [Run] computes what the text leads
// to. Both are pure functions, so that a server and a page that runs them itself show the
// same.
package document
