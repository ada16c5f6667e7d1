package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
)

// A toll is what became of jobs whose node was killed.
type toll struct{ kills, jobs, kept, led, keptLed, execs, keptExecs int }

// holders is how many clients hold a lock each through the node that is killed. Another
// client waits for the first of these locks.
const holders = 4

// The node of holders is killed, again and again. Those that attach to another node in time
// keep their locks; the others know that theirs are lost before they are acquired again.
func testKills(t *testing.T) string {
	leases := []time.Duration{3 * time.Second}
	clusters := 1
	if *page != "" {
		leases, clusters = []time.Duration{time.Second, 3 * time.Second, usual}, 4
	}
	var mu sync.Mutex
	all := map[time.Duration]*toll{}
	t.Run("leases", func(t *testing.T) {
		for _, lease := range leases {
			all[lease] = &toll{}
			for i := range clusters {
				t.Run(fmt.Sprint(lease, " ", i), func(t *testing.T) {
					t.Parallel()
					c := newTrial(t, 3, lease)
					for k := range *kills / clusters {
						sum := c.strike(k)
						mu.Lock()
						all[lease].add(sum)
						mu.Unlock()
					}
				})
			}
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, `## kill -9 of a holder's node

One of three nodes, drawn at random, is killed with -9 and started again: in turn after half a lease, when
the next view still names it as a ghost, and after one and a half. %d clients hold a lock each through
that node, and know all three addresses; another client waits for one of these locks. A job survives if its
lock is still held when everything that the killed node had granted has expired. The kills come at random
moments between renewals. Several clusters run at the same time, so the machine is busy.

| lease | kills | jobs | survived | if the node led | if it did not | `+"`stile exec`"+` jobs | survived |
|--:|--:|--:|--:|--:|--:|--:|--:|
`, holders)
	for _, lease := range leases {
		s := all[lease]
		fmt.Fprintf(&b, "| %v | %d | %d | %s | %s | %s | %d | %s |\n", lease, s.kills, s.jobs, share(s.kept, s.jobs), share(s.keptLed, s.led), share(s.kept-s.keptLed, s.jobs-s.led), s.execs, share(s.keptExecs, s.execs))
	}
	return b.String()
}

func (s *toll) add(o toll) {
	s.kills += o.kills
	s.jobs += o.jobs
	s.kept += o.kept
	s.led += o.led
	s.keptLed += o.keptLed
	s.execs += o.execs
	s.keptExecs += o.keptExecs
}

func share(part, all int) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// strike kills the node of some holders, starts it again before or after its lease has
// expired, and counts which of them keep their locks. If it was before, the record names the
// ghost from then on, and the next leader must not wait for it. Every tenth time a command
// under 'stile exec' is one of them.
func (c *trial) strike(k int) (s toll) {
	c.t.Helper()
	i := rand.IntN(len(c.nodes)) // in turn, it would often be the one that leads since the last kill
	led := c.leader() == i
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	var all []lock.Handle
	for j := range holders {
		h, done := c.holder(ctx, i, fmt.Sprint("job ", j))
		defer done()
		c.ledger.enter(h)
		all = append(all, h)
	}
	var job *shell
	if k%10 == 0 {
		job = (*world)(nil).stile(c.t, 0, "exec", "--addr", strings.Join(c.addresses(i), ","), "exec", "--", "sh", "-c", fmt.Sprintf("echo inside; sleep %g", 3*c.lease.Seconds()))
		job.until("^inside$")
	}
	waiter := c.dial("waiter", i+1)
	defer waiter.Close()
	next := make(chan error, 1)
	go func() { next <- c.ledger.use(ctx, waiter, "job 0", 0) }()
	time.Sleep(time.Duration(rand.Int64N(int64(c.lease / 2))))
	held := slices.DeleteFunc(slices.Clone(all), func(h lock.Handle) bool { return h.Err() != nil }) // on a busy machine, not all
	c.kill(i)
	killed := time.Now()
	over := killed.Add(c.lease) // nothing that the node had granted is valid then
	early := (k+k/10)%2 == 0    // of the commands too, every second one
	if early {
		time.Sleep(time.Until(killed.Add(c.lease / 2)))
		c.start(i)
	}
	s = toll{kills: 1, jobs: len(held)}
	for _, h := range held {
		if c.survives(h, over) {
			s.kept++
		}
	}
	if led {
		s.led, s.keptLed = s.jobs, s.kept
	}
	if !early {
		time.Sleep(time.Until(killed.Add(c.lease * 3 / 2)))
		c.start(i)
	}
	for _, h := range all {
		if err := c.ledger.leave(h); err != nil && !errors.Is(err, lock.ErrLost) {
			c.t.Error(err)
		}
	}
	if err := <-next; err != nil && !errors.Is(err, lock.ErrLost) {
		c.t.Errorf("the request that waited has failed: %v", err)
	}
	if job != nil {
		if s.execs = 1; c.succeeds(job) {
			s.keptExecs = 1
		}
	}
	c.serves()
	if err := c.ledger.err(); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// holder acquires a lock through a node. The function that it returns closes the client.
func (c *trial) holder(ctx context.Context, i int, name string) (h lock.Handle, done func()) {
	c.t.Helper()
	for {
		x := c.dial("holder of "+name, i)
		h, err := x.Lock(ctx, name, lock.Options{})
		if err != nil {
			c.t.Fatal(err)
		}
		if x.Node() == c.nodes[i].address {
			return h, func() { x.Close() }
		}
		x.Close() // the node had lost its lease for a moment, and its client went elsewhere
	}
}

// survives reports whether a lock is still held after a time.
func (c *trial) survives(h lock.Handle, after time.Time) bool {
	for !h.Deadline().After(after) {
		select {
		case <-h.Context().Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

// succeeds reports whether a job succeeds. If it does not, its lock was lost.
func (c *trial) succeeds(job *shell) bool {
	c.t.Helper()
	<-job.gone
	code := job.cmd.ProcessState.ExitCode()
	if code != 0 && code != 125 {
		c.t.Errorf("a command under exec: %v\n%s", job.cmd.ProcessState, job.said())
	}
	return code == 0
}
