// Package deadlock is about transactions that hold some locks and wait for
// others, across sites: graphs that show who waits for whom, and methods that
// keep deadlocks from happening, or find and break them.
//
// # Graphs
//
// An [Allocation] has resources with several instances each, request edges and
// assignment edges; reducing it tells who is deadlocked. A [Bank] lends such
// resources and stays safe. A [Graph] is a wait-for graph. The global graph is
// the union of the local ones: that no local graph has a cycle does not mean
// that the global one has none. Both text and SVG draw each cycle as a ring of
// its own.
//
// # Methods
//
// A method runs at sites. A site is a seat of a [algorithm.Machine]: it is the home
// of some transactions and keeps some locks. Transactions are numbered across
// all sites, and so are locks; a [Layout] says which is where. A host tells a
// site what its transactions do:
//
//	Claim    tx may ask for lock Arg: before the first request, if Method.Claims
//	Request  tx asks for lock Arg, and waits until it is told
//	Release  tx commits: all its locks are free
//	Abort    tx gives up: all its locks are free, and it will try again
//
// and a site answers with notices: Granted, the lock is tx's; Victim, tx must
// now abort, with the cycle if there is one; Denied, tx may not have this lock,
// because it came out of order or its site is dead. A transaction has at most
// one request out, a lock has one instance, and all locks are freed together at
// the end. So everybody waits for one other at most, and that is what the
// detectors rely on.
//
// A transaction that aborts keeps its stamp, and so its age, until it commits.
// Every attempt has a number of its own: messages about another one are void.
//
// Methods are safe and live on FIFO channels. A site may die: a perfect failure
// detector then tells every other site, by Suspect, and what comes later from
// the dead one is void. A dead site does not come back.
package deadlock
