// Package trace records what happened in a run, and shows it.
//
// All hosts record the same Event. From a list of events come vector clocks
// and happened-before, a space-time diagram as text and as SVG, JSON, and a
// log for ShiViz.
package trace
