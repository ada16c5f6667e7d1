// Package compare runs every algorithm over numbers of processes, rest times and hold
// times, and draws the map: how each does next to what theory says, and which is best
// where.
//
// There is no best algorithm: few messages, short delays and high throughput pull in
// different directions, and each depends on how many processes there are, how long they
// rest and how long they stay inside.
package compare
