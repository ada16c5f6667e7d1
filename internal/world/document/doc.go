// Package document makes of the text of a scenario all that a page shows of it.
//
// The document of the lab is a scenario file. What is clicked is a line that
// could have been written: [Act] says which line, and where it goes; [Run] says
// what comes of the text. Both are pure functions, so that a server and a page
// that runs them itself show the same.
package document
