package transactions

import "github.com/stile-lock/stile/algorithm"

// A Watcher is notified of what happens to transactions, before the change takes effect
// unless stated otherwise. With a Watcher, false reports and wrong victims are counted
// instead of being violations: in a long run some always come too late.
type Watcher interface {
	Asks(p algorithm.ID, lock int) // asks for a lock
	Got(p algorithm.ID, lock int)  // has acquired the lock
	Commits(p algorithm.ID)
	// Told reports which process has been ordered to abort, for which deadlock, what is
	// wrong with that, if anything, and whether the reason is a dead site.
	Told(p algorithm.ID, cycle []algorithm.ID, wrong string, burying bool)
	Aborts(p algorithm.ID)    // is ending its attempt
	Aborted(p algorithm.ID)   // has ended it, and may try again
	Cancelled(p algorithm.ID) // has given up the lock that it waited for, and may go on
	Loses(p algorithm.ID)     // is giving up its transaction for good
	Dies(p algorithm.ID)      // dies with its site
	Arrived(p algorithm.ID)   // its request has arrived, which may have closed a cycle
}
