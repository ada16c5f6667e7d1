// Package transactions is the environment of a method against deadlock: processes that
// run transactions, which acquire locks at several sites one by one and commit. A
// transaction that is ordered to abort does so at once, and may start again at any time.
package transactions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// A Config says which method runs, and over what. Process i runs transactions that ask
// for the locks of Programs[i] one by one; none if that is nil. With Later its
// transactions differ: one for Programs[i], then one for each of Later[i], and so on in
// turn. A transaction gives up if it needs a lock of a dead site. With Detours it asks
// all the same, and its host has to plan without such locks. Modes are the modes of the
// locks of Programs[i]; all are exclusive if it is nil, as are those of Later. Cancels is
// how often processes may give up waiting, in all: by cancelling a request, after which
// the transaction goes on without that lock, or by aborting.
type Config struct {
	Method   deadlock.Method
	Mode     string
	Layout   deadlock.Layout
	Programs [][]int
	Later    [][][]int
	Modes    [][]deadlock.Mode
	Cancels  int
	Detours  bool
}

// shares reports whether a lock may have several holders.
func (c Config) shares() bool {
	return slices.ContainsFunc(c.Modes, func(ms []deadlock.Mode) bool {
		return slices.ContainsFunc(ms, func(m deadlock.Mode) bool { return m != deadlock.Exclusive })
	})
}

// turns returns how many transactions of a process differ, or may.
func (c Config) turns(p int) int {
	switch {
	case c.Programs == nil:
		return 1
	case c.Programs[p] == nil:
		return 0
	case c.Later == nil:
		return 1
	}
	return 1 + len(c.Later[p])
}

// Dinner returns the smallest case with a ring: n processes and n locks, where each
// process takes its own lock and then the next one's.
func Dinner(m deadlock.Method, mode string, sites, n int) Config {
	c := Config{Method: m, Mode: mode, Layout: deadlock.Spread(sites, n, n)}
	for p := range n {
		program := []int{p, (p + 1) % n}
		if m.Sorted {
			slices.Sort(program)
		}
		c.Programs = append(c.Programs, program)
	}
	return c
}

// Crowd returns the smallest case in which two processes wait for one lock: three
// processes over two locks, where the second takes them in the opposite order.
func Crowd(m deadlock.Method, mode string, sites int) Config {
	c := Dinner(m, mode, sites, 2)
	c.Layout = deadlock.Spread(sites, 3, 2)
	c.Programs = append(c.Programs, c.Programs[0])
	return c
}

// common is what all copies of an Env have in common.
type common struct {
	Config
	rounds int // repetitions of each process's sequence of transactions; 0 means any number
	watch  Watcher
	shared bool // whether a lock may have several holders
	exact  bool // whether each victim must have been part of a deadlock that existed
}

// An Env is the processes that run transactions.
type Env struct {
	*common
	clients []client
	holders [][]int32 // holders of each lock: derived from clients
	queues  [][]int32 // if shared: processes whose requests for each lock have arrived, in this order
	cancels int       // how often processes may still give up waiting
	aborts  bool      // a transaction has aborted
	deaths  bool      // a site has died
	edges   edges
}

// A client is a process.
type client struct {
	program []int           // locks that its transaction asks for
	modes   []deadlock.Mode // their modes, if not all are exclusive
	skipped byte            // bits of the locks that it has cancelled, if there is a limit to that
	got     int             // number of these locks that it has
	left    int             // transactions left to run; if unbounded, until the first one comes again
	active  bool            // a transaction is in progress, perhaps between two attempts
	waits   bool            // for program[got]
	arrived bool            // its request has arrived
	doomed  bool            // a message that makes it abort is in flight
	spared  bool            // another process was chosen to break the deadlock it was in
	jammed  bool            // if exact: it has been in a deadlock since its request arrived
}

