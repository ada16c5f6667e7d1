package member

// What the home of a kept lock knows of the previous view, if it was the home there too.

// former returns the book of a kept lock in the previous view, which is nil if there was
// none. Only the home grants a kept lock, so a member knows of it if it installed that view
// and was the home there.
func (m *Member) former(name []byte) (b *book, closed, known bool) {
	e, f := m.epoch, m.frozen
	hash := hashName(name)
	if f == nil || f.view.Epoch != e.view.BeforeEpoch || f.schoolOf(string(name)).method == nil || f.view.home(hash) != f.me {
		return nil, false, false
	}
	n := find(&f.table, name, hash)
	return f.books[n], n >= 0 && f.table.lock(n).is(opened), true
}

// keptTestimony returns the processes that may have a kept lock by an older epoch, or get it,
// as far as this member knows: those that it suspected itself as the home, and those that it
// had granted the lock to, or that had reported or claimed it, and have not ended that.
func (m *Member) keptTestimony(name []byte) set {
	e, f := m.epoch, m.frozen
	b, closed, known := m.former(name)
	if !known {
		return e.everybody
	}
	f.bury(m.now)
	var suspects []uint64
	var may set
	switch {
	case b != nil:
		suspects = b.keeper.Suspects()
		for _, a := range b.keeper.Holders() {
			may = may.or(e.those(a.Origin))
		}
	case !closed: // else nothing was left in the book
		for i := range f.universe {
			if !f.reported.has(i) {
				suspects = append(suspects, uint64(i))
			}
		}
	}
	for _, i := range suspects {
		if !f.over.has(int(i)) {
			may = may.or(e.those(f.universe[i]))
		}
	}
	return may
}
