package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"
)

// pace is the time between two holds of a lock in the failover workloads: the machine must
// not be busy with anything else.
const pace = 20 * time.Millisecond

// A hammer uses some locks all the time, each by one client of the worker, and knows for
// how long each of them was not acquired.
type hammer struct {
	last   []atomic.Int64 // by lock, when it was last acquired
	most   []atomic.Int64 // by lock, the longest time between two holds
	cancel context.CancelFunc
}

// strike makes each client use its lock. A client that has lost its session is opened again.
func strike(clients []client, again func(i int) (client, error), locks, round int) *hammer {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hammer{make([]atomic.Int64, locks), make([]atomic.Int64, locks), cancel}
	start := time.Now().UnixNano()
	for i, c := range clients {
		h.last[i%locks].Store(start)
		name := "hammer-" + strconv.Itoa(round) + "-" + strconv.Itoa(i%locks)
		go h.use(ctx, c, func() (client, error) { return again(i) }, i%locks, name)
	}
	return h
}

// patience is how long a client is tried before it is opened again.
const patience = time.Second

// use uses a lock. Errors are expected, because servers die: a careful application then
// tries again, and opens another session if that does not help.
func (h *hammer) use(ctx context.Context, c client, again func() (client, error), i int, name string) {
	var since time.Time // the first of the errors that have not ended
	for ; ctx.Err() == nil; _ = sleep(ctx, pace) {
		held, err := c.acquire(ctx, name, false)
		if err == nil {
			now := time.Now().UnixNano()
			if gap := now - h.last[i].Swap(now); gap > h.most[i].Load() {
				h.most[i].Store(gap)
			}
			err = unlock(ctx, c, held)
		}
		switch {
		case err == nil:
			since = time.Time{}
		case c.lost() || !since.IsZero() && time.Since(since) > patience:
			go c.close() // it may wait for servers that are gone
			c, since = reopen(ctx, c, again), time.Time{}
		case since.IsZero():
			since = time.Now()
		}
	}
}

// reopen opens a client until it succeeds. When the context ends it returns the old one.
func reopen(ctx context.Context, old client, again func() (client, error)) client {
	for ; ctx.Err() == nil; _ = sleep(ctx, pace) {
		if c, err := again(); err == nil {
			return c
		}
	}
	return old
}

// unlock releases a hold, even if the context has ended: an embedded node would keep it. It
// tries until the hold is lost: what is not released stays held while the session of the
// client lives, and the client would wait for itself.
func unlock(ctx context.Context, c client, held holder) error {
	for {
		err := held.Unlock()
		if err == nil || c.lost() || sleep(ctx, pace) != nil {
			return err
		}
	}
}

// gaps returns the longest time without a hold since the last call, and the longest time
// since the last hold.
func (h *hammer) gaps() (most, stuck time.Duration) {
	now := time.Now().UnixNano()
	for i := range h.last {
		most = max(most, time.Duration(h.most[i].Swap(0)))
		stuck = max(stuck, time.Duration(now-h.last[i].Load()))
	}
	return most, stuck
}

func (h *hammer) rest() { h.cancel() }