// New returns the processes, each of which runs its sequence of transactions the given
// number of times, or any number of times if that is 0. If there are no programs,
// [Env.Plan] says what a transaction asks for.
func New(c Config, rounds int) (*Env, error) {
	if c.Programs != nil && len(c.Programs) != len(c.Layout.Home) {
		return nil, fmt.Errorf("%d programs for %d processes: want one for each", len(c.Programs), len(c.Layout.Home))
	}
	if c.Later != nil && len(c.Later) != len(c.Programs) {
		return nil, fmt.Errorf("%d processes have later programs, but %d have programs: give later ones to all processes or to none", len(c.Later), len(c.Programs))
	}
	if rounds < 0 {
		return nil, fmt.Errorf("%d transactions per process: want at least 1, or 0 for any number", rounds)
	}
	if c.Modes != nil && len(c.Modes) != len(c.Programs) {
		return nil, fmt.Errorf("%d processes have modes, but %d have programs: give modes to all processes or to none", len(c.Modes), len(c.Programs))
	}
	for p, modes := range c.Modes {
		if modes != nil && len(modes) != len(c.Programs[p]) {
			return nil, fmt.Errorf("%d modes for the %d locks of %v: want one for each", len(modes), len(c.Programs[p]), algorithm.ID(p))
		}
	}
	exact := c.Method.Family == deadlock.Detection && c.Method.Exact != nil && c.Method.Exact(c.Mode)
	return (&Env{common: &common{Config: c, rounds: rounds, shared: c.shares(), exact: exact}}).empty(), nil
}

// New implements family.Env.
func (e *Env) New() family.Env { return e.empty() }

// empty returns processes that have done nothing.
func (e *Env) empty() *Env {
	n := &Env{common: e.common, clients: make([]client, len(e.Layout.Home)), holders: make([][]int32, len(e.Layout.At)), queues: make([][]int32, len(e.Layout.At))}
	n.Begin(nil, algorithm.View{})
	return n
}

// Copy implements family.Env.
func (e *Env) Copy(from family.Env) {
	o := from.(*Env)
	copy(e.clients, o.clients)
	for k := range e.holders {
		e.holders[k] = append(e.holders[k][:0], o.holders[k]...)
		e.queues[k] = append(e.queues[k][:0], o.queues[k]...)
	}
	e.aborts, e.deaths, e.cancels = o.aborts, o.deaths, o.cancels
}

// Begin implements family.Env.
func (e *Env) Begin(family.Host, algorithm.View) {
	for i := range e.clients {
		e.clients[i] = client{left: max(1, e.rounds) * e.turns(i)}
		e.turn(i)
	}
	for k := range e.holders {
		e.holders[k], e.queues[k] = e.holders[k][:0], e.queues[k][:0]
	}
	e.aborts, e.deaths, e.cancels = false, false, e.Cancels
}

// turn gives a process the program of its next transaction.
func (e *Env) turn(i int) {
	c, n := &e.clients[i], e.turns(i)
	switch {
	case e.Programs == nil || n == 0 || c.left == 0:
		return
	case c.left%n == 0:
		c.program, c.modes = e.Programs[i], nil
		if e.Modes != nil {
			c.modes = e.Modes[i]
		}
	default:
		c.program, c.modes = e.Later[i][n-c.left%n-1], nil
	}
	for at := 7; c.skipped != 0 && at >= 0; at-- {
		if c.skipped&(1<<at) != 0 {
			c.skip(at)
		}
	}
}

// skip takes a lock out of the program of a process.
func (c *client) skip(at int) {
	c.program = slices.Delete(slices.Clone(c.program), at, at+1)
	if c.modes != nil {
		c.modes = slices.Delete(slices.Clone(c.modes), at, at+1)
	}
}

// place returns where the lock that a process waits for is in its whole program.
func (c *client) place() int {
	at := 0
	for n := c.got; n > 0 || c.skipped&(1<<at) != 0; at++ {
		if c.skipped&(1<<at) == 0 {
			n--
		}
	}
	return at
}

// mode returns the mode in which a process asks for a lock of its program.
func (c *client) mode(at int) deadlock.Mode {
	if c.modes == nil {
		return deadlock.Exclusive
	}
	return c.modes[at]
}

// Plan sets what the next transaction of a process asks for, or the rest of the current
// one. All modes are exclusive if modes is nil.
func (e *Env) Plan(p algorithm.ID, locks []int, modes []deadlock.Mode) {
	c := &e.clients[p]
	c.program, c.modes = locks, modes
	e.shared = e.shared || slices.ContainsFunc(modes, func(m deadlock.Mode) bool { return m != deadlock.Exclusive })
}

