// Package faults tries what one fault does to a lock: a message that is lost or
// comes twice, or a process that dies while it is idle, waits or is inside.
//
// It does not sample. It takes some runs of a small group in which everybody
// asks several times, in every order; lets the fault happen to each message of
// each run, or at each moment of each process; lets everybody who is left ask
// again afterwards; and takes the worst that comes of it. Each run is a
// scenario, so that the worst one can be replayed.
package faults
