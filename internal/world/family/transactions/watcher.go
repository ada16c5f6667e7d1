package transactions

import "github.com/stile-lock/stile/algorithm"

// A Watcher is told what becomes of transactions, before it is so unless
// something else is said. It counts false reports and wrong victims, which are
// not broken then: in a long run there are always some that come too late.
type Watcher interface {
	Asks(p algorithm.ID, lock int) // for a lock
	Got(p algorithm.ID, lock int)  // has it now
	Commits(p algorithm.ID)
	// Told is told who has been told to abort, for which deadlock, what is
	// wrong with that, if anything, and whether it is because a site is dead.
	Told(p algorithm.ID, cycle []algorithm.ID, wrong string, burying bool)
	Aborts(p algorithm.ID)  // ends its attempt
	Aborted(p algorithm.ID) // has done so, and may try again
	Loses(p algorithm.ID)   // gives up its transaction for good
	Dies(p algorithm.ID)    // with its site
	Arrived(p algorithm.ID) // its request has, which may have closed a cycle
}
