package algorithm

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm/host"
)

// Out collects what an algorithm wants done.
type Out[M any] struct {
	outbox
	msg M // the message being sent
}

// Send sends m to one process.
func (o *Out[M]) Send(to ID, m M) {
	o.msg = m
	o.send(to)
}

// Broadcast sends m to all other processes, as one multicast.
func (o *Out[M]) Broadcast(m M) {
	o.msg = m
	o.broadcast()
}

// Multicast sends m to every member of the set, as one multicast.
func (o *Out[M]) Multicast(to *Set, m M) {
	o.msg = m
	o.multicast(to)
}

// An outbox is the part of an Out that does not depend on the type of its messages:
// whatever does is compiled once for each of dozens of types.
type outbox struct {
	o     *host.Output
	loop  []byte // messages to self, each preceded by its length
	self  ID
	code  Fielder // the message being sent
	coder Coder
	kinds []string // names of the message kinds, if known
	last  uint8    // the last message kind
	txs   int      // number of transactions, at all sites; 0 where there are no sites
	rules []Rule   // rules of the Spec
	firm  bool     // whether no request may be denied: the Spec does not set TryLock
	err   error    // the first mistake of this step
}

// fail records a mistake of the algorithm: the step ends with an error.
func (o *outbox) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%w: %s", host.ErrAlgorithm, fmt.Sprintf(format, args...))
	}
}

// Fail ends the step with err, the error of an inner machine.
func (o *outbox) Fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// astray records a message to a seat that does not exist.
func (o *outbox) astray(to ID) {
	lo, _, kind := o.encode()
	o.o.Buffer = o.o.Buffer[:lo]
	if to == None {
		o.fail("%v sent %s to algorithm.None: name a recipient", o.self, called(o.kinds, kind))
		return
	}
	o.fail("%v sent %s to seat %d of %d", o.self, called(o.kinds, kind), int(to)+1, o.coder.n)
}

// called returns the name of a message kind.
func called(kinds []string, kind uint8) string {
	if int(kind) < len(kinds) {
		return kinds[kind]
	}
	return fmt.Sprintf("a message of kind %d", kind)
}

// send sends the message to one process.
func (o *outbox) send(to ID) {
	if uint(to) >= uint(o.coder.n) {
		o.astray(to)
		return
	}
	if to == o.self {
		o.keep()
		return
	}
	lo, hi, kind := o.encode()
	o.o.Sends = append(o.o.Sends, host.Send{To: to, Kind: kind, Group: o.group(), Lo: lo, Hi: hi})
}

// broadcast sends the message to all other processes.
func (o *outbox) broadcast() {
	if o.coder.n < 2 {
		return
	}
	group := o.group()
	lo, hi, kind := o.encode()
	for id := range ID(o.coder.n) {
		if id != o.self {
			o.o.Sends = append(o.o.Sends, host.Send{To: id, Kind: kind, Group: group, Lo: lo, Hi: hi})
		}
	}
}

// multicast sends the message to every member of the set.
func (o *outbox) multicast(to *Set) {
	group := o.group()
	var lo, hi int32
	var kind uint8
	for id := to.Next(0); id != None; id = to.Next(id + 1) {
		if int(id) >= o.coder.n {
			o.astray(id)
			return
		}
		if id == o.self {
			o.keep()
			continue
		}
		if hi == 0 {
			lo, hi, kind = o.encode()
		}
		o.o.Sends = append(o.o.Sends, host.Send{To: id, Kind: kind, Group: group, Lo: lo, Hi: hi})
	}
}

// Enter reports that the process is now inside the critical section.
func (o *outbox) Enter() { o.o.Entered = true }

// Deny refuses the process's request, after which the process is idle again. Only
// algorithms whose Spec sets TryLock may call it.
func (o *outbox) Deny() {
	if o.firm {
		o.fail("%v denied a request: set TryLock in the Spec", o.self)
	}
	o.tell(host.Notice{Kind: host.Denied})
}

