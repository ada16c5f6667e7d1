package process

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// foreign returns a cluster of another number than usual, in an epoch that is far
// ahead, and a message that tells of its view.
func foreign(t *testing.T) (*cluster, []byte) {
	c := newCluster(t, 1, "y", "z")
	config := c.nodes[0].config(true)
	config.Found.Cluster, config.Found.Epoch = 2, 1000
	c.nodes[0].bootWith(config)
	var view []byte
	c.sent = func(m *message) {
		if kind, ok := m.service(); ok && kind == views.View {
			view = m.bytes
		}
	}
	c.nodes[1].boot(false)
	c.until("it is formed", c.whole)
	if c.sent = nil; view == nil {
		t.Fatal("no view is sent")
	}
	return c, view
}

// A process that starts with the disk of a voter takes no word of another cluster for
// that of its own: it would erase the disk, which may be the only one.
func TestForeignView(t *testing.T) {
	_, view := foreign(t)
	c := formed(t, 1, "a", "b")
	n := c.nodes[0]
	id := n.Voter().ID()
	n.lock("x")
	n.crash()
	n.boot(false)
	n.step(Input{Kind: Message, Text: "elsewhere", Bytes: view})
	if n.Voter() == nil || len(n.saves) > 0 || n.Record().Cluster == 2 {
		t.Fatalf("voter %v, %d saves, cluster %d", n.Voter(), len(n.saves), n.Record().Cluster)
	}
	c.until("it is back", c.whole)
	if n.Voter() == nil || n.Voter().ID() != id || n.drive.Voter() != id || n.Record().Cluster != 1 {
		t.Errorf("%+v, disk of voter %d", n.Record(), n.drive.Voter())
	}
}

// Nor does one that was a member of a cluster before, and has no disk.
func TestForeignViewWithoutDisk(t *testing.T) {
	_, view := foreign(t)
	c := newCluster(t, 1, "a", "b")
	c.nodes[0].boot(true)
	n := c.nodes[1]
	config := n.config(false)
	config.Cluster = 1
	n.bootWith(config)
	n.step(Input{Kind: Message, Text: "elsewhere", Bytes: view})
	c.until("both are members", c.whole)
	if n.Record().Cluster != 1 {
		t.Errorf("%+v", n.Record())
	}
}

// A voter that has nothing but its number is one of the cluster that gave it the
// number, and joins no other, where another voter may have the same.
func TestNewVoterJoinsItsCluster(t *testing.T) {
	c, _ := foreign(t)
	state, err := c.logs.Join(1, c.nodes[0].Voter().ID())
	if err != nil {
		t.Fatal(err)
	}
	n := c.add("x")
	if err := n.drive.Write(state); err != nil {
		t.Fatal(err)
	}
	n.boot(false)
	if c.pass(10 * lease); n.Phase() != Joining || n.drive.Voter() == 0 || c.nodes[0].knows("x") {
		t.Errorf("phase %d, %+v", n.Phase(), n.Record())
	}
}

// A process without settings of its own has the usual ones until it knows those of its
// cluster. One that has only the number of a voter does not know them.
func TestNoSettings(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[2]
	state, err := raft.Logs{}.Join(1, n.Voter().ID()+64)
	if err != nil {
		t.Fatal(err)
	}
	d := c.add("d")
	if err := d.drive.Write(state); err != nil {
		t.Fatal(err)
	}
	config := d.config(false)
	config.Settings = member.Settings{}
	d.bootWith(config)
	c.pass(lease) // the host sees to it that a process which was woken wants to be woken later
	if d.Out.Wake <= c.now {
		t.Errorf("it wants to be woken at %d, and it is %d", d.Out.Wake, c.now)
	}
	c.until("it is a member", func() bool { return d.Phase() == Member })
	config.Settings = member.Settings{Lease: 10 * member.Second}
	if _, err := New(config); err == nil {
		t.Error("a process takes settings that cannot work")
	}
}

// A member whose voters are of another cluster now, and have been for two leases,
// belongs to that one.
func TestReplaced(t *testing.T) {
	c := formed(t, 1, "a", "b")
	a, b := c.nodes[0], c.nodes[1]
	b.lock("x")
	a.crash()
	a.drive = raft.NewDrive()
	config := a.config(true)
	config.Found.Cluster, config.Found.Epoch = 2, 1000
	a.bootWith(config)
	c.until("it is a member of the other cluster", func() bool { return c.whole() && b.Record().Cluster == 2 })
	if len(b.ended) != 1 || b.ended[0] != views.Replaced {
		t.Errorf("%v", b.ended)
	}
	if lost := b.lostOnes(member.Lost); len(lost) != 1 {
		t.Errorf("%+v", b.told)
	}
}
