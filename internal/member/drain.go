package member

// Drain refuses all waiting requests of the member's own process, because it is about
// to leave. Held locks stay held.
func (m *Member) Drain(now Instant) {
	m.begin(now)
	for w := m.own.first; w != nil; {
		next := w.after
		if !w.holds() {
			m.finish(w, Stopped, Leaving)
		}
		w = next
	}
	m.end()
}

// Inside returns how many locks are held through this member, by its own process and by
// clients, or were lost but may still be acted on. As long as there is one, a promise
// never to enter again would be too early: see Leave.
func (m *Member) Inside() int {
	if m.epoch == nil {
		return 0
	}
	n := m.epoch.holders + m.kept.holds
	if m.epoch.lapses > 0 {
		for _, u := range m.epoch.uses {
			if u != nil && u.lapsed && m.now < u.rests {
				n++
			}
		}
	}
	if m.kept.lapses > 0 {
		for _, p := range m.kept.parts {
			if p.state == lapsed && m.now < p.rests {
				n++
			}
		}
	}
	return n
}
