// Package raft is the log of the engine, of opaque entries among a few voters:
// the Raft of go.etcd.io/raft behind a shell that keeps the order of things in
// one place and lets chance in by a seed alone. A Node is an engine.Log, a Keeper
// an engine.Store.
//
// Whoever drives a Node hands in what came (Tick, Step, Propose, Read, Revote,
// HandOver) and then calls Flush, which saves, applies, and only then gives
// out what is to be sent. There is no goroutine and no clock: a tick is as long
// as the caller says. The same seed and the same calls give the same bytes.
//
// Raft itself draws election timeouts from the operating system. Therefore a
// Node that does not lead never lets it count them: it counts its own patience,
// drawn from the seed, and then campaigns.
//
// What a voter promises, it promises from its Storage: term, vote and entries
// are durable before anything is sent that relies on them. That an entry is
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
// it only does not add one who is there. The number belongs to the storage, which
// keeps it; see Bootstrap and Join.
package raft
