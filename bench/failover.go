package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

const (
	outageLimit  = 10 * time.Second // an outage that lasts longer is not followed to its end
	hammered     = 8                // locks that are used while a server is killed
	afterRestart = 2 * time.Second  // until the next scenario
)

// inFailover runs the failover workloads. All entrants are in the same scenario at the same
// time, because most of that time they only wait.
func (r *race) inFailover(ctx context.Context) error {
	all := r.of(sortFailover)
	if len(all) == 0 {
		return nil
	}
	r.site.lease = failoverLease
	r.say("starting servers with leases of %v", failoverLease)
	r.open(ctx, all)
	defer r.close()
	for round := range r.rounds {
		for _, w := range r.workloads {
			if w.sort != sortFailover || ctx.Err() != nil {
				continue
			}
			r.say("%s, round %d", w.Title, round+1)
			var wg sync.WaitGroup
			for _, e := range all {
				if r.fleets[e.servers] == nil || !w.runs(e) {
					continue
				}
				wg.Go(func() { r.fall(ctx, w, e, round) })
			}
			wg.Wait()
			if err := sleep(ctx, afterRestart); err != nil {
				return nil
			}
		}
	}
	return nil
}

// An outage is what a failover has cost.
type outage struct {
	took  time.Duration
	never bool // it did not end within the limit
	told  bool // the paused holder noticed
}

// fall runs a scenario for an entrant.
func (r *race) fall(ctx context.Context, w *workload, e *entrant, round int) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*hangs, errors.New("it took too long"))
	defer cancel()
	var o outage
	var err error
	switch w.Name {
	case "kill-holder":
		o, err = r.killHolder(ctx, e, round, false)
	case "pause-holder":
		o, err = r.killHolder(ctx, e, round, true)
	default:
		o, err = r.killServer(ctx, e, round, w.Name == "kill-leader")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.result.cell(w.Name, e.Name)
	if err != nil {
		c.fail(err)
		r.say("%s: %s: %s", w.Name, e.Name, brief(err))
		return
	}
	c.add(figOutage, float64(o.took)/float64(time.Millisecond))
	c.add(figNever, one(o.never))
	if w.Name == "pause-holder" {
		c.add(figTold, one(o.told))
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// pair returns a worker that holds and one that waits, each with a client of another
// server, and what makes things as they were.
func (r *race) pair(ctx context.Context, e *entrant) (all [2]*worker, end func(), err error) {
	f := r.fleets[e.servers]
	end = func() {}
	if e.kind == kindEmbedded {
		leader, err := f.leader(ctx)
		if err != nil {
			return all, end, err
		}
		dead := (leader + 1) % len(f.workers) // the death of the leader is another scenario
		all = [2]*worker{f.workers[dead], f.workers[leader]}
		end = func() {
			all[0].kill()
			if err := f.embed(ctx, dead); err != nil {
				r.say("%s: %v", e.Name, err)
			}
		}
	} else {
		for i := range all {
			if all[i], err = r.site.keeper.hire(ctx, "client of "+e.Name); err != nil {
				return all, end, err
			}
		}
		end = func() { all[0].kill(); all[1].kill() }
	}
	t := &team{entrant: e, fleet: f, lease: failoverLease}
	for i, w := range all {
		if _, err := w.ask(ctx, order{Op: opOpen, Access: t.access(i), Count: 1}); err != nil {
			return all, end, err
		}
	}
	return all, end, nil
}

// killHolder kills or pauses a holder, and returns how long it takes until the next one.
func (r *race) killHolder(ctx context.Context, e *entrant, round int, pause bool) (o outage, err error) {
	two, end, err := r.pair(ctx, e)
	defer end()
	if err != nil {
		return o, err
	}
	name := fmt.Sprintf("failover-%v-%d", pause, round)
	if _, err := two[0].ask(ctx, order{Op: opAcquire, Name: name}); err != nil {
		return o, err
	}
	acquired := make(chan error, 1)
	go func() {
		_, err := two[1].ask(ctx, order{Op: opAcquire, Name: name})
		acquired <- err
	}()
	if err := sleep(ctx, time.Second); err != nil { // it waits by now
		return o, err
	}
	start := time.Now()
	if pause {
		err = two[0].signal(syscall.SIGSTOP)
	} else {
		two[0].kill()
	}
	if err != nil {
		return o, err
	}
	select {
	case err := <-acquired:
		if err != nil {
			return o, err
		}
		o.took = time.Since(start)
	case <-time.After(outageLimit):
		o.took, o.never = outageLimit, true
	}
	if pause {
		if o.told, err = r.told(ctx, two[0], start); err != nil {
			return o, err
		}
	}
	two[0].kill()
	if o.never {
		if err := <-acquired; err != nil {
			return o, err
		}
	}
	if e.kind == kindEmbedded { // its node goes on
		_, err = two[1].ask(ctx, order{Op: opRelease})
	}
	return o, err
}

// told resumes a process whose lease is over, and returns whether it notices soon.
func (r *race) told(ctx context.Context, w *worker, paused time.Time) (bool, error) {
	if err := sleep(ctx, time.Until(paused.Add(failoverLease+time.Second))); err != nil {
		return false, err
	}
	if err := w.signal(syscall.SIGCONT); err != nil {
		return false, err
	}
	for range 20 {
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return false, err
		}
		if a, err := w.ask(ctx, order{Op: opLost}); err != nil || a.Lost {
			return true, err
		}
	}
	return false, nil
}

// killServer kills a server while clients of all servers use some locks, and returns for how
// long one of these was not acquired.
func (r *race) killServer(ctx context.Context, e *entrant, round int, leads bool) (o outage, err error) {
	f := r.fleets[e.servers]
	victim, err := f.leader(ctx)
	if err != nil {
		return o, err
	}
	if !leads {
		victim = (victim + 1) % len(f.all)
	}
	t := &team{entrant: e, fleet: f, lease: failoverLease}
	if e.kind == kindEmbedded {
		for i, w := range f.workers {
			if i != victim {
				t.workers = append(t.workers, w)
			}
		}
	} else {
		w, err := r.site.keeper.hire(ctx, "clients of "+e.Name)
		t.workers = []*worker{w}
		if err != nil {
			return o, err
		}
	}
	defer t.dismiss()
	if err := t.open(ctx, hammered*len(t.workers)); err != nil {
		return o, err
	}
	ask := func(op string) (answer, error) {
		return t.ask(ctx, func(int, int) order { return order{Op: op, Count: hammered, First: round} })
	}
	if _, err := ask(opHammer); err != nil {
		return o, err
	}
	if err := sleep(ctx, time.Second); err != nil {
		return o, err
	}
	if _, err := ask(opGaps); err != nil { // forget the start
		return o, err
	}
	start := time.Now()
	f.all[victim].kill()
	for {
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return o, err
		}
		a, err := ask(opGaps)
		if err != nil {
			return o, err
		}
		o.took = max(o.took, a.Gap)
		since := time.Since(start)
		if stuck := a.Stuck > time.Second; since > failoverLease+2*time.Second && !stuck {
			break
		}
		if since > outageLimit {
			o.took, o.never = outageLimit, true
			break
		}
	}
	if err := f.restart(ctx, victim); err != nil {
		return o, err
	}
	_, err = ask(opRest)
	return o, err
}
