package member

// Tries: a request that is granted soon or refused, never left waiting behind
// somebody. Beside the request, which goes its usual way, everybody is asked
// whether it holds the lock or waits for it.

// A probe is a try of somebody else that was not refused when it came: nobody
// here held the lock. Whoever enters after that refuses it.
type probe struct {
	rank int
	try  uint64
}

// probe asks all others about a try, or refuses it for what is known here.
func (m *Member) probe(u *use, w *waiter) {
	e := m.epoch
	switch {
	case e.isHome(u) && !e.suspects(u).empty():
		m.refuse(w, Recovering)
	case u.holder != nil || u.patient(w):
		m.refuse(w, Busy)
	default:
		for rank := range e.view.Members {
			if rank != e.me {
				m.send(rank, &frame{kind: probeFrame, name: string(e.table.name(u.lock)), try: uint64(w.ticket)})
			}
		}
	}
}

// patient reports whether somebody waits here who is not trying.
func (u *use) patient(but *waiter) bool {
	for w := u.first; w != nil; w = w.next {
		if !w.try && w != but {
			return true
		}
	}
	return false
}

// refuse ends a try.
func (m *Member) refuse(w *waiter, kind EventKind) {
	m.tell(w, kind)
	m.withdraw(w)
}

// probed answers somebody who tries.
func (m *Member) probed(u *use, rank int, try uint64) {
	e := m.epoch
	f := frame{kind: busyFrame, name: string(e.table.name(u.lock)), try: try}
	switch {
	case u.holder != nil || u.patient(nil):
	case e.isHome(u) && (u.lendee >= 0 || len(u.queue) > 0):
	case e.isHome(u) && !e.suspects(u).empty():
		f.again = true
	default:
		u.probes = append(u.probes, probe{rank, try})
		return
	}
	m.send(rank, &f)
}

// entered refuses the tries of others that have been heard of.
func (m *Member) entered(u *use) {
	for _, p := range u.probes {
		m.send(p.rank, &frame{kind: busyFrame, name: string(m.epoch.table.name(u.lock)), try: p.try})
	}
	u.probes = u.probes[:0]
}

// busy ends a try that somebody has refused.
func (m *Member) busy(f *frame) {
	w := m.tickets[Ticket(f.try)]
	if w == nil || !w.try || w.at.holder == w {
		return // it is over
	}
	kind := Busy
	if f.again {
		kind = Recovering
	}
	m.refuse(w, kind)
}
