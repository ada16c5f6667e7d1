// Package sections is the environment of several critical sections that processes hold at
// the same time. Each section is an instance of the algorithm among the processes that use
// it. A process acquires its sections one by one, keeps those it has while it waits for
// the next, and leaves them all when it has them all, the last one first.
//
// Sections share nothing but the links between their processes, so what holds for one
// section by itself holds beside others, too. What is new is that a process waits for one
// section while others wait for it to leave another: if some processes acquire two
// sections in one order and some in the other, all may wait forever, however good the
// algorithm.
package sections

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// A Config says which sections there are, and in which order processes acquire them.
type Config struct {
	Sections []script.Section
	Takes    [][]int // indexes of the sections that each process acquires, in this order
}

// InOrder returns the Config in which each of n processes acquires all sections that it
// uses, in the given order, the same for all.
func InOrder(n int, all ...script.Section) Config {
	c := Config{Sections: all, Takes: make([][]int, n)}
	for i, s := range all {
		for _, p := range s.Members {
			c.Takes[p] = append(c.Takes[p], i)
		}
	}
	return c
}

// check refuses processes that acquire what they cannot.
func (c Config) check(n int) error {
	if len(c.Takes) != n {
		return fmt.Errorf("%d processes acquire sections, of %d: want as many", len(c.Takes), n)
	}
	if len(c.Sections) > script.MaxSections {
		return fmt.Errorf("%d sections: want at most %d", len(c.Sections), script.MaxSections)
	}
	for _, s := range c.Sections {
		if err := s.CheckMembers(n); err != nil {
			return err
		}
	}
	for p, takes := range c.Takes {
		for i, s := range takes {
			switch {
			case s < 0 || s >= len(c.Sections):
				return fmt.Errorf("%v acquires section number %d: there are %d", algorithm.ID(p), s+1, len(c.Sections))
			case !slices.Contains(c.Sections[s].Members, algorithm.ID(p)):
				return fmt.Errorf("%v acquires section %s, but does not use it", algorithm.ID(p), c.Sections[s].Name)
			case slices.Contains(takes[:i], s):
				return fmt.Errorf("%v acquires section %s twice", algorithm.ID(p), c.Sections[s].Name)
			}
		}
	}
	return nil
}

// Family returns the family of locks that processes use in this way. What concerns one
// section by itself, such as the order of requests, is not among its properties.
func (c Config) Family() *family.Family {
	f := locks.Family()
	f.Name, f.Numbers = "Several sections", family.Plain
	f.Env = func(o family.Options) (family.Env, error) { return c.env(o) }
	f.Bundle = c.bundled
	f.Scene = func(sc *scenario.Scenario) { sc.Sections = c.Sections }
	f.Claims = func(s algorithm.Spec) []string {
		if s.TryLock {
			return []string{family.MutualExclusion, family.Deadlock}
		}
		return []string{family.MutualExclusion, family.Deadlock, family.Starvation}
	}
	f.Properties = []family.Property{
		{Name: family.MutualExclusion, Means: "never two inside a section, and none without a request"},
		{Name: family.Deadlock, Means: "while a process waits for a section, something can happen"},
		{Name: family.Starvation, Means: "no process waits forever for a section", Found: family.InRuns},
	}
	f.Signs = []family.Sign{
		family.Shown(family.MutualExclusion, family.Violates(script.MutualExclusion)),
		family.Shown(family.UnaskedEntry, family.Violates(script.UnaskedEntry), family.MutualExclusion),
		{Name: family.Deadlock}, // the simulator does not know that a process inside will not leave
	}
	return f
}

// shared is what all copies of an Env have in common.
type shared struct {
	Config
	asks     []bool // whether each process makes requests
	requests int    // requests of each process, each for all of its sections; 0 means any number
}

// An Env is the applications that use several sections.
type Env struct {
	*shared
	procs []proc
}

// A proc is one application. The sections that it holds are the first ones that it
// acquires.
type proc struct {
	held  uint8 // number of sections that it holds
	left  uint8 // requests it may still make, if they are bounded
	flags flag
}

// A flag is what an application is doing.
type flag uint8

const (
	waits   flag = 1 << iota // for the section after those that it holds
	leaving                  // it leaves those that it holds
	start                    // not yet given Start
)

func (p *proc) is(f flag) bool { return p.flags&f != 0 }

// set sets or clears a flag.
func (p *proc) set(f flag, on bool) {
	p.flags &^= f
	if on {
		p.flags |= f
	}
}

// maxRequests is the number of requests of one process that an Env can count.
const maxRequests = 255

func (c Config) env(o family.Options) (*Env, error) {
	if err := c.check(o.Nodes); err != nil {
		return nil, err
	}
	if o.Requests < 0 || o.Requests > maxRequests {
		return nil, fmt.Errorf("%d requests per process: want 1 to %d, or 0 for any number", o.Requests, maxRequests)
	}
	s := &shared{Config: c, asks: make([]bool, o.Nodes), requests: o.Requests}
	for p := range s.asks {
		s.asks[p] = len(c.Takes[p]) > 0 && (o.Asks == nil || slices.Contains(o.Asks, algorithm.ID(p)))
	}
	if !slices.Contains(s.asks, true) {
		return nil, fmt.Errorf("no process that may ask acquires a section: name other requesters")
	}
	return &Env{shared: s, procs: make([]proc, o.Nodes)}, nil
}

