package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

const (
	repeats      = 2                      // times that a measurement with too much background load is repeated
	repeatsInAll = 60                     // of one run, so that it ends
	warmUp       = 300 * time.Millisecond // of each entrant before the first round of a workload
	warmRound    = 60 * time.Millisecond  // before each measurement
	hangs        = 30 * time.Second       // time after which a measurement is given up
	failures     = 2                      // of an entrant in a workload, after which it is left out of the rest
)

// atSpeed runs the workloads of speed, and at rest.
func (r *race) atSpeed(ctx context.Context) error {
	all := r.of(sortSpeed, sortIdle)
	if len(all) == 0 {
		return nil
	}
	r.say("starting servers")
	r.open(ctx, all)
	defer r.close()
	teams := map[string]*team{}
	for _, e := range all {
		t, err := r.hire(ctx, e)
		if err != nil {
			r.say("%s is left out: %v", e.Name, err)
			continue
		}
		defer t.dismiss()
		teams[e.Name] = t
	}
	for _, w := range r.workloads {
		if ctx.Err() != nil {
			return nil
		}
		switch w.sort {
		case sortSpeed:
			r.speed(ctx, w, teams)
		case sortIdle:
			r.idle(ctx, w, teams)
		}
	}
	return nil
}

// A turn measures one entrant once.
type turn struct {
	name   string
	cell   *Cell
	pids   func() []int
	run    func(ctx context.Context, warm, took time.Duration, seed uint64) (answer, error)
	again  func(ctx context.Context) error // begins anew after a failure
	failed int
}

// speed runs a workload: all rounds of all entrants, in turns.
func (r *race) speed(ctx context.Context, w *workload, teams map[string]*team) {
	turns, end := r.gather(ctx, w, teams)
	defer end()
	r.say("%s", w.Title)
	length := time.Duration(r.seconds * float64(time.Second))
	for round := range r.rounds + 1 {
		for i := range turns {
			t := turns[(i+round)%len(turns)]
			if ctx.Err() != nil {
				return
			}
			if t.failed >= failures {
				continue
			}
			var err error
			if round == 0 {
				_, err = within(ctx, t, 0, min(warmUp, length), 0)
			} else {
				err = r.round(ctx, t, length, uint64(round))
			}
			if err != nil && ctx.Err() == nil {
				r.lose(ctx, t, err)
			}
		}
	}
}

// lose notes that a turn has failed, and prepares the entrant's next one. One that cannot
// begin anew is left out of the rest of the workload.
func (r *race) lose(ctx context.Context, t *turn, err error) {
	t.cell.fail(err)
	r.say("%s: %s: %s", t.cell.Workload, t.name, brief(err))
	if t.failed++; t.failed >= failures {
		return
	}
	if err := t.again(ctx); err != nil {
		t.failed = failures
		r.say("%s: %s: %s", t.cell.Workload, t.name, brief(err))
	}
}

// gather opens the clients of all entrants of a workload, and returns what closes them.
func (r *race) gather(ctx context.Context, w *workload, teams map[string]*team) (turns []*turn, end func()) {
	var open []*team
	end = func() {
		ctx, cancel := context.WithTimeout(context.Background(), hangs)
		defer cancel()
		var wg sync.WaitGroup
		for _, t := range open {
			wg.Go(func() {
				if err := t.close(ctx); err != nil {
					r.say("%s: %s", w.Name, brief(err))
				}
			})
		}
		wg.Wait()
	}
	if w.Name == limitsWorkload {
		var err error
		if turns, err = r.limitTurns(ctx, w); err != nil {
			r.say("%s: %s", w.Name, brief(err))
		}
	}
	for _, e := range r.entrants {
		t := teams[e.Name]
		if t == nil || !w.runs(e) {
			continue
		}
		x := &turn{name: e.Name, cell: r.result.cell(w.Name, e.Name), pids: t.pids}
		x.again = func(ctx context.Context) error { return r.renew(ctx, t, w.load.Clients) }
		if err := t.open(ctx, w.load.Clients); err != nil {
			r.lose(ctx, x, err)
		}
		open = append(open, t)
		x.run = func(ctx context.Context, warm, took time.Duration, seed uint64) (answer, error) {
			return t.ask(ctx, func(i, first int) order {
				return order{Op: opRun, Access: t.access(0), Load: w.load, Warm: warm, For: took, Seed: seed, First: first}
			})
		}
		turns = append(turns, x)
	}
	return turns, end
}

