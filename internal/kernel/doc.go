// Package kernel is the event kernel of simulated runs: a list of future events, ordered
// by time and then by the order in which they were scheduled, a network that carries
// messages between processes, their timers, and what an adversary does to all of these.
// It knows no algorithm: the [Handler] decides what a delivery or a timer means.
//
//	k := kernel.New(kernel.Config{Processes: 3, Latency: scenario.Always(scenario.T)}, h)
//	k.Send(0, 1, k.Keep([]byte("hello"), 0, 0, 1))
//	for k.Pending() {
//		k.Step()
//	}
//
// Several groups may run side by side over the same processes: messages and timers carry
// the number of their group.
//
// Time is counted in whole ticks, randomness comes from the package's own generator, and
// no decision uses floating point, so a seed gives the same run, to the byte, on every
// machine.
package kernel