// Lead reports the leader to the application, or with None that no leader is known.
func (o *outbox) Lead(id ID) {
	if id < None || int(id) >= o.coder.n {
		o.fail("%v reported seat %d of %d as leader", o.self, int(id)+1, o.coder.n)
	}
	o.tell(host.Notice{Kind: host.Leader, Who: id})
}

// Abort names the victim that must be aborted to break a deadlock.
func (o *outbox) Abort(victim ID, cycle []ID) {
	o.about(victim)
	o.tell(host.Notice{Kind: host.Victim, Who: victim, Cycle: slices.Clone(cycle)})
}

// Refuse notifies a transaction that it may not have the lock it requested.
func (o *outbox) Refuse(tx ID) {
	o.about(tx)
	o.tell(host.Notice{Kind: host.Denied, Who: tx})
}

// Grant notifies a transaction that it has the lock it requested.
func (o *outbox) Grant(tx ID) {
	o.about(tx)
	o.tell(host.Notice{Kind: host.Granted, Who: tx})
}

// Hear reports that a request of a transaction has arrived at the lock's site.
func (o *outbox) Hear(tx ID, attempt uint64) {
	o.about(tx)
	o.tell(host.Notice{Kind: host.Heard, Who: tx, Attempt: attempt})
}

// Doom reports that a transaction whose home is another site must abort, and that a
// message saying so is in flight.
func (o *outbox) Doom(tx ID, attempt uint64) {
	o.about(tx)
	o.tell(host.Notice{Kind: host.Doomed, Who: tx, Attempt: attempt})
}

// about records a report on a transaction that does not exist.
func (o *outbox) about(tx ID) {
	switch {
	case uint(tx) < uint(o.txs):
	case o.txs == 0:
		o.fail("%v reported on a transaction: only a Site has any", o.self)
	default:
		o.fail("%v reported on transaction %d of %d", o.self, int(tx)+1, o.txs)
	}
}

// maxAfter is the largest number of units for which a timer can be set: hosts keep it in
// less than an int.
const maxAfter = 1 << 30

// SetTimer requests Expire(timer) after the given number of units; see Notice. Timers are
// numbered from 0 to host.MaxTimer.
func (o *outbox) SetTimer(timer, after int) {
	switch {
	case timer < 0 || timer > host.MaxTimer:
		o.fail("%v set timer %d: want 0 to %d", o.self, timer, host.MaxTimer)
	case after < 0 || after > maxAfter:
		o.fail("%v set timer %d for %d units: want 0 to %d", o.self, timer, after, maxAfter)
	}
	o.tell(host.Notice{Kind: host.SetTimer, Timer: timer, After: after})
}

// StopTimer stops a timer, so that it never expires.
func (o *outbox) StopTimer(timer int) { o.SetTimer(timer, 0) }

func (o *outbox) tell(n host.Notice) { o.o.Notices = append(o.o.Notices, n) }

func (o *outbox) group() int32 {
	if n := len(o.o.Sends); n > 0 {
		return o.o.Sends[n-1].Group + 1
	}
	return 0
}

func (o *outbox) encode() (lo, hi int32, kind uint8) {
	lo = int32(len(o.o.Buffer))
	o.coder.buf = o.o.Buffer
	o.code.Fields(&o.coder)
	o.o.Buffer = o.coder.buf
	if kind = o.o.Buffer[lo]; kind > o.last {
		o.fail("%v sent a message of kind %d: the last kind is %d", o.self, kind, o.last)
	}
	return lo, int32(len(o.o.Buffer)), kind
}

func (o *outbox) keep() {
	at := len(o.loop)
	o.coder.buf = append(o.loop, 0, 0, 0)
	o.code.Fields(&o.coder)
	o.loop = o.coder.buf
	size := len(o.loop) - at - 3
	o.loop[at], o.loop[at+1], o.loop[at+2] = byte(size), byte(size>>8), byte(size>>16)
}
