package family

import "github.com/stile-lock/stile/scenario"

// The properties that an Env, or a host, can see broken, and those that are
// found in the whole of what can happen.
const (
	MutualExclusion = scenario.MutualExclusion // never two inside; never two holders of one lock
	UnaskedGrant    = "granted-unasked"        // who gets a lock has asked for it
	IdleVictim      = "victim-idle"            // who is told to abort has a transaction
	UnaskedEntry    = scenario.UnaskedEntry    // who enters has asked, and is not inside already
	LostRequest     = scenario.LostRequest     // who asks gets in before the run is over
	NoDeadlock      = "freedom from deadlock"  // nobody waits for ever, in one run
	Deadlock        = "deadlock"               // somebody waits and nothing can happen
	Starvation      = "starvation"             // a fair run in which somebody waits for ever
	Order           = scenario.Order           // ME3, causality through the algorithm's messages
	OrderOpen       = "order-open"             // ME3, applications talk too
	Bypass          = "bypass"                 // how many entries of others a waiting process sees
	Token           = "token"                  // never two tokens
	Fence           = "fence"                  // the entry count rises by exactly one
	Channels        = "channels"               // messages do not pile up on a link without bound
	Start           = "start"                  // every start of a view is legitimate
	Alibi           = "alibi"                  // who is given an alibi is not inside
	Convergence     = "convergence"            // it comes right from every state
	FalseReport     = "false-report"           // a deadlock is reported that is none, though nobody has aborted yet
	OneVictim       = "one-victim"             // of a deadlock exactly the youngest is told to abort
	Cycle           = "cycle"                  // transactions wait for each other in a ring, where none ever may: a deadlock
)
