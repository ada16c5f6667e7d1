// Package deadlock deals with transactions that hold some locks and wait for others,
// across sites. It provides graphs that show which transaction waits for which, and
// methods that prevent or avoid deadlocks, or detect and break them.
//
// # Graphs
//
// An [Allocation] has resources with several instances each, request edges and assignment
// edges; reducing it shows which transactions are deadlocked. A [Bank] lends such
// resources and stays safe. A [Graph] is a wait-for graph. The global graph is the union
// of the local ones: even if no local graph has a cycle, the global one may.
//
// # Methods
//
// A method runs at sites. A site is a seat of an [algorithm.Machine]: it is the home of
// some transactions and keeps some locks. Transactions are numbered across all sites, and
// so are locks; a [Layout] says which is where. A host informs a site of what its
// transactions do:
//
//	Claim    tx may request lock Arg: before the first request, if Method.Claims
//	Request  tx requests lock Arg, and waits until it is notified
//	Release  tx commits: all its locks are free
//	Abort    tx gives up: all its locks are free, and it will try again
//
// A site answers with notices: Granted, tx has the lock; Victim, tx must now abort, with
// the cycle if there is one; Denied, tx may not have this lock, because the request came
// out of order or the lock's site is dead. A transaction has at most one outstanding
// request, which it may cancel, and all locks are freed together at the end. A request has
// a [Mode]. The part of a site that keeps one lock is a [Keeper]. [Deadlocks] reduces the
// graph of a coordinator, [Paths] pushes paths from site to site, and both make [Inquiries]
// before a transaction aborts. A lock service can host these as well.
//
// A transaction that aborts keeps its stamp, and so its age, until it commits. Every
// attempt has a number of its own: messages about another one are void.
//
// Methods are safe and live on FIFO channels. A site may die: a perfect failure detector
// then notifies every other site, by Suspect, and later messages from the dead site are
// void. A dead site does not come back.
package deadlock
