package process

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/views/raft"
)

// A folder is a copy of what is on the disk of a node.
type folder struct{ state, past []byte }

func (n *node) copy() folder {
	n.c.t.Helper()
	b, err := n.drive.Read()
	if err != nil {
		n.c.t.Fatal(err)
	}
	return folder{slices.Clone(b), slices.Clone(n.past)}
}

// rollBack replaces the disk of a node that is down by an earlier copy of it.
func (n *node) rollBack(f folder) {
	n.c.t.Helper()
	n.drive, n.past = raft.NewDrive(), f.past
	if err := n.drive.Write(f.state); err != nil {
		n.c.t.Fatal(err)
	}
}

// age has the cluster make views, and grant a lock in each of them.
func (c *cluster) age(views int) {
	c.t.Helper()
	for range views {
		before := c.leader().Record().Epoch
		c.leader().step(Input{Kind: Choose, Choice: c.choices})
		c.until("there is another view", func() bool { return c.whole() && c.leader().Record().Epoch > before })
		for _, n := range c.nodes {
			n.unlock(n.lock("x"))
		}
	}
}

// Two of three folders are replaced by older copies of running or of stopped nodes. The
// third node knows which epochs there were: no token is used again. The host fails the
// test if a token falls.
func TestRollback(t *testing.T) {
	reports := 0
	for _, back := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
		for _, clean := range []bool{false, true} {
			for _, third := range []string{"crashes", "runs", "comes late"} {
				what := fmt.Sprintf("%v, clean %v, the third %s", back, clean, third)
				t.Run(what, func(t *testing.T) { reports += rollsBack(t, back, clean, third) })
			}
		}
	}
	if reports < 6 {
		t.Errorf("%d runs have lost views: want some, or nothing is tested", reports)
	}
}

// rollsBack returns how many nodes report that epochs are lost.
func rollsBack(t *testing.T, back []int, clean bool, what string) (reports int) {
	c := formed(t, 3, "a", "b", "c")
	c.age(2)
	var copies []folder
	for _, i := range back {
		n := c.nodes[i]
		if clean {
			n.stops()
		}
		copies = append(copies, n.copy())
		if clean {
			n.boot(false)
			c.until("it is back", c.whole)
		}
	}
	c.age(9)
	last := c.leader().Record().Epoch
	third := c.nodes[3-back[0]-back[1]]
	switch what {
	case "crashes":
		third.crash()
	case "comes late":
		c.isolate(third, true)
	}
	for i, at := range back {
		c.nodes[at].crash()
		c.nodes[at].rollBack(copies[i])
	}
	for _, at := range back {
		c.nodes[at].boot(false)
	}
	switch what {
	case "crashes":
		third.boot(false)
	case "comes late":
		c.until("one of the others leads", func() bool {
			l := c.leader()
			return l != nil && l != third
		})
		c.isolate(third, false)
	}
	c.until("all are back", func() bool {
		for _, n := range c.nodes {
			if n.down && n != third { // it was told what its disk has lost, and is started again
				n.boot(false)
			}
			if len(n.back) > 0 && (n != third || n.back[0][0] != last || len(n.back) > 1) {
				t.Fatalf("%s reports %v", n.name, n.back)
			}
		}
		l := c.leader()
		return l != nil && l.Record().Epoch > last && c.whole()
	})
	c.age(3)
	return len(third.back)
}
