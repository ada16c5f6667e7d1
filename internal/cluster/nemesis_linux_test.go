package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A nemesis strikes a fleet, one fault after the other. What it does is drawn from
// a seed; what comes of it is not.
type nemesis struct {
	*fleet
	nodes  []*process // without clients
	voters int        // how many are wanted
	lease  time.Duration
	chance *rand.Rand
	kinds  []fault
	struck map[string]int // by kind
	ends   int            // processes that ended by themselves, as they should
	worst  time.Duration  // the longest time from a repair to entries of all locks
}

// A fault is one kind of what a nemesis does. Strike does it, and repairs it.
type fault struct {
	name   string
	strike func(n *nemesis) error
}

// bound is how long it may take, after all is repaired, until all processes are
// ready and all locks were entered again. It is what a death may cost and some
// elections, many times over, since the machine may be busy with something else.
func (n *nemesis) bound() time.Duration { return 40 * n.lease }

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
	}
}

// span draws a time, in tenths of a lease.
func (n *nemesis) span(from, to int) time.Duration {
	return n.lease / 10 * time.Duration(from+n.chance.IntN(to-from+1))
}

// lasts lets a fault last.
func (n *nemesis) lasts(d time.Duration) { time.Sleep(d) }

// draw picks whom to strike: any process, who is inside a lock, or who leads.
func (n *nemesis) draw() *process {
	switch n.chance.IntN(3) {
	case 0:
		return n.leader()
	case 1:
		if p := n.inside(); p != nil {
			return p
		}
	}
	return n.procs[n.chance.IntN(len(n.procs))]
}

// drawNode picks a node.
func (n *nemesis) drawNode() *process {
	if p := n.draw(); !p.Client {
		return p
	}
	return n.nodes[n.chance.IntN(len(n.nodes))]
}

// inside returns a process that is inside a lock, or nil.
func (n *nemesis) inside() *process {
	locks := n.nodes[0].Locks
	who := n.journal.holder(locks[n.chance.IntN(len(locks))])
	name, _, _ := strings.Cut(who, "#")
	for _, p := range n.procs {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// leader returns who leads, as the nodes say.
func (n *nemesis) leader() *process {
	for _, p := range n.nodes {
		if !p.running() {
			continue
		}
		if s := p.askStatus(n.lease); s != nil && s.Leader != "" {
			for _, q := range n.nodes {
				if q.Name == s.Leader {
					return q
				}
			}
		}
	}
	return n.nodes[0]
}

// isVoter reports whether a node votes, as the leader says.
func (n *nemesis) isVoter(p *process) bool {
	s := n.leader().askStatus(n.lease)
	if s == nil {
		return false
	}
	for _, m := range s.Members {
		if m.Name == p.Name {
			return m.Voter
		}
	}
	return false
}

// complete reports whether the leader says that all voters are there, and that no
// change of them is under way.
func (n *nemesis) complete() bool {
	s := n.leader().askStatus(n.lease)
	if s == nil || !s.Settled {
		return false
	}
	here := 0
	for _, m := range s.Members {
		if m.Voter && m.Linked {
			here++
		}
	}
	return here == n.voters
}

// pair picks two nodes.
func (n *nemesis) pair() (a, b *process) {
	a = n.drawNode()
	for b = a; b == a; {
		b = n.nodes[n.chance.IntN(len(n.nodes))]
	}
	return a, b
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

// storm strikes so many times, with each kind about equally often.
func (n *nemesis) storm(count int) error {
	var deck []fault
	for done := 0; done < count; {
		if len(deck) == 0 {
			deck = slices.DeleteFunc(slices.Clone(n.kinds), func(f fault) bool { return !strings.Contains(f.name, *only) })
			n.chance.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		f := deck[0]
		deck = deck[1:]
		begun := time.Now()
		switch err := f.strike(n); {
		case errors.Is(err, errNotNow):
			continue
		case err != nil:
			return fmt.Errorf("fault %d, %s: %w", done+1, f.name, err)
		}
		done++
		n.struck[f.name]++
		healed := time.Now()
		if err := n.recover(); err != nil {
			return fmt.Errorf("after fault %d, %s: %w", done, f.name, err)
		}
		n.t.Logf("%3d %-46s %5.1fs, and %4.1fs to recover", done, f.name, healed.Sub(begun).Seconds(), time.Since(healed).Seconds())
	}
	return nil
}

// recover waits until all are ready and all locks were entered again.
func (n *nemesis) recover() error {
	at := clock()
	deadline := time.Now().Add(n.bound())
	for _, p := range n.procs {
		if p.going && p.running() {
			continue
		}
		if err := p.begin(time.Until(deadline)); err != nil {
			return err
		}
	}
	locks := n.nodes[0].Locks
	if !n.journal.await(time.Until(deadline), func() bool { return n.journal.enteredSince(at, locks) }) {
		return fmt.Errorf("not all locks are entered within %v", n.bound())
	}
	n.worst = max(n.worst, time.Duration(clock()-at))
	return nil
}
