package member

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
)

// An epoch is all that a member has of one view.
type epoch struct {
	view      View
	me        int // rank
	table     table
	uses      []*use // by their places; nil where one has been given back
	free      []int32
	spare     []*use
	schools   []school // of the view's choices
	universe  []uint64
	everybody set       // of the universe
	reported  set       // of the universe: whose REPORT has come
	over      set       // ghosts that can act no more
	ghosts    []Instant // when each of them is over
}

// A school runs all locks of one algorithm in a view: one machine for each seat
// that the member may have in a lock, and the state that it is born in.
type school struct {
	spec     core.Spec
	machines []core.Machine
	born     [][]byte
}

func (m *Member) newEpoch(v View) (*epoch, error) {
	e := &epoch{view: v, me: v.Rank(m.Inc), universe: v.universe()}
	e.everybody = first(len(e.universe))
	if e.me < 0 {
		return nil, fmt.Errorf("epoch %d: incarnation %d is no member of it", v.Epoch, m.Inc)
	}
	start := core.View{N: len(v.Members), Holder: 0, Busy: true}
	for _, c := range v.Choices {
		spec, err := m.Spec(c.Algorithm, c.Version)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", v.Epoch, err)
		}
		all, err := spec.Group(start)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", v.Epoch, err)
		}
		s := school{spec: spec, machines: all}
		for _, one := range all {
			s.born = append(s.born, one.AppendState(nil))
		}
		e.schools = append(e.schools, s)
	}
	survivors := len(e.universe) - len(v.Ghosts)
	for i, inc := range e.universe[:survivors] {
		if inc == m.Inc {
			e.reported.add(i)
		}
	}
	for _, g := range v.Ghosts {
		e.ghosts = append(e.ghosts, m.now+Instant(m.Settings.outwait(g.Rest)))
	}
	return e, nil
}

// survivors is how many of the universe are members.
func (e *epoch) survivors() int { return len(e.universe) - len(e.ghosts) }

// place returns where an incarnation is in the universe, or -1.
func (e *epoch) place(inc uint64) int { return slices.Index(e.universe, inc) }

// bury notes which ghosts are over by now, and reports whether there are more.
func (e *epoch) bury(now Instant) bool {
	before := e.over
	for i, at := range e.ghosts {
		if at <= now {
			e.over.add(e.survivors() + i)
		}
	}
	return e.over != before
}

// nextGhost returns when the next of the ghosts is over.
func (e *epoch) nextGhost(now Instant) Instant {
	next := Never
	for _, at := range e.ghosts {
		if at > now {
			next = min(next, at)
		}
	}
	return next
}

// lock returns the number of a lock of this name, which becomes known.
func (e *epoch) lock(name string) int32 {
	hash := hashName(name)
	if n := e.table.find(name, hash); n >= 0 {
		return n
	}
	n, l := e.table.add(name, hash)
	l.home, l.alg = uint8(e.view.Home(hash)), uint8(e.view.Choose(name))
	e.table.setState(n, e.schools[l.alg].born[e.view.seat(e.me, int(l.home))])
	return n
}

// use returns what is kept of a lock in use.
func (e *epoch) use(n int32) *use {
	l := &e.table.locks[n]
	if l.busy >= 0 {
		return e.uses[l.busy]
	}
	var u *use
	if k := len(e.spare) - 1; k >= 0 {
		u, e.spare = e.spare[k], e.spare[:k]
	} else {
		u = &use{}
	}
	u.lock, u.lendee, u.may = n, -1, e.everybody
	if k := len(e.free) - 1; k >= 0 {
		l.busy, e.free = e.free[k], e.free[:k]
		e.uses[l.busy] = u
		return u
	}
	l.busy = int32(len(e.uses))
	e.uses = append(e.uses, u)
	return u
}

// idle gives a use back if nothing is kept in it.
func (e *epoch) idle(u *use) {
	l := &e.table.locks[u.lock]
	if u.holder != nil || u.first != nil || u.asked || u.inside || u.back || l.busy < 0 || e.uses[l.busy] != u {
		return
	}
	if int(l.home) == e.me && !l.is(cleared) && (u.lendee >= 0 || len(u.queue) > 0 || !u.held.empty() || u.interest || u.may != e.everybody) {
		return
	}
	e.uses[l.busy] = nil
	e.free = append(e.free, l.busy)
	l.busy = -1
	*u = use{}
	e.spare = append(e.spare, u)
}

// isHome reports whether the member is the home of a lock and has not let go of
// it.
func (e *epoch) isHome(u *use) bool {
	l := &e.table.locks[u.lock]
	return int(l.home) == e.me && !l.is(cleared)
}

// Install begins a view. Making the report, stopping in all that came before
// and beginning anew is one step.
func (m *Member) Install(now Instant, v View) error {
	m.begin(now)
	defer m.end()
	if err := v.Check(); err != nil {
		return err
	}
	old := m.epoch
	if old != nil && v.Epoch <= old.view.Epoch {
		return nil // it has come before
	}
	e, err := m.newEpoch(v)
	if err != nil {
		return err
	}
	m.frozen, m.epoch = old, e
	reports := make([]frame, len(v.Members))
	if old != nil {
		m.carry(old, reports)
	}
	if !slices.Contains(v.Before, m.Inc) {
		return nil // whoever joins has nothing to report
	}
	for rank := range reports {
		f := &reports[rank]
		if f.kind = reportFrame; old != nil {
			f.epoch = old.view.Epoch
		}
		if rank != e.me {
			m.send(rank, f)
			continue
		}
		m.heed(e.place(m.Inc), f)
	}
	m.reconsider()
	return nil
}

// carry takes over who holds and who waits, and writes the reports.
func (m *Member) carry(old *epoch, reports []frame) {
	e := m.epoch
	for _, was := range old.uses {
		if was == nil || was.holder == nil && was.first == nil {
			continue
		}
		name := string(old.table.name(was.lock))
		u := e.use(e.lock(name))
		home := e.table.locks[u.lock].home
		if w := was.holder; w != nil {
			u.holder, u.token, u.carried = w, was.token, true
			w.at = u
			reports[home].held = append(reports[home].held, name)
		}
		for was.first != nil {
			w := was.first
			was.take(w)
			if w.try {
				m.tell(w, Recovering)
				m.forget(w)
				continue
			}
			u.push(w)
			u.back = true
		}
		if u.back {
			reports[home].waits = append(reports[home].waits, wanted{name, u.first.stamp})
		}
	}
}
