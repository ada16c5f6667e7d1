package transactions

import "github.com/stile-lock/stile/core"

// A Watcher is told what becomes of transactions, before it is so unless
// something else is said. It counts false reports and wrong victims, which are
// not broken then: in a long run there are always some that come too late.
type Watcher interface {
	Asks(p core.ID, lock int) // for a lock
	Got(p core.ID, lock int)  // has it now
	Commits(p core.ID)
	// Told is told who has been told to abort, for which deadlock, what is
	// wrong with that, if anything, and whether it is because a site is dead.
	Told(p core.ID, cycle []core.ID, wrong string, burying bool)
	Aborts(p core.ID)  // ends its attempt
	Aborted(p core.ID) // has done so, and may try again
	Loses(p core.ID)   // gives up its transaction for good
	Dies(p core.ID)    // with its site
	Arrived(p core.ID) // its request has, which may have closed a cycle
}
