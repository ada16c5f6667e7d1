package views

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// cut separates two nodes, or connects them again.
func (w *world) cut(a, b *node, both, on bool) {
	if !on && !w.stormy {
		return // all was healed before; what is cut since stays so
	}
	set := func(x, y *node) {
		if x.cuts[y.i] = 0; on {
			x.cuts[y.i] = w.now
		}
	}
	if set(a, b); both {
		set(b, a)
	}
}

func (w *world) node() *node { return w.nodes[w.r.IntN(len(w.nodes))] }

// strike lets something happen.
func (w *world) strike() {
	lease := int64(w.settings.Lease)
	a, b := w.node(), w.node()
	switch w.r.IntN(9) {
	case 0:
		if k := a.voter; k != nil && slices.Contains(w.list, k.id) && k != w.leader {
			w.elect(k)
		}
	case 1:
		a.proc.stop()
	case 2:
		a.paused = w.now + w.below(2*lease)
	case 3, 4:
		if both := w.r.IntN(3) > 0; a != b {
			w.cut(a, b, both, true)
			w.after(w.below(4*lease), func() { w.cut(a, b, both, false) })
		}
	case 5:
		w.isolate(a, true)
		w.after(w.below(2*lease), func() { w.isolate(a, false) })
	case 6:
		a.leave()
	case 7:
		if k := w.leader; k.leader.leads {
			r := k.leader.Record()
			_ = k.leader.Evict(r.Members[w.r.IntN(len(r.Members))].Inc) // one that does not lead refuses
		}
	case 8:
		_ = w.leader.leader.Forget()
	}
}

func (w *world) isolate(a *node, on bool) {
	for _, b := range w.nodes {
		if a != b {
			w.cut(a, b, true, on)
		}
	}
}

// leave has a process leave that has been a member for a while.
func (n *node) leave() {
	q := n.proc
	if q.dead || q.leaves || q.since == 0 || n.w.now-q.since < int64(n.w.settings.Lease) {
		return
	}
	n.on(func() {
		if q.dead || q.p.Inc() == 0 {
			return
		}
		q.leaves = true
		n.w.ends[q.p.Inc()] = 0 // it has promised
		q.p.Leave(n.clock())
		q.take()
	})
}

// heal ends all that happens.
func (w *world) heal() {
	w.stormy = false
	for _, n := range w.nodes {
		n.paused = 0
		clear(n.cuts)
	}
	if w.leader.n.voter != w.leader || !w.leader.leader.leads {
		for _, n := range w.nodes {
			if n.voter != nil && slices.Contains(w.list, n.voter.id) {
				w.elect(n.voter)
				break
			}
		}
	}
}

// sever keeps two nodes apart for good, neither of which leads.
func (w *world) sever() {
	var two []*node
	for _, n := range w.nodes {
		if n != w.leader.n {
			two = append(two, n)
		}
	}
	w.severed = two[:2]
	w.cut(two[0], two[1], w.r.IntN(2) == 0, true)
}

// storm makes a whole run, and returns what went wrong first.
func storm(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 2))
	voters := []int{1, 3, 3, 5}[r.IntN(4)]
	w := newWorld(seed, max(voters, 2+r.IntN(5)), voters)
	lease := int64(w.settings.Lease)
	w.stormy = true
	for w.broken == "" && w.now < 24*lease {
		w.run(w.below(lease / 2))
		w.strike()
	}
	w.heal()
	if seed%4 == 3 && len(w.nodes) > 2 {
		w.sever()
	}
	w.run(16 * lease)
	w.calm = true
	w.run(lease) // what was under way
	idle := w.entries
	w.run(4 * lease)
	if w.broken == "" {
		w.settled(idle)
	}
	return w
}

func TestStorm(t *testing.T) {
	seeds := uint64(200)
	if !nightly.On() {
		seeds = 50
	}
	views := 0
	for seed := range seeds {
		w := storm(seed)
		if w.broken != "" {
			t.Fatalf("seed %d: %s\n%s", seed, w.broken, strings.Join(w.trace[max(0, len(w.trace)-12):], "\n"))
		}
		views += len(w.views)
	}
	t.Logf("%d views", views)
}

// One seed gives the same run twice.
func TestSameTwice(t *testing.T) {
	for seed := range uint64(10) {
		a, b := storm(seed), storm(seed)
		if !slices.Equal(a.trace, b.trace) || a.now != b.now || a.seq != b.seq {
			t.Errorf("seed %d: %d and %d events", seed, a.seq, b.seq)
		}
	}
}
