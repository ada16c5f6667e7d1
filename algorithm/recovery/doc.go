// Package recovery composes a lock with an election, so that the lock goes on
// when processes die. Neither algorithm knows of the other, and the lock knows
// nothing of failures.
//
// There is one mechanism for all locks. A lock runs in a view: a number, the
// epoch, and its members. When a member dies,
//
//  1. whoever is told so stops its lock: nobody gets inside any more in that
//     epoch. It asks for an election, and reports to the leader, once for
//     each epoch and leader, whether it is inside;
//  2. the leader waits for the reports of all who are alive. Then it knows who
//     is inside, and that nobody else can get there, and makes the next view
//     of all who are alive, born held by that one, or else free and with the
//     leader;
//  3. everybody who is told of the view makes its lock anew from it, and asks
//     again if it waits. Frames of older epochs are dropped; frames of a newer
//     one are kept until its view has come.
//
// So the coordinator of central is the leader, and its queue is rebuilt by
// those who wait; a ring closes; there is exactly one token, since a view is
// born with one; quorums and trees are those of the smaller group, which is
// how a voter is taken over; a process that died while choosing in the bakery
// does not exist in the new view, and so reads as number 0, not choosing; and
// Dijkstra's P0 is whoever has the first seat.
//
// A view can end without a death, too. The leader then tells everybody to stop,
// and the rest is the same. It does so when a process joins, which is new or has
// come back and remembers nothing (join.go); and, if patience ends, when one has
// waited for long and nobody is inside, since a message may be lost (doubt.go).
//
// # What it needs
//
// A perfect failure detector: everybody who dies is suspected by everybody in
// the end, and nobody who lives ever is. If a live process were suspected, it
// could stay inside while others get in. The views of a live group do not need
// that: they use a majority and leases. And channels that keep the order.
package recovery
