// Package ring is a model made by hand: Dijkstra's K-state ring, from every
// state there is. Process 0 is privileged while its flag equals that of the last
// process, and moves by counting up modulo K; any other while its flag differs
// from its predecessor's, and moves by copying it. The ring is right while
// exactly one process is privileged.
package ring
