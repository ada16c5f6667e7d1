package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
)

// A blow is what can happen to a node.
type blow struct {
	name   string
	strike func(c *trial, i int)
	disk   bool // it keeps its directory
}

var blows = []blow{
	{"stop", (*trial).stop, true},
	{"crash", (*trial).kill, true},
	{"lost disk", (*trial).lose, false},
}

// What a cluster does after that.
const (
	serving = "serves"
	waiting = "waits for a majority"
	ruined  = "lost, see `stile recover`"
)

// A combination is two blows to two nodes of a cluster, one after the other. One of three nodes
// leads: the one that is struck first, the one that is struck second, or another one.
type combination struct {
	voters        int
	first, second blow
	leads         int
}

func (x *combination) String() string {
	return fmt.Sprintf("%d voters, %s, %s, %d leads", x.voters, x.first.name, x.second.name, x.leads)
}

// cells returns all of them, or for everyday tests a few.
func combinations() (all []combination) {
	for _, voters := range []int{3, 5} {
		for _, first := range blows {
			for _, second := range blows {
				for leads := range 3 {
					x := combination{voters, first, second, leads}
					if *page != "" || strings.Contains(everyday, x.String()) {
						all = append(all, x)
					}
				}
			}
		}
	}
	return all
}

// everyday is a third of what was lost for good once, two lost disks, and five voters.
const everyday = `3 voters, stop, lost disk, 0 leads
3 voters, lost disk, lost disk, 1 leads
5 voters, lost disk, crash, 2 leads`

// A row is what a cluster does after both blows, when the first node is back, when both
// are, and after 'stile recover'.
type row [4]string

// Any two nodes are stopped, crash or lose their disks, and come back: the cluster serves,
// waits for a majority, or is lost and says what to do.
func testTable(t *testing.T) string {
	var mu sync.Mutex
	rows := map[string]row{}
	t.Run("combinations", func(t *testing.T) {
		for _, x := range combinations() {
			t.Run(x.String(), func(t *testing.T) {
				t.Parallel()
				r := x.try(t)
				mu.Lock()
				defer mu.Unlock()
				rows[x.String()] = r
			})
		}
	})
	return table(rows)
}

// try tries a combination.
func (x *combination) try(t *testing.T) (r row) {
	c := newTrial(t, x.voters, time.Second)
	stop := c.busy()
	lead := c.leader()
	first, second := (lead+x.voters-x.leads)%x.voters, (lead+x.voters-x.leads+1)%x.voters
	back := []blow{x.first, x.second}
	disks := x.voters - 1
	x.first.strike(c, first)
	if x.leads != 0 { // else the second blow follows at once
		c.serves()
	}
	x.second.strike(c, second)
	disks--
	r[0] = c.expect(disks)
	for i, at := range []int{first, second} {
		c.start(at)
		if back[i].disk {
			disks++
		}
		r[1+i] = c.expect(disks)
		if r[1+i] == serving && !back[i].disk {
			disks++ // it votes again, with a new directory
		}
	}
	if r[2] == ruined {
		r[3] = c.recover((second + 1) % x.voters)
	}
	stop()
	return r
}

// leader returns which node leads.
func (c *trial) leader() (i int) {
	c.t.Helper()
	c.until("one leads", func() error {
		s, err := c.nodes[0].status()
		if err != nil {
			return err
		}
		for i = range c.nodes {
			if c.nodes[i].name == s.Leader {
				return nil
			}
		}
		return errors.New("no leader is known")
	})
	return i
}

// expect waits until the cluster does what it must while so many of its voters run with
// their directories, and returns it.
func (c *trial) expect(disks int) string {
	c.t.Helper()
	if disks > len(c.nodes)/2 {
		c.serves()
		return serving
	}
	what, word := waiting, "majority"
	if len(c.running()) == len(c.nodes) {
		what, word = ruined, "stile recover"
	}
	explained := func() error {
		for _, n := range c.running() {
			s, err := n.status()
			if err != nil {
				return err
			}
			if !strings.Contains(s.Why, word) {
				return fmt.Errorf("%s is %s: %q, without %q", n.name, s.State, s.Why, word)
			}
		}
		return nil
	}
	c.until("all running nodes say why they do not serve", explained)
	for _, n := range c.running() {
		if err := c.acquire(n, c.lease); err == nil {
			c.t.Fatalf("a lock is acquired through %s without a majority", n.name)
		}
	}
	if err := explained(); err != nil {
		c.t.Fatal(err)
	}
	return what
}

// recover does what the nodes of a lost cluster say, with the directory of one of them.
func (c *trial) recover(left int) string {
	c.t.Helper()
	for i := range c.nodes {
		c.stop(i)
	}
	r := (*world)(nil).stile(c.t, 0, "recover", "--data", c.nodes[left].data)
	if <-r.gone; !r.cmd.ProcessState.Success() {
		c.t.Fatalf("recover: %v\n%s", r.cmd.ProcessState, r.said())
	}
	c.launch(left)
	for i := range c.nodes {
		if i != left {
			c.start(i)
		}
	}
	c.serves()
	return serving
}

// busy has two clients, which know all nodes, use a lock. The function that it returns
// waits until both have entered again, and ends that.
func (c *trial) busy() (stop func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	const users = 2
	var wg sync.WaitGroup
	entries := make([]chan struct{}, users)
	for i := range users {
		x := c.dial(fmt.Sprint("user ", i), i)
		entries[i] = make(chan struct{})
		wg.Go(func() {
			for ctx.Err() == nil {
				length := time.Duration(rand.Int64N(int64(20 * time.Millisecond)))
				if rand.IntN(10) == 0 {
					length = c.lease * 3 / 2
				}
				err := c.ledger.use(ctx, x, "x", length)
				if err == nil {
					select {
					case entries[i] <- struct{}{}:
					default:
					}
				} else if !errors.Is(err, lock.ErrLost) && ctx.Err() == nil {
					c.ledger.note(fmt.Errorf("a request has failed: %w", err))
				}
			}
		})
	}
	c.t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return func() {
		c.t.Helper()
		for i := range users {
			select {
			case <-entries[i]:
			case <-time.After(longest):
				c.t.Errorf("user %d does not enter any more", i)
			}
		}
		if err := c.ledger.err(); err != nil {
			c.t.Error(err)
		}
	}
}

// dial makes a client of a node that knows the others too.
func (c *trial) dial(name string, first int) *client.Client {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Name: name, Nodes: c.addresses(first)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { x.Close() })
	return x
}
