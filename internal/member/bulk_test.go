package member

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// ended checks that the link from the first process to the second has ended, once and for a
// reason, and that the process continues: it complains about the second and enters a lock
// that is homed at the third.
func (c *cluster) ended(is func(error) bool) {
	c.tb.Helper()
	p := c.procs[0]
	if len(p.ends) != 1 || p.ends[0].Peer != 2 || !is(p.ends[0].Why) {
		c.tb.Fatalf("links that have ended: %v, want the one to 2", p.ends)
	}
	if got := p.links.Complaints(c.now); !slices.Equal(got, []uint64{2}) {
		c.tb.Errorf("it complains about %v, want 2", got)
	}
	if p.links.Room(2) || !p.links.Room(3) {
		c.tb.Errorf("room for 2: %v, for 3: %v; want it only for 3", p.links.Room(2), p.links.Room(3))
	}
	name := homed(c.view, 2, 1, 100)[0]
	c.lock(1, name)
	c.settle()
	if c.held[name] != 1 {
		c.tb.Error("a lock at another home is not granted")
	}
	c.install(nextView(c.view))
	c.settle()
	if name = homed(c.view, 1, 1, 90)[0]; len(p.ends) != 1 {
		c.tb.Errorf("links that have ended: %v, want none because of a new view", p.ends)
	}
	c.lock(1, name)
	c.settle()
	if c.held[name] != 1 {
		c.tb.Error("the link is not whole again in the next view")
	}
}

// A full link does not end the process: it continues with the other members, and with this
// one in the next view.
func TestFullLink(t *testing.T) {
	c := newCluster(t, "central", 3, Limits{}, LinkLimits{Bytes: 2000})
	c.settle()
	c.cut[[2]uint64{1, 2}] = true
	for _, name := range homed(c.view, 1, 50, 100) {
		c.cancel(1, c.lock(1, name))
	}
	delete(c.cut, [2]uint64{1, 2})
	c.ended(func(err error) bool { return errors.Is(err, ErrFull) })
}

// A frame that the member refuses ends the link that it came by, and not the
// process.
func TestRefusedFrame(t *testing.T) {
	for _, x := range []struct {
		frame []byte
		why   string
	}{
		{[]byte{3, 1, 255}, "malformed frame: RELEASED: "},
		{[]byte{2, 1, 0, 0, 0, 0}, "unexpected frame: REPORT "},
		{[]byte{0x1f, 1}, "unknown frame kind 0x1f"},
		{nil, "malformed frame: "},
	} {
		c := newCluster(t, "central", 3, Limits{}, LinkLimits{})
		c.settle()
		c.procs[1].links.Send(1, x.frame)
		c.flush(c.procs[1])
		c.settle()
		c.ended(func(err error) bool { return strings.HasPrefix(err.Error(), x.why) })
	}
}

// A frame that came before its view is refused when that is installed.
func TestRefusedEarly(t *testing.T) {
	c := newCluster(t, "central", 3, Limits{}, LinkLimits{})
	c.settle()
	c.view = nextView(c.view)
	c.begin(c.procs[1], c.view)
	c.procs[1].links.Send(1, []byte{3, 1, 255})
	c.flush(c.procs[1])
	c.settle()
	if len(c.procs[0].ends) > 0 {
		t.Fatalf("links that have ended: %v, want none yet", c.procs[0].ends)
	}
	c.begin(c.procs[0], c.view)
	c.begin(c.procs[2], c.view)
	c.settle()
	c.ended(func(err error) bool { return strings.HasPrefix(err.Error(), "malformed frame: RELEASED: ") })
}

// Tens of thousands of long names at one home are reported, queried and lent, and
// all processes stay healthy. The names take more than 16 MiB, which links once
// kept at most. A REPORT takes no more than a window of a link.
func TestManyNames(t *testing.T) {
	many, links := 34_000, LinkLimits{}
	if !nightly.On() {
		many, links = 3000, LinkLimits{Window: 100_000}
	}
	lock := func(c *cluster, inc uint64, names []string) {
		for i, name := range names {
			if c.lock(inc, name); i%500 == 499 {
				c.settle()
			}
		}
		c.settle()
		for _, p := range c.procs {
			p.most = 0
		}
	}
	release := func(t *testing.T, c *cluster, names []string) {
		for _, name := range names {
			if c.held[name] == 0 {
				t.Fatalf("%.10q... is not held", name)
			}
			c.unlock(c.held[name], name)
		}
		c.settle()
		c.healthy()
	}
	t.Run("held", func(t *testing.T) {
		c := newCluster(t, "naimi-trehel", 3, Limits{}, links)
		names := homed(c.view, 1, many, 500)
		lock(c, 1, names)
		c.install(nextView(c.view))
		c.settle()
		for _, p := range c.procs {
			if most := p.links.limits.Window + p.Limits.Part + 2*MaxName; p.most > most || p.Bulk() {
				t.Errorf("%d keeps %d bytes for a peer, want at most %d; more to come: %v", p.Inc, p.most, most, p.Bulk())
			}
		}
		release(t, c, names)
	})
	t.Run("waited for", func(t *testing.T) {
		c := newCluster(t, "naimi-trehel", 3, Limits{}, links)
		names := homed(c.view, 1, many, 500)
		lock(c, 3, names)
		lock(c, 1, names)
		c.install(nextView(c.view))
		c.settle()
		release(t, c, names)
		release(t, c, names)
	})
}
