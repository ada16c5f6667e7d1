package member

// A Cursor is how far Scan has got. The zero value is the beginning.
type Cursor struct {
	epoch *epoch
	list  scanned
	left  int // places of the list that are still to be looked at
	ended bool
}

// The lists of locks in use, in the order in which Scan looks at them.
type scanned uint8

const (
	inUses  scanned = iota // ordinary locks
	inParts                // requests for kept locks
	inBooks                // kept locks whose home is here
	nowhere
)

// Scan looks at the next places of the lists of locks in use, at most so many of them, and
// reports whether there are more. Other methods may be called before it goes on: a lock that
// is in use from the first call to the last is yielded at least once, and one that comes or
// goes meanwhile may be left out. A lock can be yielded several times, a kept one once for
// each of its requests; each Queue then describes a part of it.
//
// A place is looked at from the end of its list to the beginning. A lock in use keeps its place
// among the uses. The other two lists close a gap with their last element, which has been looked
// at before or is about to be, because everything behind the cursor was.
func (m *Member) Scan(c *Cursor, most int, yield func(Queue)) (more bool) {
	e := m.epoch
	if e == nil {
		c.ended = true
	}
	if c.ended {
		return false
	}
	if c.epoch != e { // a view has begun, and its lists are others
		*c = Cursor{epoch: e, left: len(e.uses)}
	}
	for ; most > 0 && c.list < nowhere; most-- {
		for c.left = min(c.left, m.places(c.list)); c.left == 0; c.left = m.places(c.list) {
			if c.list++; c.list == nowhere {
				*c = Cursor{ended: true}
				return false
			}
		}
		c.left--
		if q, ok := m.queueAt(c.list, c.left); ok {
			yield(q)
		}
	}
	return true
}

// places returns the length of a list.
func (m *Member) places(l scanned) int {
	switch l {
	case inUses:
		return len(m.epoch.uses)
	case inParts:
		return len(m.kept.parts)
	case inBooks:
		return len(m.epoch.bookList)
	}
	return 0
}

// queueAt describes what is at a place of a list. It reports false if nothing is.
func (m *Member) queueAt(l scanned, i int) (q Queue, ok bool) {
	switch l {
	case inUses:
		if u := m.epoch.uses[i]; u != nil {
			return m.queueOf(u), true
		}
		return Queue{}, false
	case inParts:
		p := m.kept.parts[i]
		q := Queue{Name: []byte(p.name), Entered: Never, Since: Never, Part: true}
		q.count(p)
		return q, true
	}
	return Queue{Name: m.epoch.table.name(m.epoch.bookList[i].lock), Entered: Never, Since: Never}, true
}

// queueOf describes an ordinary lock.
func (m *Member) queueOf(u *use) Queue {
	q := Queue{Name: m.epoch.table.name(u.lock), Held: u.holder != nil, Entered: Never, Waiting: u.waiting, Since: Never}
	if q.Held {
		q.Entered = u.since
	}
	if u.first != nil {
		q.Since = u.first.since
	}
	return q
}

// count adds a request for a kept lock.
func (q *Queue) count(p *part) {
	switch {
	case p.state == holds:
		q.Held, q.Entered = true, min(q.Entered, p.since)
	case p.state > holds, p.state == claiming:
	default:
		q.Waiting++
		q.Since = min(q.Since, p.w.since)
	}
}
