package member

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

// A Config specifies what a member is and what it can run.
type Config struct {
	Inc      uint64 // its incarnation
	Settings Settings
	Limits   Limits
	// Spec returns the algorithm that a view has chosen. It must return only algorithms
	// that fall silent when no process asks.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
}

// Limits bound what a member keeps. Zero values stand for the defaults.
type Limits struct {
	Waiters int // waiters for one lock, at this member
	Names   int // locks that one client holds or waits for
	Idle    int // known names not in use, above which a view is requested that forgets them
	Part    int // approximate bytes of one bulk frame
}

// usual fills in the defaults.
func (l Limits) usual() Limits {
	set := func(n *int, usual int) {
		if *n <= 0 {
			*n = usual
		}
	}
	set(&l.Waiters, 10_000)
	set(&l.Names, 100_000)
	set(&l.Idle, 1_000_000)
	set(&l.Part, 32<<10)
	return l
}

// A Member is one live member. Its methods must be called one at a time. Its effects
// are in Out; take them after each call. Then the host asks for bulk frames with More,
// as far as the links have room.
type Member struct {
	Config
	Out   Out
	now   Instant
	clock uint64 // logical, at or above those of all members heard from
	gone  bool   // it leaves, or was evicted: nothing is entered any more
	ghost bool   // it was evicted

	lease    Instant   // until when it may act; 0 before the first lease
	margin   Instant   // how long before that it stops acting
	lapse    Instant   // when some lost lock may be passed on, if nothing happens before
	proven   uint64    // number of the last confirmed renewal
	renewals []renewal // not confirmed yet
	renewal  uint64    // number of the last renewal
	renewAt  Instant   // when the next renewal is due

	epoch  *epoch // current view; nil before the first
	frozen *epoch // previous view, as it was when it ended; nil when no member can ask about it any more

	waiters  []*waiter // by the lower half of their tickets
	spare    []uint32  // indices of unused waiters
	claims   uint64    // number of claims made here
	clients  map[uint64]*session
	own      session // of the member's own process
	schedule schedule
	rest     due // of a coordinator, between rounds that look for deadlocks
	kept     kept
	trails   []trail

	later bool  // Install leaves all parts of reports to More: for checkers
	frame frame // the one being read
	out   host.Output
}

// Out holds the effects that a member wants. The host that takes them resets it.
type Out struct {
	Frames []Frame // to send, in this order
	Events []Event // for applications
	Marks  []*Mark // of locks that are followed, for people
	Wake   Instant // when to call Wake, if nothing happens before
	Renew  uint64  // if not 0, number of a renewal to send to the view service now
	Forget bool    // enough idle names have gathered, or a lock has had enough entries, for a view of the same members
	arena  []byte  // backs Frames
}

// Reset empties it.
func (o *Out) Reset() {
	if len(o.Marks) > 0 {
		o.Marks = nil
	}
	o.Frames, o.Events, o.arena = o.Frames[:0], o.Events[:0], o.arena[:0]
	o.Renew = 0
	if cap(o.arena) > maxArena { // a view change has once sent a lot at once
		o.Frames, o.arena = nil, nil
	}
}

// maxArena is how many bytes of frames may stay allocated for the next step.
const maxArena = 1 << 20

// A Frame must be sent to a member over the link of this epoch. Its bytes are valid
// until the next method of the member is called.
type Frame struct {
	To    uint64 // incarnation of the receiver
	Bytes []byte
}

// A Ticket identifies a request.
type Ticket uint64

// An EventKind is what happened to a request.
type EventKind uint8

// What can happen to requests.
const (
	Held       EventKind = iota // the lock is granted, until further notice
	Lost                        // the lock was held, and no longer is
	Busy                        // a try: the lock is held, or has waiters
	Recovering                  // a try: not known yet whether the lock is held
	Late                        // its deadline has passed
	Stopped                     // it waited, and will not be granted here any more
	Doomed                      // the lock is held, but its transaction must abort: release it
	Wanted                      // the lock is delegated to a client, and wanted here or elsewhere: recall it
)

// A Cause is why a lock was lost or a request stopped.
type Cause uint8

