// Package ring is a hand-written model: Dijkstra's K-state ring, from every possible
// state. Process 0 is privileged while its flag equals that of the last process, and
// moves by incrementing it modulo K; any other process is privileged while its flag
// differs from its predecessor's, and moves by copying it. The ring is right while
// exactly one process is privileged.
package ring
