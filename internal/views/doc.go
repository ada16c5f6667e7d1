// Package views holds the decisions of the view service. It is pure: no I/O, no clock,
// no randomness. A replicated log makes it safe.
//
// # Parts
//
//   - A Record is everything that is replicated: the current view, its members and their
//     addresses, the ghosts, the algorithms, the settings, the voters. It never contains
//     renewals or locks.
//   - A Change is the only kind of entry of the log. Apply turns a record and a change
//     into the next record, the same on every voter, or finds the change void.
//   - A Leader is what a voter does with the messages of members. On the voter that leads,
//     it counts leases and proposes changes. What it knows beyond the record is forgotten
//     with its term.
//   - A roster is what the leader knows when it decides which members vote. Its predicate
//     mayRest states the invariant: which voters the log may rest on.
//   - A Membership is the other end: what the host of a member, or of a process that wants
//     to join, sends to voters, and to which of them. It ends the process if another one
//     has its name or its disk, or if it was told to join another cluster.
//   - A Past is what a process remembers of its cluster when it starts again.
//   - A Replica is a running voter: its log, the record that the entries make, and a
//     Leader. Logs starts the logs of voters, and a Log is the log itself, as far as a
//     Replica needs it. Both are implemented in package raft.
//
// # What the log must provide
//
// Entries are applied in one order on all voters. A voter that leads calls Lead when it
// has applied the first entry of its own term. A read that it begins is confirmed only
// if a majority has recognized it as the leader after the read began.
//
// # Leaving and stopping
//
// A process that leaves or stops has promised never to enter again, and is taken out of
// the view without a ghost. One that leaves gives up its vote, and waits until the log can
// do without it. One that stops keeps its vote: it returns with its disk. If it could not
// report its promise, its Past does when it returns. Voters become fewer only by leaving,
// or by an operator's order.
//
// # Numbers of processes
//
// An epoch is never used twice, even if a backup is restored, once or again, or a
// cluster without a disk is founded again: the epoch then jumps ahead, to the time of
// the wall clock. Therefore all numbers that must never be used twice are derived from
// an epoch. The incarnation of a member is 64 times the epoch that admitted it plus its
// place among those admitted with it, and so is the number of a voter. An index of the
// log would not do, because it goes back when a backup is restored. The disks of most
// voters may also be replaced by older copies. Therefore all messages to the leader carry
// the highest epoch that their sender has seen, and the next epoch is above all of them.
package views