// Why locks are lost and requests stopped.
const (
	NoCause  Cause = iota
	Lease          // the member's lease has expired, or is about to
	Session        // the client's session is over
	Closed         // the client has ended its session
	Leaving        // the member leaves the cluster
	Evicted        // the cluster has evicted the member
	Released       // an operator has taken the lock from its holder
	Changed        // another kind of lock has been chosen for the name

	// Only requests are stopped by these.
	Deadlock // the transaction must abort, because of a deadlock or to prevent one
	Units    // the semaphore is in use with another number of units
	Ended    // the transaction has released another lock

	// Only members hear this: the client still holds the lock, through another member.
	Moved
)

// An Event notifies an application of what happened to its request.
type Event struct {
	Ticket Ticket
	Kind   EventKind
	Cause  Cause // Lost, Stopped
	Token  Token // Held, Lost, Doomed, Wanted

	Last   uint64  // Held: last count with which the client may enter by itself; 0 if the lock is not delegated
	Silent bool    // Held: no frame about the lock has come since it was last idle here
	Born   uint64  // of a kept lock: stamp of the transaction, which it keeps when it begins again
	Victim *Victim // Deadlock: why
	Tx     uint64  // Deadlock: number of the transaction, unique at this member
}

// Errors of an application's calls.
var (
	ErrName    = errors.New("invalid lock name")
	ErrWaiters = errors.New("too many requests wait for this lock at this node: try again later")
	ErrNames   = errors.New("the client uses too many locks: release some first")
	ErrNotHeld = errors.New("the lock is not held with this token: it was released or lost")
	ErrSession = errors.New("the client has no session with this node: renew it first")
	ErrLease   = errors.New("this member has no lease at present: try again when it has contact with the other members")
	ErrGone    = errors.New("this process is not a member of the cluster: join it first")
)

// New returns a member that has not seen a view yet.
func New(c Config) (*Member, error) {
	if err := c.Settings.Check(); err != nil {
		return nil, err
	}
	c.Limits = c.Limits.usual()
	return &Member{Config: c, margin: Instant(c.Settings.act()), clients: map[uint64]*session{}, lapse: Never, Out: Out{Wake: Never}}, nil
}

// Wake reports that time has passed.
func (m *Member) Wake(now Instant) {
	m.begin(now)
	m.end()
}

// begin runs at the start of every call and handles what has become due: holds end
// with the lease, ghosts' leases expire, sessions end, deadlines pass.
func (m *Member) begin(now Instant) {
	m.now = max(m.now, now)
	if m.lease > 0 && !m.usable() {
		m.warn()
	}
	if e := m.epoch; e != nil && m.now >= e.next {
		over := e.over
		e.bury(m.now)
		m.reconsider()
		for _, i := range e.over.list() {
			if !over.has(i) {
				m.clearedOf(i)
			}
		}
	}
	if m.schedule.first() <= m.now {
		m.expire()
	}
	if m.epoch != nil && m.lost() && m.now >= m.lapse {
		m.pass()
	}
}

// end runs at the end of every call: it does what is due, and sets when to wake.
func (m *Member) end() {
	wake := m.schedule.first()
	if e := m.epoch; e != nil {
		wake = min(wake, e.next)
		m.Out.Forget = e.full || e.table.len()-e.busy-len(e.books)-len(m.kept.names) > m.Limits.Idle
	}
	if m.epoch != nil && !m.gone {
		m.renew()
		wake = min(wake, m.renewAt)
		if m.usable() {
			wake = min(wake, m.deadline())
		}
	}
	if m.epoch != nil && m.lost() {
		wake = min(wake, m.lapse)
	}
	m.Out.Wake = wake
}

// warn notifies all holders that their locks are lost, because the lease is about to
// expire. The locks are passed on when it has, so that an application that has just
// checked may still act.
func (m *Member) warn() {
	e := m.epoch
	if e == nil || e.holders+m.kept.holds == 0 {
		return
	}
	for i := range e.uses {
		if u := e.uses[i]; u != nil && u.holder != nil {
			m.expired(u, m.lease, Lease)
		}
	}
	m.kept.each(func(p *part) {
		if p.state == holds {
			m.lapses(p, m.lease, Lease)
		}
	})
}

// lost reports whether there are lost locks that were not passed on yet.
func (m *Member) lost() bool { return m.epoch.lapses+m.kept.lapses > 0 }

