package kernel

import (
	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A Tag is a host's mark on a message or a timer. Only the host knows its meaning.
type Tag uint32

// A Handler is notified of what happens, and does what follows from it.
type Handler interface {
	// Deliver hands over a message that has arrived. The slot is valid until Deliver
	// returns.
	Deliver(from, to algorithm.ID, slot int32)
	// Expired notifies a process that a timer has expired.
	Expired(p algorithm.ID, t Timer, tag Tag)
	// Believed notifies a process that another one is dead.
	Believed(p, dead algorithm.ID)
	// Called returns the name of a kind of message, as scenarios know it.
	Called(m *Slot) string
	// Describe fills in what the user sees of a message: name, fields, section. The
	// event's process is where the event happens.
	Describe(e *trace.Event, m *Slot)
}

// A Config configures a Kernel.
type Config struct {
	Processes int
	Latency   scenario.Dist // latency of a message
	Links     []script.Link // latencies of single links, where they differ
	Network   algorithm.Network
	Seed      uint64
	Exact     bool // Latency is exact on any network; otherwise a network that reorders varies it
	Adversary bool // there may be faults
	Steps     bool // messages and timers wait for the adversary, and nothing takes time
	Detects   bool // live processes are notified of crashes
	Names     []string
	Observe   func(e trace.Event) // called for everything that happens; nil is fastest
}

// A Kernel runs processes.
type Kernel struct {
	// Happen receives the events that the host has scheduled itself by At. The event is
	// valid until Happen returns.
	Happen func(e *Event)

	network
	handler Handler
	queue   queue
	now     int64
	plain   bool                // messages are only ever delivered, after a constant time
	timers  [][]running         // those of each process, in order
	ticks   int                 // number of timers started or stopped so far
	faults  *faults             // nil if there are none
	manual  bool                // messages and timers wait in flight for the adversary
	fifo    bool                // even the adversary has to keep the order of each link, unless it reorders
	detects bool                // processes are notified of crashes
	flight  []Event             // manual: messages in flight, in order of sending
	observe func(e trace.Event) // nil if there is no observer
	steps   int                 // events observed
	names   []string
}

// New returns a kernel that notifies h of what happens.
func New(c Config, h Handler) *Kernel {
	k := &Kernel{handler: h, manual: c.Steps, detects: c.Detects && !c.Steps, observe: c.Observe, names: c.Names}
	k.fifo = ordered(c.Network)
	if c.Steps {
		c.Latency, c.Links, c.Network = scenario.Always(1), nil, algorithm.FIFO // the adversary decides, not chance
	}
	k.network.init(c)
	k.timers = make([][]running, c.Processes)
	if c.Adversary {
		k.faults = newFaults(c.Processes)
		if k.fifo {
			k.remember() // a message may be delayed, and then those behind it are, too
		}
	}
	k.plain = k.constant && !c.Adversary && c.Observe == nil
	return k
}

// Processes returns the number of processes.
func (k *Kernel) Processes() int { return k.n }

// Steps reports whether messages and timers wait for the adversary.
func (k *Kernel) Steps() bool { return k.manual }

// Name returns the displayed name of a process.
func (k *Kernel) Name(p algorithm.ID) string {
	if p >= 0 && int(p) < len(k.names) {
		return k.names[p]
	}
	return p.String()
}

// Now returns the time in ticks or, in steps, the number of the action.
func (k *Kernel) Now() int64 { return k.now }

// Wait advances time to a moment at which nothing happens.
func (k *Kernel) Wait(until int64) { k.now = until }

// Unit returns the unit of timers: the maximum time that a message may take, on any link.
func (k *Kernel) Unit() int64 { return k.unit }

// Pending reports whether any event is scheduled.
func (k *Kernel) Pending() bool { return len(k.queue.heap) > 0 }

// Due returns the time of the next event. There must be one.
func (k *Kernel) Due() int64 { return k.queue.heap[0].At }

// Len returns the number of scheduled events; a broadcast counts as one.
func (k *Kernel) Len() int { return len(k.queue.heap) }

// At schedules an event of the host's own, and returns its number. An event at a process
// waits while the process is paused and is lost if it is dead; one at no process always
// happens.
func (k *Kernel) At(at int64, kind EventKind, p algorithm.ID, arg int) uint64 {
	return k.queue.push(&Event{At: at, proc: int32(p), arg: int32(arg), Kind: kind})
}

// Has reports whether an event of one of these kinds is scheduled.
func (k *Kernel) Has(kinds ...EventKind) bool { return k.queue.has(kinds...) }

// Step processes the next event. There must be one.
func (k *Kernel) Step() {
	e := k.queue.pop()
	k.now = e.At
	if e.Kind == deliver {
		k.deliver(e)
		return
	}
	if k.faults != nil && e.proc >= 0 && k.holdBack(e) {
		return
	}
	switch e.Kind {
	case expire:
		k.expire(e)
	case believe:
		k.believed(e)
	default:
		k.Happen(e)
	}
}

// Send sends a message, as the network does.
func (k *Kernel) Send(from, to algorithm.ID, slot int32) {
	if k.plain {
		k.queue.push(&Event{At: k.now + k.latency.A, slot: slot, proc: int32(to), arg: int32(from), Kind: deliver})
		return
	}
	if k.faults != nil && k.intercept(from, to, slot) {
		return
	}
	if k.loses() {
		k.Lose(from, to, slot)
		return
	}
	k.schedule(from, to, slot, k.delay(from, to))
	if k.doubles() {
		k.double(from, to, slot)
	}
}

// SendLate sends a message that takes longer than the network's delay by more. It is for
// hosts that have an adversary of their own: chance neither loses nor copies such a
// message.
func (k *Kernel) SendLate(from, to algorithm.ID, slot int32, more int64) {
	k.schedule(from, to, slot, k.delay(from, to)+more)
}

// Lose loses a message as soon as it is sent.
func (k *Kernel) Lose(from, to algorithm.ID, slot int32) {
	n := k.Number()
	k.noteMessage(trace.Send, from, to, n, slot)
	k.noteMessage(trace.Drop, from, to, n, slot)
	k.drop(slot)
}

// double delivers a message once more. No process sends the copy: the network makes it.
func (k *Kernel) double(from, to algorithm.ID, slot int32) {
	k.slots[slot].refs++
	k.put(from, to, slot, k.delay(from, to))
	k.noteMessage(trace.Duplicate, from, to, int(k.queue.seq), slot)
}

// Broadcast sends a message to all others.
func (k *Kernel) Broadcast(from algorithm.ID, slot int32) {
	if n := k.n - 1; k.plain && n > 1 && n <= maxBroadcast {
		k.queue.pushAll(&Event{At: k.now + k.latency.A, slot: slot, arg: int32(from), Kind: deliver}, n)
		return
	}
	for to := range algorithm.ID(k.n) {
		if to != from {
			k.Send(from, to, slot)
		}
	}
}

// schedule sends a message that arrives after delay, and returns when.
func (k *Kernel) schedule(from, to algorithm.ID, slot int32, delay int64) int64 {
	at := k.put(from, to, slot, delay)
	k.noteMessage(trace.Send, from, to, int(k.queue.seq), slot)
	return at
}

// put sends a message under the next number, and returns when it arrives.
func (k *Kernel) put(from, to algorithm.ID, slot int32, delay int64) int64 {
	at := k.arrival(from, to, k.now+delay)
	e := Event{At: at, slot: slot, proc: int32(to), arg: int32(from), Kind: deliver}
	if k.manual {
		e.Seq = uint64(k.Number())
		k.flight = append(k.flight, e)
	} else {
		k.queue.push(&e)
	}
	return at
}

// deliver hands over a message that has arrived.
func (k *Kernel) deliver(e *Event) {
	if k.faults != nil && k.holdBack(e) {
		return
	}
	from, to := algorithm.ID(e.arg), algorithm.ID(e.proc)
	if k.observe != nil {
		k.noteMessage(trace.Receive, to, from, int(e.Seq), e.slot)
	}
	k.handler.Deliver(from, to, e.slot)
	k.drop(e.slot)
}

// Observed reports whether there is an observer: only then do events need to be reported.
func (k *Kernel) Observed() bool { return k.observe != nil }

// Number returns the next number of a message or an event.
func (k *Kernel) Number() int {
	k.queue.seq++
	return int(k.queue.seq)
}

// Note reports to the observer, if any, that something has happened now.
func (k *Kernel) Note(e trace.Event) {
	if k.observe == nil {
		return
	}
	e.Step, e.At = k.steps, k.now
	k.steps++
	k.observe(e)
}

func (k *Kernel) noteMessage(kind trace.Kind, p, peer algorithm.ID, n int, slot int32) {
	if k.observe == nil {
		return
	}
	e := trace.Event{Kind: kind, Proc: p, Peer: peer, Msg: n}
	k.handler.Describe(&e, &k.slots[slot])
	k.Note(e)
}
