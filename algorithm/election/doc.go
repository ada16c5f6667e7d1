// Package election holds the algorithms that make processes agree on a leader, one file
// each, in the words of their papers.
//
// Every process has a number, its seat plus one, and knows those of all others. The live
// process with the highest number must lead, and all live processes must know it. An
// election is an algorithm.Elector, and its verbs are
//
//	Request(out)            the application has noticed that the leader is silent
//	Start(out)              the process is new, or back: without a leader it asks for one
//	Receive(from, m, out)
//	Expire(timer, out)      an expected message has not arrived
//	Suspect(id, out)        the host believes that a process is dead
//	Trust(id, out)          the host sees that it is back
//
// A group can start with a leader: with View.Busy set, View.Holder leads and all
// processes know it. Without it there is no leader, and each process calls an election
// when it is started; a process that comes back after a crash starts that way. Outcomes
// are reported as notices: Lead(id), and Lead(None) when a process no longer knows a
// leader.
//
// # What they need
//
// Channels lose nothing between live processes, and no message takes longer than the
// host's longest latency. Timeouts are counted in that unit, so they are accurate: a
// process that does not answer in time is dead. A suspected process is dead, too. If a
// live process is taken for dead - by a timeout that is too short, or by a wrong
// suspicion - two may lead at once. This cannot be fixed here: it takes a majority, as in
// the views of a live group.
//
// # Departures common to all
//
// The papers let a process that comes back call an election, but not while messages sent
// earlier are still in flight. Here they may be, and so a process does not follow a
// leader if it has reason to believe that a higher process is alive: such news is stale.
// If it was not stale after all, the application notices that there is no leader, and
// makes a request.
package election

import "github.com/stile-lock/stile/algorithm"

// facts are what the sentences of rules name.
type facts = algorithm.Facts

// born returns the leader that a process knows when it is created.
func born(v algorithm.View) algorithm.ID {
	if v.Busy {
		return v.Holder
	}
	return algorithm.None
}
