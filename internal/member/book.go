package member

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// The books of kept locks, at their homes. A home begins every view with empty books: see
// deadlock.Keeper for what it grants before all others have reported what they hold.

// A book is the home's record of one kept lock.
type book struct {
	keeper *deadlock.Keeper
	lock   int32
	place  int // among the epoch's books
	units  int
	where  map[txID]int    // ranks of the members through which its transactions have or want it
	asked  []keptClaim     // claims that wait, of the latest hold first
	latest []latest        // of the holds that were reported, claimed or granted, by mode
	owners map[Token]owner // of holds from older epochs, by their tokens
	claims map[Token]bool  // the same: whether whoever has it has claimed it, so that it may be over
}

// A txID identifies a transaction.
type txID struct {
	origin uint64
	tx     int
}

func idOf(a deadlock.Attempt) txID { return txID{a.Origin, a.Tx} }

// book returns the book of a kept lock whose home is here, and makes one if there is none.
func (m *Member) book(n int32, units int) (*book, error) {
	e := m.epoch
	if b := e.books[n]; b != nil {
		return b, nil
	}
	keeper, err := m.keeper(n, units)
	if err != nil {
		return nil, err
	}
	b := &book{keeper: keeper, lock: n, place: len(e.bookList), units: units, where: map[txID]int{}, owners: map[Token]owner{}, claims: map[Token]bool{}}
	if was, _, _ := m.former(e.table.name(n)); was != nil {
		b.latest = slices.Clone(was.latest)
	}
	if e.books == nil {
		e.books = map[int32]*book{}
	}
	e.books[n] = b
	e.bookList = append(e.bookList, b)
	return b, nil
}

// keeper returns a keeper that knows nothing about a lock but who may hold it. If the lock's
// book was closed in this view, no process is left that does.
func (m *Member) keeper(n int32, units int) (*deadlock.Keeper, error) {
	e := m.epoch
	l := e.table.lock(n)
	c := deadlock.KeeperConfig{Epoch: e.view.Epoch, Count: l.count, Units: units}
	may := set{}
	if !l.is(opened) {
		may = m.keptTestimony(e.table.name(n))
	}
	for i := range e.universe {
		if !e.reported.has(i) && !e.over.has(i) && may.has(i) {
			c.Suspects = append(c.Suspects, uint64(i))
		}
	}
	if s := &e.schools[l.alg]; s.fits(units) == nil {
		return s.method.Keeper(c)
	}
	return deadlock.None().Keeper(c) // for holds that are lost: see outlaw
}

// requested handles a request for a kept lock whose home is here.
func (m *Member) requested(n int32, rank int, r deadlock.Request, units int, try bool) error {
	b, err := m.book(n, units)
	if err != nil {
		return err
	}
	switch {
	case b.units != units:
		m.refuseKept(n, rank, r.Attempt, otherUnits)
	case try && !b.keeper.Open(r):
		why := heldNow
		if len(b.keeper.Holds()) == 0 && len(b.keeper.Waits()) == 0 {
			why = unknownNow
		}
		m.refuseKept(n, rank, r.Attempt, why)
	default:
		if effects, ok := b.keeper.Request(r); ok {
			b.where[idOf(r.Attempt)] = rank
			if paths := m.pathsOf(n); paths != nil {
				paths.Requested(r.Attempt)
			}
			m.carryOut(b, effects)
		}
	}
	m.shelve(b)
	return nil
}

// ended handles the end of a hold, or of a request that waits. The transaction does not wait
// now, with any of its requests up to the last one.
func (m *Member) ended(n int32, rank int, who deadlock.Attempt, last int) {
	b := m.epoch.books[n]
	if b == nil {
		return
	}
	if at, ok := b.where[idOf(who)]; !ok || at != rank {
		return // it was refused, or died
	}
	delete(b.where, idOf(who))
	b.asked = slices.DeleteFunc(b.asked, func(c keptClaim) bool { return c.hold.Attempt == who })
	if paths := m.pathsOf(n); paths != nil {
		over := who
		over.Seq = last
		paths.Ended(over)
	}
	m.carryOut(b, b.keeper.Release(who))
	m.settleBook(b)
}

// shelve drops a book in which nothing is written. Claims are refused from then on, because
// the lock may have been granted and released.
func (m *Member) shelve(b *book) {
	e := m.epoch
	if !b.keeper.Idle() || e.books[b.lock] != b {
		return
	}
	e.table.lock(b.lock).flags |= opened
	delete(e.books, b.lock)
	last := e.bookList[len(e.bookList)-1]
	e.bookList[b.place], last.place = last, b.place
	e.bookList = e.bookList[:len(e.bookList)-1]
}

