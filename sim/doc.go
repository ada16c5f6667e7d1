// Package sim runs a group of machines in simulated time.
//
// A run is a list of future events, ordered by time and then by the order in
// which they were scheduled. Time is counted in whole ticks, chance comes from
// a generator of its own and no decision uses floating point, so a seed gives
// the same run, to the byte, on every machine.
//
//	result, err := sim.Run(sim.Config{
//		Spec: mutex.RicartAgrawala(), Nodes: 5, Entries: 1000,
//		Hold: scenario.Always(scenario.T), Latency: scenario.Always(scenario.T), Seed: 1,
//	})
//
// Replay runs a scenario: what happens when, and what an adversary does, is
// then said line by line, and what is expected is compared with what came out.
//
// What a run is judged by, its oracle, watches who asks, enters and leaves and
// which messages are received. It never asks the algorithm.
package sim
