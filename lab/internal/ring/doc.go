// Package ring is a hand-written model of Dijkstra's K-state ring as in the paper: processes
// read each other's flags, several may move at once, and the ring starts from every state.
// Process 0 is privileged while its flag equals that of the last process, and moves by
// incrementing it modulo K; any other process is privileged while its flag differs from its
// predecessor's, and moves by copying it. The ring is right while exactly one process is
// privileged.
//
// It stays beside package check, which explores the algorithm with messages, because the
// lectures teach the form with shared flags, and check has no shared memory.
package ring
