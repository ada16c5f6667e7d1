package teller

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stile-lock/stile"
)

// The program names of the processes of a run, which distinguish them from a user's command
// line: users do not type the name of the program that runs.
const (
	workerName = "stile-bank-worker"
	guardName  = "stile-bank-guard"
)

// Child does the work of a process of a run and exits, if this process was started for that;
// otherwise it does nothing. The program calls it before anything else.
func Child() {
	switch os.Args[0] {
	case guardName:
		guard(os.Args[1:])
	case workerName:
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, "stile bank: worker process failed:", err)
			os.Exit(1)
		}
	default:
		return
	}
	os.Exit(0)
}

// A task is what all workers of a process need to know. It is the first thing that the
// process reads.
type task struct {
	Workers []int // numbers of the workers
	Nodes   []string
	Place   Place
	Lock    string
	Fence   bool
}

// An order is what one worker must do next, or the whole process.
type order struct {
	Worker   int
	Transfer Transfer
	Pause    bool // wait between the read and the write of the next transfer of any worker, to be paused there
	Resume   bool // go on
}

// A report is what a worker process says.
type report struct {
	Ready   bool // all workers wait for orders
	Made    bool // the worker has made its transfer
	Worker  int
	Tally   Tally
	Pausing bool   // the process waits to be paused
	Err     string `json:",omitempty"` // why the process cannot go on
}

// A process is the state of a worker process.
type process struct {
	task
	mu     sync.Mutex // of out
	out    *json.Encoder
	gate   sync.RWMutex  // held for writing by a worker that waits, so that no transaction of the database is open
	pause  atomic.Bool   // the next worker between read and write must wait
	resume chan struct{} // receives the order to go on
}

// work is the main function of a worker process. It ends when its input does.
func work() error {
	signal.Ignore(os.Interrupt) // an interrupt is handled by the parent process
	in := json.NewDecoder(os.Stdin)
	p := &process{out: json.NewEncoder(os.Stdout), resume: make(chan struct{}, 1)}
	if err := in.Decode(&p.task); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	store, err := OpenStore(p.Place, p.Fence)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel() // which ends waits for locks
	queues := map[int]chan Transfer{}
	for _, i := range p.Workers {
		w, closes, err := p.newTeller(ctx, i, store)
		if err != nil {
			return err
		}
		queue := make(chan Transfer, 1) // a worker has one order at a time
		queues[i] = queue
		workers.Go(func() {
			defer closes()
			p.serve(ctx, i, w, queue)
		})
	}
	p.say(report{Ready: true})
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return nil // the run has ended
		}
		queue, ok := queues[o.Worker]
		switch {
		case o.Pause:
			p.pause.Store(true)
		case o.Resume:
			p.resume <- struct{}{}
		case !ok:
			return fmt.Errorf("worker %d is in another process", o.Worker)
		default:
			queue <- o.Transfer
		}
	}
}

// newTeller returns a worker with a client of its own.
func (p *process) newTeller(ctx context.Context, i int, store *Store) (w *teller, closes func() error, err error) {
	w = &teller{lock: unlocked, store: gated{&p.gate, store}, think: think, pause: p.stopHere}
	if p.Lock == NoLock {
		return w, func() error { return nil }, nil
	}
	first := i % len(p.Nodes)
	c, err := stile.Dial(ctx, stile.DialConfig{Nodes: slices.Concat(p.Nodes[first:], p.Nodes[:first]), Name: fmt.Sprint("worker ", i+1)})
	if err != nil {
		return nil, nil, err
	}
	w.lock = together(c)
	if m, kept := (&Config{Lock: p.Lock}).method(); kept {
		w.lock = transacted(c, m.Sorted)
	}
	return w, c.Close, nil
}

// serve makes transfers for one worker, until the context ends.
func (p *process) serve(ctx context.Context, i int, w *teller, queue <-chan Transfer) {
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-queue:
			n, err := w.transfer(ctx, t)
			r := report{Made: err == nil, Worker: i, Tally: n}
			if err != nil && ctx.Err() == nil {
				r.Err = err.Error()
			}
			p.say(r)
		}
	}
}

// say reports something to the parent process.
func (p *process) say(r report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.Encode(r) != nil {
		os.Exit(0) // the run has ended
	}
}

// stopHere waits, if it was ordered to. The parent pauses the process meanwhile. It could do
// so at any time, but a signal takes a moment, and here the pause is certain to lie between
// a read and a write.
func (p *process) stopHere(ctx context.Context) {
	if !p.pause.CompareAndSwap(true, false) {
		return
	}
	p.gate.Lock()
	defer p.gate.Unlock()
	p.say(report{Pausing: true})
	select {
	case <-p.resume:
	case <-ctx.Done():
	}
}

// gated is a store whose requests do not begin while the process is about to pause.
type gated struct {
	gate *sync.RWMutex
	*Store
}

func (g gated) Read(ctx context.Context, t Transfer, grants []Grant) (from, to int64, err error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Store.Read(ctx, t, grants)
}

func (g gated) Write(ctx context.Context, t Transfer, grants []Grant, from, to int64) error {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Store.Write(ctx, t, grants, from, to)
}
