package member

// A waiter is a request of an application here.
type waiter struct {
	ticket     Ticket
	client     uint64
	stamp      Stamp   // when it was first made
	deadline   Instant // Never if there is none
	try        bool
	at         *use // the lock that it waits for or holds; nil when it is over
	prev, next *waiter
}

// push puts a waiter behind the others.
func (u *use) push(w *waiter) {
	w.at, w.prev, w.next = u, u.last, nil
	if u.last == nil {
		u.first = w
	} else {
		u.last.next = w
	}
	u.last = w
	u.waiting++
}

// take takes a waiter out.
func (u *use) take(w *waiter) {
	if w.prev == nil {
		u.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		u.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	u.waiting--
}

// A deadlines is a heap of waiters by their deadlines. Those that are over are
// left in it until their time comes.
type deadlines struct{ heap []*waiter }

func (d *deadlines) first() Instant {
	if len(d.heap) == 0 {
		return Never
	}
	return d.heap[0].deadline
}

func (d *deadlines) push(w *waiter) {
	d.heap = append(d.heap, w)
	for i := len(d.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if d.heap[up].deadline <= d.heap[i].deadline {
			return
		}
		d.heap[up], d.heap[i] = d.heap[i], d.heap[up]
		i = up
	}
}

func (d *deadlines) pop() *waiter {
	top := d.heap[0]
	end := len(d.heap) - 1
	d.heap[0] = d.heap[end]
	d.heap[end] = nil
	d.heap = d.heap[:end]
	for i := 0; ; {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < end && d.heap[down].deadline < d.heap[least].deadline {
				least = down
			}
		}
		if least == i {
			return top
		}
		d.heap[i], d.heap[least] = d.heap[least], d.heap[i]
		i = least
	}
}
