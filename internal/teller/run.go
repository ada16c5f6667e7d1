package teller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/survey"
	"github.com/stile-lock/stile/internal/words"
)

// Why a run ends that has not failed.
var (
	errComplete = errors.New("all transfers are made")
	errDeadlock = errors.New("transactions are deadlocked")
)

// A run is the state of a run.
type run struct {
	Config
	outer   context.Context // the caller's
	ctx     context.Context // ends with the run
	end     context.CancelCauseFunc
	group   *group
	network *network // nil if it need not be cut
	place   Place
	nodes   []*nodeProcess
	workers []*workerProcess
	began   time.Time

	mu     sync.Mutex
	plan   []Transfer // that no worker has yet
	due    []due      // strikes that are not due yet
	made   int
	report *Report
}

// A workerProcess is a process with some of the workers, seen from here.
type workerProcess struct {
	*child
	numbers []int         // of its workers
	pausing chan struct{} // receives that the process waits to be paused
}

// A due is a strike that waits for its time.
type due struct {
	after int
	now   chan struct{} // closed when it is due
}

// Run makes the transfers, and counts the money. When the context ends, it counts what there
// is; the report is nil if the transfers had not begun by then.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &run{Config: c, outer: ctx, began: time.Now(), plan: c.plan()}
	r.report = &Report{
		Store: "SQLite", Lock: c.Lock, Fence: c.Fence, Chaos: append([]string{}, c.Chaos...), Nodes: nodes, Workers: c.Workers, Processes: c.processes(),
		Accounts: c.Accounts, Transfers: c.Transfers, Events: []Event{},
	}
	r.ctx, r.end = context.WithCancelCause(ctx)
	defer r.end(nil)
	var err error
	if r.group, err = newGroup(); err != nil {
		return nil, err
	}
	defer r.group.end()
	r.place = Place{File: filepath.Join(r.group.dir, "bank.db")}
	if c.Postgres != "" {
		r.report.Store = "PostgreSQL"
		r.place = Place{Postgres: c.Postgres, Schema: strings.ReplaceAll(filepath.Base(r.group.dir), "-", "_")}
	}
	return r.withStore()
}

// leave is how long the end of a run may take.
const leave = time.Minute

// withStore opens the store for the run, and closes it after.
func (r *run) withStore() (report *Report, err error) {
	s, err := OpenStore(r.place, r.Fence)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	drop := func() error {
		late, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), leave)
		defer cancel()
		return s.Drop(late)
	}
	if err := s.Found(r.ctx, r.Accounts); err != nil {
		_ = drop() // what there is of it
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	if err := r.transfers(); err != nil {
		return nil, err
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), leave)
	defer cancel()
	if r.report.Audit, err = s.Audit(late); err != nil {
		return nil, err
	}
	return r.report, nil
}

// transfers makes all transfers, and ends the processes.
func (r *run) transfers() (err error) {
	defer func() {
		for _, c := range r.workers {
			c.kill()
		}
		for _, n := range r.nodes {
			n.kill()
		}
	}()
	if slices.Contains(r.Chaos, partitionFault) {
		r.network = &network{ctx: r.ctx}
	}
	if r.nodes, err = r.group.startNodes(r.ctx, r.algorithm(), r.network); err != nil {
		return err
	}
	r.event("three nodes form a cluster, with a lease of %v", lease)
	if err := r.startWorkers(); err != nil {
		return err
	}
	var others sync.WaitGroup
	defer others.Wait()
	defer r.end(nil)
	started := time.Now()
	others.Go(r.chaos())
	if m, kept := r.method(); kept && m.Name == "none" {
		others.Go(r.watch)
	}
	r.mu.Lock()
	for _, c := range r.workers {
		for _, i := range c.numbers {
			r.assign(c, i)
		}
	}
	r.mu.Unlock()
	<-r.ctx.Done()
	r.report.Seconds = time.Since(started).Round(time.Millisecond).Seconds()
	others.Wait() // which resume what they have paused
	for _, c := range r.workers {
		c.stop(lease)
	}
	cause := context.Cause(r.ctx)
	if errors.Is(cause, errComplete) || errors.Is(cause, errDeadlock) || r.outer.Err() != nil {
		return nil
	}
	return cause
}

