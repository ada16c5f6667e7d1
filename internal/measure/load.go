package measure

import (
	"fmt"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim/kernel"
)

// A Choice says which locks applications ask for.
type Choice string

// The choices.
const (
	Local  Choice = "locality"     // 19 in 20 requests are for one of the member's own locks, the others for any of another's
	Hot    Choice = "one hot lock" // all are for the same one
	Random Choice = "random locks" // each is for any
)

// A Load is what applications do: each of them asks for a lock, is inside for a
// while, rests and asks again.
type Load struct {
	Choice  Choice
	Locks   int // how many there are; lock i is an own one of member i mod N
	Apps    int // applications at each member
	Latency scenario.Dist
	Hold    scenario.Dist
	Think   scenario.Dist
	Seed    uint64
}

// An app is an application at a member.
type app struct {
	place int
	lock  int // that it asked for, waits for or is inside of
	token member.Token
	grant member.Ticket
	asked int64
	free  bool // nobody was inside or waited when it asked
}

// A record is what is known of a lock by one who sees all.
type record struct {
	name    string
	inside  int // the application, or nobody
	waiting int // applications that wait
	left    int64
	owed    bool   // somebody waited when it was left
	last    int    // the place of the member that was inside last, or nobody
	touched uint64 // members that have asked for it
}

const nobody = -1

// A run is a fleet under a load.
type run struct {
	*fleet
	load    Load
	n       int // members that have applications
	apps    []app
	locks   []record
	tickets []map[member.Ticket]int // of each member: whose they are
	chance  kernel.Rand
	stopped bool // nobody asks again
	entries int
	entered func(a int)
}

// newRun has the applications of a fleet begin, when members have their leases.
func newRun(spec core.Spec, n, more int, l Load) (*run, error) {
	f, err := newFleet(spec, n, more, l.Latency, l.Seed)
	if err != nil {
		return nil, err
	}
	r := &run{fleet: f, load: l, n: n, chance: kernel.NewRand(l.Seed, 1), entered: func(int) {}}
	f.held, f.Happen = r.event, r.happen
	for i := range l.Locks {
		r.locks = append(r.locks, record{name: fmt.Sprint("lock-", i), inside: nobody, last: nobody})
	}
	for i := range n + more {
		r.tickets = append(r.tickets, map[member.Ticket]int{})
		for range l.Apps {
			if i < n {
				r.At(3*T+r.chance.Sample(l.Think), asks, core.ID(i), len(r.apps))
				r.apps = append(r.apps, app{place: i})
			}
		}
	}
	return r, nil
}

// happen lets an event happen.
func (r *run) happen(e *kernel.Event) {
	switch e.Kind {
	case asks:
		if !r.stopped {
			r.ask(e.Arg(), r.pick(int(e.Proc())))
		}
	case leaves:
		r.leave(e.Arg())
	default:
		r.tick(e)
	}
}

// pick chooses a lock.
func (r *run) pick(place int) int {
	k := int64(r.load.Locks)
	if r.load.Choice != Local {
		return int(r.chance.Below(k))
	}
	own := r.chance.Below(20) > 0
	for {
		if i := int(r.chance.Below(k)); (i%r.n == place) == own {
			return i
		}
	}
}

// ask has an application ask for a lock.
func (r *run) ask(a, lock int) {
	x, l := &r.apps[a], &r.locks[lock]
	if x.place == r.dead {
		return
	}
	x.lock, x.asked, x.free = lock, r.Now(), l.inside == nobody && l.waiting == 0
	l.waiting++
	l.touched |= 1 << x.place
	m := r.members[x.place]
	t, err := m.Lock(r.now(), l.name, member.Ask{Deadline: member.Never})
	if err != nil {
		r.fail(err)
		return
	}
	r.tickets[x.place][t] = a
	r.take(x.place)
}

// event is told what has become of a request.
func (r *run) event(place int, e member.Event) {
	a := r.tickets[place][e.Ticket]
	x := &r.apps[a]
	l := &r.locks[x.lock]
	switch e.Kind {
	case member.Held:
		r.enter(a, e)
	case member.Lost:
		r.left(x, l)
	case member.Stopped:
		delete(r.tickets[place], e.Ticket)
		l.waiting--
	}
}

// enter has an application be inside.
func (r *run) enter(a int, e member.Event) {
	x := &r.apps[a]
	l := &r.locks[x.lock]
	if l.inside != nobody && r.apps[l.inside].place != r.dead {
		r.fail(fmt.Errorf("two are inside of %s", l.name))
	}
	x.token, x.grant = e.Token, e.Ticket
	l.inside, l.last = a, x.place
	l.waiting--
	r.entered(a)
	l.owed = false
	r.entries++
	r.At(r.Now()+r.chance.Sample(r.load.Hold), leaves, core.ID(x.place), a)
}

// leave has an application let go, and rest.
func (r *run) leave(a int) {
	x := &r.apps[a]
	l := &r.locks[x.lock]
	if x.place == r.dead || l.inside != a {
		return // it died inside, or has lost it
	}
	r.left(x, l)
	if err := r.members[x.place].Unlock(r.now(), l.name, x.token); err != nil {
		r.fail(err)
		return
	}
	if !r.stopped {
		r.At(r.Now()+r.chance.Sample(r.load.Think), asks, core.ID(x.place), a)
	}
	r.take(x.place)
}

// left notes that an application is not inside any more.
func (r *run) left(x *app, l *record) {
	delete(r.tickets[x.place], x.grant)
	l.inside, l.left, l.owed = nobody, r.Now(), l.waiting > 0
}

// until lets time pass until something is so.
func (r *run) until(over func() bool) error {
	for r.err == nil && !over() {
		if r.Now() > endless {
			return fmt.Errorf("it is not over after %d ms", r.Now()/T)
		}
		r.Step() // members renew for ever, so there is a next one
	}
	return r.err
}

// endless is longer than any measurement takes.
const endless = 10_000_000 * T
