package algorithm

// Mutex is the interface that the author of a mutual exclusion algorithm implements: a
// state with its fields, and the paper's three verbs, over messages of type M.
//
// The message passed to Receive is valid only until Receive returns: copy lists out of
// it. A message to self is received within the same step, after the verb that sent it has
// returned.
type Mutex[M any] interface {
	Fielder
	Request(out *Out[M])
	Release(out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// Site is the interface that the author of a method against deadlock implements. Each
// seat is then a site, with locks and transactions of its own. A transaction requests
// locks one by one (Acquire), each granted by a notice. It ends with Finish, which frees
// all of them, or with Abort, which frees them too and after which the transaction tries
// again.
type Site[M any] interface {
	Fielder
	Claim(tx ID, lock int)
	Acquire(tx ID, lock int, out *Out[M])
	Finish(tx ID, out *Out[M])
	Abort(tx ID, out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// A Sharer is a Site that grants locks not only to one transaction at a time, and whose
// transactions may cancel a request. In AcquireAs, mode 0 is exclusive, -1 is shared, and a
// positive mode is that many units of a semaphore. After Cancel a transaction goes on with
// what it has.
type Sharer[M any] interface {
	AcquireAs(tx ID, lock, mode int, out *Out[M])
	Cancel(tx ID, out *Out[M])
}

// Elector is the interface that the author of an election implements. There is no
// critical section: Request comes whenever the application has noticed that the leader is
// silent, and Out.Lead reports the leader.
type Elector[M any] interface {
	Fielder
	Request(out *Out[M])
	Receive(from ID, m *M, out *Out[M])
}

// A Starter acts without a request, once the group runs.
type Starter[M any] interface{ Start(out *Out[M]) }

// An Expirer sets timers.
type Expirer[M any] interface{ Expire(timer int, out *Out[M]) }

// A Suspecter is notified of peers that the host believes dead.
type Suspecter[M any] interface{ Suspect(id ID, out *Out[M]) }

// A Truster is notified of peers that are back.
type Truster[M any] interface{ Trust(id ID, out *Out[M]) }

// A Hearer has a logical clock that also takes part in the messages between applications.
type Hearer interface {
	Clock() Time
	Hear(t Time)
}

// A Carrier is an algorithm whose messages carry those of other algorithms.
type Carrier interface {
	// Carried returns the inner machine whose message m carries, that message's bytes,
	// and the members at the inner machine's seats: see Coder.Inner. It returns a nil
	// machine if m carries nothing, or nothing that this machine can read now.
	Carried(m Fielder) (within Machine, b []byte, members []ID)
}

// An Alibier can vouch for other seats; see Machine.Alibi.
type Alibier interface{ Alibi(d ID) bool }

// A Message is a pointer to an algorithm's message struct M.
type Message[M any] interface {
	*M
	Fielder
}
