package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/stile-lock/stile"
)

// workerName is the program name of workers.
const workerName = "stile-race-worker"

// The operations of a worker.
const (
	opNode    = "node"    // open an embedded node
	opOpen    = "open"    // open clients
	opClose   = "close"   // close them
	opRun     = "run"     // acquire and release locks for some time
	opHold    = "hold"    // acquire many locks
	opWait    = "wait"    // have all clients but the first request the lock that the first one holds
	opDrop    = "drop"    // release all, and end the requests that wait
	opAcquire = "acquire" // acquire a lock, and hold it
	opRelease = "release" // release it
	opLost    = "lost"    // report whether the holder knows that it has lost its lock
	opHammer  = "hammer"  // use some locks from now on
	opGaps    = "gaps"    // report the longest time without a hold since the last report
	opRest    = "rest"    // end that
	opLimit   = "limit"   // measure a limit of the machine
	opEcho    = "echo"    // echo what arrives
)

// An order is what a worker must do.
type order struct {
	Op     string
	Access access
	Node   stile.Config
	Count  int // of clients or locks
	First  int // number of the first client
	Load   load
	Warm   time.Duration
	For    time.Duration
	Seed   uint64
	Name   string
}

// An answer is what a worker has done.
type answer struct {
	Error    string `json:",omitempty"`
	Address  string `json:",omitempty"`
	Times    histogram
	Least    uint64 // holds of the client with the fewest
	Clients  int
	Took     time.Duration
	Overlaps int // holds at the same time as another one
	Passes   int // holds that follow one of another node, on one lock
	Lost     bool
	Gap      time.Duration
	Stuck    time.Duration // the longest time since a lock was held
}

// A worker is such a process, seen from the harness.
type worker struct {
	*process
	mu      sync.Mutex
	orders  io.WriteCloser
	answers *json.Decoder
}

// hire starts a worker.
func (k *keeper) hire(ctx context.Context, name string) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &worker{process: &process{name: name, path: self}}
	w.wire = func(c *exec.Cmd) (err error) {
		c.Args = []string{workerName}
		c.Stdout = nil
		if w.orders, err = c.StdinPipe(); err != nil {
			return err
		}
		out, pipe, err := os.Pipe()
		if err != nil {
			return err
		}
		c.ExtraFiles = []*os.File{pipe}
		w.answers = json.NewDecoder(bufio.NewReader(out))
		return nil
	}
	err = k.start(ctx, w.process)
	for _, f := range w.cmd.ExtraFiles {
		f.Close()
	}
	return w, err
}

// ask has an order carried out. It returns early if the context ends.
func (w *worker) ask(ctx context.Context, o order) (answer, error) {
	type result struct {
		a   answer
		err error
	}
	done := make(chan result, 1)
	go func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		var a answer
		b, err := json.Marshal(o)
		if err == nil {
			_, err = w.orders.Write(append(b, '\n'))
		}
		if err == nil {
			err = w.answers.Decode(&a)
		}
		if err == nil && a.Error != "" {
			err = errors.New(a.Error)
		}
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			r.err = fmt.Errorf("%s: %s: %w %s", w.name, o.Op, r.err, w.log)
		}
		return r.a, r.err
	case <-ctx.Done():
		return answer{}, fmt.Errorf("%s: %s: %w", w.name, o.Op, context.Cause(ctx))
	}
}

// asWorker does the work of a worker and exits, if this process is one.
func asWorker() {
	if os.Args[0] != workerName {
		return
	}
	signal.Ignore(os.Interrupt) // the harness ends its workers
	d, out, in := &executor{}, json.NewEncoder(os.NewFile(3, "answers")), json.NewDecoder(os.Stdin)
	for {
		var o order
		if in.Decode(&o) != nil {
			os.Exit(0)
		}
		a, err := d.do(&o)
		if err != nil {
			a.Error = err.Error()
		}
		if out.Encode(a) != nil {
			os.Exit(0)
		}
	}
}
