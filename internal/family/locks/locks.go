// Package locks is the environment of a lock: applications that ask, enter and leave, and
// monitors of the happened-before relation.
package locks

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/script"
)

// A Config says what applications do, and what is watched.
type Config struct {
	Nodes    int
	Asks     []algorithm.ID // processes that may ask; nil means all
	Requests int            // requests of each process; 0 means unbounded
	Order    bool           // watch happened-before among requests
	Talk     bool           // with Order: applications talk, too
	Fence    bool           // watch that the entry count rises by exactly one
	AtOnce   bool           // all processes start at the beginning, not at any time
	Stuck    string         // property violated by processes that wait when nothing more need happen; "" means Deadlock
}

const (
	maxRequests = 255 // per process
	maxOrdered  = 16  // processes that may ask if happened-before is watched: a Tag has no room for more
)

// shared is what all copies of an Env have in common.
type shared struct {
	Config
	index []int8 // index of each process among those that may ask; -1 for the others
}

// An Env is the applications of a lock.
type Env struct {
	*shared
	procs []proc
	nWait int // waiting applications
	nIn   int // applications inside

	// Each concurrently exploring worker has its own Env and changes it all the time:
	// with this padding, and at least ten procs, no two share a cache line of 64 bytes.
	_ [16]byte
}

// A flag is what an application is doing, and what else is known about it. Flags fit in
// one byte, as states store them.
type flag uint8

const (
	waits  flag = 1 << iota // neither this nor inside: idle
	inside                  //
	start                   // not yet given Start
	seen                    // Fence: it has seen the last entry
	told                    // Talk: has been told something, and asks next
	phase  = waits | inside
)

// A proc is one application.
type proc struct {
	knows uint16 // Order: waiting requests it knows of
	ahead uint16 // Order: requests that must be granted before its own
	flags flag
	left  uint8 // requests it may still make, if they are bounded
}

func (p *proc) is(f flag) bool { return p.flags&f != 0 }

// set sets or clears flags.
func (p *proc) set(f flag, on bool) {
	p.flags &^= f
	if on {
		p.flags |= f
	}
}

// put makes an application idle, waiting or inside.
func (e *Env) put(p *proc, now flag) {
	e.count(p.flags, -1)
	p.flags = p.flags&^phase | now
	e.count(now, 1)
}

// count adds an application with these flags to the numbers of waiting applications and
// of those inside, or removes it.
func (e *Env) count(f flag, by int) {
	e.nWait += int(f&waits) * by
	e.nIn += int(f&inside>>1) * by
}

// Count returns how many applications wait, and how many are inside.
func (e *Env) Count() (waiting, in int) { return e.nWait, e.nIn }

// A Tag holds what the sender knows, followed by whether it has seen the last entry.
const seenTag family.Tag = 1 << maxOrdered

// New returns the applications of a group.
func New(c Config) (*Env, error) {
	if c.Requests < 0 || c.Requests > maxRequests {
		return nil, fmt.Errorf("%d requests per process: want 1 to %d, or 0 for any number", c.Requests, maxRequests)
	}
	if c.Stuck == "" {
		c.Stuck = family.Deadlock
	}
	s := &shared{Config: c, index: make([]int8, c.Nodes)}
	asks := 0
	for p := range s.index {
		s.index[p] = -1
		if c.Asks == nil || slices.Contains(c.Asks, algorithm.ID(p)) {
			s.index[p] = int8(min(asks, 127))
			asks++
		}
	}
	if c.Order && asks > maxOrdered {
		return nil, fmt.Errorf("%d requesters: the order of requests can be checked for at most %d; name fewer", asks, maxOrdered)
	}
	return &Env{shared: s, procs: make([]proc, c.Nodes)}, nil
}

// New implements family.Env.
func (e *Env) New() family.Env {
	return &Env{shared: e.shared, procs: make([]proc, e.Nodes, max(e.Nodes, 10))}
}

// Copy implements family.Env.
func (e *Env) Copy(from family.Env) {
	o := from.(*Env)
	copy(e.procs, o.procs)
	e.nWait, e.nIn = o.nWait, o.nIn
}

// Append implements family.Env.
func (e *Env) Append(b []byte) []byte {
	for i := range e.procs {
		p := &e.procs[i]
		b = append(b, byte(p.flags))
		if e.Requests > 0 {
			b = append(b, p.left)
		}
		if e.Order {
			b = append(b, byte(p.knows), byte(p.knows>>8), byte(p.ahead), byte(p.ahead>>8))
		}
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	e.nWait, e.nIn = 0, 0
	for i := range e.procs {
		p := proc{flags: flag(b[0])}
		b = b[1:]
		if e.Requests > 0 {
			p.left = b[0]
			b = b[1:]
		}
		if e.Order {
			p.knows, p.ahead = uint16(b[0])|uint16(b[1])<<8, uint16(b[2])|uint16(b[3])<<8
			b = b[4:]
		}
		e.procs[i] = p
		e.count(p.flags, 1)
	}
	return b
}

// Begin implements family.Env.
func (e *Env) Begin(h family.Host, v algorithm.View) {
	e.nWait, e.nIn = 0, 0
	for i := range e.procs {
		e.procs[i] = proc{left: uint8(e.Requests)}
		e.procs[i].set(seen, e.Fence)
	}
	if v.Busy {
		e.put(&e.procs[v.Holder], inside)
	}
	in := host.Input{Kind: host.Start, From: algorithm.None}
	for i := range e.procs {
		if e.AtOnce {
			h.Step(algorithm.ID(i), in)
		} else {
			e.procs[i].set(start, h.Moves(algorithm.ID(i), in))
		}
	}
}

// Resume puts an application where it is when a run begins that is part of a longer one.
func (e *Env) Resume(p algorithm.ID, now script.Phase) {
	e.put(&e.procs[p], [...]flag{script.Idle: 0, script.Waits: waits, script.Inside: inside}[now])
}

// Waits implements family.Env.
func (e *Env) Waits(p algorithm.ID) bool { return e.procs[p].is(waits) }

// Inside implements family.Env.
func (e *Env) Inside(p algorithm.ID) bool { return e.procs[p].is(inside) }

// Look implements family.Env: no two applications are ever inside.
func (e *Env) Look(h family.Host) {
	if e.nIn < 2 {
		return
	}
	in := algorithm.ID(slices.IndexFunc(e.procs, func(p proc) bool { return p.is(inside) }))
	h.Break(family.MutualExclusion, e.other(in), in)
}

// Ended implements family.Env: an application that waits now waits forever.
func (e *Env) Ended(h family.Host) {
	if e.nWait == 0 {
		return
	}
	for p := range e.procs {
		if e.procs[p].is(waits) {
			h.Break(e.Stuck, algorithm.ID(p), algorithm.None)
		}
	}
}

// Action implements family.Env.
func (e *Env) Action(a family.Act) script.Action {
	return script.Action{Kind: a.Kind, Proc: a.Proc, Peer: a.Peer}
}

// Crashed implements family.Env: what the application wanted is lost with it.
func (e *Env) Crashed(h family.Host, p algorithm.ID) {
	e.forget(h, p)
	e.put(&e.procs[p], 0)
	e.procs[p] = proc{}
}

// Returned implements family.Env: a new process asks as often as any other.
func (e *Env) Returned(_ family.Host, p algorithm.ID) { e.procs[p].left = uint8(e.Requests) }

// Trusted implements family.Env.
func (e *Env) Trusted(family.Host, algorithm.ID, algorithm.ID) {}
