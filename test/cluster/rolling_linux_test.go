package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lock"
)

// usual is the lease of nodes unless told otherwise.
const usual = 10 * time.Second

// roll stops each node in turn and starts it again, and returns how long the longest of
// these restarts took.
func (c *trial) roll() (most time.Duration) {
	c.t.Helper()
	for i := range c.nodes {
		begun := time.Now()
		c.stop(i)
		c.start(i)
		c.serves()
		most = max(most, time.Since(begun))
	}
	return most
}

// Nodes are restarted in turn while commands run under 'stile exec'. None of them fails,
// and those that wait for the same locks run afterwards.
func testJobs(t *testing.T) string {
	c := newTrial(t, 3, usual)
	done := filepath.Join(t.TempDir(), "done")
	work := fmt.Sprintf("echo $STILE_TOKEN; sleep %g; while [ ! -e %s ]; do sleep 0.5; done", working.Seconds(), done)
	var all, next []*shell
	for i := range *jobs {
		all = append(all, (*world)(nil).stile(t, 0, "exec", "--addr", strings.Join(c.addresses(i), ","), fmt.Sprint("job", i), "--", "sh", "-c", work))
	}
	for _, s := range all {
		s.until(`^\d+\.\d+$`)
	}
	for i := range (*jobs + 9) / 10 {
		s := (*world)(nil).stile(t, 0, "exec", "--addr", strings.Join(c.addresses(i+1), ","), fmt.Sprint("job", i), "--", "sh", "-c", "test -e "+done)
		s.until("waiting for job")
		next = append(next, s)
	}
	ended := make(chan struct{}) // the jobs have run for long enough
	time.AfterFunc(*working, func() { close(ended) })
	rounds := 0
	var most time.Duration
	for over := false; !over; rounds++ {
		most = max(most, c.roll())
		select {
		case <-ended:
			over = true
		default:
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range append(all, next...) {
		if <-s.gone; !s.cmd.ProcessState.Success() {
			t.Errorf("%q: %v\n%s", s.cmd.Args, s.cmd.ProcessState, s.said())
		}
	}
	return fmt.Sprintf(`## A rolling restart under jobs

%d commands ran under `+"`stile exec`"+`, each for %v at least, and %d more waited for some of their locks. The
lease was %v. Meanwhile, each of three nodes was stopped with TERM and started again, %d times. All
commands succeeded, and each waiting one ran after the other. The longest restart, from TERM until a lock
was acquired through each node again, took %.1f s.

`, len(all), *working, len(next), usual, rounds, most.Seconds())
}

// Nodes are restarted in turn while clients use locks. No request fails, and no lock is
// lost.
func testLoad(t *testing.T) string {
	c := newTrial(t, 3, usual)
	const busy, still, names = 12, 6, 5
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	use := func(ctx context.Context, who, first int, name func() string, length func() time.Duration) {
		x := c.dial(fmt.Sprint("client ", who), first)
		wg.Go(func() {
			for ctx.Err() == nil {
				switch err := c.ledger.use(ctx, x, name(), length()); {
				case errors.Is(err, lock.ErrLost):
					c.ledger.note(fmt.Errorf("client %d: %w", who, err))
				case err != nil && ctx.Err() == nil:
					c.ledger.note(fmt.Errorf("client %d: a request has failed: %w", who, err))
				}
			}
		})
	}
	for i := range busy {
		use(ctx, i, i, func() string { return fmt.Sprint("busy ", rand.IntN(names)) }, func() time.Duration { return time.Duration(rand.Int64N(int64(30 * time.Millisecond))) })
	}
	for i := range still { // each holds a lock of its own, over several restarts
		use(ctx, busy+i, i, func() string { return fmt.Sprint("still ", i) }, func() time.Duration { return min(*rolling/2, time.Minute) })
	}
	kept := c.keeps()
	begun, rounds := time.Now(), 0
	var most time.Duration
	for ; rounds == 0 || time.Since(begun) < *rolling; rounds++ {
		most = max(most, c.roll())
		if err := c.ledger.err(); err != nil {
			t.Errorf("after %d rounds: %v", rounds+1, err)
			break
		}
	}
	took := time.Since(begun)
	if err := kept(); err != nil {
		t.Errorf("kept locks: %v", err)
	}
	cancel()
	wg.Wait()
	if err := c.ledger.err(); err != nil {
		t.Error(err)
	}
	b := c.ledger
	return fmt.Sprintf(`## A rolling restart under load

For %.1f minutes, three nodes were stopped with TERM and started again in turn: %d restarts. The lease was
%v. %d clients contended for %d locks, and %d clients held a lock each for a minute at a time. Of %d
holds, %d were lost; of the requests, none failed. The longest wait for a lock was %.1f s, and the
longest restart took %.1f s. Three more clients held kept locks all the time: a shared one, units of a
semaphore, and two locks each in transactions, one of which waited for another. They lost none of them, and
all transactions committed.

`, took.Minutes(), 3*rounds, usual, busy, names, still, b.entries, b.lost, b.waited.Seconds(), most.Seconds())
}
