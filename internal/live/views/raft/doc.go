// Package raft is the log of the engine, of opaque entries among a few voters:
// the Raft of go.etcd.io/raft behind a shell that keeps the order of things in
// one place and lets chance in by a seed alone. A Node is an views.Log, Logs is
// views.Logs.
//
// The host of a Node hands in what came (Tick, Step, Propose, Read, Revote,
// HandOver, Saved) and then calls Flush, which returns what must be saved and what
// can be sent. Saves are asynchronous, as in Raft's AsyncStorageWrites: the host
// makes them durable in their order, as slowly as its disk does, and tells so by
// Saved. What depends on a save (a vote, a confirmation of entries, a change of
// voters) is held back until then; heartbeats and reads go on meanwhile. There is
// no goroutine and no clock: a tick is as long as the caller says. The same seed
// and the same calls give the same bytes.
//
// Raft itself draws election timeouts from the operating system. Therefore a
// Node that does not lead never lets it count them: it counts its own patience,
// drawn from the seed, and then campaigns.
//
// What a voter promises is durable first: term, vote and entries are saved before
// anything is sent that relies on them. That an entry is
// committed is saved along with the next thing that must be, never alone, so
// that a group in which nothing happens writes nothing.
//
// A change of voters is in force when its entry is applied, not when it is
// appended. That is safe since a leader proposes the next change, the end of a
// joint one included, only after it has applied the one before: whoever has the
// entry of the next has learned, by the same message and in the same batch on
// its disk, that the one before is committed. Who saves entries must save the
// commit index with them; Batch.Hard is always whole for that reason.
//
// Whoever is to vote learns first: it gets the log, and its voice does not count
// before it has it. So one who never comes, or dies at once, takes no majority
// with it; see Revote.
//
// A voter that was removed must go on until the leader is Settled: until then
// those who stay may need its vote to learn that it is gone. A learner that was
// removed may end at once. While voters go, no leader takes proposals, so that
// those who go have nothing that those who stay lack.
//
// Numbers of voters are never used twice: whoever calls Revote gives them out (the
// engine's record does, of the epochs), and a voter that has lost its storage comes
// back under another one. This package remembers none of those who were removed;
// it only does not add one who is there. The number belongs to the state, whose
// first record has it.
package raft
