package sim

import "slices"

// An event is something that will happen: what, when, where. Events at the
// same time happen in the order in which they were scheduled.
type event struct {
	at   int64
	seq  uint64
	slot int32  // deliver: the payload
	proc int32  // where
	arg  int32  // deliver: the sender. expire: the timer. script: the action. believe: who is dead.
	left uint16 // deliver, to all others: how many more there are after proc
	kind eventKind
}

type eventKind uint8

const (
	deliver eventKind = iota
	ask
	leave
	start
	expire
	script
	believe // elections: a process is told that another is dead
)

// A queue is a heap of events in which every node has four children.
type queue struct {
	heap []event
	seq  uint64
}

func (a *event) before(b *event) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// push schedules e, and numbers it.
func (q *queue) push(e event) uint64 {
	q.seq++
	e.seq = q.seq
	q.again(e)
	return e.seq
}

// pushAll schedules a delivery to all others, from the first to the last: n
// events that are kept as one.
func (q *queue) pushAll(e event, n int) {
	e.proc = 0
	if e.arg == 0 {
		e.proc = 1
	}
	e.left = uint16(n - 1)
	q.push(e)
	q.seq += uint64(n - 1)
}

// afterAll is added to the number of an event that is to come after everything
// else of its time: a message that takes the longest still comes before the
// timeout that waits for it.
const afterAll = 1 << 63

// pushLast schedules e behind everything else of its time.
func (q *queue) pushLast(e event) uint64 {
	q.seq++
	e.seq = q.seq | afterAll
	q.again(e)
	return e.seq
}

// again schedules an event that has its number already.
func (q *queue) again(e event) {
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

// pop takes out the next event. The queue must not be empty.
func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	if top.left > 0 {
		// The next part of the broadcast has the next number, so it is first.
		next := &h[0]
		next.left--
		next.seq++
		next.proc++
		if next.proc == next.arg {
			next.proc++
		}
		return top
	}
	last := h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[best]) {
				best = c
			}
		}
		if !h[best].before(&last) {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = last
	return top
}

// has reports whether an event of one of these kinds is scheduled.
func (q *queue) has(kinds ...eventKind) bool {
	return slices.ContainsFunc(q.heap, func(e event) bool { return slices.Contains(kinds, e.kind) })
}
