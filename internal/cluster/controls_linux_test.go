package cluster

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stile-lock/stile/internal/controls"
)

// What has no fence loses increments if their writers stand still in between, and
// only then; what has a fence never does. That is why there are tokens.
func TestUnfenced(t *testing.T) {
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

// Nodes that break a rule about leases are caught.
func TestBroken(t *testing.T) {
	needWorld(t)
	program := filepath.Join(t.TempDir(), "broken.test")
	overlay, err := controls.Overlay("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the overlay: %v\n%s", err, out)
	}
	for name, control := range map[string]string{
		"goes on without a lease":                 "KeepsLost,Unleased",
		"does not wait for leases of the evicted": "NoGhosts",
	} {
		t.Run(name, func(t *testing.T) { broken(t, program, control) })
	}
}

// broken cuts off the node that is inside, until the judge finds that two are.
func broken(t *testing.T, program, control string) {
	n := sail(t, plan{nodes: 5, voters: 3, change: func(o *orders, _ int) {
		o.Program, o.Control, o.Long, o.Apps = program, control, 100, 1
	}})
	const most = 20
	for i := range most {
		p := n.inside()
		if p == nil {
			p = n.nodes[i%len(n.nodes)]
		}
		if err := n.around(p, true, true); err != nil {
			t.Fatal(err)
		}
		if err := judgeLocks(n.journal.all()); err != nil {
			t.Logf("caught after %d faults: %v", i+1, err)
			if !strings.Contains(err.Error(), "two are inside") {
				t.Error("but not for that")
			}
			return
		}
		if err := n.recover(); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("not caught by %d faults", most)
}
