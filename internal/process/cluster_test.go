package process

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// Three nodes become a cluster of three voters, lock in turn, and leave one after the
// other.
func TestSmoke(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for range 3 {
		for _, n := range c.nodes {
			n.unlock(n.lock("x"))
		}
	}
	for i := len(c.nodes) - 1; i >= 0; i-- {
		n := c.nodes[i]
		n.step(Input{Kind: Leave})
		c.until(n.name+" has left", func() bool { return n.down })
		if n.Phase() != Over || !slices.Equal(n.ended, []views.Ending{views.Left}) || n.failed != nil {
			t.Fatalf("%s: %v %v", n.name, n.Phase(), n.ended)
		}
	}
}

func TestFoundJoinLeave(t *testing.T) {
	c := formed(t, 1, "a", "b")
	a, b := c.nodes[0], c.nodes[1]
	b.unlock(b.lock("x"))
	a.lock("x") // with a higher token: the host looks
	if b.Voter() != nil || b.drive.Voter() != 0 || a.Voter() == nil {
		t.Error("one is to vote, and that is a")
	}
	b.step(Input{Kind: Leave})
	c.until("b has left", func() bool { return b.down })
	if !slices.Equal(b.ended, []views.Ending{views.Left}) || b.Member() != nil || b.Inc() != 0 {
		t.Errorf("b: %v, %v", b.ended, b.Member())
	}
	c.until("a knows", func() bool { return !a.knows("b") })
	if len(a.Record().Ghosts) > 0 {
		t.Error("a node that left is a ghost")
	}
	b.boot(false)
	c.until("b is back", func() bool { return b.Inc() != 0 })
}

// One voter becomes three with the third member, and five with the fifth.
func TestVotersGrow(t *testing.T) {
	c := newCluster(t, 5, names(5)...)
	want := []int{1, 1, 3, 3, 5}
	for i, n := range c.nodes {
		n.boot(i == 0)
		c.until(n.name+" is a member, and voters are as many as can be", c.whole)
		if got := len(c.leader().voters()); got != want[i] {
			t.Errorf("%d members have %d voters: want %d", i+1, got, want[i])
		}
	}
	for _, n := range c.nodes {
		if n.Voter() == nil || n.drive.Voter() != n.Voter().ID() || !slices.IsSorted(n.views) {
			t.Errorf("%s: views %d, voter %v", n.name, n.views, n.Voter())
		}
	}
}

// Frames between members are counted by their receivers: as many as by their kinds.
func TestSentTo(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for range 3 {
		for _, n := range c.nodes {
			n.unlock(n.lock("x"))
		}
	}
	for _, n := range c.nodes {
		var sent, kinds uint64
		for _, m := range n.Record().Members {
			if m.Inc == n.Inc() && n.SentTo(m.Inc) != 0 {
				t.Errorf("%s has sent frames to itself", n.name)
			}
			sent += n.SentTo(m.Inc)
		}
		for _, k := range n.Traffic().Sent {
			kinds += k
		}
		if sent == 0 || sent != kinds {
			t.Errorf("%s has sent %d frames to others, but %d in all", n.name, sent, kinds)
		}
		if all := n.Complaints(); len(all) > 0 {
			t.Errorf("%s complains about %v", n.name, all)
		}
	}
}

// Views are installed in order, and each once; all members end in the same one.
func TestViews(t *testing.T) {
	c := formed(t, 3, names(4)...)
	for range 5 {
		before := c.leader().Record().Epoch
		c.leader().step(Input{Kind: Refresh})
		c.until("all have another view", func() bool { return c.whole() && c.leader().Record().Epoch > before })
	}
	for _, n := range c.nodes {
		if !slices.IsSorted(n.views) || len(slices.Compact(slices.Clone(n.views))) != len(n.views) {
			t.Errorf("%s has installed %d", n.name, n.views)
		}
	}
}

// A member becomes a voter, with a disk. When it has left, another one votes; and when
// it comes back its disk is empty, and the number is never used again.
func TestVoterComesAndGoes(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.follower()
	id := n.Voter().ID()
	if n.drive.Voter() != id || !slices.Contains(c.leader().voters(), id) {
		t.Fatalf("the disk of voter %d is that of %d", id, n.drive.Voter())
	}
	n.step(Input{Kind: Leave})
	c.until("it has left", func() bool { return n.down })
	if all := c.leader().Voter().Lead().Voters; slices.Contains(all, id) || len(all) != 3 {
		t.Errorf("voter %d has left, and the voters are %d", id, all)
	}
	n.boot(false)
	c.until("it is back, and not a voter", func() bool { return n.Inc() != 0 && n.Voter() == nil })
	if c.until("its disk is empty", func() bool { return n.drive.Voter() == 0 }); n.failed != nil {
		t.Error(n.failed)
	}
	c.leader().crash()
	c.until("it votes in the place of another", func() bool { return n.Voter() != nil })
	if n.Voter().ID() <= id || n.drive.Voter() != n.Voter().ID() {
		t.Errorf("voter %d after %d", n.Voter().ID(), id)
	}
}

