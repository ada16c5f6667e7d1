package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// bound is how long it may take, after all is repaired, until all processes are
// ready and all locks were entered again. It is what a death may cost and some
// elections, many times over, since the machine may be busy with something else.
func (n *nemesis) bound() time.Duration { return 40 * n.lease }

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
	at := now()
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
	n.worst = max(n.worst, time.Duration(now()-at))
	return nil
}
