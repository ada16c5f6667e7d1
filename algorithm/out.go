package algorithm

import (
	"fmt"
	"slices"
)

// Out is how an algorithm says what it wants done.
type Out[M any] struct {
	outbox
	msg M // the message being sent
}

// Send sends m to one process.
func (o *Out[M]) Send(to ID, m M) {
	o.msg = m
	o.send(to)
}

// Broadcast sends m to all others, as one multicast.
func (o *Out[M]) Broadcast(m M) {
	o.msg = m
	o.broadcast()
}

// Multicast sends m to every member of the set, as one multicast.
func (o *Out[M]) Multicast(to *Set, m M) {
	o.msg = m
	o.multicast(to)
}

// An outbox is what an Out is whatever the type of its messages: what depends on that
// type is compiled for each of dozens.
type outbox struct {
	o     *Output
	self  ID
	code  Fielder // the message being sent
	coder Coder
	kinds []string // the names of the kinds of messages, if they are known
	last  uint8    // the last kind that there is
	txs   int      // how many transactions there are, at all sites; 0 where there are no sites
	firm  bool     // no request may be denied: the Spec does not say TryLock
	err   error    // the first mistake of this step
}

// fail notes a mistake of the algorithm: the step ends with an error.
func (o *outbox) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%w: %s", ErrAlgorithm, fmt.Sprintf(format, args...))
	}
}

// Fail ends the step with an error, that of a machine within this one.
func (o *outbox) Fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// astray notes a message to a seat that does not exist.
func (o *outbox) astray(to ID) {
	lo, _, kind := o.encode()
	o.o.buf = o.o.buf[:lo]
	if to == None {
		o.fail("%v sent %s to nobody: its recipient is core.None", o.self, called(o.kinds, kind))
		return
	}
	o.fail("%v sent %s to seat %d of %d", o.self, called(o.kinds, kind), int(to)+1, o.coder.n)
}

// called returns what people call a kind of message.
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
	o.o.Sends = append(o.o.Sends, Send{To: to, Kind: kind, Group: o.group(), lo: lo, hi: hi})
}

// broadcast sends the message to all others.
func (o *outbox) broadcast() {
	if o.coder.n < 2 {
		return
	}
	group := o.group()
	lo, hi, kind := o.encode()
	for id := range ID(o.coder.n) {
		if id != o.self {
			o.o.Sends = append(o.o.Sends, Send{To: id, Kind: kind, Group: group, lo: lo, hi: hi})
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
		o.o.Sends = append(o.o.Sends, Send{To: id, Kind: kind, Group: group, lo: lo, hi: hi})
	}
}

// Enter says that the process is now inside the critical section.
func (o *outbox) Enter() { o.o.Entered = true }

// Deny refuses the process's request: it is idle again. It is for algorithms
// whose Spec says TryLock.
func (o *outbox) Deny() {
	if o.firm {
		o.fail("%v denied a request, which its Spec does not say that it does: set TryLock", o.self)
	}
	o.tell(Notice{Kind: Denied})
}

// Lead tells the application who leads, or with None that nobody is known to.
func (o *outbox) Lead(id ID) {
	if id < None || int(id) >= o.coder.n {
		o.fail("%v told that seat %d of %d leads", o.self, int(id)+1, o.coder.n)
	}
	o.tell(Notice{Kind: Leader, Who: id})
}

// Abort names the victim that is to break a deadlock.
func (o *outbox) Abort(victim ID, cycle []ID) {
	o.about(victim)
	o.tell(Notice{Kind: Victim, Who: victim, Cycle: slices.Clone(cycle)})
}

// Refuse tells a transaction that it may not have the lock it asked for.
func (o *outbox) Refuse(tx ID) {
	o.about(tx)
	o.tell(Notice{Kind: Denied, Who: tx})
}

// Grant tells a transaction that it has the lock it asked for.
func (o *outbox) Grant(tx ID) {
	o.about(tx)
	o.tell(Notice{Kind: Granted, Who: tx})
}

// Hear tells that a request of a transaction has come to the site of the lock.
func (o *outbox) Hear(tx ID, attempt uint64) {
	o.about(tx)
	o.tell(Notice{Kind: Heard, Who: tx, Attempt: attempt})
}

// Doom tells that a transaction, which is at home at another site, must abort:
// a message that says so is on its way.
func (o *outbox) Doom(tx ID, attempt uint64) {
	o.about(tx)
	o.tell(Notice{Kind: Doomed, Who: tx, Attempt: attempt})
}

// about notes that something is told of a transaction that does not exist.
func (o *outbox) about(tx ID) {
	switch {
	case uint(tx) < uint(o.txs):
	case o.txs == 0:
		o.fail("%v told something of a transaction: only a Site has any", o.self)
	default:
		o.fail("%v told something of transaction %d of %d", o.self, int(tx)+1, o.txs)
	}
}

// MaxTimer is the largest number of a timer, and maxAfter for how many units one
// is set at most: hosts keep both in less than an int.
const (
	MaxTimer = 1 << 16
	maxAfter = 1 << 30
)

// SetTimer asks for Expire(timer) after so many units; see Notice. Timers are
// numbered from 0 to MaxTimer.
func (o *outbox) SetTimer(timer, after int) {
	switch {
	case timer < 0 || timer > MaxTimer:
		o.fail("%v set timer %d: want 0 to %d", o.self, timer, MaxTimer)
	case after < 0 || after > maxAfter:
		o.fail("%v set timer %d for %d units: want 0 to %d", o.self, timer, after, maxAfter)
	}
	o.tell(Notice{Kind: SetTimer, Timer: timer, After: after})
}

// StopTimer lets a timer that was set never run out.
func (o *outbox) StopTimer(timer int) { o.SetTimer(timer, 0) }

func (o *outbox) tell(n Notice) { o.o.Notices = append(o.o.Notices, n) }

func (o *outbox) group() int32 {
	if n := len(o.o.Sends); n > 0 {
		return o.o.Sends[n-1].Group + 1
	}
	return 0
}

func (o *outbox) encode() (lo, hi int32, kind uint8) {
	lo = int32(len(o.o.buf))
	o.coder.buf = o.o.buf
	o.code.Fields(&o.coder)
	o.o.buf = o.coder.buf
	if kind = o.o.buf[lo]; kind > o.last {
		o.fail("%v sent a message of kind %d: the last there is is %d", o.self, kind, o.last)
	}
	return lo, int32(len(o.o.buf)), kind
}

func (o *outbox) keep() {
	at := len(o.o.loop)
	o.coder.buf = append(o.o.loop, 0, 0, 0)
	o.code.Fields(&o.coder)
	o.o.loop = o.coder.buf
	size := len(o.o.loop) - at - 3
	o.o.loop[at], o.o.loop[at+1], o.o.loop[at+2] = byte(size), byte(size>>8), byte(size>>16)
}
