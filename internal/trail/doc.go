// Package trail makes a scenario of what really happened to a lock.
//
// Members that follow a lock make marks of it: see member.Mark. A [Tail] keeps the latest
// marks at a node, and hands them out page by page; a [Log] gathers the pages of one node.
// [Merge] puts the logs of all members together into one run, and writes it as a scenario
// that the simulator and the lab replay step by step:
//
//	logs := one Log for each member
//	for a while {
//		for each member: log.Take(its answer to node.AskTrail), with From set to log.Next
//	}
//	s, err := trail.Merge(spec, logs, trail.Options{Name: name})
//	s.Text // a file in the language of docs/scenarios.md
//
// # How logs become a run
//
// The logs of a view begin at different times, so what they begin with may not fit together:
// a message may have arrived before one log began, and have been sent after another one
// began. Merge moves the beginning of the latter behind the message, until no message is
// received before the beginning and sent after it. That is a consistent cut: the states
// there, and the messages in flight, are a state that the group can have been in. A message
// that was sent before the sender's log began is known from its arrival.
//
// From the cut on the steps are put in an order in which every message is sent before it
// arrives: by their times as far as possible, because clocks of nodes are never quite the
// same. Steps that depend on a message whose sending is not in the logs are left out at the
// end. Then Merge has machines of the algorithm take all these steps, and compares each state
// with the member's. A run in which they differ is refused: what Merge returns is what
// happened.
//
// Handovers between requests of one member, loans of the home and everything else that the
// algorithm does not see become captions.
package trail
