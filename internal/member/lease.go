package member

import "slices"

// A renewal is one that was sent, and when.
type renewal struct {
	number uint64
	at     Instant
}

// renew has a renewal sent when it is due. The lease will count from now, which is
// before the renewal is sent.
func (m *Member) renew() {
	if m.now < m.renewAt {
		return
	}
	m.renewal++
	m.renewals = append(m.renewals, renewal{m.renewal, m.now})
	for m.now-m.renewals[0].at > Instant(m.Settings.Lease) {
		m.renewals = slices.Delete(m.renewals, 0, 1) // it would no longer extend the lease
	}
	m.renewAt = m.now + Instant(m.Settings.Renew)
	m.Out.Renew = m.renewal
}

// Renewed reports that the view service has confirmed a renewal: the member may act for
// a lease from when it was sent.
func (m *Member) Renewed(now Instant, number uint64) {
	m.begin(now)
	defer m.end()
	i := slices.IndexFunc(m.renewals, func(r renewal) bool { return r.number == number })
	if i < 0 || m.gone {
		return // too old, or never sent
	}
	from := m.renewals[i].at
	m.renewals = slices.Delete(m.renewals, 0, i+1)
	m.proven = number
	if m.lost() {
		m.pass()
	}
	had := m.usable()
	m.lease = max(m.lease, from+Instant(m.Settings.Lease))
	if had || !m.usable() {
		return
	}
	for i := range m.epoch.uses { // what was granted meanwhile can be entered now
		if u := m.epoch.uses[i]; u != nil {
			m.settle(u)
		}
	}
	for _, p := range m.kept.parts {
		m.enterKept(p)
	}
}

// usable reports whether the member may begin something now.
func (m *Member) usable() bool { return !m.gone && m.lease > 0 && m.now < m.deadline() }

// deadline returns until when the member may begin something, and held locks may be
// used: some time before the lease expires.
func (m *Member) deadline() Instant { return m.lease - m.margin }

// Usable reports whether the member may act at this reading of its clock: whether the
// locks that it holds are still valid.
func (m *Member) Usable(now Instant) bool {
	return !m.gone && m.lease > 0 && now < m.deadline()
}

// Deadline returns until when held locks may be used, unless the lease is renewed
// before.
func (m *Member) Deadline() Instant { return max(0, m.deadline()) }