// Watch installs a watcher, before anything has happened.
func (e *Env) Watch(w Watcher) {
	e.watch, e.edges = w, edges{queue: make([]int32, len(e.holders)), live: make([]int32, len(e.holders))}
}

// free takes away what a process has.
func (e *Env) free(i algorithm.ID) {
	e.change(i, func(c *client) {
		for _, k := range c.program[:c.got] {
			e.holders[k] = without(e.holders[k], i)
		}
		e.unwait(i)
		c.got, c.doomed = 0, false
	})
}

// unwait ends the waiting of a process.
func (e *Env) unwait(i algorithm.ID) {
	c := &e.clients[i]
	if c.waits {
		k := c.program[c.got]
		e.queues[k] = without(e.queues[k], i)
	}
	c.waits, c.arrived, c.spared, c.jammed = false, false, false, false
}

func without(all []int32, p algorithm.ID) []int32 {
	return slices.DeleteFunc(all, func(q int32) bool { return q == int32(p) })
}

// Acts implements family.Env. Everything is fair except the beginning of a transaction:
// no process has to begin one.
func (e *Env) Acts(h family.Host, yield func(a family.Act)) (first bool) {
	for i := range e.clients {
		c := &e.clients[i]
		switch {
		case h.Dead(e.Layout.Home[i]):
		case c.waits && e.cancels > 0:
			yield(family.Act{Kind: script.Cancel, Proc: algorithm.ID(i)})
			yield(family.Act{Kind: script.Abandon, Proc: algorithm.ID(i)})
		case c.waits:
		case c.active:
			yield(family.Act{Kind: script.Proceed, Proc: algorithm.ID(i), Fair: true})
		case c.left > 0:
			yield(family.Act{Kind: script.Take, Proc: algorithm.ID(i)})
		}
	}
	return false
}

// Action implements family.Env.
func (e *Env) Action(a family.Act) script.Action {
	s := script.Action{Kind: a.Kind, Proc: a.Proc}
	if a.Kind == script.Take {
		s.Locks = e.clients[a.Proc].program
		for _, m := range e.clients[a.Proc].modes {
			s.Modes = append(s.Modes, int(m))
		}
	}
	return s
}

// May implements family.Env.
func (e *Env) May(a family.Act) error {
	switch a.Kind {
	case script.Take, script.Proceed:
	case script.Cancel, script.Abandon:
		if !e.clients[a.Proc].waits {
			return errors.New("waits for no lock")
		}
		return nil
	default:
		return nil // it concerns a site
	}
	switch c := &e.clients[a.Proc]; {
	case c.waits:
		return fmt.Errorf("waits for %s", deadlock.LockName(c.program[c.got]))
	case a.Kind == script.Take && c.active:
		return errors.New("cannot begin a transaction: one is running; let it go on")
	case a.Kind == script.Proceed && !c.active:
		return errors.New("cannot go on: it has no transaction")
	}
	return nil
}

// Do implements family.Env: a process asks for its next lock, or commits.
func (e *Env) Do(h family.Host, a family.Act) {
	switch c := &e.clients[a.Proc]; {
	case a.Kind == script.Cancel:
		e.cancel(h, a.Proc)
	case a.Kind == script.Abandon:
		e.spend()
		if h.Hears() {
			e.say(h, e.Layout.Home[a.Proc], "%v gives up and aborts", a.Proc)
		}
		e.abort(h, a.Proc)
	case c.got == len(c.program):
		e.commit(h, a.Proc)
	case !e.Detours && e.Lost(h, c.program[c.got]):
		e.giveUp(h, a.Proc)
	default:
		e.ask(h, a.Proc)
	}
}

// spend counts that a process has given up waiting.
func (e *Env) spend() { e.cancels = max(0, e.cancels-1) }

// cancel makes a process give up the lock that it waits for, and go on without it.
func (e *Env) cancel(h family.Host, p algorithm.ID) {
	c, home := &e.clients[p], e.Layout.Home[p]
	e.spend()
	if h.Hears() {
		e.say(h, home, "%v no longer asks for %s", p, deadlock.LockName(c.program[c.got]))
	}
	e.change(p, func(c *client) {
		e.unwait(p)
		if e.Cancels > 0 {
			c.skipped |= 1 << c.place()
		}
		c.skip(c.got)
	})
	e.aborts = true
	h.Step(home, host.Input{Kind: host.Cancel, From: p})
	if e.watch != nil {
		e.watch.Cancelled(p)
	}
}

