package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// clientsOfMemory is the number of clients that hold the locks of the memory workload.
const clientsOfMemory = 16

// settles is how long processes have to return memory that they needed only for a moment.
const settles = 500 * time.Millisecond

// inMemory runs the workload that measures memory, each round with servers started anew.
func (r *race) inMemory(ctx context.Context) error {
	all := r.of(sortMemory)
	if len(all) == 0 {
		return nil
	}
	w := r.first(sortMemory)
	for round := range r.rounds {
		r.say("%s, round %d", w.Title, round+1)
		r.open(ctx, all)
		var wg sync.WaitGroup
		for _, e := range all {
			if r.fleets[e.servers] == nil {
				continue
			}
			wg.Go(func() {
				lock, waiter, err := r.weigh(ctx, e)
				r.mu.Lock()
				defer r.mu.Unlock()
				c := r.result.cell(w.Name, e.Name)
				if err != nil {
					c.fail(err)
					r.say("%s: %s: %s", w.Name, e.Name, brief(err))
					return
				}
				c.add(figLock, lock)
				c.add(figWaiter, waiter)
			})
		}
		wg.Wait()
		r.close()
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// first returns the first workload of a sort.
func (r *race) first(sort string) *workload {
	for _, w := range r.workloads {
		if w.sort == sort {
			return w
		}
	}
	return nil
}

// weigh returns what a held lock and a client that waits cost all servers of an entrant.
func (r *race) weigh(ctx context.Context, e *entrant) (lock, waiter float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 4*hangs, errors.New("it took too long"))
	defer cancel()
	t, err := r.hire(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	defer t.dismiss()
	if e.kind == kindRedis {
		t.lease = 10 * time.Minute // 5,000 holds take a while, and nothing renews them
	}
	if err := t.open(ctx, clientsOfMemory); err != nil {
		return 0, 0, err
	}
	step := func(o order) (grown float64, err error) {
		before := memory(t.fleet.pids()...)
		if o.Op == opWait { // the connections belong to the clients that wait
			if err := t.open(ctx, waiters+1); err != nil {
				return 0, err
			}
		}
		_, err = t.ask(ctx, func(i, first int) order {
			o := o
			if o.First = first; o.Op == opHold {
				o.First = i * heldLocks
				o.Count = heldLocks / len(t.workers)
			}
			return o
		})
		if err == nil {
			err = sleep(ctx, settles)
		}
		return float64(memory(t.fleet.pids()...) - before), err
	}
	if lock, err = step(order{Op: opHold}); err != nil {
		return 0, 0, err
	}
	if _, err = t.ask(ctx, func(int, int) order { return order{Op: opDrop} }); err != nil {
		return 0, 0, err
	}
	if err := t.close(ctx); err != nil {
		return 0, 0, err
	}
	if waiter, err = step(order{Op: opWait}); err != nil {
		return 0, 0, err
	}
	return lock / heldLocks, waiter / waiters, nil
}
