// Package raft is the log of the view service: opaque entries replicated among a few
// voters. It is the Raft of go.etcd.io/raft behind a shell that keeps the order of
// events in one place and draws all randomness from a seed. A Node is a views.Log, and
// Logs is a views.Logs.
//
// # Driving a node
//
// The host of a Node passes in what happened (Tick, Step, Propose, Read, Revote,
// HandOver, Saved) and then calls Flush, which returns what must be saved and what can
// be sent:
//
//	n.Step(from, message) // or another input
//	out, err := n.Flush()
//	if err != nil {
//		the voter is dead: end the process, send nothing
//	}
//	for _, s := range out.Saves {
//		queue s for the disk; when it is durable, call n.Saved(s.Number)
//	}
//	for _, p := range out.Send {
//		send p.Bytes to voter p.To
//	}
//
// Saves are asynchronous, as in Raft's AsyncStorageWrites: the host makes them durable
// in their order, as slowly as its disk does, and reports each with Saved. What depends
// on a save (a vote, a confirmation of entries, a change of voters) is held back until
// then; heartbeats and reads continue meanwhile. There is no goroutine and no clock: the
// caller decides how long a tick is. The same seed and the same calls give the same
// bytes.
//
// Raft itself draws election timeouts from the operating system. Therefore a Node that
// does not lead never lets it count them: it counts its own patience, drawn from the
// seed, and then campaigns.
//
// # Durability
//
// What a voter promises is durable first: term, vote and entries are saved before
// anything is sent that relies on them. That an entry is committed is saved along with
// the next thing that must be saved, never by itself, so that an idle group writes
// nothing.
//
// # Changes of voters
//
// A change of voters is in force when its entry is applied, not when it is appended.
// That is safe because a leader proposes the next change, the end of a joint one
// included, only after it has applied the one before. A voter that has the entry of the
// next change has learned, by the same message and in the same batch on its disk, that
// the one before is committed. A storage that saves entries must save the commit index
// with them; Batch.Hard is always complete for that reason.
//
// A future voter learns first: it gets the log, and its vote does not count before it
// has it. So a node that never starts, or dies at once, takes no majority with it; see
// Revote.
//
// A removed voter must keep running until the leader is Settled: until then the remaining ones
// may need its vote to learn that it is gone. A removed learner may end at once. While
// voters are being removed, no leader accepts proposals, so that the departing voters
// have nothing that the remaining ones lack.
//
// Numbers of voters are never used twice. The caller of Revote assigns them (package
// views derives them from epochs), and a voter that has lost its storage returns under
// another number. This package remembers none of the removed numbers; it only does not
// add one that is present. The number belongs to the state, whose first record has it.
package raft