// A node that leaves, and sees by a view that the others can do without its voter,
// leaves an empty disk, though nothing else tells it.
func TestLeaverSeesView(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n := c.follower()
	c.lost = func(m *message) bool {
		kind, ok := m.service()
		return m.to == n.name && ok && kind == views.Gone
	}
	id := n.Voter().ID()
	n.step(Input{Kind: Leave})
	c.until("it is not a voter", func() bool {
		return c.leader() != nil && len(c.leader().voters()) == 3 && !slices.Contains(c.leader().voters(), id)
	})
	c.leader().step(Input{Kind: Choose, Choice: central()}) // another view
	c.until("it has left", func() bool { return n.down })
	if n.Voter() != nil || n.failed != nil || len(n.saves) == 0 || !n.saves[len(n.saves)-1].erase {
		t.Errorf("voter %v, error %v: its disk is not erased", n.Voter(), n.failed)
	}
}

// A voter that is no longer wanted stops with the next view, though its process
// stays: its disk is empty.
func TestVoterNotWanted(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	c.leader().step(Input{Kind: Resize, Number: 1})
	c.until("one votes", func() bool { return c.leader() != nil && len(c.leader().voters()) == 1 })
	c.leader().step(Input{Kind: Choose, Choice: central()})
	c.until("the others have ended", func() bool {
		voters := 0
		for _, n := range c.nodes {
			if n.Voter() != nil || n.drive.Voter() != 0 {
				voters++
			}
		}
		return voters == 1
	})
	for _, n := range c.nodes {
		if n.Phase() != Member || len(n.ended) > 0 || n.failed != nil {
			t.Errorf("%s is not a member: %v, %v", n.name, n.ended, n.failed)
		}
	}
	c.leader().step(Input{Kind: Resize, Number: 3})
	c.until("three vote again", func() bool { return c.leader() != nil && len(c.leader().voters()) == 3 })
}

// An evicted node notifies its applications and joins again as another incarnation, and its
// voter has continued meanwhile.
func TestEvictedJoinsAgain(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.nodes[1]
	inc, voter := n.Inc(), n.Voter()
	n.lock("x")
	c.nodes[0].lock("y")
	waits := n.ask("y")
	c.leader().step(Input{Kind: Evict, Number: inc})
	c.until("it is evicted", func() bool { return len(n.ended) > 0 })
	if n.ended[0] != views.Evicted || n.Member() != nil || n.Voter() != voter || n.Phase() != Joining {
		t.Fatalf("%v; voter %v", n.ended, n.Voter())
	}
	if !slices.Equal(n.lostOnes(member.Lost), []member.Cause{member.Evicted}) || !slices.Equal(n.lostOnes(member.Stopped), []member.Cause{member.Evicted}) || n.requests[waits] != "" {
		t.Errorf("it is told %+v", n.told)
	}
	if n.step(Input{Kind: Lock, Text: "z"}); n.Out.Err != member.ErrGone {
		t.Errorf("a lock is requested of a process that is not a member: %v", n.Out.Err)
	}
	c.until("it is back", func() bool { return n.Inc() != 0 })
	r := n.Record()
	if n.Inc() == inc || r.Members[r.Rank(n.Inc())].Voter != voter.ID() || n.Voter() != voter {
		t.Errorf("incarnation %d after %d, %+v", n.Inc(), inc, r.Members)
	}
	n.lock("x")
	// It still counts: with it and one other there is a majority.
	gone := c.nodes[2]
	gone.crash()
	c.until("the others go on without a third", func() bool { return !n.knows(gone.name) })
}

// A node that the others do not reach is evicted, and comes back when they do.
func TestIsolatedJoinsAgain(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	n := c.follower()
	n.lock("x")
	c.isolate(n, true)
	c.until("its lock is lost", func() bool { return len(n.lostOnes(member.Lost)) == 1 })
	if cause := n.lostOnes(member.Lost)[0]; cause != member.Lease {
		t.Errorf("it is lost by cause %d", cause)
	}
	other := c.leader()
	c.until("the others go on", func() bool { return c.leader() != nil && !c.leader().knows(n.name) })
	other.lock("x")
	c.isolate(n, false)
	c.until("it is back", c.whole)
	if len(n.ended) != 1 || n.ended[0] != views.Evicted {
		t.Errorf("%v", n.ended)
	}
}

