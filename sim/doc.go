// Package sim runs machines in simulated time: locks, elections, and
// transactions over several locks.
//
// The event kernel is package [sim/kernel]: time, messages, timers and faults.
// Here are groups of machines on top of it, several of them side by side if
// need be, their applications, and what they are judged by. A seed gives the
// same run, to the byte, on every machine.
//
//	result, err := sim.Run(sim.Config{
//		Spec: mutex.RicartAgrawala(), Nodes: 5, Entries: 1000,
//		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
//	})
//
// RunSections, RunElection and RunTransactions run the others. Replay runs a
// scenario of any family: what happens when, and what an adversary does, is then
// said line by line, and what is expected is compared with what came out.
//
// What a run is judged by watches who asks, enters and leaves and which messages
// are received. It never asks the algorithm. It is the environment of a family,
// as the checker has it too: see package family.
//
// [sim/kernel]: https://pkg.go.dev/github.com/stile-lock/stile/sim/kernel
package sim