// carryOut does what a keeper wants done.
func (m *Member) carryOut(b *book, effects []deadlock.Effect) {
	e := m.epoch
	for _, x := range effects {
		rank := b.where[idOf(x.Attempt)]
		switch x.Kind {
		case deadlock.Grant:
			t := Token{x.Epoch, x.Count}
			e.table.lock(b.lock).count = x.Count
			b.knows(x.Mode, t)
			if paths := m.pathsOf(b.lock); paths != nil {
				paths.Granted(x.Attempt, int(b.lock))
			}
			if rank == e.me {
				m.got(x.Attempt, t)
			} else {
				m.send(rank, &frame{kind: grantFrame, name: e.table.name(b.lock), who: x.Attempt, token: t})
			}
		case deadlock.Wound:
			m.order(rank, x.Attempt, &Victim{How: Wounded, Cycle: []Wait{m.waitOf(x.By, b.lock)}})
		case deadlock.Die:
			delete(b.where, idOf(x.Attempt))
			m.order(rank, x.Attempt, &Victim{How: Died, Cycle: []Wait{m.waitOf(x.By, b.lock)}})
		}
	}
	if paths := m.pathsOf(b.lock); paths != nil {
		paths.Queued(b.keeper.Waits()...)
		m.push()
	}
}

// waitOf describes a transaction that waits for a lock, or holds it.
func (m *Member) waitOf(a deadlock.Attempt, n int32) Wait {
	return Wait{Inc: a.Origin, Tx: uint64(a.Tx), Lock: string(m.epoch.table.name(n))}
}

// order orders a transaction to abort.
func (m *Member) order(rank int, who deadlock.Attempt, v *Victim) {
	if rank == m.epoch.me {
		m.doom(who, v)
		return
	}
	m.send(rank, &frame{kind: doomFrame, who: who, victim: v})
}

// A refusal is why a home refuses a request for a kept lock.
type refusal uint8

const (
	heldNow    refusal = iota // a try: the lock is held or waited for
	unknownNow                // a try: not known yet whether it is held
	otherUnits                // the semaphore is in use, with another number of units
	refusals
)

func (m *Member) refuseKept(n int32, rank int, who deadlock.Attempt, why refusal) {
	if rank == m.epoch.me {
		m.refusedKept(who, why)
		return
	}
	m.send(rank, &frame{kind: refuseFrame, name: m.epoch.table.name(n), who: who, refusal: why})
}

// refusedKept handles the refusal of a request.
func (m *Member) refusedKept(who deadlock.Attempt, why refusal) {
	p := m.partOf(who)
	if p == nil || p.state != wants {
		return
	}
	x := Event{Ticket: p.w.ticket, Born: p.tx.born()}
	switch why {
	case heldNow:
		x.Kind = Busy
	case unknownNow:
		x.Kind = Recovering
	case otherUnits:
		x.Kind, x.Cause = Stopped, Units
	}
	m.Out.Events = append(m.Out.Events, x)
	m.drops(p)
}

// A keptLine is one line of a report about kept locks: a hold, or a request that waits.
type keptLine struct {
	name  string
	units int
	deadlock.Request
	token Token  // none if it waits
	by    by     // of a hold
	who   string // of a hold: identity of the client
}

// carryKept prepares the requests for kept locks for a new view. What was granted but not
// used yet counts as not granted: its home does not hear of it as a hold. Tries do not
// wait.
func (m *Member) carryKept() {
	m.kept.each(func(p *part) {
		p.owed = true
		s := m.epoch.schoolOf(p.name)
		if s.method == nil {
			m.disown(p)
			return
		}
		if s.fits(p.units) != nil && m.outlaw(p) {
			return
		}
		if p.state == granted {
			p.state = wants
		}
		if p.state == wants {
			p.waits = 0
			m.nudgeLater(p)
		}
		if p.state == wants && p.try {
			m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Recovering})
			m.drops(p)
		}
	})
	e := m.epoch
	byHome := make([][]*part, len(e.view.Members))
	for _, p := range m.kept.parts {
		if p.state == claiming {
			continue // a claim follows the report
		}
		home := e.view.Home(p.name)
		byHome[home] = append(byHome[home], p)
	}
	for home, all := range byHome {
		slices.SortStableFunc(all, func(a, b *part) int { return strings.Compare(a.name, b.name) })
		if home != e.me {
			e.reports[home].parts = all
		} else if len(all) > 0 {
			e.mine = all
		}
	}
}

