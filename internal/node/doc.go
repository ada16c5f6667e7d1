// Package node puts one process of a cluster on a real machine: sockets, a disk,
// clocks and goroutines around the pure core, a station.Station, whose parts the
// storm has tried.
//
// A Node has one mutex. Whoever has something for the core - a reader of a socket,
// the timer, an application - takes it, calls straight into the core, and sends
// what the core wants sent before it goes on: no message waits for a goroutine to
// wake. What applications are told is told under the mutex, before anything that
// follows from it is sent.
//
// Time is that of a clock which goes on while the machine is suspended; only
// lengths of it ever leave the process.
package node
