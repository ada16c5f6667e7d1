// Package faults tries what one fault does to a lock: a message that is lost or arrives
// twice, or a process that dies while it is idle, waiting or inside.
//
// It does not sample. It takes some runs of a small group in which every process asks
// several times, in every order; applies the fault to each message of each run, or at
// each moment of each process; lets every surviving process ask again afterwards; and
// takes the worst outcome. Each run is a scenario, so that the worst one can be replayed.
package faults
