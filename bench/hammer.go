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

// strike makes each client use its lock.
func strike(clients []client, locks, round int) *hammer {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hammer{make([]atomic.Int64, locks), make([]atomic.Int64, locks), cancel}
	start := time.Now().UnixNano()
	for i, c := range clients {
		h.last[i%locks].Store(start)
		go h.use(ctx, c, i%locks, "hammer-"+strconv.Itoa(round)+"-"+strconv.Itoa(i%locks))
	}
	return h
}

// use uses a lock. Errors are expected: servers die.
func (h *hammer) use(ctx context.Context, c client, i int, name string) {
	for ctx.Err() == nil {
		held, err := c.acquire(ctx, name, false)
		if err == nil {
			now := time.Now().UnixNano()
			if gap := now - h.last[i].Swap(now); gap > h.most[i].Load() {
				h.most[i].Store(gap)
			}
			_ = held.Unlock()
		}
		_ = sleep(ctx, pace)
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
