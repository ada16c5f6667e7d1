package explore

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// An Exploration is what exploring found.
type Exploration struct {
	States      int64
	Transitions int64
	Depth       int    // levels of the breadth-first search
	Unfinished  string // why it ended early; empty if it is complete
	Broken      map[Broken]Sighting
	Elapsed     time.Duration
	Memory      int64 // bytes for states seen and states to explore
	Table       int64 // of those, for states seen
}

// A Sighting is the first place, by depth, where a property was broken.
type Sighting struct {
	Depth int
	From  uint64 // the Fingerprint of the state
	Label uint32 // the step out of it, if a step broke it
	Edge  bool
}

const chunkSize = 16 << 10

// A chunk holds states of the frontier, each with its length before it.
type chunk []byte

type explorer struct {
	watch
	table       *table
	gate        sync.RWMutex // held for reading while the table is used
	level       []chunk
	taken       atomic.Int64
	transitions atomic.Int64
	done        atomic.Int64 // chunks finished on this level
	mu          sync.Mutex
	next        []chunk
	broken      map[Broken]Sighting
	err         error
	ended       atomic.Bool
	why         string
	depth       int
}

// Explore visits every state of a model, breadth first.
func Explore(m Model, l Limits) (*Exploration, error) {
	if l.Workers <= 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	e := &explorer{watch: l.watch(), table: newTable(16), broken: map[Broken]Sighting{}}
	workers := make([]Worker, l.Workers)
	for i := range workers {
		workers[i] = m.Worker()
	}
	if err := e.begin(workers[0]); err != nil {
		return nil, err
	}
	for len(e.next) > 0 && !e.ended.Load() && e.err == nil {
		e.advance(workers)
	}
	if e.err != nil {
		return nil, e.err
	}
	return &Exploration{
		States: e.table.count.Load(), Transitions: e.transitions.Load(), Depth: e.depth,
		Unfinished: e.why, Broken: e.broken, Elapsed: time.Since(e.start), Memory: e.memory(), Table: e.table.bytes.Load(),
	}, nil
}

func (e *explorer) begin(w Worker) error {
	run := &levelWorker{explorer: e}
	err := w.Init(func(state []byte) bool {
		if e.table.add(Fingerprint(state)) {
			e.table.count.Add(1)
			run.keep(state)
			e.room()
		}
		return true
	})
	if len(run.out) > 0 {
		e.next = append(e.next, run.out)
	}
	return err
}

// advance explores one level.
func (e *explorer) advance(workers []Worker) {
	e.level, e.next = e.next, nil
	e.taken.Store(0)
	e.done.Store(0)
	var wg sync.WaitGroup
	for _, w := range workers[:min(len(workers), len(e.level))] {
		wg.Go(func() { e.work(w) })
	}
	wg.Wait()
	e.depth++
	for b := range e.broken {
		if b&e.Stop != 0 {
			e.end("")
		}
	}
}

// work takes chunks of the level until there are none.
func (e *explorer) work(w Worker) {
	run := &levelWorker{explorer: e, worker: w}
	for !e.ended.Load() {
		i := int(e.taken.Add(1)) - 1
		if i >= len(e.level) {
			break
		}
		run.explore(e.level[i])
		e.level[i] = nil
		e.done.Add(1)
		e.pace()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(run.out) > 0 {
		e.next = append(e.next, run.out)
	}
}

// room makes the table larger if it is nearly full. While that is done nobody
// may hold the gate.
func (e *explorer) room() {
	if !e.table.full() {
		return
	}
	e.gate.Lock()
	defer e.gate.Unlock()
	switch {
	case !e.table.full():
	case e.Memory > 0 && e.table.bytes.Load()*3 > e.Memory:
		e.end(outOfMemory + ": --memory allows no larger table")
		e.table.grow() // all the same: who is at work must come to an end
	default:
		e.table.grow()
	}
}

// pace tells progress and looks at the limits.
func (e *explorer) pace() {
	e.room()
	memory := e.memory()
	if why := e.over(memory); why != "" {
		e.end(why)
	}
	if e.Progress != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.Progress(Progress{
			States: e.table.count.Load(), Transitions: e.transitions.Load(),
			Queue: len(e.level) - int(e.done.Load()) + len(e.next), Depth: e.depth,
			Memory: memory, Elapsed: time.Since(e.start),
		})
	}
}

func (e *explorer) memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.table.bytes.Load() + int64(len(e.level)+len(e.next))*chunkSize
}

func (e *explorer) end(why string) {
	if !e.ended.Swap(true) {
		e.why = why
	}
}

// A levelWorker explores chunks of one level.
type levelWorker struct {
	*explorer
	worker Worker
	out    chunk
}

func (l *levelWorker) explore(c chunk) {
	e := l.explorer
	e.gate.RLock()
	defer e.gate.RUnlock()
	var transitions, fresh int64
	defer func() {
		e.transitions.Add(transitions)
		e.table.count.Add(fresh)
	}()
	var from []byte
	emit := func(s Step, next []byte) {
		transitions++
		if s.Broken != 0 {
			l.saw(s.Broken, Sighting{Depth: e.depth, From: Fingerprint(from), Label: s.Label, Edge: true})
		}
		if e.table.add(Fingerprint(next)) {
			fresh++
			l.keep(next)
		}
	}
	for len(c) > 0 {
		size, n := binary.Uvarint(c)
		from = c[n : n+int(size)]
		c = c[n+int(size):]
		broken, err := l.worker.Next(from, emit)
		if err != nil {
			e.mu.Lock()
			e.err = err
			e.mu.Unlock()
			e.end("error")
			return
		}
		if broken != 0 {
			l.saw(broken, Sighting{Depth: e.depth, From: Fingerprint(from)})
		}
		if fresh >= enoughFresh {
			e.table.count.Add(fresh)
			fresh = 0
			e.gate.RUnlock()
			e.room()
			e.gate.RLock()
		}
	}
}

// enoughFresh is how many new states a worker adds to the table before it looks
// whether there is room for more.
const enoughFresh = 256

func (l *levelWorker) keep(state []byte) {
	if len(l.out)+len(state)+4 > chunkSize {
		l.mu.Lock()
		l.next = append(l.next, l.out)
		l.mu.Unlock()
		l.out = nil
	}
	if l.out == nil {
		l.out = make(chunk, 0, chunkSize)
	}
	l.out = AppendState(l.out, state)
}

// saw remembers the first sighting of each property, and among those of one
// level always the same.
func (l *levelWorker) saw(b Broken, s Sighting) {
	e := l.explorer
	e.mu.Lock()
	defer e.mu.Unlock()
	for bit := Broken(1); bit != 0 && bit <= b; bit <<= 1 {
		if b&bit == 0 {
			continue
		}
		old, ok := e.broken[bit]
		if !ok || s.Depth < old.Depth || s.Depth == old.Depth && (s.From < old.From || s.From == old.From && s.Label < old.Label) {
			e.broken[bit] = s
		}
	}
}
