// Package node puts one process of a cluster on a real machine: sockets, a disk, clocks and
// goroutines around process.Process, which decides everything.
//
// A Node has one mutex. Socket readers, the timer and applications acquire it, hand their
// input to the process, and carry out its effects, most of which only queue something: no
// message waits for a goroutine to wake up. Nothing that can wait for the outside world
// happens with the mutex held: the disk has a goroutine of its own, and sockets are written
// and log lines printed after the mutex is released. What an application asks about a lock
// that it holds - Err, Deadline, Context - needs no mutex at all.
//
// Time comes from a clock that keeps running while the machine is suspended; only durations
// ever leave the process.
package node
