// Package node puts one process of a cluster on a real machine: sockets, a disk,
// clocks and goroutines around process.Process, which decides everything.
//
// A Node has one mutex. Readers of sockets, the timer and applications take it, hand
// their input to the process, and carry out its effects, most of which are to queue
// something: no message waits for a goroutine to wake. Nothing is done with the mutex
// held that can wait for the world: the disk has a goroutine of its own, sockets are
// written and log lines printed when the mutex is released. What an application asks
// about a lock that it holds - Err, Deadline, Context - needs no mutex at all.
//
// Time is that of a clock that goes on while the machine is suspended; only durations
// ever leave the process.
package node
