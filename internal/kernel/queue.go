package kernel

import (
	"math"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// An Event is something that will happen: what, when, where. Events at the same time
// happen in the order in which they were scheduled.
type Event struct {
	At   int64
	Seq  uint64 // its number
	slot int32  // deliver: the payload
	proc int32  // process it happens at
	arg  int32  // deliver: sender. expire: timer. believe: dead process. Otherwise up to the host.
	left uint16 // deliver, to all others: receivers left after proc
	Kind EventKind
}

// Proc returns the process at which the event happens, or None.
func (e *Event) Proc() algorithm.ID { return algorithm.ID(e.proc) }

// Arg returns the argument that the host supplied.
func (e *Event) Arg() int { return int(e.arg) }

// An EventKind says what happens.
type EventKind uint8

const (
	deliver EventKind = iota
	expire
	believe // a process is notified that another is dead
	// Own is the first kind of event available to the host.
	Own
)

// maxBroadcast is the maximum number of receivers that one event can stand for.
const maxBroadcast = math.MaxUint16

// A queue is a heap of events in which every node has four children.
type queue struct {
	heap []Event
	top  Event // last event taken out
	seq  uint64
}

func (a *Event) before(b *Event) bool {
	return a.At < b.At || a.At == b.At && a.Seq < b.Seq
}

// push schedules e and numbers it.
func (q *queue) push(e *Event) uint64 {
	q.seq++
	e.Seq = q.seq
	q.again(e)
	return e.Seq
}

// pushAll schedules a delivery to all others, from the first to the last: n events that
// are stored as one.
func (q *queue) pushAll(e *Event, n int) {
	e.proc = 0
	if e.arg == 0 {
		e.proc = 1
	}
	e.left = uint16(n - 1)
	q.push(e)
	q.seq += uint64(n - 1)
}

// afterAll is added to the number of an event that must come after everything else of its
// time: a message that takes the maximum time still precedes the timeout that waits for
// it.
const afterAll = 1 << 63

// pushLast schedules e after everything else of its time.
func (q *queue) pushLast(e *Event) uint64 {
	q.seq++
	e.Seq = q.seq | afterAll
	q.again(e)
	return e.Seq
}

// again schedules an event that already has a number.
func (q *queue) again(e *Event) {
	i := len(q.heap)
	q.heap = append(q.heap, Event{})
	h := q.heap
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = *e
}

// pop removes and returns the next event, which is valid until the next pop. The queue
// must not be empty.
func (q *queue) pop() *Event {
	h := q.heap
	q.top = h[0]
	if h[0].left > 0 {
		// The next part of the broadcast has the next number, so it is first.
		next := &h[0]
		next.left--
		next.Seq++
		next.proc++
		if next.proc == next.arg {
			next.proc++
		}
		return &q.top
	}
	last := &h[len(h)-1]
	q.heap = q.heap[:len(h)-1]
	h = q.heap
	i := 0
	for first := 1; first < len(h); first = 4*i + 1 {
		best, end := first, min(first+4, len(h))
		for c := first + 1; c < end; c++ {
			if h[c].before(&h[best]) {
				best = c
			}
		}
		if !h[best].before(last) {
			break
		}
		h[i] = h[best]
		i = best
	}
	if i < len(h) {
		h[i] = *last
	}
	return &q.top
}

// has reports whether an event of one of these kinds is scheduled.
func (q *queue) has(kinds ...EventKind) bool {
	return slices.ContainsFunc(q.heap, func(e Event) bool { return slices.Contains(kinds, e.Kind) })
}
