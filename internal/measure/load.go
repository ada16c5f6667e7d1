package measure

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Choice says which locks applications request.
type Choice string

// The choices.
const (
	Local  Choice = "locality"     // 19 in 20 requests are for one of the member's own locks, the rest for others'
	Hot    Choice = "one hot lock" // all requests are for the same lock
	Random Choice = "random locks" // each request is for any lock
)

// A Load is what applications do: each of them requests a lock, holds it for a while,
// rests, and requests the next.
type Load struct {
	Choice  Choice
	Locks   int // number of locks; lock i is one of member i mod N's own
	Apps    int // applications at each member
	Latency scenario.Dist
	Hold    scenario.Dist
	Think   scenario.Dist // duration of their rests
	Seed    uint64

	// Kept makes the locks kept, with the default method. Requests are then on these Terms.
	Kept  bool
	Terms member.Terms
}

// An app is an application at a member.
type app struct {
	place int
	lock  int // the lock that it requested last
	token member.Token
	grant member.Ticket
	asked int64
	free  bool // the lock was neither held nor awaited when it was requested
}

// A lock is what an omniscient observer knows of a lock.
type lock struct {
	name    string
	inside  int // the application that holds it, or none; the last one of several
	waiting int // applications that wait
	left    int64
	owed    bool   // an application waited when it was released
	last    int    // place of the last member that held it, or none
	touched uint64 // members that have requested it
}

// none stands for no application, and for no member.
const none = -1

// A run is a fleet under a load.
type run struct {
	*fleet
	load    Load
	n       int // members that have applications
	apps    []app
	locks   []lock
	tickets []map[member.Ticket]int // by member: the applications by their requests
	chance  kernel.Rand
	stopped bool // applications make no new requests
	entries int
	entered func(a int)
}

// newRun starts the applications of a fleet when the members have their leases.
func newRun(spec algorithm.Spec, n, more int, l Load) (*run, error) {
	choice := member.Choice{Algorithm: spec.Name, Version: spec.Version}
	if l.Kept {
		choice = member.Choice{Algorithm: member.Kept(member.KeptMethods()[0]), Version: 1}
	}
	f, err := newFleet(spec, choice, n, more, l.Latency, l.Seed)
	if err != nil {
		return nil, err
	}
	r := &run{fleet: f, load: l, n: n, chance: kernel.NewRand(l.Seed, 1), entered: func(int) {}}
	f.notified, f.Happen = r.event, r.happen
	for i := range l.Locks {
		r.locks = append(r.locks, lock{name: fmt.Sprint("lock-", i), inside: none, last: none})
	}
	for i := range n + more {
		r.tickets = append(r.tickets, map[member.Ticket]int{})
		for range l.Apps {
			if i < n {
				r.At(3*T+r.chance.Sample(l.Think), asks, algorithm.ID(i), len(r.apps))
				r.apps = append(r.apps, app{place: i})
			}
		}
	}
	return r, nil
}

// happen handles an event.
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

// ask makes an application request a lock.
func (r *run) ask(a, i int) {
	x, l := &r.apps[a], &r.locks[i]
	if x.place == r.dead {
		return
	}
	x.lock, x.asked, x.free = i, r.Now(), l.inside == none && l.waiting == 0
	l.waiting++
	l.touched |= 1 << x.place
	n := r.nodes[x.place]
	n.take(process.Input{Kind: process.Lock, Text: l.name, Terms: r.load.Terms})
	if n.Out.Err != nil {
		r.fail(n.Out.Err)
		return
	}
	r.tickets[x.place][n.Out.Ticket] = a
	n.carryOut()
}

// event handles the outcome of a request.
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

// enter makes an application hold its lock.
func (r *run) enter(a int, e member.Event) {
	x := &r.apps[a]
	l := &r.locks[x.lock]
	if l.inside != none && r.apps[l.inside].place != r.dead && !r.several() {
		r.fail(fmt.Errorf("%s has two holders at once", l.name))
	}
	x.token, x.grant = e.Token, e.Ticket
	l.inside, l.last = a, x.place
	l.waiting--
	r.entered(a)
	l.owed = false
	r.entries++
	r.At(r.Now()+r.chance.Sample(r.load.Hold), leaves, algorithm.ID(x.place), a)
}

// leave makes an application release its lock, and rest.
func (r *run) leave(a int) {
	x := &r.apps[a]
	l := &r.locks[x.lock]
	if _, holds := r.tickets[x.place][x.grant]; !holds || x.place == r.dead {
		return // it has crashed, or lost the lock
	}
	r.left(x, l)
	n := r.nodes[x.place]
	n.take(process.Input{Kind: process.Unlock, Text: l.name, Token: x.token})
	if n.Out.Err != nil {
		r.fail(n.Out.Err)
		return
	}
	if !r.stopped {
		r.At(r.Now()+r.chance.Sample(r.load.Think), asks, algorithm.ID(x.place), a)
	}
	n.carryOut()
}

// left records that an application no longer holds a lock.
func (r *run) left(x *app, l *lock) {
	delete(r.tickets[x.place], x.grant)
	l.inside, l.left, l.owed = none, r.Now(), l.waiting > 0
}

// several reports whether a lock may have several holders.
func (r *run) several() bool { return r.load.Terms.Mode != deadlock.Exclusive }

// until lets time pass until a condition holds.
func (r *run) until(over func() bool) error {
	for r.err == nil && !over() {
		if r.Now() > endless {
			return fmt.Errorf("still running after %d ms", r.Now()/T)
		}
		r.Step() // members renew forever, so there is a next event
	}
	return r.err
}

// endless is longer than any measurement takes.
const endless = 10_000_000 * T
