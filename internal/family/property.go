package family

import "github.com/stile-lock/stile/internal/script"

// The properties that an Env, or a host, can see violated, and those found by examining
// everything that can happen.
const (
	MutualExclusion = script.MutualExclusion  // never two inside; never two holders of one lock
	UnaskedGrant    = "granted-unasked"       // a process that is granted a lock has asked for it
	IdleVictim      = "victim-idle"           // a process ordered to abort has a transaction
	UnaskedEntry    = script.UnaskedEntry     // a process that enters has asked, and is not inside already
	LostRequest     = script.LostRequest      // a process that asks gets in before the run ends
	NoDeadlock      = "freedom from deadlock" // no process waits forever, in one run
	Deadlock        = "deadlock"              // a process waits and nothing can happen
	Starvation      = "starvation"            // a fair run in which a process waits forever
	Order           = script.Order            // ME3, causality through the algorithm's messages
	OrderOpen       = "order-open"            // ME3, applications talk too
	Bypass          = "bypass"                // entries of other processes that a waiting process sees
	Token           = "token"                 // never two tokens
	Fence           = "fence"                 // the entry count rises by exactly one
	Channels        = "channels"              // messages do not accumulate on a link without bound
	Start           = "start"                 // every start of a view is legitimate
	Alibi           = "alibi"                 // a process given an alibi is not inside
	Convergence     = "convergence"           // it stabilizes from every state
	FalseReport     = "false-report"          // a reported deadlock does not exist, though no transaction has aborted yet
	OneVictim       = "one-victim"            // in a deadlock exactly the youngest is ordered to abort
	Cycle           = "cycle"                 // transactions wait for each other in a cycle, where that must never happen: a deadlock
)
