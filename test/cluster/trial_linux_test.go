package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stile-lock/stile"
	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/node"
)

// A trial is a cluster of 'stile serve' processes at addresses of its own, all of which
// vote, and the users of its locks.
type trial struct {
	t      *testing.T
	lease  time.Duration
	nodes  []*voter
	ledger *ledger
}

// A voter is a node of a trial, over all its starts.
type voter struct {
	name, address, data string
	binary              string // stile, in the version that the node runs when it is started next
	serve               *shell // nil if it does not run
}

// trials counts trials, which have different addresses.
var trials atomic.Int32

// longest is how long anything may take on a busy machine.
const longest = 2 * time.Minute

// newTrial starts a cluster, and waits until all its nodes vote.
func newTrial(t *testing.T, voters int, lease time.Duration) *trial {
	t.Helper()
	binary, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return newTrialOf(t, binary, voters, lease)
}

// newTrialWith is newTrial with algorithms chosen for prefixes. This process founds the
// cluster, and then 'stile serve' goes on with its data.
func newTrialWith(t *testing.T, algorithm string, voters int, lease time.Duration) *trial {
	t.Helper()
	binary, err := command()
	if err != nil {
		t.Fatal(err)
	}
	c := planTrial(t, binary, voters, lease)
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	first := c.nodes[0]
	n, err := stile.Open(ctx, stile.Config{Name: first.name, Listen: first.address, Data: first.data, Lease: lease, Voters: voters, Algorithm: algorithm})
	if err == nil {
		err = n.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.form()
	return c
}

// newTrialOf is newTrial with nodes of another version.
func newTrialOf(t *testing.T, binary string, voters int, lease time.Duration) *trial {
	t.Helper()
	c := planTrial(t, binary, voters, lease)
	c.form("--lease", lease.String(), "--voters", fmt.Sprint(voters))
	return c
}

// planTrial names the nodes of a trial.
func planTrial(t *testing.T, binary string, voters int, lease time.Duration) *trial {
	t.Helper()
	c := &trial{t: t, lease: lease, ledger: newLedger()}
	dir, net := t.TempDir(), os.Getpid()<<6+int(trials.Add(1))
	for i := range voters {
		name := string(rune('a' + i))
		c.nodes = append(c.nodes, &voter{name: name, binary: binary, address: fmt.Sprintf("127.%d.%d.%d:7420", 1+net>>8%63, net%256, i+1), data: filepath.Join(dir, name)})
	}
	return c
}

// form starts all nodes, and waits until they vote.
func (c *trial) form(founding ...string) {
	c.t.Helper()
	for i := range c.nodes {
		if i == 0 {
			c.launch(0, founding...)
			c.nodes[0].serve.until("listening on")
		} else {
			c.start(i)
		}
	}
	c.serves()
	c.until("all nodes vote", func() error {
		for _, n := range c.nodes {
			switch s, err := n.status(); {
			case err != nil:
				return err
			case s.Settled && slices.IndexFunc(s.Members, func(m node.MemberInfo) bool { return !m.Voter }) < 0:
				return nil
			}
		}
		return errors.New("no node is the leader of settled voters")
	})
}

// launch runs 'stile serve' for a node.
func (c *trial) launch(i int, more ...string) {
	c.t.Helper()
	n := c.nodes[i]
	n.serve = (*world)(nil).run(c.t, 0, n.binary, append([]string{"stile", "serve", "--name", n.name, "--listen", n.address, "--data", n.data}, more...)...)
}

// start starts a node, which is to join the others.
func (c *trial) start(i int) {
	c.t.Helper()
	var join []string
	for _, a := range c.addresses(i)[1:] {
		join = append(join, "--join", a)
	}
	c.launch(i, join...)
}

// addresses returns those of all nodes, from one on.
func (c *trial) addresses(first int) []string {
	var all []string
	for i := range c.nodes {
		all = append(all, c.nodes[(first+i)%len(c.nodes)].address)
	}
	return all
}

// gone notes that a node has ended, and returns its exit code.
func (n *voter) gone() int {
	<-n.serve.gone
	code := n.serve.cmd.ProcessState.ExitCode()
	n.serve = nil
	return code
}

// stop stops a node as an operator does.
func (c *trial) stop(i int) {
	c.t.Helper()
	n := c.nodes[i]
	_ = n.serve.cmd.Process.Signal(syscall.SIGTERM) // if it is gone, its exit code shows that
	if code := n.gone(); code != 0 {
		c.t.Fatalf("%s has stopped with exit code %d", n.name, code)
	}
}

// kill ends a node as a crash does.
func (c *trial) kill(i int) {
	_ = c.nodes[i].serve.cmd.Process.Kill() // if it is gone, that shows elsewhere
	c.nodes[i].gone()
}

// lose ends a node as a crash does, and its directory is lost.
func (c *trial) lose(i int) {
	c.t.Helper()
	c.kill(i)
	if err := os.RemoveAll(c.nodes[i].data); err != nil {
		c.t.Fatal(err)
	}
}

// status asks a node for its status.
func (n *voter) status() (s node.Status, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b, _, err := client.Query(ctx, client.Config{Nodes: []string{n.address}}, node.AskStatus, nil)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// running returns the nodes that run.
func (c *trial) running() []*voter {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *voter) bool { return n.serve == nil })
}

// until waits until something is so, and fails if it does not become so.
func (c *trial) until(what string, so func() error) {
	c.t.Helper()
	for late := time.Now().Add(longest); ; time.Sleep(20 * time.Millisecond) {
		err := so()
		if err == nil {
			return
		}
		if time.Now().After(late) {
			c.t.Fatalf("not so within %v: %s: %v", longest, what, err)
		}
	}
}

// whole returns nil if all running nodes are in a view in which no other node is, with
// leases. They then do not just rest on the lease of an earlier view.
func (c *trial) whole() error {
	all := c.running()
	for _, n := range all {
		s, err := n.status()
		switch {
		case err != nil:
			return err
		case s.State != node.Member.String() || s.Why != "":
			return fmt.Errorf("%s is %s: %s", n.name, s.State, s.Why)
		case len(s.Members) != len(all):
			return fmt.Errorf("%s has %d members, and %d nodes run", n.name, len(s.Members), len(all))
		}
	}
	return nil
}

// serves waits until a lock can be acquired through each running node.
func (c *trial) serves() {
	c.t.Helper()
	c.until("a lock can be acquired through each running node", func() error {
		err := c.whole()
		for _, n := range c.running() {
			if err == nil {
				err = c.acquire(n, longest) // its client goes elsewhere if it has just lost its lease
			}
		}
		return err
	})
}

// acquire acquires a lock through a node, and releases it.
func (c *trial) acquire(n *voter, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	x, err := client.Dial(ctx, client.Config{Name: "through " + n.name, Nodes: []string{n.address}})
	if err != nil {
		return err
	}
	defer x.Close()
	if at := x.Node(); at != n.address {
		return fmt.Errorf("the session is with %s", at)
	}
	return c.ledger.use(ctx, x, "served", 0)
}
