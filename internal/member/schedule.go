package member

// A schedule holds what is due when, as a heap.
type schedule struct{ heap []*due }

// A due is when something must be done: the deadline of a request, the end of a session, or
// something about a kept lock. It is embedded in that.
type due struct {
	at      Instant
	place   int // in the heap, counted from 1; 0 if it is not there
	waiter  *waiter
	session *session
	part    *part
	block   *use // whose block is recalled
}

func (a *schedule) first() Instant {
	if len(a.heap) == 0 {
		return Never
	}
	return a.heap[0].at
}

// put sets when something is due, for the first time or again.
func (a *schedule) put(d *due, at Instant) {
	d.at = at
	if d.place == 0 {
		a.heap = append(a.heap, d)
		d.place = len(a.heap)
	}
	a.move(d)
}

// remove removes something, if it is there.
func (a *schedule) remove(d *due) {
	if d.place == 0 {
		return
	}
	end := a.heap[len(a.heap)-1]
	a.heap[len(a.heap)-1] = nil
	a.heap = a.heap[:len(a.heap)-1]
	if end != d {
		a.set(d.place-1, end)
		a.move(end)
	}
	d.place = 0
}

func (a *schedule) set(i int, d *due) { a.heap[i], d.place = d, i+1 }

// move moves something to where it belongs.
func (a *schedule) move(d *due) {
	i := d.place - 1
	for i > 0 && d.at < a.heap[(i-1)/2].at {
		a.set(i, a.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	for {
		least := 2*i + 1
		if least+1 < len(a.heap) && a.heap[least+1].at < a.heap[least].at {
			least++
		}
		if least >= len(a.heap) || a.heap[least].at >= d.at {
			break
		}
		a.set(i, a.heap[least])
		i = least
	}
	a.set(i, d)
}

// expire does what is due: a session or a request that ends is taken off the schedule.
func (m *Member) expire() {
	for m.schedule.first() <= m.now {
		d := m.schedule.heap[0]
		switch {
		case d.session != nil:
			m.close(d.session, Session)
		case d == &m.rest:
			m.schedule.remove(d)
			m.resume(m.detector())
		case d.part != nil:
			m.nudged(d.part)
		case d.block != nil:
			m.overdue(d.block)
		default:
			m.finish(d.waiter, Late, NoCause)
		}
	}
}
