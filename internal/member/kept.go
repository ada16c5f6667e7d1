package member

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Kept locks. The algorithms pass a lock from member to member, to one request at a time.
// A kept lock stays with its home, which grants it in several modes: exclusive, shared, or
// as some of the units of a semaphore. Its requests may belong to transactions, which hold
// several locks; the method of the lock's choice then deals with deadlocks. Package
// deadlock decides. The member carries its decisions from home to home, over crashes and
// view changes: docs/protocol.md, section 19, has the rules.

// keptPrefix begins the names of choices that make locks kept.
const keptPrefix = "kept:"

// IsKept reports whether a choice's algorithm is a method for kept locks, and which.
func IsKept(algorithm string) (method string, kept bool) {
	return strings.CutPrefix(algorithm, keptPrefix)
}

// Kept returns the algorithm of a choice that makes locks kept, with a method.
func Kept(m deadlock.Method) string { return keptPrefix + m.Name }

// KeptMethods returns the methods that kept locks can have, the default first.
func KeptMethods() []deadlock.Method {
	return []deadlock.Method{
		deadlock.DetectCentral(), deadlock.DetectDistributed(), deadlock.WoundWait(), deadlock.WaitDie(), deadlock.Ordered(), deadlock.Timeout(), deadlock.None(),
	}
}

// CheckKept reports why kept locks cannot have a method.
func CheckKept(method string, version int) error {
	if version != 1 {
		return fmt.Errorf("version %d of %s%s: this program knows version 1: upgrade it", version, keptPrefix, method)
	}
	_, err := findKept(method)
	return err
}

func findKept(method string) (deadlock.Method, error) {
	var names []string
	for _, m := range KeptMethods() {
		if m.Name == method {
			return m, nil
		}
		names = append(names, keptPrefix+m.Name)
	}
	return deadlock.Method{}, fmt.Errorf("unknown method %s%s: want one of %s", keptPrefix, method, strings.Join(names, ", "))
}

// Errors of requests for kept locks.
var (
	ErrOrdinary  = errors.New("the lock is not a kept one, so it can only be held exclusively and outside of transactions: choose a kept method for a prefix of its name, as a new cluster has for kept/")
	ErrMode      = errors.New("impossible mode")
	ErrDoomed    = errors.New("the transaction must abort: release what it holds")
	ErrWaits     = errors.New("the transaction already waits for a lock: it can request one at a time")
	ErrReentrant = errors.New("the transaction already holds this lock, or has requested it")
	ErrMethods   = errors.New("the transaction holds locks under another prefix: all that it uses must have one method against deadlock")
	ErrOrder     = errors.New("the transaction holds a lock with a later name: with ordered acquisition, request locks in the order of their names")
)

// A partState is the state of a request for a kept lock, at its member.
type partState uint8

const (
	wants    partState = iota // its home knows of it, or will hear of it in a report
	granted                   // the lock is granted, but the member has no lease to use it
	claiming                  // a client holds it through another member, and claims it here
	holds
	lapsed // the holder was notified that the lock is lost, and may still act
)

// A part is one request of a transaction for a kept lock.
type part struct {
	deadlock.Request
	tx    *transaction
	w     *waiter // nil if lapsed
	name  string
	units int // of the semaphore; 0 if it is none
	state partState
	try   bool
	owed  bool  // carried over from an older epoch, or claimed, and its home has not heard of it yet
	place int   // among the member's parts
	token Token // of claiming, holds and lapsed
	by    by    // of holds and lapsed
	since Instant
	rests Instant // of lapsed: until when the former holder may act
	proof uint64  // of lapsed, as in use
	nudge due     // when to do something about its waiting
	waits int     // number of times that something was done

	through []uint64 // of claiming: incarnations through which the client holds it, last the one that it rests on
}

// A by is for whom a member holds a kept lock.
type by uint8

const (
	byOwn    by = iota // its own process
	byClient           // a client, which has acquired it here
	byClaim            // a client, which has claimed it here
	bys
)

// A transaction is the attempt of one. It exists as long as it has parts.
type transaction struct {
	id     deadlock.Attempt // without the number of a request
	client *session
	number uint64 // the client's number for it; 0 for a request outside of transactions
	choice string // prefix of the choice of all its locks
	parts  []*part
	last   int // number of its last request
	doomed *Victim
}

