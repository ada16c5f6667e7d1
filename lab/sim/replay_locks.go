package sim

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// A lockCast plays a scenario of mutual exclusion: one critical section, or several side
// by side.
type lockCast struct {
	p      *player
	chance kernel.Rand
	rooms  []*room
}

// A room is one critical section.
type room struct {
	*lock
	stay   []uint64         // timed: the event that ends each seat's stay
	hold   []*scenario.Dist // timed: length of stay that each requested
	leaves []int            // timed: number of lines that still make each leave
}

func newLockCast(p *player, spec algorithm.Spec, view algorithm.View) (*lockCast, error) {
	c := &lockCast{p: p, chance: kernel.NewRand(p.sc.Seed, 1)}
	if len(p.sc.Sections) == 0 {
		return c, c.open(spec, view, script.Section{})
	}
	for _, s := range p.sc.Sections {
		if err := c.open(spec, s.View(p.sc.Holder), s); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return c, nil
}

// open adds a critical section.
func (c *lockCast) open(spec algorithm.Spec, view algorithm.View, s script.Section) error {
	l, err := c.p.w.lock(spec, view, s)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.p.sc.Expect, func(e script.Expectation) bool { return e.Name == script.Order }) {
		l.watchOrder() // even if the algorithm does not promise it
	}
	r := &room{l, make([]uint64, view.N), make([]*scenario.Dist, view.N), make([]int, view.N)}
	l.onEnter = func(seat algorithm.ID) { c.entered(r, seat) }
	for _, a := range c.p.sc.Actions {
		if a.Kind == script.Leave && a.Section == s.Name && !a.Now {
			r.leaves[r.seat(a.Proc)]++
		}
	}
	c.rooms = append(c.rooms, r)
	if view.Busy {
		r.note(trace.Enter, view.Holder, 0, "")
		c.settle(r, view.Holder)
	}
	return nil
}

// room returns the section with the given name.
func (c *lockCast) room(name string) *room {
	return c.rooms[c.p.w.group(name).index]
}

func (c *lockCast) over() bool    { return false }
func (c *lockCast) unsaid(*judge) {}

func (c *lockCast) may(a *script.Action) error {
	if a.Kind != script.Ask && a.Kind != script.Leave {
		return nil
	}
	r := c.room(a.Section)
	if a.Kind == script.Ask && r.unasked(r.seat(a.Proc)) {
		return nil // it leaves first
	}
	return r.may(a)
}

func (c *lockCast) do(a *script.Action) {
	r := c.room(a.Section)
	switch seat := r.seat(a.Proc); a.Kind {
	case script.Ask:
		r.hold[seat] = a.Hold
		r.ask(seat)
	case script.Leave:
		if !a.Now {
			r.leaves[seat]--
		}
		r.leave(seat)
	}
}

func (c *lockCast) happen(e *kernel.Event) {
	r := c.rooms[e.Arg()]
	if seat := r.seat(e.Proc()); r.stay[seat] == e.Seq && r.env.Inside(seat) { // otherwise it has left, or is dead
		r.leave(seat)
	}
}

// entered handles an entry.
func (c *lockCast) entered(r *room, seat algorithm.ID) {
	entry := Entry{r.proc(seat), c.p.w.Now(), r.section}
	c.p.back.Entries = append(c.p.back.Entries, entry)
	c.p.judge.entered(entry)
	c.settle(r, seat)
}

// settle makes a process that is inside leave when its time is up, unless a line will
// make it leave.
func (c *lockCast) settle(r *room, seat algorithm.ID) {
	stay, sc := r.hold[seat], c.p.sc
	r.stay[seat] = 0
	if stay == nil && !sc.Manual && r.leaves[seat] == 0 {
		stay = &sc.Hold
	}
	if stay == nil || sc.Steps {
		return
	}
	r.stay[seat] = r.w.At(r.w.Now()+c.chance.Sample(*stay), leave, r.proc(seat), r.index)
}

func (c *lockCast) progress() int { return c.p.w.entries + c.p.w.exits }

// count returns how many processes wait, and how many are inside.
func (c *lockCast) count() (wait, in int) {
	for _, r := range c.rooms {
		waiting, inside := r.env.Count()
		wait, in = wait+waiting, in+inside
	}
	return wait, in
}

