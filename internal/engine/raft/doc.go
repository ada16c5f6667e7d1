// Package raft is a replicated log of opaque entries among a few voters: the
// Raft of go.etcd.io/raft behind a shell that keeps the order of things in one
// place and lets chance in by a seed alone.
//
// Whoever drives a Node hands in what came (Tick, Step, Propose, ReadIndex,
// ChangeVoters) and then calls Flush, which saves, applies, and only then gives
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
// Who was removed must go on until the leader is Settled: until then those who
// stay may need its vote to learn that it is gone.
//
// Numbers of voters are never used twice: the log gives them out, and a voter
// that has lost its storage comes back under another one. The number belongs to
// the storage, which keeps it; see Bootstrap and Join.
package raft