// A txKey is how a client names a transaction.
type txKey struct{ client, number uint64 }

// A kept is what a member keeps of requests for kept locks, over all epochs.
type kept struct {
	parts  []*part // in a fixed order
	names  map[string][]*part
	txs    map[int]*transaction
	named  map[txKey]*transaction
	serial int // number of the last transaction
	lapses int // number of parts that have lapsed
	holds  int
	claims int
}

// waiting returns the request with which a transaction waits, or nil.
func (t *transaction) waiting() *part {
	for _, p := range t.parts {
		if p.state == wants {
			return p
		}
	}
	return nil
}

// want requests a kept lock.
func (m *Member) want(c *session, n int32, name string, a Ask) (Ticket, error) {
	e, k := m.epoch, &m.kept
	choice := &e.view.Choices[e.table.lock(n).alg]
	if err := a.Check(); err != nil {
		return 0, err
	}
	method := &e.schools[e.table.lock(n).alg]
	if err := method.fits(a.Units); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrMode, err)
	}
	if len(k.names[name]) >= m.Limits.Waiters {
		return 0, ErrWaiters
	}
	var tx *transaction
	if a.Tx != 0 {
		tx = k.named[txKey{c.id, a.Tx}]
	}
	if tx == nil {
		m.clock++
		born := m.clock
		if a.Born != 0 {
			born = min(a.Born, born) // no client can be from the future
		}
		tx = m.begins(c, choice.Prefix, a.Tx, born)
	} else if err := tx.mayRequest(name, choice.Prefix, method.method.Sorted); err != nil {
		return 0, err
	}
	tx.last++
	p := &part{tx: tx, w: m.newWaiter(c), name: name, units: a.Units, try: a.Try, since: m.now, place: len(k.parts)}
	p.Attempt, p.Mode = tx.id, a.Mode
	p.Seq = tx.last
	p.w.part, p.w.try, p.nudge.part = p, a.Try, p
	k.add(p)
	if a.Deadline != Never {
		m.schedule.put(&p.w.late, a.Deadline)
	}
	t := p.w.ticket
	m.nudgeLater(p)
	m.ask(p, n)
	if p.state == wants && p.w != nil {
		m.awaits(p, true)
	}
	return t, nil
}

// add adds a request.
func (k *kept) add(p *part) {
	p.tx.parts = append(p.tx.parts, p)
	k.parts = append(k.parts, p)
	k.names[p.name] = append(k.names[p.name], p)
}

// begins begins an attempt of a transaction.
func (m *Member) begins(c *session, choice string, number, born uint64) *transaction {
	k := &m.kept
	k.serial++
	tx := &transaction{client: c, number: number, choice: choice}
	tx.id = deadlock.Attempt{Origin: m.Inc, Tx: k.serial, Number: 1, Stamp: algorithm.TimeOf(born)}
	if k.txs == nil {
		k.txs, k.named, k.names = map[int]*transaction{}, map[txKey]*transaction{}, map[string][]*part{}
	}
	k.txs[tx.id.Tx] = tx
	if number != 0 {
		k.named[txKey{c.id, number}] = tx
	}
	return tx
}

// mayRequest reports why a transaction cannot request a lock.
func (t *transaction) mayRequest(name, choice string, sorted bool) error {
	switch {
	case t.doomed != nil:
		return ErrDoomed
	case t.waiting() != nil || t.moving():
		return ErrWaits
	case t.choice != choice:
		return ErrMethods
	}
	for _, p := range t.parts {
		switch {
		case p.name == name:
			return ErrReentrant
		case sorted && p.name > name:
			return ErrOrder
		}
	}
	return nil
}

// born returns the stamp of the transaction: when it began, by the cluster's logical clock.
// One that must abort and begins again keeps it.
func (t *transaction) born() uint64 { return algorithm.NumberOf(t.id.Stamp) }

// ask sends a request to its lock's home.
func (m *Member) ask(p *part, n int32) {
	e := m.epoch
	home := int(e.table.lock(n).home)
	m.extend(p, home)
	if home == e.me {
		m.requested(n, e.me, p.Request, p.units, p.try)
		return
	}
	m.send(home, &frame{kind: wantFrame, name: e.table.name(n), who: p.Attempt, mode: p.Mode, units: p.units, ext: p.Ext, again: p.try})
}

