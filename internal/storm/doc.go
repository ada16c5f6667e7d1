// Package storm runs whole processes, on the project's event kernel, under every
// fault there is, and judges every step by an oracle that sees true time and
// never asks a member.
//
// A process is a peer.Peer: a member with its links, its petitioner and, in
// voters, the clerk with its log, on a disk that stays where it is whoever starts
// there. Whoever makes a run hands in the disks, so that this package need not
// know what a log is made of.
//
// A run has four parts. First the cluster forms: one process founds it, and the
// others join. Then there are faults: the run's strikes, which are drawn from its
// seed once and can then be thinned. Then all heals, and after a time of grace
// every waiter must enter soon. At last nobody asks any more: all who wait must
// enter, and then members must fall silent, and nothing may be written.
//
// All that is said between processes meets the same faults, and so does the view
// service, which is in them. Nothing is exempt but the oracle's own eyes. It
// judges agreement too: an epoch has one view, voters have the same record, one
// that leads no more renews nobody, and nobody who was evicted outlives what the
// views say of it.
//
// A seed gives the same run, to the byte, on every machine.
package storm
