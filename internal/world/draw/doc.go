// Package draw draws pictures as SVG. Charts show measurements over the number of
// processes; a [Canvas] writes the SVG of these and of other pictures.
//
// Pictures need nothing from elsewhere: no script, no font, no external style sheet. A
// picture depends only on what it shows, so that tests can compare it byte by byte.
package draw
