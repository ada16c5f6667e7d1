// Package style enforces the style of the repository by tests.
//
// Each rule reads the sources and returns what it finds wrong. It is run over the
// repository, where it must find nothing, and over a small planted offender, which it
// must find.
//
// The rules about pure packages matter most: a simulation can be repeated, and a proof
// believed, only if nothing in them depends on a clock, on chance, on scheduling or on
// the order of a map.
package style