// extend notes in a request whether its transaction holds locks of other homes.
func (m *Member) extend(p *part, home int) {
	p.Ext = slices.ContainsFunc(p.tx.parts, func(o *part) bool { return o.state >= holds && m.epoch.view.Home(o.name) != home })
}

// partOf returns the request of a transaction here, or nil.
func (m *Member) partOf(who deadlock.Attempt) *part {
	if who.Origin != m.Inc {
		return nil
	}
	tx := m.kept.txs[who.Tx]
	if tx == nil {
		return nil
	}
	for _, p := range tx.parts {
		if p.Seq == who.Seq {
			return p
		}
	}
	return nil
}

// got handles a grant. A request that has ended meanwhile has already been withdrawn.
func (m *Member) got(who deadlock.Attempt, t Token) {
	p := m.partOf(who)
	if p == nil || p.state != wants {
		return
	}
	p.state, p.token = granted, t
	m.schedule.remove(&p.nudge)
	m.enterKept(p)
}

// enterKept notifies the application that it holds a lock, if the lease allows it.
func (m *Member) enterKept(p *part) {
	if p.state != granted || !m.usable() {
		return
	}
	p.state, p.since, p.by = holds, m.now, byOwn
	if p.tx.client != &m.own {
		p.by = byClient
	}
	m.schedule.remove(&p.w.late)
	m.kept.holds++
	m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Held, Token: p.token, Born: p.tx.born()})
}

// keptWith returns the request that holds a kept lock with a token, or nil.
func (m *Member) keptWith(name string, t Token) *part {
	for _, p := range m.kept.names[name] {
		if (p.state == holds || p.state == lapsed) && p.token == t {
			return p
		}
	}
	return nil
}

// unkeep handles a holder that releases a kept lock. While the transaction waits for
// another one, detectors rely on what it holds: so the waiting ends first.
func (m *Member) unkeep(p *part) error {
	lost := p.state == lapsed
	if w := p.tx.waiting(); w != nil && !lost {
		m.finish(w.w, Stopped, Ended)
	}
	if m.done(p); lost {
		return ErrNotHeld
	}
	return nil
}

// done ends a request, whatever its state, and notifies the home.
func (m *Member) done(p *part) {
	e := m.epoch
	if p.state == wants && !p.owed {
		m.awaits(p, false)
	}
	m.drops(p)
	if p.owed {
		return // the home never hears of it
	}
	n := lockOf(e, p.name)
	who := p.Attempt
	if home := int(e.table.lock(n).home); home == e.me {
		m.ended(n, e.me, who, p.tx.last)
	} else {
		m.send(home, &frame{kind: endFrame, name: e.table.name(n), who: who, round: uint64(p.tx.last)})
	}
}

// drops forgets a request.
func (m *Member) drops(p *part) {
	k, tx := &m.kept, p.tx
	switch p.state {
	case claiming:
		k.claims--
	case holds:
		k.holds--
	case lapsed:
		k.lapses--
	}
	m.schedule.remove(&p.nudge)
	if p.w != nil {
		m.forget(p.w)
		p.w = nil
	}
	last := k.parts[len(k.parts)-1]
	k.parts[p.place], last.place = last, p.place
	k.parts = k.parts[:len(k.parts)-1]
	if left := remove(k.names[p.name], p); len(left) > 0 {
		k.names[p.name] = left
	} else {
		delete(k.names, p.name)
	}
	if tx.parts = remove(tx.parts, p); len(tx.parts) > 0 {
		return
	}
	delete(k.txs, tx.id.Tx)
	if key := (txKey{tx.client.id, tx.number}); tx.number != 0 && k.named[key] == tx {
		delete(k.named, key)
	}
}

func remove[T comparable](all []T, x T) []T {
	i := slices.Index(all, x)
	return slices.Delete(all, i, i+1)
}

// lapses notifies a holder that it has lost a kept lock by time, as expired does for others.
func (m *Member) lapses(p *part, rests Instant, why Cause) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Lost, Cause: why, Token: p.token})
	m.forget(p.w)
	p.w, p.state, p.rests, p.proof = nil, lapsed, rests, 0
	m.kept.holds--
	m.kept.lapses++
	m.lapse = min(m.lapse, rests)
}

