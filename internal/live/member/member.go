package member

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/stile-lock/stile/algorithm"
)

// A Config says who a member is and what it can run.
type Config struct {
	Inc      uint64 // its incarnation
	Settings Settings
	Limits   Limits
	// Spec returns the algorithm that a view has chosen. Only those are to be
	// returned that fall silent when nobody asks.
	Spec func(algorithm string, version int) (algorithm.Spec, error)
}

// Limits bound what a member keeps. Zeros stand for the usual ones.
type Limits struct {
	Waiters int // for one lock, at this member
	Names   int // that one client holds or waits for
	Idle    int // names that are known and not in use, before a view is asked for that lets them go
	Part    int // bytes of one bulk frame, about
}

// usual fills in what was not said.
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

// A Member is one live member. Its methods are called one at a time. What it
// wants done is in Out, to be taken after each of them; then the host asks for
// bulk frames with More, as far as the links have room.
type Member struct {
	Config
	Out   Out
	now   Instant
	clock uint64 // logical, of all that members hear of each other
	gone  bool   // it leaves, or was evicted: nothing is entered any more
	ghost bool   // it was evicted

	lease    Instant   // until when it may act; 0 before the first one
	margin   Instant   // how long before that it does no more
	lapse    Instant   // until when those may act who were told that their locks are lost
	renewals []renewal // that were not confirmed yet
	renewal  uint64    // the number of the last one
	renewAt  Instant   // when the next one is due

	epoch  *epoch // the view that it is in; nil before the first
	frozen *epoch // the one before, as it was when it ended; nil when nobody can ask about it any more

	waiters []*waiter // by the lower half of their tickets
	spare   []uint32  // places among them
	clients map[uint64]*session
	own     session // of the member's own process
	agenda  schedule

	later bool  // Install leaves all parts of reports to More: for checkers
	frame frame // the one being read
	out   algorithm.Output
}

// Out is what a member wants done. Whoever takes it resets it.
type Out struct {
	Frames []Frame // to be sent, in this order
	Events []Event // to be told to applications
	Wake   Instant // when Wake is to be called, if nothing happens before
	Renew  uint64  // if not 0, a renewal with this number is to be sent to the view service now
	Forget bool    // enough idle names have gathered for a view of the same members
	arena  []byte  // what Frames point to
}

// Reset empties it.
func (o *Out) Reset() {
	o.Frames, o.Events, o.arena = o.Frames[:0], o.Events[:0], o.arena[:0]
	o.Renew = 0
	if cap(o.arena) > maxArena { // a view change has once sent a lot at once
		o.Frames, o.arena = nil, nil
	}
}

// maxArena is how many bytes of frames may stay allocated for the next step.
const maxArena = 1 << 20

// A Frame is to be sent to a member over the link of this epoch. Its bytes are
// valid until the next method of the member is called.
type Frame struct {
	To    uint64 // its incarnation
	Bytes []byte
}

// A Ticket names a request.
type Ticket uint64

// An EventKind says what has become of a request.
type EventKind uint8

// What becomes of requests.
const (
	Held       EventKind = iota // it is granted, until further notice
	Lost                        // it was held, and is no more
	Busy                        // a try: somebody is inside, or waits
	Recovering                  // a try: nobody knows yet whether somebody is inside
	Late                        // its deadline has passed
	Stopped                     // it waited, and will not get anything here any more
)

// A Cause says why something was lost or stopped.
type Cause uint8

// Why something is lost or stopped.
const (
	NoCause  Cause = iota
	Lease          // the member's lease is over, or about to be
	Session        // the client's session is over
	Closed         // the client has ended it
	Leaving        // the member leaves the cluster
	Evicted        // the cluster has evicted the member
	Released       // an operator has taken it away
)

// An Event tells an application what has become of its request.
type Event struct {
	Ticket Ticket
	Kind   EventKind
	Cause  Cause // Lost, Stopped
	Token  Token // Held, Lost
}

// Errors of what applications ask for.
var (
	ErrName    = errors.New("the name of a lock is 1 to 512 bytes of UTF-8")
	ErrWaiters = errors.New("too many wait for this lock here already: try again later")
	ErrNames   = errors.New("the client uses too many locks already: let some go first")
	ErrNotHeld = errors.New("the lock is not held with this token: it was let go or lost before")
	ErrSession = errors.New("the client has no session here: renew it first")
	ErrLease   = errors.New("this member has no lease at present: try again when it has heard of the others")
	ErrGone    = errors.New("this process is no member of the cluster: join it first")
)

