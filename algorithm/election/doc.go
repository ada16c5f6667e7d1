// Package election holds the algorithms that make processes agree on a leader,
// one file each, in the words of their papers.
//
// Every process has a number, its seat plus one, and knows those of all
// others. The highest number alive is to lead, and all who are alive are to
// know it. An election is an algorithm.Elector, and its verbs are
//
//	Request(out)            the application has noticed that the leader is silent
//	Start(out)              the process is new, or back: without a leader it asks for one
//	Receive(from, m, out)
//	Expire(timer, out)      what was waited for has not come
//	Suspect(id, out)        the host believes that a process is dead
//	Trust(id, out)          the host sees that it is back
//
// A group is born led: with View.Busy set, View.Holder leads and everybody
// knows. Without it nobody leads, and each process holds an election when it
// is started; a process that comes back after a crash is born that way. What
// there is to tell comes as notices: Lead(id), and Lead(None) when a process
// no longer knows a leader.
//
// # What they need
//
// Channels lose nothing between processes that are alive, and no message takes
// longer than the host's longest latency. Timeouts are counted in that unit,
// so they are right: who does not answer in time is dead. Whoever is
// suspected is dead, too. If a process that is alive is taken for dead - by a
// timeout that is too short, or by a wrong suspicion - two may lead at once.
// This cannot be mended here: it takes a majority, as the views of a live
// group have.
//
// # Departures common to all
//
// The papers let a process that comes back hold an election, but not while
// what was sent before is still under way. Here it may be, and so a process
// does not follow a leader if it has reason to take somebody higher for alive:
// such news is stale. If it was not stale after all, the application notices
// that nobody leads, and asks.
package election

import "github.com/stile-lock/stile/algorithm"

// born returns the leader that a process knows at birth.
func born(v algorithm.View) algorithm.ID {
	if v.Busy {
		return v.Holder
	}
	return algorithm.None
}