// takes takes a kept lock from its holder here, and notifies it.
func (m *Member) takes(p *part, why Cause) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: p.w.ticket, Kind: Lost, Cause: why, Token: p.token})
	m.done(p)
}

// each calls f for all requests for kept locks, some of which f may end.
func (k *kept) each(f func(p *part)) {
	for _, p := range slices.Clone(k.parts) {
		if p.place < len(k.parts) && k.parts[p.place] == p {
			f(p)
		}
	}
}

// passKept passes on the kept locks that were lost, as pass does for others.
func (m *Member) passKept() {
	m.kept.each(func(p *part) {
		switch {
		case p.state != lapsed:
		case m.now < p.rests:
			m.lapse = min(m.lapse, p.rests)
		case p.tx.client == &m.own || p.proof > 0 && m.proven >= p.proof:
			m.done(p)
		case p.proof == 0:
			p.proof = m.renewal + 1
			m.prove()
		}
	})
}

// A Victim says why a transaction must abort.
type Victim struct {
	How   How
	Cycle []Wait // InCycle: the deadlock; Wounded, Died: the older transaction, and the lock
	More  int    // InCycle: number of transactions that follow in the cycle, and are left out here
}

// A How is how a transaction became a victim.
type How uint8

// How transactions become victims.
const (
	InCycle  How = iota // it was the youngest in a cycle of transactions that wait for each other
	Wounded             // an older one waits for a lock that it holds
	Died                // an older one holds a lock that it requested
	TimedOut            // it has waited for too long
	hows
)

// A Wait is a transaction and the lock that it waits for or holds, in the description of a
// deadlock.
type Wait struct {
	Node string // member at which the transaction began; empty if it is no longer one
	Inc  uint64
	Tx   uint64 // its number there
	Lock string
}

// String describes the transaction.
func (w Wait) String() string {
	return fmt.Sprintf("transaction %d of %s", w.Tx, cmp.Or(w.Node, fmt.Sprint(w.Inc)))
}

// String says in words why a transaction must abort.
func (v *Victim) String() string {
	switch v.How {
	case TimedOut:
		return "it has waited for too long"
	case Wounded:
		return fmt.Sprintf("%v, which is older, waits for %q", v.Cycle[0], v.Cycle[0].Lock)
	case Died:
		return fmt.Sprintf("%v, which is older, holds %q", v.Cycle[0], v.Cycle[0].Lock)
	}
	var waits []string
	for i, w := range v.Cycle {
		behind := v.Cycle[(i+1)%len(v.Cycle)].String()
		if v.More > 0 && i+1 == len(v.Cycle) {
			behind = fmt.Sprintf("%d more", v.More)
		}
		waits = append(waits, fmt.Sprintf("%v waits for %q behind %s", w, w.Lock, behind))
	}
	return strings.Join(waits, "; ")
}

// doom orders a transaction here to abort. If only a request of it was in a deadlock, and
// that waits no longer, it goes on. What it holds it keeps until it releases it.
func (m *Member) doom(who deadlock.Attempt, v *Victim) {
	tx := m.kept.txs[who.Tx]
	if who.Origin != m.Inc || tx == nil || tx.doomed != nil {
		return
	}
	p := tx.waiting()
	if v.How == InCycle && (p == nil || p.Seq != who.Seq) {
		return
	}
	for i := range v.Cycle {
		if rank := m.epoch.view.Rank(v.Cycle[i].Inc); rank >= 0 {
			v.Cycle[i].Node = m.epoch.view.Members[rank].Name
		}
	}
	tx.doomed = v
	for _, h := range slices.Clone(tx.parts) {
		switch h.state {
		case holds:
			m.Out.Events = append(m.Out.Events, Event{Ticket: h.w.ticket, Kind: Doomed, Cause: Deadlock, Token: h.token, Born: tx.born(), Victim: v, Tx: uint64(tx.id.Tx)})
		case wants, granted:
			m.Out.Events = append(m.Out.Events, Event{Ticket: h.w.ticket, Kind: Stopped, Cause: Deadlock, Born: tx.born(), Victim: v, Tx: uint64(tx.id.Tx)})
			m.done(h)
		}
	}
}