// A connection that breaks and comes back loses nothing.
func TestConnectionBreaks(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for i := range 20 {
		a, b := c.nodes[i%3], c.nodes[(i+1)%3]
		c.part(a, b)
		if a.Linked(b.name) || b.Linked(a.name) {
			t.Fatal("there is a connection")
		}
		a.ask("x")
		b.ask("x")
		c.pass(3 * ms)
		c.join(a, b)
		for range 2 {
			c.until("one of them holds it", func() bool { return len(a.held)+len(b.held) > 0 })
			for _, n := range []*node{a, b} {
				for ticket := range n.held {
					n.unlock(ticket)
				}
			}
		}
	}
	for _, n := range c.nodes {
		if len(n.ended) > 0 || len(n.lostOnes(member.Lost)) > 0 {
			t.Errorf("%s: %v, %+v", n.name, n.ended, n.told)
		}
	}
}

// A process with the disk of a voter is that voter again.
func TestRestart(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	for _, n := range c.nodes {
		id := n.Voter().ID()
		n.lock("x" + n.name)
		n.crash()
		n.drive.Restart(true, func() bool { return false })
		n.boot(false)
		if n.Voter() == nil || n.Voter().ID() != id {
			t.Fatalf("voter %v", n.Voter())
		}
		c.until("it is back", c.whole)
		if got := n.Voter().ID(); got != id {
			t.Errorf("voter %d after %d", got, id)
		}
	}
}

// All nodes can stop at once, as they do when the power fails, and start again.
func TestAllRestart(t *testing.T) {
	c := formed(t, 3, names(5)...)
	epoch := c.leader().Record().Epoch
	for _, n := range c.nodes {
		n.lock("x" + n.name)
	}
	for _, n := range c.nodes {
		n.crash()
	}
	c.pass(50 * ms)
	for _, n := range c.nodes {
		n.boot(false)
	}
	c.until("all are back", c.whole)
	if got := c.leader().Record(); got.Epoch <= epoch || got.Cluster != 1 {
		t.Errorf("cluster %d in epoch %d", got.Cluster, got.Epoch)
	}
	for _, n := range c.nodes {
		n.lock("xa") // the token is higher: the host looks
		n.unlock(n.ticket("xa"))
	}
}

// ticket returns the request by which a lock is held.
func (n *node) ticket(name string) member.Ticket {
	for t, h := range n.held {
		if h.name == name {
			return t
		}
	}
	return 0
}

// A disk that has rotted is refused, with what to do.
func TestRottenDisk(t *testing.T) {
	c := formed(t, 1, "a")
	n := c.nodes[0]
	config := n.config(false)
	state := config.State
	for bit := range len(state) * 8 {
		config.State = slices.Clone(state)
		config.State[bit/8] ^= 1 << (bit % 8)
		p, err := New(config)
		if err != nil {
			continue
		}
		in := Input{Kind: Start, At: 1}
		if p.Step(&in); p.Err() != nil && !slices.ContainsFunc(p.Out.Effects, func(e Effect) bool { return e.Kind == Failed }) {
			t.Fatalf("bit %d: %v", bit, p.Err())
		}
	}
	c.nodes[0].crash()
	for bit := uint64(0); bit < 1<<20; bit += 999 { // some are of what was there before
		n.drive.Rot(bit)
		if _, err := n.drive.Read(); err != nil {
			if !errors.Is(err, raft.ErrDamaged) {
				t.Errorf("it does not say what to do: %v", err)
			}
			return
		}
	}
	t.Error("a disk that has rotted is read")
}

// A cluster without a disk is founded in an epoch that its clock shows: all numbers
// are above those of an earlier life.
func TestFoundByClock(t *testing.T) {
	const clock = 1_800_000_000_000
	var inc, voter uint64
	var token member.Token
	for life := range uint64(2) {
		c := newCluster(t, 1, "a")
		n := c.nodes[0]
		config := n.config(true)
		config.Found.Epoch, config.Found.Cluster = clock+life*5000, 0
		n.bootWith(config)
		c.until("it is a member", func() bool { return n.Inc() != 0 })
		r := n.Record()
		if r.Epoch != clock+life*5000 || n.views[0] != r.Epoch || r.Cluster == 0 {
			t.Errorf("%+v", r)
		}
		held := n.held[n.lock("x")].token
		if n.Inc() <= inc || n.Voter().ID() <= voter || !token.Less(held) {
			t.Errorf("incarnation %d, voter %d, %v: after %d, %d, %v", n.Inc(), n.Voter().ID(), held, inc, voter, token)
		}
		inc, voter, token = n.Inc(), n.Voter().ID(), held
	}
}

