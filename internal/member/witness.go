package member

import "math/bits"

// What a member knows of the previous view: which processes may still be inside a lock
// by it.

// testimony returns the processes that may be inside a lock by an older epoch, as far
// as this member knows from the previous view. A member that was not in that view knows
// nothing.
func (m *Member) testimony(name string) set {
	e, f := m.epoch, m.frozen
	if f == nil || f.view.Epoch != e.view.BeforeEpoch {
		return e.everybody
	}
	if f.schoolOf(name).method != nil {
		return e.everybody // a kept lock may have had several holders, of which only its home knew
	}
	hash := hashName(name)
	if n := find(&e.table, name, hash); n >= 0 {
		if u := e.found(n); u != nil && u.carried {
			if u.shared || u.byClaim || u.client && u.token.Epoch != f.view.Epoch {
				return e.everybody // its client, or another one, may hold the lock through others as well
			}
			return e.those(m.Inc)
		}
	}
	n := find(&f.table, name, hash)
	home := f.view.home(hash) == f.me
	switch {
	case home && (n < 0 || !f.table.lock(n).is(cleared)):
		return m.asHome(n)
	case n >= 0 && f.table.lock(n).is(cleared):
		return m.byAlibi(n)
	}
	return e.everybody
}

// those returns a subset of the universe.
func (e *epoch) those(incs ...uint64) set {
	var s set
	for _, inc := range incs {
		if i := e.place(inc); i >= 0 {
			s.add(i)
		}
	}
	return s
}

// asHome is the testimony of a member that was the home in the previous view and had
// not released the lock: the processes that it suspected itself, and the member that it
// had lent to.
func (m *Member) asHome(n int32) set {
	e, f := m.epoch, m.frozen
	f.bury(m.now)
	u := &use{lendee: -1, may: f.everybody}
	if n >= 0 {
		if was := f.found(n); was != nil {
			u = was
		}
	}
	var may set
	for _, i := range m.suspects(f, u).list() {
		may = may.or(e.those(f.universe[i]))
	}
	if u.lendee >= 0 {
		may = may.or(e.those(f.view.Members[u.lendee].Inc))
	}
	if u.claims != nil {
		for by := u.claims.by; by != 0; by &= by - 1 {
			may = may.or(e.those(f.view.Members[bits.TrailingZeros64(by)].Inc))
		}
	}
	return may
}

// byAlibi is the testimony of the lock's instance, once its home had released the lock:
// all processes but those that cannot be inside, as far as it knows.
func (m *Member) byAlibi(n int32) set {
	e, f := m.epoch, m.frozen
	machine, err := f.machine(n)
	if err != nil {
		return e.everybody
	}
	var may set
	for rank, who := range f.view.Members {
		if !machine.Alibi(f.view.seat(rank, int(f.table.lock(n).home))) {
			may = may.or(e.those(who.Inc))
		}
	}
	return may
}