// reportMine enters what the member's own transactions have or want into its own books.
func (m *Member) reportMine() error {
	e := m.epoch
	all := e.mine
	e.mine = nil
	for len(all) > 0 { // lock by lock: what one book grants or refuses may end what comes later
		n := firstLock(all, partName)
		if err := m.heedKept(e.place(m.Inc), e.me, m.linesOf(all[:n])); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// firstLock returns how many of the first requests, or lines, are about the same lock.
func firstLock[T any](all []T, name func(T) string) int {
	n := 1
	for n < len(all) && name(all[n]) == name(all[0]) {
		n++
	}
	return n
}

func partName(p *part) string    { return p.name }
func lineName(x keptLine) string { return x.name }

// linesOf returns what a report says about requests. After that the homes know of them.
func (m *Member) linesOf(all []*part) []keptLine {
	var lines []keptLine
	for _, p := range all {
		if !p.owed || p.place >= len(m.kept.parts) || m.kept.parts[p.place] != p {
			continue // it ended meanwhile
		}
		p.owed = false
		m.extend(p, m.epoch.view.Home(p.name))
		x := keptLine{name: p.name, units: p.units, Request: p.Request}
		if p.state >= holds {
			x.token, x.by, x.who = p.token, p.by, p.tx.client.who
		}
		lines = append(lines, x)
	}
	return lines
}

// keptPart returns the next lines of the report to a member, and whether more follow.
// Those about one lock stay together.
func (m *Member) keptPart(r *report, left int, some bool) (lines []keptLine, more bool) {
	for len(r.parts) > 0 {
		n := firstLock(r.parts, partName)
		if left -= n * (len(r.parts[0].name) + 40); left < 0 && (some || len(lines) > 0) {
			return lines, true
		}
		lines = append(lines, m.linesOf(r.parts[:n])...)
		r.parts = r.parts[n:]
	}
	return lines, false
}

// heedKept handles the lines of a report, those about one lock together.
func (m *Member) heedKept(place, rank int, lines []keptLine) error {
	for len(lines) > 0 {
		k := firstLock(lines, lineName)
		n, err := m.keptHome(lines[0].name)
		if err != nil {
			return err
		}
		if err := m.heedBook(n, place, rank, lines[:k]); err != nil {
			return fmt.Errorf("%w: REPORT about %q: %w", errUnexpected, lines[0].name, err)
		}
		lines = lines[k:]
	}
	return nil
}

// heedBook enters lines of a report into the book of their lock. If they disagree about
// its units, the holds are right.
func (m *Member) heedBook(n int32, place, rank int, lines []keptLine) error {
	b, err := m.book(n, lines[0].units)
	if err != nil {
		return err
	}
	var holds []deadlock.Hold
	for _, x := range lines {
		if x.token.IsNone() {
			continue
		}
		if x.token.Epoch >= m.epoch.view.Epoch {
			return fmt.Errorf("the token %v is not from an earlier epoch", x.token)
		}
		if x.units != b.units {
			if err := m.remake(b, x.units); err != nil {
				return err
			}
		}
		holds = append(holds, deadlock.Hold{Request: x.Request, Epoch: x.token.Epoch, Count: x.token.Count, Elsewhere: m.epoch.elsewhere(&x)})
		b.knows(x.Mode, x.token)
		b.where[idOf(x.Attempt)] = rank
		_, known := b.claims[x.token]
		b.claims[x.token] = x.by == byClaim && (!known || b.claims[x.token])
		b.owners[x.token] = owner{x.by != byOwn, x.who}
	}
	var waits []deadlock.Request
	for _, x := range lines {
		switch {
		case !x.token.IsNone():
		case x.units != b.units:
			m.refuseKept(n, rank, x.Attempt, otherUnits)
		default:
			waits = append(waits, x.Request)
			b.where[idOf(x.Attempt)] = rank
		}
	}
	for i := range b.asked {
		b.asked[i].told = false // of what is reported now, the others are told too
	}
	m.carryOut(b, b.keeper.Report(uint64(place), holds, waits))
	m.settleBook(b)
	return nil
}

// elsewhere reports whether other processes may have the same hold as the sender of a
// report. A client that has moved may, if the sender has honoured its claim or if it may
// have claimed the lock in a later view than the one in which it acquired it. Beside a
// shared hold that was acquired at the sender no other is exclusive, wherever it is.
func (e *epoch) elsewhere(x *keptLine) bool {
	return x.by == byClaim || x.by == byClient && x.token.Epoch != e.view.BeforeEpoch && x.Mode != deadlock.Shared
}

// remake begins a book again, because a report shows that the lock has another number of
// units than those say who have requested it since the view began. Nothing was granted
// until now: the sender was a suspect.
func (m *Member) remake(b *book, units int) error {
	if len(b.keeper.Holds()) > 0 {
		return fmt.Errorf("it is held with %d units in all, and with %d: mutual exclusion is violated", b.units, units)
	}
	keeper, err := m.keeper(b.lock, units)
	if err != nil {
		return err
	}
	for _, r := range b.keeper.Waits() {
		m.refuseKept(b.lock, b.where[idOf(r.Attempt)], r.Attempt, otherUnits)
	}
	b.keeper, b.units, b.where = keeper, units, map[txID]int{}
	for _, c := range b.asked {
		b.where[idOf(c.hold.Attempt)] = c.rank
	}
	return nil
}

// keptHome returns the number of a kept lock whose home must be here.
func (m *Member) keptHome(name string) (int32, error) {
	n, err := m.homed(name)
	if err == nil && !m.epoch.isKept(n) {
		err = fmt.Errorf("%w: REPORT: %q is not a kept lock", errUnexpected, name)
	}
	return n, err
}

// clearedOf has all books note that a process no longer holds anything unreported.
func (m *Member) clearedOf(place int) {
	for _, b := range slices.Clone(m.epoch.bookList) {
		m.carryOut(b, b.keeper.Over(uint64(place)))
		m.settleBook(b)
	}
}
