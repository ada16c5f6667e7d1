package process

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/views/raft"
)

// ruin ends all nodes, with their disks.
func (c *cluster) ruin() {
	for _, n := range c.nodes {
		n.crash()
	}
	for _, n := range c.nodes {
		n.drive = raft.NewDrive()
	}
}

// restore starts all nodes with empty disks: the first restores a backup, and the others
// join it.
func (c *cluster) restore(x Restoring) {
	c.t.Helper()
	for i, n := range c.nodes {
		config := n.config(false)
		if i == 0 {
			config.Restore = &x
		}
		n.bootWith(config)
	}
	c.until("all nodes are members, and voters as are wanted", c.whole)
}

// A cluster that has lost all disks continues from a backup, and again from the same one:
// under another number, in later epochs and with higher tokens.
func TestRestore(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	backup := c.leader().Record().AppendTo(nil)
	for range 3 {
		c.leader().step(Input{Kind: Refresh})
		c.pass(1000 * ms)
	}
	n := c.nodes[1]
	n.unlock(n.lock("x"))
	last := *c.leader().Record()
	for range 2 {
		c.ruin()
		c.restore(Restoring{Backup: backup, Seen: last.Epoch})
		r := *c.leader().Record()
		if r.Cluster == last.Cluster || r.Epoch <= last.Epoch || r.Wanted != last.Wanted || r.Settings != last.Settings {
			t.Errorf("restored as %+v, after %+v", r, last)
		}
		n.unlock(n.lock("x")) // with a higher token: the host looks
		last = r
	}
}

// A process that restores a backup restores nothing when it is started again: its disk
// has the cluster.
func TestRestoreOnce(t *testing.T) {
	c := formed(t, 1, "a")
	a := c.nodes[0]
	x := Restoring{Backup: a.Record().AppendTo(nil)}
	c.ruin()
	c.restore(x)
	cluster := a.Record().Cluster
	a.crash()
	c.restore(x)
	if got := a.Record().Cluster; got != cluster {
		t.Errorf("cluster %d, want %d", got, cluster)
	}
}

// A backup that cannot be read, or that needs algorithms which are not there, is refused
// before anything happens.
func TestRestoreRefused(t *testing.T) {
	c := formed(t, 1, "a")
	a := c.nodes[0]
	backup := a.Record().AppendTo(nil)
	c.ruin()
	config := a.config(false)
	for _, x := range []Restoring{{}, {Backup: backup[:len(backup)-1]}} {
		config.Restore = &x
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), "restore a backup: ") {
			t.Errorf("a backup of %d bytes: %v", len(x.Backup), err)
		}
	}
	none := errors.New("no such algorithm")
	config.Restore = &Restoring{Backup: backup}
	config.Spec = func(string, int) (algorithm.Spec, error) { return algorithm.Spec{}, none }
	if _, err := New(config); !errors.Is(err, none) {
		t.Errorf("an algorithm that is not there: %v", err)
	}
	config.Spec, config.Restore.Clock = catalog.MakeLive, 1<<63
	a.bootWith(config)
	if a.failed == nil || a.drive.Voter() != 0 {
		t.Errorf("a clock that is far ahead: %v", a.failed)
	}
}
