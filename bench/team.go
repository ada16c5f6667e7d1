package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stile-lock/stile"
)

// A team is the clients of an entrant.
type team struct {
	*entrant
	fleet   *fleet
	workers []*worker
	lease   time.Duration // of the clients; 0: the default of each service
	counts  []int         // clients of each worker
}

// hire starts the workers of an entrant. Those of an embedded node are the servers.
func (r *race) hire(ctx context.Context, e *entrant) (*team, error) {
	t := &team{entrant: e, fleet: r.fleets[e.servers]}
	if t.fleet == nil {
		return nil, errors.New(r.result.Missing[e.Name])
	}
	if e.kind == kindEmbedded {
		t.workers = t.fleet.workers
		return t, nil
	}
	w, err := r.site.keeper.hire(ctx, "clients of "+e.Name)
	t.workers = []*worker{w}
	return t, err
}

// access returns how clients connect. The first server is the given one.
func (t *team) access(first int) access {
	f := t.fleet
	a := access{Kind: t.kind, Lease: t.lease, Prefix: t.prefix, Addrs: f.addrs}
	switch {
	case t.plain():
		a.Addrs = f.plain
	case t.ours:
		a.TLS = f.site.certOf("race")
	default:
		a.TLS = f.site.certs
	}
	if t.kind == kindGRPC || t.kind == kindJSON {
		a.Addrs = f.http
	}
	a.Addrs = preferring(a, first)
	return a
}

// open opens a number of clients, shared out among the workers.
func (t *team) open(ctx context.Context, clients int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*hangs, errors.New("the clients do not open"))
	defer cancel()
	t.counts = nil
	for i := range t.workers {
		t.counts = append(t.counts, (clients+len(t.workers)-1-i)/len(t.workers))
	}
	_, err := t.ask(ctx, func(i, first int) order { return order{Op: opOpen, Access: t.access(0), Count: t.counts[i]} })
	return err
}

// ask has all workers with clients carry out an order, and merges their answers.
func (t *team) ask(ctx context.Context, o func(i, first int) order) (sum answer, err error) {
	answers, errs := make([]answer, len(t.workers)), make([]error, len(t.workers))
	var wg sync.WaitGroup
	first := 0
	for i, w := range t.workers {
		if t.counts[i] == 0 {
			continue
		}
		x := o(i, first)
		wg.Go(func() { answers[i], errs[i] = w.ask(ctx, x) })
		first += t.counts[i]
	}
	wg.Wait()
	sum.Least = ^uint64(0)
	for i, a := range answers {
		if t.counts[i] == 0 {
			continue
		}
		sum.Times.merge(&a.Times)
		sum.Least, sum.Took, sum.Overlaps = min(sum.Least, a.Least), max(sum.Took, a.Took), sum.Overlaps+a.Overlaps
		sum.Passes += a.Passes
		sum.Clients += a.Clients
		sum.Gap, sum.Stuck = max(sum.Gap, a.Gap), max(sum.Stuck, a.Stuck)
	}
	return sum, errors.Join(errs...)
}

// close closes the clients.
func (t *team) close(ctx context.Context) error {
	_, err := t.ask(ctx, func(int, int) order { return order{Op: opClose} })
	return err
}

// dismiss ends the workers, unless they are nodes.
func (t *team) dismiss() {
	if t.kind == kindEmbedded {
		return
	}
	for _, w := range t.workers {
		w.kill()
	}
}

// pids returns all processes of the entrant.
func (t *team) pids() []int {
	all := t.fleet.pids()
	if t.kind != kindEmbedded {
		for _, w := range t.workers {
			all = append(all, w.cmd.Process.Pid)
		}
	}
	return all
}

// embedded starts nodes in workers.
func (f *fleet) embedded(ctx context.Context, dir string) error {
	ports, err := frees(3)
	if err != nil {
		return err
	}
	f.addrs, f.workers, f.all = ports, make([]*worker, 3), make([]*process, 3)
	f.leader = f.stileLeader
	for i, name := range replicas[setEmbedded] {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
		f.dirs = append(f.dirs, filepath.Join(dir, name))
		if err := f.embed(ctx, i); err != nil {
			f.all = f.all[:i+1]
			return err
		}
	}
	return nil
}

// embed starts the worker with a node, or starts it again.
func (f *fleet) embed(ctx context.Context, i int) error {
	name := replicas[setEmbedded][i]
	w, err := f.site.keeper.hire(ctx, "embedded node "+name)
	f.workers[i], f.all[i] = w, w.process
	if err != nil {
		return err
	}
	c := stile.Config{Name: name, Listen: f.addrs[i], Data: f.dirs[i], TLS: stile.Certificates(f.site.certOf(name)), Lease: f.site.lease}
	if i > 0 {
		c.Join, c.Lease = f.addrs[:1], 0
	}
	if _, err := w.ask(ctx, order{Op: opNode, Node: c}); err != nil {
		return fmt.Errorf("start an embedded node: %w", err)
	}
	return nil
}

// restart starts a server again that was killed.
func (f *fleet) restart(ctx context.Context, i int) error {
	if f.workers != nil {
		return f.embed(ctx, i)
	}
	return f.site.keeper.start(ctx, f.all[i])
}