// expired notifies a holder that it has lost its lock by time, without its word. It may
// still act until rests. A lock that a client held is passed on only when a renewal that
// was sent after that end is confirmed: the client may hold the lock through another
// member by now, but only if the cluster has evicted this one.
func (m *Member) expired(u *use, rests Instant, why Cause) {
	e := m.epoch
	m.Out.Events = append(m.Out.Events, Event{Ticket: u.holder.ticket, Kind: Lost, Cause: why, Token: u.token})
	m.forget(u.holder)
	u.holder, u.lapsed, u.rests, u.proof = nil, true, rests, 0
	m.lapse = min(m.lapse, rests)
	e.holders--
	e.lapses++
}

// pass passes on the locks that were lost, as far as their former holders can no longer
// act, and asks for a renewal if some still need one.
func (m *Member) pass() {
	m.lapse = Never
	for i := range m.epoch.uses {
		u := m.epoch.uses[i]
		if u == nil || !u.lapsed {
			continue
		}
		switch {
		case m.now < u.rests:
			m.lapse = min(m.lapse, u.rests)
		case !u.client || u.proof > 0 && m.proven >= u.proof:
			m.leave(u)
		case u.proof == 0:
			u.proof = m.renewal + 1
			m.prove()
		}
	}
	m.passKept()
}

// prove has a renewal sent soon: at once, or some time after the last one.
func (m *Member) prove() {
	last := m.renewAt - Instant(m.Settings.Renew)
	m.renewAt = min(m.renewAt, max(m.now, last+Instant(m.Settings.Renew/20)))
}

// lose gives up all holds.
func (m *Member) lose(why Cause) {
	if m.epoch == nil || m.epoch.holders+m.kept.holds == 0 {
		return
	}
	for i := range m.epoch.uses {
		if u := m.epoch.uses[i]; u != nil && u.holder != nil {
			m.drop(u, why)
		}
	}
	m.kept.each(func(p *part) {
		if p.state == holds {
			m.takes(p, why)
		}
	})
}

// drop takes a lock from its holder here, and notifies it.
func (m *Member) drop(u *use, why Cause) {
	w := u.holder
	m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: Lost, Cause: why, Token: u.token})
	m.leave(u)
}

// stop ends everything that applications here hold and wait for.
func (m *Member) stop(why Cause) {
	m.gone = true
	m.lose(why)
	if m.epoch == nil {
		return
	}
	for i := range m.epoch.uses {
		for u := m.epoch.uses[i]; u != nil && u.claims != nil && len(u.claims.mine) > 0; u = m.epoch.uses[i] {
			m.finish(u.claims.mine[0], Stopped, why)
		}
		for u := m.epoch.uses[i]; u != nil && u.first != nil; u = m.epoch.uses[i] { // the last one may end the use
			m.finish(u.first, Stopped, why)
		}
	}
	m.kept.each(func(p *part) {
		if p.state < holds {
			m.finish(p.w, Stopped, why)
		}
	})
}

// Leave promises that nothing is entered here any more, so that no process need wait
// for the lease of a member that leaves. Held locks are lost, and passed on at once: so
// applications must release them, and clients' sessions must be over, before. The
// member keeps taking part until the others are in a view without it.
func (m *Member) Leave(now Instant) {
	m.begin(now)
	m.stop(Leaving)
	m.end()
}

// Gone reports that the member was evicted: nothing is sent any more.
func (m *Member) Gone(now Instant) {
	m.begin(now)
	m.ghost = true
	m.stop(Evicted)
	m.end()
}

// CheckName reports why a name is not valid for a lock.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrName, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: it is invalid UTF-8", ErrName)
	}
	return nil
}

// send sends a frame to a member, by its rank.
func (m *Member) send(rank int, f *frame) {
	if m.ghost {
		return
	}
	f.clock = m.clock
	m.epoch.sent[rank]++
	if len(m.trails) > 0 {
		m.framed(rank, f, true)
	}
	from := len(m.Out.arena)
	m.Out.arena = f.append(m.Out.arena)
	m.Out.Frames = append(m.Out.Frames, Frame{m.epoch.view.Members[rank].Inc, m.Out.arena[from:len(m.Out.arena):len(m.Out.arena)]})
}
