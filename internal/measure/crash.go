package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/sim/kernel"
)

// A Change is what happens to the members.
type Change struct {
	What  What
	Early bool  // locks are asked for when it happens, not when the next view is there
	From  int64 // it happens between these moments, by the kernel's clock: each time a little later
	To    int64
}

// A What is what happens.
type What uint8

// What happens.
const (
	Dies   What = iota // one dies, and is evicted when the service has lost its patience
	Leaves             // one leaves orderly
	Joins              // one joins
)

// A Part is a sort of lock, by what whoever dies or leaves was to it.
type Part uint8

// The parts. Each lock is of the first that fits.
const (
	Inside   Part = iota // it was inside
	HomeUsed             // it was the home, and others have asked for the lock too
	HomeOnly             // it was the home, and nobody else has asked
	Last                 // it was the last one inside
	Before               // it has asked for the lock, and others were inside after it
	Neither              // it is not the home, and has never asked
	Parts                // how many there are
)

// An Aftermath is what a change does to locks, each of which somebody who is
// left asks for.
type Aftermath struct {
	Entries int        // before the change
	Locks   [Parts]int // how many there are
	Stalled [Parts]int // how many of them wait until the lease of the dead is over
	Kept    int        // how many are entered before the next view is committed
	Behind  int        // how many do not stall, but others were inside or waited when they were asked for
	Passed  []int64    // how long the rest of those take that do not stall, from the asking to the entry, in ticks, sorted
	Waited  []int64    // how long those take that stall, from the death to the entry, likewise
}

// add adds what another run has shown.
func (a *Aftermath) add(b *Aftermath) {
	for p := range Parts {
		a.Locks[p] += b.Locks[p]
		a.Stalled[p] += b.Stalled[p]
	}
	a.Entries += b.Entries
	a.Kept += b.Kept
	a.Behind += b.Behind
	a.Passed = append(a.Passed, b.Passed...)
	a.Waited = append(a.Waited, b.Waited...)
	slices.Sort(a.Passed)
	slices.Sort(a.Waited)
}

// All returns how many locks there are, and how many of them stall.
func (a *Aftermath) All() (stalled, locks int) {
	for p := range Parts {
		stalled, locks = stalled+a.Stalled[p], locks+a.Locks[p]
	}
	return stalled, locks
}

// After lets each member of n die or leave in a run of its own, or one more join
// each time, in the midst of a load.
func After(c Change, spec core.Spec, n int, l Load) (Aftermath, error) {
	var all Aftermath
	for who := range n {
		l.Seed++
		r, err := newRun(spec, n, 1, l)
		if err == nil {
			x := &aftermath{run: r, change: c, who: who, chance: kernel.NewRand(l.Seed, 2)}
			x.moment = c.From + (c.To-c.From)*int64(2*who+1)/int64(2*n)
			err = x.measure()
			all.add(&x.result)
		}
		if err != nil {
			return all, fmt.Errorf("%s among %d, m%d: %w", spec.Name, n, who+1, err)
		}
	}
	return all, nil
}

// An aftermath is one run of After.
type aftermath struct {
	*run
	change    Change
	who       int // dies or leaves
	moment    int64
	committed int64 // when the next view is committed
	over      int64 // not before then is the lease of the dead over
	chance    kernel.Rand
	parts     []Part
	base      int // the first of the applications that ask afterwards: one for each lock
	left      int // of them have not entered yet
	result    Aftermath
}

func (x *aftermath) measure() error {
	if err := x.pass(x.moment); err != nil {
		return err
	}
	x.stopped = true
	x.result.Entries = x.entries
	for i := range x.locks {
		p := x.part(&x.locks[i])
		x.parts = append(x.parts, p)
		x.result.Locks[p]++
	}
	v := x.happens()
	x.enlist(v)
	if err := x.pass(x.committed); err != nil {
		return err
	}
	x.commit(v, &x.chance, x.load.Latency)
	return x.until(func() bool { return x.left == 0 })
}

// pass lets time pass until a moment.
func (x *aftermath) pass(moment int64) error {
	if err := x.until(func() bool { return x.Due() > moment }); err != nil {
		return err
	}
	x.Wait(moment)
	return nil
}

// part says of what sort a lock is.
func (x *aftermath) part(l *record) Part {
	var self uint64 = 1 << x.who
	switch {
	case l.inside != nobody && x.apps[l.inside].place == x.who:
		return Inside
	case x.view.Home(l.name) == x.who && l.touched&^self != 0:
		return HomeUsed
	case x.view.Home(l.name) == x.who:
		return HomeOnly
	case l.last == x.who:
		return Last
	case l.touched&self != 0:
		return Before
	}
	return Neither
}

// happens lets the change happen, and returns the view that follows from it.
func (x *aftermath) happens() member.View {
	m := x.members[x.who]
	switch x.change.What {
	case Joins:
		x.committed = x.moment
		v := x.next()
		v.Members = append(v.Members, member.Who{Name: fmt.Sprint("m", x.n+1), Inc: uint64(x.n + 1)})
		return v
	case Leaves:
		m.Leave(x.now())
		x.take(x.who)
		x.committed = x.moment + T // the service has been told
		return x.next(m.Inc)
	}
	x.dead = x.who
	lease := m.Settings.Patience()
	x.committed = x.renewed[x.who] + int64(lease)/2
	v := x.next(m.Inc)
	v.Ghosts = []member.Ghost{{Inc: m.Inc, Rest: lease - lease/2}}
	x.over = x.committed + int64(lease-lease/2)
	return v
}

// enlist has an application for each lock ask for it, at any of those who are
// left, now or when it is in the new view.
func (x *aftermath) enlist(v member.View) {
	x.base, x.left = len(x.apps), len(x.locks)
	x.entered = x.enters
	mine := make([][]int, len(x.members))
	for i := range x.locks {
		place := int(v.Members[x.chance.Below(int64(len(v.Members)))].Inc) - 1
		mine[place] = append(mine[place], i)
		x.apps = append(x.apps, app{place: place})
	}
	if x.change.Early {
		for i := range x.locks {
			x.ask(x.base+i, i)
		}
		return
	}
	before := x.Happen
	x.Happen = func(e *kernel.Event) {
		kind, place := e.Kind, int(e.Proc())
		before(e)
		if kind == installs {
			for _, i := range mine[place] {
				x.ask(x.base+i, i)
			}
		}
	}
}

// enters notes how long a lock took.
func (x *aftermath) enters(a int) {
	if a < x.base {
		return // it has waited since before
	}
	x.left--
	if x.change.What == Dies && x.Now() >= x.over {
		x.result.Stalled[x.parts[a-x.base]]++
		x.result.Waited = append(x.result.Waited, x.Now()-x.moment)
		return
	}
	if x.Now() < x.committed {
		x.result.Kept++
	}
	if !x.apps[a].free {
		x.result.Behind++
		return
	}
	x.result.Passed = append(x.result.Passed, x.Now()-x.apps[a].asked)
}
