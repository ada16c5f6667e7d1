package cluster

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// What has no fence loses increments if their writers stand still in between, and
// only then; what has a fence never does. That is why there are tokens.
func TestUnfenced(t *testing.T) {
	nightly.Only(t)
	var n *nemesis
	var wanted atomic.Bool
	stops := make(chan error, 1)
	// Whoever gets the counter while a stop is wanted is stopped before it knows,
	// until somebody else has put it back.
	got := func(w *wish) {
		if !wanted.CompareAndSwap(true, false) {
			return
		}
		name, _, _ := strings.Cut(w.Who, "#")
		for _, p := range n.procs {
			if p.Name == name {
				stops <- n.stopped(p, w.Lock)
			}
		}
	}
	n = sail(t, plan{nodes: 3, voters: 3, got: got, change: func(o *orders, _ int) { o.Careless, o.Long = true, 0 }})
	j, r := n.journal, n.things
	if !j.await(n.bound(), func() bool { return j.entries >= 200 }) {
		t.Fatalf("%d entries", j.entries)
	}
	r.mu.Lock()
	if r.excused != 0 || len(r.lost) != 0 {
		t.Errorf("nobody stood still, and increments are lost: %d, %v", r.excused, r.lost)
	}
	r.mu.Unlock()
	const pauses = 5
	for range pauses {
		r.mu.Lock()
		before := r.excused
		r.mu.Unlock()
		wanted.Store(true)
		if err := <-stops; err != nil {
			t.Fatal(err)
		}
		lost := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.excused > before
		}
		if !j.await(n.bound(), lost) {
			t.Fatal("one stood still between reading and writing, and no increment is lost")
		}
	}
	if _, err := n.settle(); err != nil {
		t.Error(err)
	}
	if err := n.judge(); err != nil {
		t.Error(err)
	}
	if r.refused == 0 {
		t.Error("no fence has refused anything")
	}
	t.Logf("%d entries, %d pauses: %d increments without a fence are lost, and %d operations refused by fences", j.entries, pauses, r.excused, r.refused)
}

// stopped lets a process stand still until another one has put back the counter of a
// lock.
func (n *nemesis) stopped(p *process, lock string) error {
	p.signal(syscall.SIGSTOP)
	defer p.signal(syscall.SIGCONT)
	before := n.things.counted(lock)
	if !n.journal.await(n.bound(), func() bool { return n.things.counted(lock) > before }) {
		return fmt.Errorf("nobody else counts in %s while %s stands still", lock, p.Name)
	}
	return nil
}

// A holder that is cut off learns of its loss before another process enters, whether
// it asks or waits for its context to end. Negative controls break that: see
// internal/controls.
func TestHolderCutOff(t *testing.T) {
	nightly.Only(t)
	n := sail(t, plan{nodes: 5, voters: 3, change: func(o *orders, _ int) { o.Contexts, o.Long, o.Apps = true, 100, 1 }})
	for i := range *count {
		p := n.inside()
		if p == nil {
			p = n.nodes[i%len(n.nodes)]
		}
		if err := n.around(p, true, true); err != nil {
			t.Fatal(err)
		}
		if err := judgeLocks(n.journal.all()); err != nil {
			t.Fatalf("after %d faults: %v", i+1, err)
		}
		if err := n.recover(); err != nil {
			t.Fatal(err)
		}
	}
}
