// Package recovery composes a lock with an election, so that the lock survives the death
// of processes. Neither algorithm knows of the other, and the lock knows nothing of
// failures.
//
// There is one mechanism for all locks. A lock runs in a view: a number, the epoch, and
// its members. When a member dies,
//
//  1. each process that learns of it stops its lock: no process enters any
//     longer in that epoch. It requests an election, and reports to the leader,
//     once for each epoch and leader, whether it is inside;
//  2. the leader waits for the reports of all live processes. Then it knows
//     which one is inside, and that no other can enter, and makes the next view
//     of all live processes. The view starts with the lock held by that process,
//     or else free and with the leader;
//  3. each process that learns of the view creates its lock anew from it, and
//     requests again if it waits. Frames of older epochs are dropped; frames of
//     a newer one are kept until its view has arrived.
//
// So the coordinator of central is the leader, and its queue is rebuilt by the waiting
// processes; a ring closes; there is exactly one token, because a view starts with one;
// quorums and trees are those of the smaller group, which is how a voter is replaced; a
// process that died while choosing in the bakery does not exist in the new view, and so
// reads as number 0, not choosing; and Dijkstra's P0 is the process at the first seat.
//
// A view can end without a death, too. The leader then orders all members to stop, and
// the rest is the same. It does so when a process joins, which is new or has come back
// and remembers nothing (join.go); and, if patience is finite, when a process has waited
// for long and none is inside, because a message may be lost (doubt.go).
//
// # What it needs
//
// A perfect failure detector: every process that dies is eventually suspected by all, and
// no live process ever is. If a live process were suspected, it could stay inside while
// others enter. The views of a live group do not need that: they use a majority and
// leases. It also needs channels that preserve order.
package recovery
