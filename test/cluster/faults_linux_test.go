package cluster

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// A fault is one kind of what a nemesis does. Strike does it, and repairs it.
type fault struct {
	name   string
	strike func(n *nemesis) error
}

// faults returns all kinds of faults.
func faults() []fault {
	return []fault{
		{"kill -9", func(n *nemesis) error { return n.bounce(n.draw(), n.span(0, 15)) }},
		{"kill -9, three times in a row", (*nemesis).loop},
		{"kill -9 of all nodes", (*nemesis).blackout},
		{"kill -9, and the folder is lost", (*nemesis).wipe},
		{"SIGSTOP", (*nemesis).pause},
		{"SIGSTOP of all nodes", (*nemesis).pauseAll},
		{"link down", (*nemesis).unplug},
		{"one way, one to another", func(n *nemesis) error { a, b := n.pair(); return n.cuts([]edge{{a, b}}) }},
		{"one way, all to one", func(n *nemesis) error { return n.around(n.draw(), true, false) }},
		{"one way, one to all", func(n *nemesis) error { return n.around(n.draw(), false, true) }},
		{"two do not reach each other", func(n *nemesis) error { a, b := n.pair(); return n.cuts([]edge{{a, b}, {b, a}}) }},
		{"split 2 and 3", (*nemesis).split},
		{"the leader alone", func(n *nemesis) error { return n.around(n.leader(), true, true) }},
		{"SIGSTOP, while others do not reach each other", (*nemesis).pauseAndCut},
		{"kill -9, while the others are split", (*nemesis).killAndSplit},
		{"leave and come back", (*nemesis).parting},
		{"disk full", (*nemesis).fullDisk},
		{"a write fails: no space", func(n *nemesis) error { return n.inject("pwrite64", "ENOSPC") }},
		{"fsync fails", func(n *nemesis) error { return n.inject("fsync,fdatasync", "EIO") }},
		{"fsync takes longer than a lease", func(n *nemesis) error { return n.stall(false) }},
		{"fsync takes longer than a lease, and nothing reaches the node", func(n *nemesis) error { return n.stall(true) }},
	}
}

// bounce kills a process, and starts it again some time later with its folder.
func (n *nemesis) bounce(p *process, later time.Duration) error {
	p.kill()
	n.lasts(later)
	return p.launch()
}

// loop kills a process, also before it has joined again.
func (n *nemesis) loop() error {
	p := n.draw()
	for range 3 {
		if err := n.bounce(p, n.span(0, 3)); err != nil {
			return err
		}
		n.lasts(n.span(0, 8))
	}
	return nil
}

// blackout kills all nodes at once, and starts them again in any order.
func (n *nemesis) blackout() error {
	for _, p := range n.nodes {
		p.signal(syscall.SIGKILL)
	}
	for _, p := range n.nodes {
		p.kill()
	}
	n.lasts(n.span(0, 15))
	for _, i := range n.chance.Perm(len(n.nodes)) {
		if err := n.nodes[i].launch(); err != nil {
			return err
		}
		n.lasts(n.span(0, 2))
	}
	return nil
}

var errNotNow = errors.New("not now")

// wipe kills a node that then comes back without its folder. It must be one that
// the others can do without: all voters are there, and settled.
func (n *nemesis) wipe() error {
	if !n.complete() {
		return errNotNow
	}
	p := n.drawNode()
	p.kill()
	if err := n.clear(p); err != nil {
		return err
	}
	n.lasts(n.span(0, 15))
	return p.launch()
}

// pause stops a process for up to three leases.
func (n *nemesis) pause() error {
	p := n.draw()
	if q := n.inside(); q != nil && n.chance.IntN(2) == 0 {
		p = q // whose writes then meet the fence
	}
	p.signal(syscall.SIGSTOP)
	n.lasts(n.span(5, 30))
	p.signal(syscall.SIGCONT)
	return nil
}

// pauseAll stops all nodes, for a different time each.
func (n *nemesis) pauseAll() error {
	for _, p := range n.nodes {
		p.signal(syscall.SIGSTOP)
	}
	n.lasts(n.span(5, 20))
	for _, i := range n.chance.Perm(len(n.nodes)) {
		n.nodes[i].signal(syscall.SIGCONT)
		n.lasts(n.span(0, 3))
	}
	return nil
}

// unplug takes a link down.
func (n *nemesis) unplug() error {
	p := n.draw()
	if err := n.net.link(p.index, false); err != nil {
		return err
	}
	n.lasts(n.span(5, 30))
	return n.net.link(p.index, true)
}

// An edge is a way that is cut, from one to another.
type edge struct{ from, to *process }

// cuts cuts some ways, for a while.
func (n *nemesis) cuts(all []edge) error {
	for _, on := range []bool{true, false} {
		for _, e := range all {
			if err := n.net.cut(e.from.index, e.to.index, on); err != nil {
				return err
			}
		}
		if on {
			n.lasts(n.span(5, 30))
		}
	}
	return nil
}

// around cuts a process off from all others, or one way of it.
func (n *nemesis) around(p *process, to, from bool) error {
	var all []edge
	for _, q := range n.procs {
		if q != p && to {
			all = append(all, edge{q, p})
		}
		if q != p && from {
			all = append(all, edge{p, q})
		}
	}
	return n.cuts(all)
}

// split parts two nodes, of which one leads half of the time, from the others.
func (n *nemesis) split() error {
	a, b := n.pair()
	var all []edge
	for _, p := range n.nodes {
		if p != a && p != b {
			all = append(all, edge{a, p}, edge{p, a}, edge{b, p}, edge{p, b})
		}
	}
	return n.cuts(all)
}

// pauseAndCut stops a process while two others do not reach each other.
func (n *nemesis) pauseAndCut() error {
	p := n.draw()
	a, b := n.pair()
	p.signal(syscall.SIGSTOP)
	defer p.signal(syscall.SIGCONT)
	return n.cuts([]edge{{a, b}, {b, a}})
}

// killAndSplit starts a process again only when the split of the others is over.
func (n *nemesis) killAndSplit() error {
	p := n.draw()
	p.kill()
	if err := n.split(); err != nil {
		return err
	}
	return p.launch()
}

// parting lets a node leave in good order, and come back.
func (n *nemesis) parting() error {
	p := n.drawNode()
	p.tell(leaveNow)
	if !n.journal.await(n.bound(), func() bool { return !p.running() }) {
		return fmt.Errorf("%s does not leave", p.Name)
	}
	if p.ended != "" {
		return fmt.Errorf("%s has not left in good order: %s", p.Name, p.ended)
	}
	return p.launch()
}

// stir makes the voters write: somebody dies, and comes back. It is a client or a
// member that does not vote, if there is one.
func (n *nemesis) stir(but *process) error {
	all := slices.DeleteFunc(slices.Clone(n.nodes), func(p *process) bool { return p == but })
	for _, p := range all {
		if !n.isVoter(p) {
			return n.bounce(p, n.lease)
		}
	}
	return n.bounce(all[n.chance.IntN(len(all))], n.lease)
}

// bury waits for a process to end by itself, and starts it again after a repair. It
// must end if a voter cannot save.
func (n *nemesis) bury(p *process, must bool, repair func() error) error {
	err := n.stir(p)
	within := 2 * n.lease
	if must {
		within = n.bound()
	}
	if !n.journal.await(within, func() bool { return !p.running() }) {
		if must {
			err = errors.Join(err, fmt.Errorf("%s goes on, though it cannot save", p.Name))
		}
		p.kill()
	} else {
		n.ends++
	}
	if err := errors.Join(err, repair()); err != nil {
		return err
	}
	return p.launch()
}