// renew opens the clients of an entrant in a new process: the old one may hang.
func (r *race) renew(ctx context.Context, t *team, clients int) error {
	if t.kind != kindEmbedded { // its processes are the servers
		t.dismiss()
		w, err := r.site.keeper.hire(ctx, "clients of "+t.Name)
		t.workers = []*worker{w}
		if err != nil {
			return err
		}
	}
	return t.open(ctx, clients)
}

// limitTurns returns the turns of the limits.
func (r *race) limitTurns(ctx context.Context, w *workload) (turns []*turn, err error) {
	var two []*worker
	for range 2 {
		x, err := r.site.keeper.hire(ctx, "limits")
		if err != nil {
			return nil, err
		}
		two = append(two, x)
	}
	for _, l := range limits {
		a := access{Addrs: []string{r.site.dir}}
		if l.Name == limitTLS {
			a.TLS = r.site.certs
		}
		if l.Name == limitTCP || l.Name == limitTLS {
			at, err := two[1].ask(ctx, order{Op: opEcho, Access: a})
			if err != nil {
				return nil, err
			}
			a.Addrs = []string{at.Address}
		}
		turns = append(turns, &turn{name: l.Name, cell: r.result.cell(w.Name, l.Name),
			pids: func() []int { return []int{two[0].cmd.Process.Pid, two[1].cmd.Process.Pid} },
			run: func(ctx context.Context, warm, took time.Duration, _ uint64) (answer, error) {
				return two[0].ask(ctx, order{Op: opLimit, Name: l.Name, Access: a, Warm: warm, For: took})
			},
			again: func(context.Context) error { return nil }})
	}
	return turns, nil
}

// within runs a turn with a time limit.
func within(ctx context.Context, t *turn, warm, took time.Duration, seed uint64) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, took+hangs, fmt.Errorf("no answer for %v", hangs))
	defer cancel()
	return t.run(ctx, warm, took, seed)
}

// round measures an entrant once. If there is too much background load, it does so again.
func (r *race) round(ctx context.Context, t *turn, length time.Duration, seed uint64) error {
	for try := range repeats + 1 {
		before := measure()
		a, err := within(ctx, t, warmRound, length, seed)
		after := measure()
		if err != nil {
			return err
		}
		foreign := before.background(after, runtime.NumCPU())
		noisy := foreign > r.background
		if noisy && try < repeats && r.repeated < repeatsInAll {
			r.repeated++
			continue
		}
		if noisy {
			t.cell.Noisy++
		}
		pids := t.pids()
		t.cell.record(&a, spent(after.all, pids...)-spent(before.all, pids...), foreign)
		return nil
	}
	return nil
}

// record adds the figures of a round.
func (c *Cell) record(a *answer, cpu time.Duration, foreign float64) {
	h := &a.Times
	micro := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	rate := float64(h.Count) / a.Took.Seconds()
	c.add(figRate, rate)
	c.add(figForeign, foreign)
	c.add(figOverlap, float64(a.Overlaps))
	c.add(figMax, micro(h.Max))
	if h.Count == 0 {
		return
	}
	if a.Passes > 0 {
		c.add(figPass, micro(a.Took)/float64(a.Passes))
	}
	c.add(figMean, float64(h.Sum)/float64(h.Count)/1000)
	c.add(figP50, micro(h.quantile(0.5)))
	c.add(figP99, micro(h.quantile(0.99)))
	c.add(figCPU, micro(cpu)/float64(h.All))
	c.add(figLeast, 100*float64(a.Least)/(float64(h.Count)/float64(max(1, a.Clients))))
}

const (
	limitsWorkload = "uncontended" // in whose rounds the limits are measured
	idleSettles    = time.Second
)

// idleLength is the length of a round in which nothing happens.
func idleLength(o *options) time.Duration {
	return time.Duration(10 * o.seconds * float64(time.Second))
}

// idle measures all servers at rest, at the same time.
func (r *race) idle(ctx context.Context, w *workload, teams map[string]*team) {
	r.say("%s", w.Title)
	length := idleLength(r.options)
	if sleep(ctx, idleSettles) != nil {
		return
	}
	for range r.rounds {
		before, start := map[string]time.Duration{}, time.Now()
		for name, t := range teams {
			before[name] = precise(t.fleet.pids()...)
		}
		if sleep(ctx, length) != nil {
			return
		}
		for _, e := range r.entrants {
			if t := teams[e.Name]; t != nil && w.runs(e) {
				used := precise(t.fleet.pids()...) - before[e.Name]
				r.result.cell(w.Name, e.Name).add(figIdle, 100*float64(used)/float64(time.Since(start)))
			}
		}
	}
}
