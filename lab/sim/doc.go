// Package sim runs machines in simulated time: locks, elections, and transactions over
// several locks.
//
// The event kernel is package internal/kernel: time, messages, timers and faults.
// Package sim adds groups of machines, several of them side by side if need be, their
// applications, and the judges of a run. A seed gives the same run, to the byte, on every
// computer.
//
//	result, err := sim.Run(sim.Config{
//		Spec: mutex.RicartAgrawala(), Nodes: 5, Entries: 1000,
//		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
//	})
//
// RunSections, RunElection and RunTransactions run the other families. Replay runs a
// scenario of any family: its lines say what happens when and what an adversary does, and
// Replay compares the outcome with the expectations. Reduce does the same for a graph of
// resources, in which nothing runs.
//
// A judge watches which processes request, enter and leave and which messages are
// received. It never asks the algorithm. It is the environment of a family, which the
// checker uses too: see package internal/family.
package sim