// New makes a member that has not seen a view yet.
func New(c Config) (*Member, error) {
	if err := c.Settings.Check(); err != nil {
		return nil, err
	}
	c.Limits = c.Limits.usual()
	return &Member{Config: c, margin: Instant(c.Settings.act()), clients: map[uint64]*session{}, Out: Out{Wake: Never}}, nil
}

// Wake tells that time has passed.
func (m *Member) Wake(now Instant) {
	m.begin(now)
	m.end()
}

// begin is called before anything is done: it does what time brings. Holds end
// with the lease, ghosts are over, sessions end, deadlines pass.
func (m *Member) begin(now Instant) {
	m.now = max(m.now, now)
	if m.lease > 0 && !m.usable() {
		m.warn()
	}
	if m.epoch != nil && m.epoch.lapses > 0 && m.now >= m.lapse {
		m.pass()
	}
	if e := m.epoch; e != nil && m.now >= e.next {
		e.bury(m.now)
		m.reconsider()
	}
	if m.agenda.first() <= m.now {
		m.expire()
	}
}

// end is called when all is done: it says what is due, and when to be woken.
func (m *Member) end() {
	wake := m.agenda.first()
	if e := m.epoch; e != nil {
		wake = min(wake, e.next)
		m.Out.Forget = e.table.len()-e.busy > m.Limits.Idle
	}
	if m.epoch != nil && !m.gone {
		m.renew()
		wake = min(wake, m.renewAt)
		if m.usable() {
			wake = min(wake, m.deadline())
		}
	}
	if m.epoch != nil && m.epoch.lapses > 0 {
		wake = min(wake, m.lapse)
	}
	m.Out.Wake = wake
}

// warn tells all who hold something that it is lost: the lease is about to be
// over. What they hold is passed on when it is, so that who has looked just
// before may still act.
func (m *Member) warn() {
	e := m.epoch
	if e == nil || e.holders == 0 {
		return
	}
	m.lapse = m.lease
	for i := range e.uses {
		if u := e.uses[i]; u != nil && u.holder != nil {
			m.Out.Events = append(m.Out.Events, Event{Ticket: u.holder.ticket, Kind: Lost, Cause: Lease, Token: u.token})
			m.forget(u.holder)
			u.holder, u.lapsed = nil, true
			e.holders--
			e.lapses++
		}
	}
}

// pass lets go of what was lost.
func (m *Member) pass() {
	for i := range m.epoch.uses {
		if u := m.epoch.uses[i]; u != nil && u.lapsed {
			m.leave(u)
		}
	}
}

// lose gives up all holds.
func (m *Member) lose(why Cause) {
	if m.epoch == nil || m.epoch.holders == 0 {
		return
	}
	for i := range m.epoch.uses {
		if u := m.epoch.uses[i]; u != nil && u.holder != nil {
			m.drop(u, why)
		}
	}
}

// drop takes a lock away from whoever holds it here, and says so.
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
		for u := m.epoch.uses[i]; u != nil && u.first != nil; u = m.epoch.uses[i] { // the last one may end the use
			m.finish(u.first, Stopped, why)
		}
	}
}

// Leave promises that nothing is entered here any more, so that nobody need wait
// for the lease of a member that leaves. What is held is lost. The member goes
// on taking part until the others are in a view without it. What is held is
// passed on at once: so applications are to let go of it, and sessions of clients
// to be over, before.
func (m *Member) Leave(now Instant) {
	m.begin(now)
	m.stop(Leaving)
	m.end()
}

// Gone tells that the member was evicted: nothing is sent any more.
func (m *Member) Gone(now Instant) {
	m.begin(now)
	m.ghost = true
	m.stop(Evicted)
	m.end()
}

// CheckName reports why a lock cannot be called so.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got %d bytes", ErrName, len(name))
	}
	return nil
}

// send sends a frame to a member, by its rank.
func (m *Member) send(rank int, f *frame) {
	if m.ghost {
		return
	}
	f.clock = m.clock
	from := len(m.Out.arena)
	m.Out.arena = f.append(m.Out.arena)
	m.Out.Frames = append(m.Out.Frames, Frame{m.epoch.view.Members[rank].Inc, m.Out.arena[from:len(m.Out.arena):len(m.Out.arena)]})
}
