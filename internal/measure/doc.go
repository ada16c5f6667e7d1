// Package measure measures processes in simulated time: what an entry costs with each
// algorithm that runs live, and what a crash, a join and a leave cost the other members. It
// produces docs/results/live.md.
//
// Each process is a process.Process on the event kernel: a whole member with its links, on
// a network that keeps the order of messages and loses none. A message takes T, which is a
// millisecond, or varies around it. Computing takes no time, and neither does a save: it is
// acknowledged in the step that requests it. A seed gives the same numbers on every
// machine.
//
// There are two kinds of groups of processes. In a fleet no process is a voter: the fleet
// plays the view service for them, and confirms a renewal after a round trip. So the
// results depend only on the locks, and a crash is detected when the measurement wants it
// to be. In a cluster some processes are voters, with a real log, and what is measured is
// the view service: what the crash of a voter, of the leader and of a holder cost.
package measure
