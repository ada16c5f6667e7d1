package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
)

// A Change is what happens to the members.
type Change struct {
	What  What
	Early bool  // locks are requested when it happens, not in the next view
	From  int64 // it happens between these times of the kernel's clock, a little later in each run
	To    int64
}

// A What is what happens.
type What uint8

// What happens.
const (
	Crashes What = iota // a member crashes, and is evicted when the view service has waited long enough
	Leaves              // a member leaves
	Joins               // a process joins
)

// A Part is a sort of lock, by its relation to the member that crashes or leaves.
type Part uint8

// The parts. Each lock belongs to the first that applies.
const (
	Inside   Part = iota // the member held it
	HomeUsed             // it was the home, and others had requested the lock too
	HomeOnly             // it was the home, and no other had requested it
	Last                 // it was the last holder
	Before               // it had requested the lock, and others held it later
	Neither              // it was not the home, and had never requested it
	Parts                // number of parts
)

// An Aftermath is the effect of a change on locks. Each of them is requested by one of the
// other members.
type Aftermath struct {
	Entries int        // before the change
	Locks   [Parts]int // number of locks
	Stalled [Parts]int // those that wait until the lease of the crashed member expires
	Kept    int        // number of locks entered before the next view is committed
	Behind  int        // number that do not stall, but were held or awaited when they were requested
	Passed  []int64    // times of the others that do not stall, from the request to the entry, sorted
	Waited  []int64    // times of those that stall, from the crash to the entry, sorted
}

// add adds the results of another run.
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

// All returns the number of locks, and the number of them that stall.
func (a *Aftermath) All() (stalled, locks int) {
	for p := range Parts {
		stalled, locks = stalled+a.Stalled[p], locks+a.Locks[p]
	}
	return stalled, locks
}

// After measures a change under a load, in n runs: each of n members crashes or leaves in
// one of them, or another process joins each time.
func After(c Change, spec algorithm.Spec, n int, l Load) (Aftermath, error) {
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
	who       int // member that crashes or leaves
	moment    int64
	committed int64 // when the next view is committed
	over      int64 // when the lease of the crashed member expires at the earliest
	chance    kernel.Rand
	parts     []Part
	base      int // first of the applications that make a request afterwards: one for each lock
	waiting   int // number of them that have not entered yet
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
	v, err := x.happens()
	if err != nil {
		return err
	}
	x.enlist(v)
	if err := x.pass(x.committed); err != nil {
		return err
	}
	x.commit(v, &x.chance, x.load.Latency)
	return x.until(func() bool { return x.waiting == 0 })
}

// pass lets time pass until a given time.
func (x *aftermath) pass(moment int64) error {
	if err := x.until(func() bool { return x.Due() > moment }); err != nil {
		return err
	}
	x.Wait(moment)
	return nil
}

// part returns the sort of a lock.
func (x *aftermath) part(l *lock) Part {
	var self uint64 = 1 << x.who
	switch {
	case l.inside != none && x.apps[l.inside].place == x.who:
		return Inside
	case x.home(l.name) == x.who && l.touched&^self != 0:
		return HomeUsed
	case x.home(l.name) == x.who:
		return HomeOnly
	case l.last == x.who:
		return Last
	case l.touched&self != 0:
		return Before
	}
	return Neither
}

// happens makes the change happen, and returns the view that follows from it.
func (x *aftermath) happens() (*views.Record, error) {
	who := uint64(x.who + 1)
	switch x.change.What {
	case Joins:
		x.committed = x.moment
		v := x.next()
		v.Members = append(v.Members, x.join(x.n))
		return v, x.err
	case Leaves:
		x.nodes[x.who].step(process.Input{Kind: process.Leave})
		err := x.until(func() bool { return x.leaving == x.who })
		x.committed = x.Now() + T // when its message arrives
		return x.next(who), err
	}
	x.crash(x.who)
	lease := x.view.Settings.Patience()
	x.committed = x.renewed[x.who] + int64(lease)/2
	v := x.next(who)
	v.Ghosts = []views.Ghost{{Inc: who, Nonce: x.nonces[x.who], Rest: lease - lease/2}}
	x.over = x.committed + int64(lease-lease/2)
	return v, nil
}

// enlist has each lock requested by an application at one of the other members, now or when
// that member is in the new view.
func (x *aftermath) enlist(v *views.Record) {
	x.base, x.waiting = len(x.apps), len(x.locks)
	x.entered = x.enters
	mine := make([][]int, len(x.nodes))
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

// enters records how long a lock took.
func (x *aftermath) enters(a int) {
	if a < x.base {
		return // it was waiting before
	}
	x.waiting--
	if x.change.What == Crashes && x.Now() >= x.over {
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
