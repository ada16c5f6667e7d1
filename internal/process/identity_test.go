package process

import (
	"errors"
	"reflect"
	"testing"

	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// fails waits until a node has failed, and compares the reason.
func (n *node) fails(want error) {
	n.c.t.Helper()
	n.c.until(n.name+" fails", func() bool { return n.failed != nil })
	if !reflect.DeepEqual(n.failed, want) || n.Phase() != Over {
		n.c.t.Errorf("%s: %v, want %v", n.name, n.failed, want)
	}
}

// A process that knows its cluster fails if it was told to join another one. If it only
// meets the other one where it knew its own, it waits.
func TestToldToJoinAnotherCluster(t *testing.T) {
	for _, told := range []bool{true, false} {
		c, _ := foreign(t)
		x := c.add("x")
		config := x.config(false)
		if config.Cluster = 1; told {
			config.Join = []string{"y"}
		}
		x.bootWith(config)
		if told {
			x.fails(&views.OtherCluster{Own: 1, Theirs: 2, Address: "y"})
			continue
		}
		if c.pass(20 * lease); x.failed != nil || x.Phase() != Joining {
			t.Errorf("phase %d: %v", x.Phase(), x.failed)
		}
	}
}

// A voter that waits for most of the others fails as well, and keeps its disk.
func TestVoterToldToJoinAnotherCluster(t *testing.T) {
	other, _ := foreign(t)
	c := formed(t, 3, "a", "b", "c")
	state, err := c.nodes[0].drive.Read()
	if err != nil {
		t.Fatal(err)
	}
	x := other.add("x")
	if err := x.drive.Write(state); err != nil {
		t.Fatal(err)
	}
	config := x.config(false)
	config.Join = []string{"z", "y"}
	x.bootWith(config)
	other.until("x fails", func() bool { return x.failed != nil })
	var e *views.OtherCluster
	if !errors.As(x.failed, &e) || e.Own != 1 || e.Theirs != 2 || x.drive.Voter() == 0 {
		t.Errorf("%v, disk of voter %d", x.failed, x.drive.Voter())
	}
}

// A process of the name of a member that runs elsewhere fails, and the member goes on.
func TestNameOfAnother(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	x := c.add("x")
	config := x.config(false)
	config.Name = "b"
	x.bootWith(config)
	x.fails(&views.InUse{Name: "b", Bearer: "b", Address: "b"})
	for _, n := range c.nodes[:3] {
		n.unlock(n.lock("k"))
	}
}

// A process that has crashed meets its own earlier incarnation under its name, at the same
// address or at another one. It waits until that is evicted.
func TestNameOfItself(t *testing.T) {
	for _, address := range []string{"b", "x"} {
		c := formed(t, 3, "a", "b", "c")
		b := c.nodes[1]
		n := b
		if b.crash(); address == "x" {
			n = c.add("x")
		}
		config := n.config(false)
		config.Name = "b"
		n.bootWith(config)
		c.until("it is told to wait", func() bool { return n.Waits() != "" })
		c.until("it is a member", func() bool { return n.failed == nil && n.Phase() == Member })
	}
}

// The disk of a voter that runs elsewhere is a copy. The process that has it fails, whatever
// its name is.
func TestCopiedDisk(t *testing.T) {
	for _, name := range []string{"b", "x"} {
		c := formed(t, 3, "a", "b", "c")
		state, err := c.nodes[1].drive.Read()
		if err != nil {
			t.Fatal(err)
		}
		x := c.add("x")
		if err := x.drive.Write(state); err != nil {
			t.Fatal(err)
		}
		config := x.config(false)
		config.Name = name
		x.bootWith(config)
		x.fails(&views.InUse{Name: name, Copy: true, Bearer: "b", Address: "b"})
		c.until("the others go on", func() bool { return c.leader() != nil })
	}
}

// A process of a cluster that was recovered as another one fails when it meets that one: when
// it is started, and, if its own cluster is silent, also if it runs.
func TestOlderGeneration(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b, runs := c.nodes[0], c.nodes[1], c.nodes[2]
	backup := a.Record().AppendTo(nil)
	a.crash()
	b.crash()
	a.drive = raft.NewDrive()
	config := a.config(false)
	config.Restore = &Restoring{Cluster: 2, Backup: backup}
	a.bootWith(config)
	c.until("a has recovered the cluster", func() bool { return a.Phase() == Member })
	b.boot(false)
	b.fails(&views.Recovered{Own: 1, Theirs: 2, Address: "a"})
	runs.fails(&views.Recovered{Own: 1, Theirs: 2, Address: "a"})
	if b.drive.Voter() == 0 || runs.drive.Voter() == 0 {
		t.Error("a disk of the older generation is erased")
	}
}
