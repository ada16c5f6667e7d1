// Package scenario says what a run is given: how long things take, what the
// network may do, who asks when, which faults happen and what is expected.
//
// A scenario can be written by hand as a .stile file; see Parse.
package scenario
