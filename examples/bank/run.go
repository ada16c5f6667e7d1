package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lease = time.Second   // of the cluster
	down  = lease / 2     // time from the kill of a node to its start
	long  = lease * 5 / 2 // length of a pause and of a partition: longer than the lease
)

// A run is the state of a run.
type run struct {
	config
	outer   context.Context // ends with an interrupt
	ctx     context.Context // ends with the run
	end     context.CancelCauseFunc
	dir     string
	network *network
	nodes   []*node
	workers []*process
	pauses  chan struct{} // a value is taken by the worker that is paused in its next transfer
	began   time.Time

	mu     sync.Mutex
	report report
}

// runBank makes transfers for a while, and counts the money.
func runBank(ctx context.Context, c config) (*report, error) {
	dir, err := os.MkdirTemp("", "stile-bank-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &run{config: c, outer: ctx, dir: dir, pauses: make(chan struct{}), began: time.Now()}
	r.ctx, r.end = context.WithCancelCause(ctx)
	defer r.end(nil)
	at := place{File: filepath.Join(dir, "bank.db")}
	if c.Postgres != "" {
		at = place{Postgres: c.Postgres, Schema: strings.ReplaceAll(filepath.Base(dir), "-", "_")}
	}
	s, err := openStore(at, c.Fence)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.found(r.ctx, c.Accounts); err != nil {
		return nil, err
	}
	if err := r.transfers(at); err != nil {
		return nil, err
	}
	r.report.config = c
	r.report.ledger, err = s.audit(context.WithoutCancel(ctx))
	return &r.report, err
}

// transfers makes transfers, and kills all processes at the end. That is safe: a transfer is
// written by one transaction.
func (r *run) transfers(at place) error {
	r.network = &network{ctx: r.ctx}
	var others sync.WaitGroup
	defer func() {
		r.end(nil) // which kills all processes
		others.Wait()
		for _, c := range r.workers {
			c.kill()
		}
		for _, n := range r.nodes {
			n.kill()
		}
	}()
	for i := range 3 {
		n, err := r.newNode(fmt.Sprintf("node%d", i+1))
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
	}
	r.event("three nodes form a cluster, with a lease of %v: %s", lease, strings.Join(r.addresses(nil), ","))
	for i := range r.Workers {
		all := r.addresses(nil)
		first := i % len(all)
		c, err := start(r.ctx, workerRole, task{Name: fmt.Sprint("worker ", i+1), Nodes: slices.Concat(all[first:], all[:first]), Place: at, Lock: r.Lock, Fence: r.Fence})
		if err != nil {
			return err
		}
		r.workers = append(r.workers, c)
	}
	r.event("%d workers, %d accounts", r.Workers, r.Accounts)
	for i, c := range r.workers {
		others.Go(func() {
			if err := r.serve(c, i); err != nil && r.ctx.Err() == nil {
				r.end(fmt.Errorf("worker %d: %w", i+1, err))
			}
		})
	}
	if len(r.Chaos) > 0 {
		others.Go(r.chaos)
	}
	r.sleep(r.Time)
	if r.outer.Err() == nil { // an interrupt ends a run early
		return context.Cause(r.ctx)
	}
	return nil
}

// serve gives transfers to a worker, until the run ends.
func (r *run) serve(c *process, i int) error {
	for id := i; r.ctx.Err() == nil; id += r.Workers {
		from := rand.IntN(r.Accounts)
		to := (from + 1 + rand.IntN(r.Accounts-1)) % r.Accounts
		o := order{Transfer: transfer{ID: id, From: from + 1, To: to + 1, Amount: 1 + rand.Int64N(100)}}
		select {
		case <-r.pauses:
			o.Pause = true
		default:
		}
		if err := c.out.Encode(o); err != nil {
			return err
		}
		var a answer
		for !a.Made {
			a = answer{}
			if err := c.in.Decode(&a); err != nil {
				return err
			}
			if !a.Made {
				r.pause(c, fmt.Sprintf("worker %d", i+1))
				if err := c.out.Encode(order{}); err != nil { // go on
					return err
				}
			}
		}
		r.mu.Lock()
		r.report.Refused += a.Tally.Refused
		r.report.Deadlocks += a.Tally.Deadlocks
		r.mu.Unlock()
	}
	return nil
}

// chaos brings faults about, one after the other, until the run ends.
func (r *run) chaos() {
	for i := 0; ; i++ {
		r.sleep(lease / 2)
		n := r.nodes[i%len(r.nodes)]
		for _, fault := range r.Chaos {
			if r.ctx.Err() != nil {
				return
			}
			switch fault {
			case "kill":
				r.killNode(n)
			case "partition":
				r.isolateNode(n)
			case "pause":
				select {
				case r.pauses <- struct{}{}:
					r.sleep(long)
				case <-r.ctx.Done():
					return
				}
				r.pause(n.process, n.Name)
			}
		}
	}
}

// killNode kills a node, and starts it again at its address, which another program may use for
// a moment, as the end of a connection.
func (r *run) killNode(n *node) {
	n.kill()
	r.event("%s killed", n.Name)
	r.count(&r.report.killed)
	var err error
	for range 20 {
		r.sleep(down)
		if r.ctx.Err() != nil {
			return
		}
		n.Join, n.Lease, n.Voters, n.Algorithm = r.addresses(n), 0, 0, ""
		var p *process
		if p, err = start(r.ctx, nodeRole, n.Config); err == nil {
			n.process = p
			r.event("%s started again, and a member", n.Name)
			return
		}
	}
	r.end(err)
}

// isolateNode cuts a node off from the others. Workers still reach it.
func (r *run) isolateNode(n *node) {
	r.network.isolate(n.Name)
	r.event("%s cut off from the other nodes for %v", n.Name, long)
	r.count(&r.report.isolated)
	r.sleep(long)
	r.network.heal()
	r.event("%s connected with them again", n.Name)
}

// pause stops a process for longer than the lease.
func (r *run) pause(p *process, name string) {
	if p.cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return // the run has ended
	}
	r.event("%s paused for %v", name, long)
	r.count(&r.report.paused)
	r.sleep(long)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	r.event("%s resumed", name)
}

// addresses returns where the nodes are, except one.
func (r *run) addresses(except *node) (all []string) {
	for _, n := range r.nodes {
		if n != except {
			all = append(all, n.Advertise)
		}
	}
	return all
}

func (r *run) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

func (r *run) event(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() == nil {
		fmt.Printf("%6.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// sleep waits, until the run ends.
func (r *run) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}