// startWorkers starts the worker processes, and waits until they are ready.
func (r *run) startWorkers() error {
	ready := make(chan struct{}, r.processes())
	for i := range r.processes() {
		c := &workerProcess{pausing: make(chan struct{}, 1)}
		for w := i; w < r.Workers; w += r.processes() {
			c.numbers = append(c.numbers, w)
		}
		var err error
		c.child, err = r.group.start(fmt.Sprint("worker", i+1), func(line []byte) {
			var x report
			if err := json.Unmarshal(line, &x); err != nil {
				r.end(fmt.Errorf("worker process %d: %w", i+1, err))
				return
			}
			if x.Ready {
				ready <- struct{}{}
				return
			}
			r.hear(c, &x)
		}, workerName)
		if err != nil {
			return err
		}
		go func() {
			<-c.gone
			r.end(fmt.Errorf("worker process %d has ended: %s", i+1, c.lastLogged()))
		}()
		r.workers = append(r.workers, c)
		t := task{Workers: c.numbers, Place: r.place, Lock: r.Lock, Fence: r.Fence}
		for _, n := range r.nodes {
			t.Nodes = append(t.Nodes, n.address)
		}
		if err := c.say(t); err != nil {
			return fmt.Errorf("start worker process %d: %w", i+1, err)
		}
	}
	for range r.workers {
		select {
		case <-ready:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
	r.event("%s in %s, %s", words.Plural(r.Workers, "worker"), words.Plural(len(r.workers), "process"), words.Plural(r.Accounts, "account"))
	return nil
}

// hear takes what a worker process reports.
func (r *run) hear(c *workerProcess, x *report) {
	switch {
	case x.Err != "":
		r.end(errors.New(x.Err))
		return
	case x.Pausing:
		c.pausing <- struct{}{}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Tally.Add(x.Tally)
	if !x.Made {
		return
	}
	before := quarters * r.made / r.Transfers
	r.made++
	if quarters*r.made/r.Transfers != before {
		r.note("%s of %s", words.Grouped(r.made), words.Plural(r.Transfers, "transfer"))
	}
	if r.Progress != nil {
		r.Progress(r.made, r.report.Tally)
	}
	for len(r.due) > 0 && r.made >= r.due[0].after {
		close(r.due[0].now)
		r.due = r.due[1:]
	}
	if r.made == r.Transfers {
		r.end(errComplete)
	}
	r.assign(c, x.Worker)
}

// quarters is how often the number of transfers is an event.
const quarters = 4

// assign gives a worker its next transfer, if there is one. The mutex must be held.
func (r *run) assign(c *workerProcess, worker int) {
	if len(r.plan) == 0 || r.ctx.Err() != nil {
		return
	}
	t := r.plan[0]
	r.plan = r.plan[1:]
	if err := c.say(order{Worker: worker, Transfer: t}); err != nil {
		r.end(fmt.Errorf("send transfer %d to worker %d: %w", t.ID, worker+1, err))
	}
}

// event notes that something has happened.
func (r *run) event(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(format, args...)
}

// note is event for callers that hold the mutex.
func (r *run) note(format string, args ...any) {
	e := Event{time.Since(r.began).Round(time.Millisecond).Seconds(), fmt.Sprintf(format, args...)}
	r.report.Events = append(r.report.Events, e)
	if r.Event != nil {
		r.Event(e)
	}
}

// deadlocked ends a run because of a deadlock.
func (r *run) deadlocked(g *survey.Graph) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Deadlock = g
	r.note("deadlock found: the contexts of all transactions end")
	r.end(errDeadlock)
}
