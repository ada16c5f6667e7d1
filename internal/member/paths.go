package member

import (
	"slices"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Distributed detection, by path pushing: deadlock.Paths decides. The member of a
// transaction that begins to wait notifies the homes of the locks that it holds, and they
// push paths to each other. All this ends with the view, and begins again with the reports.

// pathsOf returns the member's part in path pushing, if it concerns a lock; else nil.
func (m *Member) pathsOf(n int32) *deadlock.Paths {
	e := m.epoch
	if method := e.schools[e.table.lock(n).alg].method; method == nil || method.Name != distributed {
		return nil
	}
	if e.paths == nil {
		e.paths = deadlock.NewPaths(deadlock.PathsConfig{
			Gone: func(who deadlock.Attempt) bool { return e.view.Rank(who.Origin) < 0 },
			Away: func(lock int) bool { return int(e.table.lock(int32(lock)).home) != e.me },
		})
	}
	return e.paths
}

// distributed is the name of the method.
const distributed = "detect-distributed"

// awaits notifies the homes of what a transaction holds that it waits for another lock, or
// no longer does.
func (m *Member) awaits(p *part, waits bool) {
	e := m.epoch
	n := lockOf(e, p.name)
	if m.pathsOf(n) == nil {
		return
	}
	kind := waitsFrame
	if !waits {
		kind = waitedFrame
	}
	var told []int
	for _, h := range p.tx.parts {
		home := e.view.Home(h.name)
		if h == p || h.state < holds || home == int(e.table.lock(n).home) || slices.Contains(told, home) {
			continue
		}
		if told = append(told, home); home == e.me {
			m.awaited(n, p.Attempt, waits)
		} else {
			m.send(home, &frame{kind: kind, name: e.table.name(n), who: p.Attempt})
		}
	}
}

// awaited handles a transaction that holds a lock whose home is here, and waits for one
// whose home is not.
func (m *Member) awaited(n int32, who deadlock.Attempt, waits bool) {
	paths := m.pathsOf(n)
	switch {
	case paths == nil:
		return
	case waits:
		paths.Waits(who, int(n))
	default:
		paths.Ended(who)
	}
	m.push()
}

// pushed handles a path from another member. Its last transaction waits for a lock whose
// home is here. That request may still be under way: in a new view the report that has it,
// because a home pushes paths when the first reports come.
func (m *Member) pushed(n int32, nodes []deadlock.Attempt) {
	paths := m.pathsOf(n)
	if paths == nil || len(nodes) == 0 {
		return
	}
	if b := m.epoch.books[n]; b != nil && slices.ContainsFunc(b.keeper.Holds(), func(h deadlock.Hold) bool { return idOf(h.Attempt) == idOf(nodes[len(nodes)-1]) }) {
		return // it has been granted the lock
	}
	paths.Receive(deadlock.Path{Nodes: slices.Clone(nodes), Lock: int(n)})
	m.push()
}

// push looks for deadlocks, and forwards paths, if there is anything new.
func (m *Member) push() {
	e := m.epoch
	if e.paths == nil || !e.paths.Due() {
		return
	}
	var local []deadlock.Arc
	var ext []deadlock.Attempt
	for _, b := range e.bookList {
		if m.pathsOf(b.lock) == nil {
			continue
		}
		for _, a := range b.keeper.Arcs() {
			a.Lock = int(b.lock)
			local = append(local, a)
		}
		for _, r := range b.keeper.Waits() {
			if r.Ext {
				ext = append(ext, r.Attempt)
			}
		}
	}
	found, paths := e.paths.Search(local, ext)
	for _, p := range paths {
		n := int32(p.Lock)
		m.send(int(e.table.lock(n).home), &frame{kind: pathFrame, name: e.table.name(n), path: p.Nodes})
	}
	for _, x := range found {
		m.inquire(x, true)
	}
}
