package algorithm

// Mutex is what the author of an algorithm writes: a state with its fields and
// the paper's three verbs, over messages of type M.
//
// The message that Receive gets lives only until it returns: copy lists out of
// it. A message to self is received within the same step, after the verb that
// sent it has returned.
type Mutex[M any] interface {
	Fielder
	Request(out *Out[M])
	Release(out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// Site is what the author of a method against deadlock writes. A seat is then
// a site, with locks and transactions of its own: a transaction asks for locks
// one by one, each granted by a notice, and ends by Release, which frees them
// all, or by Abort, which does too, and it will try again.
type Site[M any] interface {
	Fielder
	Claim(tx ID, lock int)
	Acquire(tx ID, lock int, out *Out[M])
	Finish(tx ID, out *Out[M])
	Abort(tx ID, out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// Elector is what the author of an election writes. Nobody is inside anything:
// Request comes whenever the application has noticed that the leader is silent,
// and who leads is told by Out.Lead.
type Elector[M any] interface {
	Fielder
	Request(out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// A Starter moves without being asked to, once the group runs.
type Starter[M any] interface{ Start(out *Out[M]) }

// An Expirer sets timers.
type Expirer[M any] interface{ Expire(timer int, out *Out[M]) }

// A Suspecter wants to know who is believed dead.
type Suspecter[M any] interface{ Suspect(id ID, out *Out[M]) }

// A Truster wants to know who is back.
type Truster[M any] interface{ Trust(id ID, out *Out[M]) }

// A Hearer has a logical clock and lets it take part in the messages between
// applications.
type Hearer interface {
	Clock() Time
	Hear(t Time)
}

// A Carrier is an algorithm whose messages carry those of others.
type Carrier interface {
	// Carried returns the machine, within this one, whose message m carries, the
	// bytes of that, and who sits at its seats: see Coder.Inner. It returns no
	// machine if m carries nothing, or nothing that this one can read now.
	Carried(m Fielder) (within Machine, b []byte, members []ID)
}

// An Alibier can vouch for others; see Machine.Alibi.
type Alibier interface{ Alibi(d ID) bool }

// A Message is a pointer to an algorithm's message struct M.
type Message[M any] interface {
	*M
	Fielder
}