func (e *Env) ask(h family.Host, p algorithm.ID) {
	c, home := &e.clients[p], e.Layout.Home[p]
	k, m := c.program[c.got], c.mode(c.got)
	if e.watch != nil {
		e.watch.Asks(p, k)
	}
	if h.Hears() {
		if m == deadlock.Exclusive {
			e.say(h, home, "%v asks for %s", p, deadlock.LockName(k))
		} else {
			e.say(h, home, "%v asks for %s, %v", p, deadlock.LockName(k), m)
		}
	}
	if !c.active && e.Method.Claims {
		for _, k := range c.program {
			h.Step(home, host.Input{Kind: host.Claim, From: p, Arg: k})
		}
	}
	c.active, c.waits, c.arrived = true, true, false
	h.Step(home, host.Input{Kind: host.Request, From: p, Arg: k, Mode: int(m)})
}

func (e *Env) commit(h family.Host, p algorithm.ID) {
	c, home := &e.clients[p], e.Layout.Home[p]
	if e.watch != nil {
		e.watch.Commits(p)
	}
	if h.Hears() {
		e.say(h, home, "%v commits", p)
	}
	e.free(p)
	c.active, c.skipped = false, 0
	if c.left--; c.left == 0 && e.rounds == 0 {
		c.left = e.turns(int(p))
	}
	e.turn(int(p))
	h.Step(home, host.Input{Kind: host.Release, From: p})
}

// giveUp ends a transaction for good: a lock that it needs is lost.
func (e *Env) giveUp(h family.Host, p algorithm.ID) {
	c, home := &e.clients[p], e.Layout.Home[p]
	if h.Hears() {
		e.say(h, home, "%v gives up: the site of %s has crashed", p, deadlock.LockName(c.program[c.got]))
	}
	if e.watch != nil {
		e.watch.Loses(p)
	}
	e.free(p)
	c.active, c.left, c.skipped = false, 0, 0
	h.Step(home, host.Input{Kind: host.Abort, From: p})
}

// Lost reports whether a lock died with its site, and no other site keeps it.
func (e *Env) Lost(h family.Host, k int) bool { return h.Dead(e.Layout.At[k]) && !e.Method.Claims }

// say records an event at a site for the user to see.
func (e *Env) say(h family.Host, at algorithm.ID, format string, args ...any) {
	h.Tell(trace.Event{Kind: trace.Note, Proc: at, Name: fmt.Sprintf(format, args...)})
}

// Crashed implements family.Env: the transactions of a site die with it.
func (e *Env) Crashed(_ family.Host, site algorithm.ID) {
	e.deaths = true
	for i := range e.clients {
		if c := &e.clients[i]; e.Layout.Home[i] == site {
			if e.watch != nil {
				e.watch.Dies(algorithm.ID(i))
			}
			e.free(algorithm.ID(i))
			c.active, c.left, c.skipped = false, 0, 0
		}
	}
}

// Returned implements family.Env.
func (e *Env) Returned(family.Host, algorithm.ID) {}

// Trusted implements family.Env.
func (e *Env) Trusted(family.Host, algorithm.ID, algorithm.ID) {}

// Caused implements family.Env.
func (e *Env) Caused(algorithm.ID, family.Tag) {}

// Tag implements family.Env. Messages themselves say which attempt they are about.
func (e *Env) Tag(algorithm.ID) family.Tag { return 0 }

// Waits implements family.Env: a process waits from the beginning of a transaction to its
// end.
func (e *Env) Waits(p algorithm.ID) bool { return e.clients[p].active }

// Inside implements family.Env: there is more than one lock.
func (e *Env) Inside(algorithm.ID) bool { return false }

// Program returns what the transaction of a process asks for, and how many of these locks
// it has.
func (e *Env) Program(p algorithm.ID) (locks []int, got int) {
	return e.clients[p].program, e.clients[p].got
}

// ModesOf returns the modes in which the transaction of a process asks for its locks; nil
// if all are exclusive.
func (e *Env) ModesOf(p algorithm.ID) []deadlock.Mode { return e.clients[p].modes }

// Blocked reports whether a process waits for a lock.
func (e *Env) Blocked(p algorithm.ID) bool { return e.clients[p].waits }
