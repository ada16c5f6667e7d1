package node

import (
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/meter"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A keeper makes durable what the process saves, one save after the other. With a folder a
// goroutine does so, and may wait for the disk as long as necessary, because the node's
// mutex is free meanwhile. Without a folder a save is done at once.
type keeper struct {
	n       *Node
	storage raft.Storage

	mu    sync.Mutex // held only briefly
	queue []job
	wake  chan struct{}
	done  chan struct{} // closed when the goroutine has ended; nil without one
	ended bool
	took  [saveKinds]meter.Histogram
}

// A job is one operation of the disk.
type job struct {
	number uint64
	kind   process.EffectKind
	record []byte
	view   *views.Record // if not nil: remember the addresses of these members
}

// run starts the goroutine.
func (k *keeper) run() {
	if k.n.folder == nil && k.n.c.storage == nil {
		return
	}
	k.wake, k.done = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(k.done)
		for range k.wake {
			for {
				j, ok := k.next()
				if !ok {
					break
				}
				k.do(&j)
			}
			if k.over() {
				return
			}
		}
	}()
}

// put queues a save. The node's mutex must be held.
func (k *keeper) put(e *process.Effect) {
	j := job{number: e.Number, kind: e.Kind, record: e.Bytes}
	if k.done == nil {
		k.n.acks = append(k.n.acks, k.saved(&j))
		return
	}
	k.add(j)
}

// remember stores the addresses of the members of a view for the next start.
func (k *keeper) remember(r *views.Record) {
	if k.n.folder != nil {
		now := r.Clone()
		k.add(job{view: &now})
	}
}

func (k *keeper) add(j job) {
	k.mu.Lock()
	k.queue = append(k.queue, j)
	k.mu.Unlock()
	k.rouse()
}

func (k *keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // it has been signalled already
	}
}

func (k *keeper) next() (j job, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) == 0 || k.ended {
		return job{}, false
	}
	j = k.queue[0]
	k.queue = k.queue[1:]
	return j, true
}

func (k *keeper) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// do does a job and hands its completion to the node.
func (k *keeper) do(j *job) {
	if j.view != nil {
		if err := k.n.folder.keep(j.view); err != nil {
			k.n.c.Log.Error("member addresses not saved", "err", err)
		}
		return
	}
	from := time.Now()
	done := k.saved(j)
	k.measure(j.kind, time.Since(from))
	k.n.use(done)
}

// saved makes a record durable and returns the input that acknowledges it.
func (k *keeper) saved(j *job) process.Input {
	var err error
	switch {
	case j.kind == process.Erase:
		err = k.storage.Erase()
	case j.kind == process.Save:
		err = raft.Write(k.storage, j.record)
	case k.n.folder != nil:
		err = k.n.folder.remember(j.record)
	}
	in := process.Input{Kind: process.Saved, Number: j.number}
	if err != nil {
		in.Text = err.Error()
	}
	return in
}

// The kinds of saves, for measurements.
const (
	saveLog  = iota // entries of the view log
	savePast        // what the node must know when it starts again
	saveKinds
)

// measure notes how long a save took.
func (k *keeper) measure(kind process.EffectKind, d time.Duration) {
	i := saveLog
	if kind == process.Remember {
		i = savePast
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.took[i].Add(member.Span(d))
}

// close ends the goroutine, after the job in progress.
func (k *keeper) close() {
	if k.done == nil {
		return
	}
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	k.rouse()
	<-k.done
}
