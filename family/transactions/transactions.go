// Package transactions is the environment of a method against deadlock:
// processes that run transactions, which take locks at several sites one by one
// and commit. Who is told to abort does so at once, and may start again at any
// time.
package transactions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/deadlock"
	"github.com/stile-lock/stile/family"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A Config says which method runs over what: process i runs transactions that
// ask for the locks of Programs[i] one by one.
type Config struct {
	Method   deadlock.Method
	Mode     string
	Layout   deadlock.Layout
	Programs [][]int
}

// Dinner returns the smallest case with a ring: n processes, n locks, each takes
// its own lock and then the next one's.
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

// Crowd returns the smallest case in which two wait for one lock: three
// processes over two locks, of which the second takes them the other way
// round.
func Crowd(m deadlock.Method, mode string, sites int) Config {
	c := Dinner(m, mode, sites, 2)
	c.Layout = deadlock.Spread(sites, 3, 2)
	c.Programs = append(c.Programs, c.Programs[0])
	return c
}

const (
	maxProcesses    = 16
	maxTransactions = 100 // of each process
)

// shared is what all copies of an Env have in common.
type shared struct {
	Config
	rounds int // how many transactions each process runs one after the other; 0 means any number
}

// An Env is the processes that run transactions.
type Env struct {
	*shared
	clients []client
	aborts  bool // somebody has aborted
	deaths  bool // a site has died
}

// A client is a process.
type client struct {
	left    uint8 // transactions still to run
	got     uint8 // locks that it has
	active  bool
	waits   bool
	arrived bool // its request has
	doomed  bool // a message that makes it abort is under way
	spared  bool // another one was chosen to break the deadlock it was in
}

// New returns the processes, each of which runs so many transactions one after
// the other, or any number of them if that is 0.
func New(c Config, rounds int) (*Env, error) {
	if len(c.Programs) != len(c.Layout.Home) || len(c.Programs) > maxProcesses {
		return nil, fmt.Errorf("%d programs for %d processes: want one for each, and at most %d", len(c.Programs), len(c.Layout.Home), maxProcesses)
	}
	if rounds < 0 || rounds > maxTransactions {
		return nil, fmt.Errorf("%d transactions of each process: want 1 to %d, or 0 for any number", rounds, maxTransactions)
	}
	return &Env{shared: &shared{c, rounds}, clients: make([]client, len(c.Programs))}, nil
}

// New implements family.Env.
func (e *Env) New() family.Env {
	return &Env{shared: e.shared, clients: make([]client, len(e.clients))}
}

// Copy implements family.Env.
func (e *Env) Copy(from family.Env) {
	o := from.(*Env)
	copy(e.clients, o.clients)
	e.aborts, e.deaths = o.aborts, o.deaths
}

// Append implements family.Env.
func (e *Env) Append(b []byte) []byte {
	b = append(b, pack(e.aborts, e.deaths))
	for i := range e.clients {
		c := &e.clients[i]
		b = append(b, c.left, c.got, pack(c.active, c.waits, c.arrived, c.doomed, c.spared))
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	e.aborts, e.deaths = b[0]&1 != 0, b[0]&2 != 0
	b = b[1:]
	for i := range e.clients {
		f := b[2]
		e.clients[i] = client{
			left: b[0], got: b[1], active: f&1 != 0, waits: f&2 != 0, arrived: f&4 != 0, doomed: f&8 != 0, spared: f&16 != 0,
		}
		b = b[3:]
	}
	return b
}

func pack(flags ...bool) (b byte) {
	for i, f := range flags {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// Begin implements family.Env.
func (e *Env) Begin(family.Host, core.View) {
	for i := range e.clients {
		e.clients[i] = client{left: uint8(max(1, e.rounds))}
	}
	e.aborts, e.deaths = false, false
}

// Acts implements family.Env. Everything is fair but the begin of a
// transaction: nobody must.
func (e *Env) Acts(h family.Host, yield func(a family.Act)) (first bool) {
	for i := range e.clients {
		c := &e.clients[i]
		switch {
		case c.waits || h.Dead(e.Layout.Home[i]):
		case c.active:
			yield(family.Act{Kind: scenario.Proceed, Proc: core.ID(i), Fair: true})
		case c.left > 0:
			yield(family.Act{Kind: scenario.Take, Proc: core.ID(i)})
		}
	}
	return false
}

// Action implements family.Env.
func (e *Env) Action(a family.Act) scenario.Action {
	s := scenario.Action{Kind: a.Kind, Proc: a.Proc}
	if a.Kind == scenario.Take {
		s.Locks = e.Programs[a.Proc]
	}
	return s
}

// May implements family.Env.
func (e *Env) May(a family.Act) error {
	c := &e.clients[a.Proc]
	switch {
	case a.Kind != scenario.Take && a.Kind != scenario.Proceed:
	case c.waits:
		return fmt.Errorf("waits for %s", deadlock.LockName(e.Programs[a.Proc][c.got]))
	case a.Kind == scenario.Take && c.active:
		return errors.New("cannot take anything: its transaction is under way, let it go on")
	case a.Kind == scenario.Proceed && !c.active:
		return errors.New("cannot go on: it runs no transaction")
	}
	return nil
}

// Do implements family.Env: a process asks for its next lock, or commits.
func (e *Env) Do(h family.Host, a family.Act) {
	c := &e.clients[a.Proc]
	home, id, program := e.Layout.Home[a.Proc], a.Proc, e.Programs[a.Proc]
	if int(c.got) == len(program) {
		e.say(h, home, "%v commits", id)
		left := c.left
		if e.rounds > 0 {
			left--
		}
		*c = client{left: left}
		h.Step(home, core.Input{Kind: core.Release, From: id})
		return
	}
	k := program[c.got]
	if h.Dead(e.Layout.At[k]) && !e.Method.Claims {
		e.say(h, home, "%v gives up: the site of %s is dead", id, deadlock.LockName(k))
		*c = client{}
		h.Step(home, core.Input{Kind: core.Abort, From: id})
		return
	}
	e.say(h, home, "%v asks for %s", id, deadlock.LockName(k))
	if !c.active && e.Method.Claims {
		for _, k := range program {
			h.Step(home, core.Input{Kind: core.Claim, From: id, Arg: k})
		}
	}
	c.active, c.waits, c.arrived = true, true, false
	h.Step(home, core.Input{Kind: core.Request, From: id, Arg: k})
}

// say tells people something that happens at a site.
func (e *Env) say(h family.Host, at core.ID, format string, args ...any) {
	h.Tell(trace.Event{Kind: trace.Note, Proc: at, Name: fmt.Sprintf(format, args...)})
}

// Crashed implements family.Env: the transactions of a site die with it.
func (e *Env) Crashed(_ family.Host, site core.ID) {
	e.deaths = true
	for i := range e.clients {
		if e.Layout.Home[i] == site {
			e.clients[i] = client{}
		}
	}
}

// Returned implements family.Env.
func (e *Env) Returned(family.Host, core.ID) {}

// Trusted implements family.Env.
func (e *Env) Trusted(family.Host, core.ID, core.ID) {}

// Caused implements family.Env.
func (e *Env) Caused(core.ID, family.Tag) {}

// Tag implements family.Env. Messages say themselves which attempt they are
// about.
func (e *Env) Tag(core.ID) family.Tag { return 0 }

// Waits implements family.Env: who has begun a transaction and not ended it.
func (e *Env) Waits(p core.ID) bool { return e.clients[p].active }

// Inside implements family.Env: there is more than one lock.
func (e *Env) Inside(core.ID) bool { return false }
