// Package measure measures processes in simulated time: what an entry costs with each
// algorithm that runs live, and what a crash, a join and a leave cost the other members.
// It makes docs/results/live.md.
//
// Processes are process.Process on the event kernel: whole members with their links, on
// a network that keeps the order of messages and loses none. A message takes T, which is
// a millisecond, or varies around it. Computing takes no time, and neither does a save:
// it is acknowledged in the step in which it is asked for. A seed gives the same numbers
// on every machine.
//
// There are two kinds of groups of processes. In a fleet none is a voter: the fleet plays
// the view service for them, and confirms a renewal after a round trip. So what is
// measured depends only on the locks, and a crash is noticed when the measurement wants
// it. In a cluster some processes are voters, with a real log, and what is measured is
// the view service: what the crash of a voter, of the leader and of a holder cost.
package measure
