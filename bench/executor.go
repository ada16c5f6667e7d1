package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stile-lock/stile"
)

// An executor is the state of a worker.
type executor struct {
	node    *stile.Node
	clients []client
	access  access // of the clients
	holds   []holder
	cancel  context.CancelFunc // ends the requests that wait
	waiting sync.WaitGroup
	hammer  *hammer
}

func (x *executor) do(o *order) (a answer, err error) {
	switch o.Op {
	case opNode:
		return x.open(o)
	case opOpen:
		return a, x.dial(o)
	case opClose:
		return a, x.close()
	case opRun:
		return x.run(o)
	case opHold:
		return a, x.hold(o)
	case opWait:
		return a, x.wait(o)
	case opDrop:
		return a, x.drop()
	case opAcquire:
		return x.acquire(o)
	case opRelease:
		return a, x.drop()
	case opLost:
		a.Lost = x.clients[0].lost()
		return a, nil
	case opHammer:
		x.hammer = strike(x.clients, x.soon, o.Count, o.First)
		return a, nil
	case opGaps:
		a.Gap, a.Stuck = x.hammer.gaps()
		return a, nil
	case opRest:
		x.hammer.rest()
		return a, nil
	case opLimit:
		return limit(o)
	case opEcho:
		a.Address, err = echo(o)
		return a, err
	}
	return a, fmt.Errorf("unknown operation %q", o.Op)
}

// open starts the node.
func (x *executor) open(o *order) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if x.node, err = stile.Open(ctx, o.Node); err == nil {
		a.Address = x.node.Address()
	}
	return a, err
}

