package member

// Tries: a try is a request that is granted soon or refused, and never waits behind
// another. Beside the request, which goes its usual way, the member asks all others
// whether they hold the lock or wait for it. When all have answered no, it asks again,
// until the try is granted or refused.

// probe asks all others about a try, or refuses it by what is known here.
func (m *Member) probe(w *waiter) {
	e := m.epoch
	u := w.at
	l := e.table.lock(u.lock)
	switch {
	case m.awaitRecall(u):
		u.block.tries++
	case !m.usable(), e.isHome(l) && !m.suspects(e, u).empty():
		m.refuse(w, Recovering)
	case u.taken() || u.patient(w) || u.lendee >= 0:
		m.refuse(w, Busy)
	default:
		w.missing = len(e.view.Members) - 1
		for rank := range e.view.Members {
			if rank != e.me {
				m.send(rank, &frame{kind: probeFrame, name: e.table.name(u.lock), try: uint64(w.ticket)})
			}
		}
	}
}

// patient reports whether a request that is not a try waits here, before w.
func (u *use) patient(w *waiter) bool {
	for o := u.first; o != nil && o != w; o = o.next {
		if !o.try {
			return true
		}
	}
	return false
}

// refuse ends a try.
func (m *Member) refuse(w *waiter, kind EventKind) {
	m.finish(w, kind, NoCause)
}

// probed answers the probe of a try. An unknown name stays unknown.
func (m *Member) probed(rank int, asked *frame) {
	e := m.epoch
	f := frame{kind: freeFrame, name: asked.name, try: asked.try}
	hash := hashName(asked.name)
	u, home := &use{lendee: -1, may: e.everybody}, e.view.home(hash) == e.me
	if n := find(&e.table, asked.name, hash); n >= 0 {
		home = e.isHome(e.table.lock(n))
		m.recall(n)
		if used := e.found(n); used != nil {
			u = used
		}
	}
	if m.awaitRecall(u) {
		u.block.probes = append(u.block.probes, probe{rank, asked.try})
		return
	}
	switch {
	case u.taken() || u.patient(nil) || home && (u.lendee >= 0 || len(u.queue) > 0):
		f.kind = busyFrame
	case home && !m.suspects(e, u).empty():
		f.kind, f.again = busyFrame, true
	}
	m.send(rank, &f)
}

// answered handles an answer to a try.
func (m *Member) answered(f *frame) {
	w := m.waiter(Ticket(f.try))
	if w == nil || w.part != nil || !w.try || w.at.holder == w {
		return // it is over
	}
	switch {
	case f.kind == busyFrame && f.again:
		m.refuse(w, Recovering)
	case f.kind == busyFrame:
		m.refuse(w, Busy)
	default:
		if w.missing--; w.missing == 0 {
			m.probe(w)
		}
	}
}
