// Package views is what the view service decides, pure: no I/O, no clock, no
// chance. A replicated log makes it safe.
//
//   - A Record is all that is replicated: the present view, who its members are
//     and where, the ghosts, the algorithms, the settings, the voters. No renewal
//     and no lock is ever in it.
//   - A Change is the one kind of entry of the log. Apply makes of a record and a
//     change the next record, on every voter the same, or finds the change void.
//   - A Leader is what a voter does with the messages of members. On the voter
//     that leads it counts leases and proposes changes; all that it knows beyond
//     the record is forgotten with its term.
//   - A roster is what the leader knows when it decides who votes. The invariant, what
//     the log may rest on, is its predicate mayRest.
//   - A Membership is the other end: what the host of a member, or of one that
//     wants to be, says to voters, and to which of them.
//   - A Replica is a voter at work: its log, the record that the entries make, and a
//     warden. A Store is where a voter keeps its log, and a Log is the log itself, as
//     far as a clerk needs it. Both are made in engine/raft.
//
// What the log must give: entries are applied in one order on all voters; a
// voter that leads calls Lead when it has applied the first entry of its own
// term; a read that it begins is confirmed only if a majority has taken it for
// the leader after the read began.
//
// Numbers of processes. An epoch is never used twice, even if a backup is
// restored, once or again, or a cluster without a disk is founded again: the epoch
// then jumps ahead, to the time of the wall clock. Therefore all numbers that must
// never be used twice are made of an epoch: the incarnation of a member is 64 times
// the epoch that admitted it plus its place among those admitted with it, and so is
// the number of a voter. An index of the log would not do, because it goes back
// when a backup is restored.
package views
