// Package draw draws pictures as SVG, and graphs also as text. [WaitFor] draws wait-for
// graphs and [Allocation] resource-allocation graphs; [Charts] show measurements over the
// number of processes. A [Canvas] writes the SVG of all of them.
//
// A picture needs nothing from elsewhere: no script, no font, no style sheet. It depends
// only on what it shows, so that tests can compare it byte by byte.
//
// The package imports no simulator and no trace, so that these can draw with it.
package draw