// New implements family.Env.
func (e *Env) New() family.Env { return &Env{shared: e.shared, procs: make([]proc, len(e.procs))} }

// Copy implements family.Env.
func (e *Env) Copy(from family.Env) { copy(e.procs, from.(*Env).procs) }

// Append implements family.Env.
func (e *Env) Append(b []byte) []byte {
	for _, p := range e.procs {
		b = append(b, p.held, p.left, byte(p.flags))
	}
	return b
}

// Load implements family.Env.
func (e *Env) Load(b []byte) []byte {
	for i := range e.procs {
		e.procs[i] = proc{held: b[0], left: b[1], flags: flag(b[2])}
		b = b[3:]
	}
	return b
}

// Begin implements family.Env.
func (e *Env) Begin(h family.Host, _ algorithm.View) {
	for i := range e.procs {
		e.procs[i] = proc{left: uint8(e.requests)}
		e.procs[i].set(start, h.Moves(algorithm.ID(i), host.Input{Kind: host.Start, From: algorithm.None}))
	}
}

// Acts implements family.Env. A process that holds a section asks for the next one, or
// leaves: only the first request of a round need never be made.
func (e *Env) Acts(_ family.Host, yield func(a family.Act)) (first bool) {
	for i := range e.procs {
		p, me := algorithm.ID(i), &e.procs[i]
		if me.is(start) {
			yield(family.Act{Kind: script.Start, Proc: p, Fair: true})
		}
		switch {
		case me.is(waits) || !e.asks[p]:
		case me.is(leaving) || int(me.held) == len(e.Takes[p]):
			yield(family.Act{Kind: script.Leave, Proc: p, Fair: true})
		case me.held > 0:
			yield(family.Act{Kind: script.Ask, Proc: p, Fair: true})
		case e.requests == 0 || me.left > 0:
			yield(family.Act{Kind: script.Ask, Proc: p})
		}
	}
	return false
}

// May implements family.Env. Only the simulator asks, which has its own applications.
func (e *Env) May(family.Act) error { return nil }

// about returns the section that an act is about.
func (e *Env) about(a family.Act) int {
	i := int(e.procs[a.Proc].held)
	if a.Kind == script.Leave {
		i--
	}
	return e.Takes[a.Proc][i]
}

// Action implements family.Env.
func (e *Env) Action(a family.Act) script.Action {
	s := script.Action{Kind: a.Kind, Proc: a.Proc}
	if a.Kind != script.Start {
		s.Section = e.Sections[e.about(a)].Name
	}
	return s
}

// Do implements family.Env.
func (e *Env) Do(h family.Host, a family.Act) {
	me, in := &e.procs[a.Proc], host.Input{Kind: host.Start, From: algorithm.None}
	switch a.Kind {
	case script.Start:
		me.set(start, false)
	case script.Ask:
		in.Kind, in.Arg = host.Request, e.about(a)
		me.set(waits, true)
		if me.held == 0 && e.requests > 0 {
			me.left--
		}
	case script.Leave:
		in.Kind, in.Arg = host.Release, e.about(a)
		me.held--
		me.set(leaving, me.held > 0)
	}
	h.Step(a.Proc, in)
}

// Took implements family.Env. A process that is denied a section leaves those it has, and
// may begin again.
func (e *Env) Took(h family.Host, p algorithm.ID, in host.Input, entered bool, notices []host.Notice) {
	me := &e.procs[p]
	for i := range notices {
		if notices[i].Kind == host.Denied {
			me.set(waits, false)
			me.set(leaving, me.held > 0)
		}
	}
	if !entered {
		return
	}
	s := sectionOf(in)
	if !me.is(waits) || s != e.Takes[p][me.held] {
		h.Break(family.UnaskedEntry, p, algorithm.None)
		return
	}
	for q := range e.procs {
		if q != int(p) && e.holds(q, s) {
			h.Break(family.MutualExclusion, p, algorithm.ID(q))
		}
	}
	me.held++
	me.set(waits, false)
}

// holds reports whether a process is inside a section.
func (e *Env) holds(p, section int) bool {
	return slices.Contains(e.Takes[p][:e.procs[p].held], section)
}

// Waits implements family.Env.
func (e *Env) Waits(p algorithm.ID) bool { return e.procs[p].is(waits) }

// Inside implements family.Env: it has all the sections that it acquires.
func (e *Env) Inside(p algorithm.ID) bool {
	return len(e.Takes[p]) > 0 && int(e.procs[p].held) == len(e.Takes[p])
}

// Look implements family.Env: two processes inside are seen when the second enters.
func (e *Env) Look(family.Host) {}

// Ended implements family.Env: an application that waits now waits forever.
func (e *Env) Ended(h family.Host) {
	for p := range e.procs {
		if e.procs[p].is(waits) {
			h.Break(family.Deadlock, algorithm.ID(p), algorithm.None)
		}
	}
}

// Caused implements family.Env.
func (e *Env) Caused(algorithm.ID, family.Tag) {}

// Tag implements family.Env.
func (e *Env) Tag(algorithm.ID) family.Tag { return 0 }

// Crashed implements family.Env.
func (e *Env) Crashed(family.Host, algorithm.ID) {}

// Returned implements family.Env.
func (e *Env) Returned(family.Host, algorithm.ID) {}

// Trusted implements family.Env.
func (e *Env) Trusted(family.Host, algorithm.ID, algorithm.ID) {}
