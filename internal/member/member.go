package member

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/stile-lock/stile/core"
)

// A Config says who a member is and what it can run.
type Config struct {
	Inc      uint64 // its incarnation
	Settings Settings
	Limits   Limits
	// Spec returns the algorithm that a view has chosen. Only those are to be
	// returned that fall silent when nobody asks.
	Spec func(algorithm string, version int) (core.Spec, error)
}

// Limits bound what applications may make a member keep.
type Limits struct {
	Waiters int // for one lock
	Names   int // that one client holds or waits for
}

// A Member is one live member. Its methods are called one at a time. What it
// wants done is in Out, to be taken after each of them.
type Member struct {
	Config
	Out   Out
	now   Instant
	clock uint64  // logical, of all that members hear of each other
	lease Instant // until when it may act; 0 before the first one
	gone  bool    // it is a member no more, or is leaving: nothing is entered

	epoch  *epoch // the view that it is in; nil before the first
	frozen *epoch // the one before, as it was when it ended; nil when nobody can ask about it any more

	tickets map[Ticket]*waiter
	clients map[uint64]*session
	order   []*session // the same, in the order in which they came
	late    deadlines
	serial  Ticket
	spare   []*waiter

	frame frame // the one being read
	out   core.Output
	bytes []byte
}

// Out is what a member wants done. Whoever takes it empties it.
type Out struct {
	Frames []Frame // to be sent, in this order
	Events []Event // to be told to applications
	Wake   Instant // when Wake is to be called, if nothing happens before
}

// A Frame is to be sent to a member over the link of this epoch.
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
	Stopped                     // the member is one no more
)

// An Event tells an application what has become of its request.
type Event struct {
	Ticket Ticket
	Kind   EventKind
	Token  Token // Held, Lost
}

// Errors of what applications ask for.
var (
	ErrName    = errors.New("the name of a lock is 1 to 512 bytes of UTF-8")
	ErrWaiters = errors.New("too many wait for this lock here already")
	ErrNames   = errors.New("the client uses too many locks already: let some go first")
	ErrNotHeld = errors.New("the lock is not held with this token: it was let go or lost before")
	ErrSession = errors.New("the client has no session here: renew it first")
	ErrGone    = errors.New("this process is no member of the cluster any more: join again")
)

// New makes a member that has not seen a view yet.
func New(c Config) (*Member, error) {
	if err := c.Settings.Check(); err != nil {
		return nil, err
	}
	if c.Limits.Waiters <= 0 {
		c.Limits.Waiters = 10_000
	}
	if c.Limits.Names <= 0 {
		c.Limits.Names = 100_000
	}
	return &Member{Config: c, tickets: map[Ticket]*waiter{}, clients: map[uint64]*session{}}, nil
}

// usable reports whether something may be begun now.
func (m *Member) usable() bool {
	return !m.gone && m.lease > 0 && m.now < m.lease-Instant(m.Settings.act())
}

// Leased tells that a renewal was confirmed: the member may act until then.
func (m *Member) Leased(now, until Instant) {
	m.begin(now)
	m.lease = max(m.lease, until)
	if m.epoch != nil {
		for _, u := range m.epoch.uses {
			if u != nil && u.holder == nil {
				m.settle(u)
			}
		}
	}
	m.end()
}

// begin is called before anything is done.
func (m *Member) begin(now Instant) {
	m.now = max(m.now, now)
	m.expire()
}

// end is called when all is done: it says when to be woken.
func (m *Member) end() {
	wake := min(m.late.first(), m.nextSession())
	if m.lease > 0 && !m.gone && m.usable() {
		wake = min(wake, m.lease-Instant(m.Settings.act()))
	}
	if m.epoch != nil {
		wake = min(wake, m.epoch.nextGhost(m.now))
	}
	m.Out.Wake = wake
}

// Wake tells that time has passed.
func (m *Member) Wake(now Instant) {
	m.begin(now)
	m.end()
}

// expire does what time brings: holds end with the lease, ghosts are over, and
// deadlines pass.
func (m *Member) expire() {
	if m.lease > 0 && !m.usable() {
		m.lose()
	}
	if e := m.epoch; e != nil && e.bury(m.now) {
		m.reconsider()
	}
	m.endSessions()
	for m.late.first() <= m.now {
		if w := m.late.pop(); w.at != nil {
			m.tell(w, Late)
			m.withdraw(w)
		}
	}
}

// lose gives up all holds: the lease is over.
func (m *Member) lose() {
	if m.epoch == nil {
		return
	}
	for _, u := range m.epoch.uses {
		if u != nil && u.holder != nil {
			w := u.holder
			m.Out.Events = append(m.Out.Events, Event{w.ticket, Lost, u.token})
			m.forget(w)
			m.leave(u)
		}
	}
}

// Gone tells that the member was evicted, or has left. Nothing is held any more,
// and nobody who waits here will get anything.
func (m *Member) Gone(now Instant) {
	m.begin(now)
	m.gone = true
	m.lose()
	if e := m.epoch; e != nil {
		for _, u := range e.uses {
			for u != nil && u.first != nil {
				m.tell(u.first, Stopped)
				m.withdraw(u.first)
			}
		}
	}
	m.end()
}

func (m *Member) tell(w *waiter, kind EventKind) {
	m.Out.Events = append(m.Out.Events, Event{Ticket: w.ticket, Kind: kind})
}

// checkName reports why a lock cannot be called so.
func checkName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: %d bytes", ErrName, len(name))
	}
	return nil
}

// send sends a frame to a member, by its rank.
func (m *Member) send(rank int, f *frame) {
	f.clock = m.clock
	m.Out.Frames = append(m.Out.Frames, Frame{m.epoch.view.Members[rank].Inc, f.append(nil)})
}

// Usable reports whether the member may act at this reading of its clock.
func (m *Member) Usable(now Instant) bool {
	return !m.gone && m.lease > 0 && now < m.lease-Instant(m.Settings.act())
}

// Holds reports whether a request is granted.
func (m *Member) Holds(t Ticket) bool {
	w := m.tickets[t]
	return w != nil && w.at.holder == w
}
