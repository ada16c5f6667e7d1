package trial

import "github.com/stile-lock/stile/core"

type eventKind uint8

const (
	deliver eventKind = iota
	act               // a process asks for its next lock, or commits
	expire
	crash
	bury // a site is told that another one is dead
)

// An event is something that will happen. Events at the same time happen in
// the order in which they were scheduled.
type event struct {
	at      int64
	seq     uint64
	kind    eventKind
	site    core.ID // deliver, expire, bury: where. crash: which.
	from    core.ID // deliver: the sender. bury: the dead one.
	proc    int     // act: who. deliver: whose request it is, or -1.
	gen     int     // act: whether it still holds
	attempt uint64  // deliver: of the request
	timer   int
	bytes   []byte
	name    string // deliver: the kind of message
}

// A queue is a heap of events.
type queue struct {
	heap []event
	seq  uint64
}

func (a *event) before(b *event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

func (q *queue) push(e event) uint64 {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h := q.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	return e.seq
}

func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h[last] = event{}
	h = h[:last]
	q.heap = h
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
