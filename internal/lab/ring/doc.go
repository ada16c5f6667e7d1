// Package ring is a hand-written model: Dijkstra's K-state ring, from every possible
// state. Process 0 is privileged while its flag equals that of the last process, and
// moves by incrementing it modulo K; any other process is privileged while its flag
// differs from its predecessor's, and moves by copying it. The ring is right while
// exactly one process is privileged.
//
// Package check finds out the same about the algorithm itself, as it runs. It cannot do
// what this package is for: the paper's ring, in which processes read each other's flags
// and several move at once; messages that are on the links initially; and more than two
// processes with messages, because three have too many states with their applications.
package ring