// patience is limited because a token that circulates forever would never end a run.
func (c *lockCast) patience(scripts int) int {
	if wait, in := c.count(); wait+in+scripts == 0 {
		return 20*c.p.sc.Processes + 100
	}
	return 1000 * (c.p.sc.Processes + 10)
}

func (c *lockCast) finish(still bool) {
	b := c.p.back
	wait, in := c.count()
	b.Deadlock = still && in == 0 && wait > 1 && !c.p.stalled
	for _, r := range c.rooms {
		if _, here := r.env.Count(); still && here == 0 {
			r.ended() // a process in another section does not hold up this one
		}
		r.blame()
		b.MaxBypass = max(b.MaxBypass, r.overtaken())
		b.Violations = append(b.Violations, r.found...)
		b.Measured = append(b.Measured, newResult(c.config(r), r.lock, c.setting()))
	}
	sort.SliceStable(b.Violations, func(i, j int) bool { return b.Violations[i].At < b.Violations[j].At })
}

// config returns the Config of a run of one section. Its load is unknown and, where lines
// make processes leave, so is the length of their stays.
func (c *lockCast) config(r *room) Config {
	sc := c.p.sc
	conf := Config{
		Spec: r.spec, Nodes: r.view.N, Seed: sc.Seed, Latency: sc.Latency, Links: sc.Links, Hold: sc.Hold, Requesters: []algorithm.ID{},
	}
	if sc.Manual || sc.Steps || slices.ContainsFunc(sc.Actions, func(a script.Action) bool { return a.Kind == script.Leave || a.Hold != nil }) {
		conf.Work = func(algorithm.ID, int64) int64 { return 0 }
	}
	return conf
}

// setting returns the conditions of the run.
func (c *lockCast) setting() setting {
	sc, b := c.p.sc, c.p.back
	spec := c.rooms[0].spec
	s := setting{
		calm:   len(sc.Set)+len(sc.Begin) == 0 && !sc.Experiment && (sc.Network == algorithm.FIFO || sc.Network == algorithm.Lossy || reorders(spec)),
		prompt: !sc.Steps,
		over:   b.Still,
	}
	for i := range b.Events {
		switch b.Events[i].Kind {
		case trace.Drop, trace.Duplicate, trace.Crash, trace.Restart, trace.Suspect, trace.Trust:
			s.calm = false
		case trace.Pause, trace.Partition:
			s.prompt = false
		}
	}
	for i := range sc.Actions {
		switch a := &sc.Actions[i]; a.Kind {
		case script.Deliver, script.Reorder:
			s.calm = s.calm && (reorders(spec) || a.Kind == script.Deliver && !a.Overtakes)
			s.prompt = false
		case script.DeliverAll, script.Delay, script.Start, script.Expire:
			s.prompt = false
		}
	}
	return s
}

func (c *lockCast) state(j *judge, e script.Expectation) {
	r := c.room(e.Section)
	seat := r.seat(e.Proc)
	if e.Kind == script.PhaseIs {
		j.phase(e, r.env.Phase(seat))
		return
	}
	j.field(e, r.describe(seat))
}

func (c *lockCast) whole(j *judge, e script.Expectation) {
	b := c.p.back
	switch e.Kind {
	case script.Entries:
		j.inOrder(e, c.entries(e))
	case script.EntersAt:
		j.atTime(e, "entries at ", c.entries(e))
	case script.Bypass:
		n := b.MaxBypass
		if e.Section != "" {
			n = c.room(e.Section).overtaken()
		}
		if n != e.N {
			j.differ(e, strconv.Itoa(n))
		}
	case script.Deadlock:
		if !b.Deadlock {
			j.differ(e, "none: "+c.ending())
		}
	}
}

// entries returns the entries into the section that an expectation is about.
func (c *lockCast) entries(e script.Expectation) []Ending {
	var list []Ending
	for _, x := range c.p.back.Entries {
		if x.Section == e.Section {
			list = append(list, Ending{Proc: x.Proc, At: x.At})
		}
	}
	return list
}

// ending describes how the run ended.
func (c *lockCast) ending() string {
	switch wait, in := c.count(); {
	case wait == 0:
		return "no process waits at the end"
	case in > 0:
		return "a process is inside at the end"
	case wait == 1:
		return "only one process waits at the end"
	}
	return "messages are still in flight at the end"
}