// dial opens clients, some at a time. Of an embedded node all are the node.
func (x *executor) dial(o *order) error {
	x.clients, x.access = make([]client, o.Count), o.Access
	errs := make([]error, o.Count)
	turn := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i := range x.clients {
		if o.Access.Kind == kindEmbedded {
			x.clients[i] = &stileClient{at: x.node, prefix: o.Access.Prefix, end: func() error { return nil }}
			continue
		}
		turn <- struct{}{}
		wg.Go(func() {
			x.clients[i], errs[i] = x.again(i, 0)
			<-turn
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// again opens a client anew, within some time.
func (x *executor) again(i int, within time.Duration) (client, error) {
	if x.access.Kind == kindEmbedded {
		return x.clients[i], nil
	}
	a := x.access
	a.Open = within
	a.Addrs = preferring(a, i)
	return dial(context.Background(), &a)
}

// soon opens a client anew while servers die. An answer may never come: the client of
// ZooKeeper would wait for it for seven times the lease.
func (x *executor) soon(i int) (client, error) { return x.again(i, x.access.Lease) }

// preferring returns the addresses with another one first for each client, so that clients
// spread. Redsync asks all servers anyway.
func preferring(a access, i int) []string {
	n := len(a.Addrs)
	if n == 0 || a.Kind == kindRedis {
		return a.Addrs
	}
	i %= n
	return append(append([]string{}, a.Addrs[i:]...), a.Addrs[:i]...)
}

func (x *executor) close() error {
	errs := make([]error, len(x.clients))
	var wg sync.WaitGroup
	turn := make(chan struct{}, 16)
	for i, c := range x.clients {
		turn <- struct{}{}
		wg.Go(func() { errs[i] = c.close(); <-turn })
	}
	wg.Wait()
	x.clients = nil
	return errors.Join(errs...)
}

// A stint is a measurement in progress.
type stint struct {
	*order
	from, to time.Time // what ends in between counts
	over     atomic.Bool
	inside   sync.Map // by lock, whether it is held exclusively
	overlaps atomic.Int64
	last     uint64 // count of the last token here, guarded by the lock
	passes   int    // the same: tokens that do not follow the last one
}

// run makes all clients acquire and release locks.
func (x *executor) run(o *order) (answer, error) {
	start := time.Now()
	r := &stint{order: o, from: start.Add(o.Warm), to: start.Add(o.Warm + o.For)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tallies, errs := make([]*tally, len(x.clients)), make([]error, len(x.clients))
	var wg sync.WaitGroup
	for i, c := range x.clients {
		tallies[i] = &tally{}
		wg.Go(func() { errs[i] = r.client(ctx, i, c, tallies[i]) })
	}
	time.Sleep(o.Warm + o.For)
	r.over.Store(true)
	if o.Access.Kind == kindEtcd && o.Load.Shared == 0 {
		cancel() // it would take seconds until all have had the lock
	}
	wg.Wait()
	a := answer{Took: o.For, Clients: len(x.clients), Least: ^uint64(0), Overlaps: int(r.overlaps.Load()), Passes: r.passes}
	for _, t := range tallies {
		a.Least = min(a.Least, t.count)
		t.into(&a.Times)
	}
	return a, errors.Join(errs...)
}

// client is one client's part. The end of a hold is the beginning of the next request.
func (r *stint) client(ctx context.Context, i int, c client, t *tally) error {
	next := r.names(i)
	var inside *atomic.Bool
	last := ""
	for at := time.Now(); !r.over.Load(); {
		name, shared := next()
		h, err := c.acquire(ctx, name, shared)
		if err != nil {
			if ctx.Err() != nil {
				t.max = max(t.max, r.to.Sub(at))
				return nil
			}
			return err
		}
		if name != last {
			v, _ := r.inside.LoadOrStore(name, new(atomic.Bool))
			inside, last = v.(*atomic.Bool), name
		}
		if !shared {
			if !inside.CompareAndSwap(false, true) {
				r.overlaps.Add(1)
			}
			if l, ok := h.(*stile.Lock); ok && r.Access.Kind == kindEmbedded && r.Load.Names == namesOne {
				if l.Token().Count != r.last+1 && !at.Before(r.from) {
					r.passes++
				}
				r.last = l.Token().Count
			}
			inside.Store(false)
		}
		if err := h.Unlock(); err != nil {
			return err
		}
		now := time.Now()
		t.all++
		switch {
		case now.After(r.to):
			t.max = max(t.max, r.to.Sub(at))
		case !now.Before(r.from):
			t.add(now.Sub(at))
		}
		at = now
	}
	return nil
}

// names returns what chooses the locks of a client.
func (r *stint) names(i int) func() (name string, shared bool) {
	random := rand.New(rand.NewPCG(r.Seed, uint64(r.First+i)))
	group := (r.First + i) % groups
	switch {
	case r.Load.Shared > 0:
		return func() (string, bool) { return sharedName, random.IntN(100) < r.Load.Shared }
	case r.Load.Names == namesOwn:
		name := "own-" + strconv.Itoa(r.First+i)
		return func() (string, bool) { return name, false }
	case r.Load.Names == namesRandom:
		return func() (string, bool) { return "many-" + strconv.Itoa(random.IntN(manyLocks)), false }
	case r.Load.Names == namesTurn:
		at := random.IntN(turnLocks)
		return func() (string, bool) {
			at = (at + 1) % turnLocks
			return "turn-" + strconv.Itoa(at), false
		}
	case r.Load.Names == namesHot:
		return func() (string, bool) {
			if random.IntN(hotOneIn) == 0 {
				return "hot", false
			}
			return "group-" + strconv.Itoa(group*groupLocks+random.IntN(groupLocks)), false
		}
	}
	return func() (string, bool) { return "one", false }
}

// hold acquires many locks, shared out among the clients.
func (x *executor) hold(o *order) error {
	all := make([][]holder, len(x.clients))
	errs := make([]error, len(x.clients))
	var wg sync.WaitGroup
	for i, c := range x.clients {
		wg.Go(func() {
			for n := i; n < o.Count && errs[i] == nil; n += len(x.clients) {
				var h holder
				if h, errs[i] = c.acquire(context.Background(), "held-"+strconv.Itoa(o.First+n), false); errs[i] == nil {
					all[i] = append(all[i], h)
				}
			}
		})
	}
	wg.Wait()
	for _, some := range all {
		x.holds = append(x.holds, some...)
	}
	return errors.Join(errs...)
}

// wait has a client hold a lock, if this is the first worker, and all others request it.
func (x *executor) wait(o *order) error {
	all := x.clients
	if o.First == 0 {
		h, err := all[0].acquire(context.Background(), "waited", false)
		if err != nil {
			return err
		}
		x.holds, all = append(x.holds, h), all[1:]
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	for _, c := range all {
		x.waiting.Go(func() {
			if h, err := c.acquire(ctx, "waited", false); err == nil {
				_ = h.Unlock() // the measurement is over
			}
		})
	}
	return nil
}

// drop releases all, and waits until no request waits.
func (x *executor) drop() error {
	if x.cancel != nil {
		x.cancel()
	}
	errs := make([]error, len(x.holds))
	for i, h := range x.holds {
		errs[i] = h.Unlock()
	}
	x.waiting.Wait()
	x.holds, x.cancel = nil, nil
	return errors.Join(errs...)
}

// acquire acquires a lock, and reports when.
func (x *executor) acquire(o *order) (a answer, err error) {
	h, err := x.clients[0].acquire(context.Background(), o.Name, false)
	if err == nil {
		x.holds = append(x.holds, h)
	}
	return a, err
}