// An invalid beginning is refused, and nothing is saved.
func TestFoundRefused(t *testing.T) {
	c := newCluster(t, 1, "a")
	n := c.nodes[0]
	for what, change := range map[string]func(config *Config){
		"settings":       func(config *Config) { config.Found.Settings.Lease = 1 },
		"no settings":    func(config *Config) { config.Found.Settings = member.Settings{} },
		"no voters":      func(config *Config) { config.Found.Voters = 0 },
		"two voters":     func(config *Config) { config.Found.Voters = 2 },
		"no algorithm":   func(config *Config) { config.Found.Choices = nil },
		"algorithm":      func(config *Config) { config.Found.Choices[0].Algorithm = "of the future" },
		"no name":        func(config *Config) { config.Name = "" },
		"late epoch":     func(config *Config) { config.Found.Epoch = 1 << 60 },
		"long address":   func(config *Config) { config.Address = strings.Repeat("x", 300) },
		"state is rest":  func(config *Config) { config.State = []byte{1} },
		"state is other": func(config *Config) { config.State = []byte("not a state") },
	} {
		config := n.config(true)
		change(&config)
		p, err := New(config)
		if err != nil {
			continue
		}
		in := Input{Kind: Start, At: 1}
		if p.Step(&in); p.Err() == nil || p.Phase() != Over || len(p.Out.Effects) != 1 || p.Out.Effects[0].Kind != Failed || p.Out.Wake != member.Never {
			t.Errorf("%s: %v, %s", what, p.Err(), list(p.Out.Effects))
		}
	}
}

// A node that lacks an algorithm fails, because it cannot follow the others. The failure is
// the only effect of that step, also where the step would have notified others of the view.
func TestUnknownAlgorithm(t *testing.T) {
	for i, name := range []string{"a", "b"} { // which leads, and which does not
		c := newCluster(t, 1, "a", "b")
		lacks := false
		for k, n := range c.nodes {
			config := n.config(k == 0)
			if n.name == name {
				config.Spec = func(name string, version int) (algorithm.Spec, error) {
					if lacks {
						return algorithm.Spec{}, errors.New("central is unknown here")
					}
					return catalog.MakeLive(name, version)
				}
			}
			n.bootWith(config)
		}
		c.until("both are members", c.whole)
		n, o := c.nodes[i], c.nodes[1-i]
		n.lock("x")
		epoch := o.view
		c.leader().step(Input{Kind: Choose, Choice: central()})
		lacks = true
		c.until("it fails", func() bool { return n.down })
		if n.failed == nil || !strings.Contains(n.failed.Error(), "central is unknown here") || n.failed != n.Err() {
			t.Errorf("%s: %v", name, n.failed)
		}
		if c.pass(20 * ms); (o.view > epoch) != (n == c.nodes[1]) {
			t.Errorf("%s fails, and the other is in epoch %d", name, o.view)
		}
	}
}

// lonely returns a cluster whose first node knows the address of no other one from its
// config, as the one that founds a cluster does; and waits until its voter has been
// replaced, while it is isolated or not running.
func lonely(t *testing.T, crash bool) (*cluster, *node) {
	c := newCluster(t, 3, names(5)...)
	n := c.nodes[0]
	config := n.config(true)
	config.Contacts = nil
	n.bootWith(config)
	for _, o := range c.nodes[1:] {
		o.boot(false)
	}
	c.until("it is formed", c.whole)
	id := n.Voter().ID()
	if crash {
		n.crash()
	} else {
		c.isolate(n, true)
	}
	c.until("another one votes", func() bool {
		for _, o := range c.nodes[1:] {
			if o.Voter() != nil && o.Voter().Lead().Serves && len(o.voters()) == 3 && !slices.Contains(o.voters(), id) {
				return true
			}
		}
		return false
	})
	c.pass(lease)
	return c, n
}

// A process that is evicted finds the others by what it knew of them, with a voter and
// without one.
func TestFindsOthersAgain(t *testing.T) {
	c, n := lonely(t, false)
	c.isolate(n, false)
	c.until("it is back", func() bool { return n.down || c.whole() })
	if n.failed != nil || n.Voter() != nil {
		t.Fatalf("%v, voter %v", n.failed, n.Voter())
	}
	was := len(n.ended)
	c.leader().step(Input{Kind: Evict, Number: n.Inc()})
	c.until("it is evicted", func() bool { return len(n.ended) > was })
	c.until("it is back again", func() bool { return n.down || c.whole() })
	if n.failed != nil {
		t.Error(n.failed)
	}
}

// So does one that starts again, by what is on its disk.
func TestFindsOthersByDisk(t *testing.T) {
	c, n := lonely(t, true)
	config := n.config(false)
	config.Contacts = nil
	n.bootWith(config)
	c.until("it is back", func() bool { return n.down || c.whole() })
	if n.failed != nil || n.Voter() != nil {
		t.Errorf("%v, voter %v", n.failed, n.Voter())
	}
}
