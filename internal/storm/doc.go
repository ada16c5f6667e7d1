// Package storm runs whole processes on the project's event kernel, under every kind of
// fault. An oracle, which sees true time and never asks a member, judges every step.
//
// What runs is what the node ships: one process.Process in each place, driven by the loop
// of that package's manual. The storm hands in what happens, carries out the effects in
// their order, and shows the oracle what it judges by. The caller provides the disks and
// the logs of voters, so this package does not know what a log is made of. A disk takes
// time, stays in its place whichever process runs there, and loses what is in flight when
// the process ends.
//
// A run has four parts. First the cluster forms: one process founds it, and the others
// join. Then there are faults: the run's strikes, which are drawn from its seed once and
// can then be thinned out. Then all faults are healed, and after a grace period every
// waiting request must be granted soon. Finally applications make no new requests: all
// waiting requests must be granted, then members must fall silent, and nothing may be
// written.
//
// All messages between processes meet the same faults, including those of the view service,
// which runs in the processes. Only the oracle's own observations are exempt. The oracle
// also judges agreement: an epoch has one view, voters have the same record, a voter that
// no longer leads renews no lease, and no evicted member acts for longer than the views
// say.
//
// Where there are clients, there is a thief too: a client that is not honest. It hears everything
// that processes send to clients, and must get nothing by it.
//
// Some runs have kept locks besides the others. Applications and clients run transactions
// over them, and the oracle also judges modes and victims.
//
// A seed gives the same run, to the byte, on every machine.
package storm
