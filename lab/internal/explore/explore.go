package explore

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// An Exploration is the result of exploring a model.
type Exploration struct {
	States      int64
	Transitions int64
	Depth       int    // levels of the breadth-first search
	Whole       int    // levels that were explored completely
	Unfinished  string // why it ended early; empty if it is complete
	Broken      map[Broken]Sighting
	Elapsed     time.Duration
	Memory      int64 // bytes subject to Limits.Memory
	Table       int64 // bytes of those used for states seen
}

// A Sighting is the first place, by depth, where a property was violated.
type Sighting struct {
	Depth int
	From  uint64 // fingerprint of the state
	Label uint32 // step out of it, if a step violated the property
	Edge  bool
}

// Steps returns the number of steps that lead there.
func (s Sighting) Steps() int {
	if s.Edge {
		return s.Depth + 1
	}
	return s.Depth
}

// StepsTo returns the number of steps to the first violation of one of the properties, or
// -1 if there was none.
func (e *Exploration) StepsTo(some Broken) int {
	least := -1
	for b, s := range e.Broken {
		if b&some != 0 && (least < 0 || s.Steps() < least) {
			least = s.Steps()
		}
	}
	return least
}

const chunkSize = 16 << 10

// A chunk holds states of the frontier, each preceded by its length.
type chunk []byte

type explorer struct {
	watch
	model       Model
	seen        func(Broken, Exploration)
	table       *table
	gate        sync.RWMutex // held for reading while the table is used
	level       []chunk
	taken       atomic.Int64
	transitions atomic.Int64
	done        atomic.Int64 // chunks finished on this level
	kept        atomic.Int64 // bytes that the workers keep
	mu          sync.Mutex
	next        []chunk
	free        []chunk // explored chunks, for reuse
	chunks      int64   // number of chunks
	broken      map[Broken]Sighting
	err         error
	ended       atomic.Bool
	why         string
	depth       int
	whole       int
}

// Explore visits every state of a model, breadth first.
func Explore(m Model, l Limits) (*Exploration, error) { return ExploreTelling(m, l, nil) }

// ExploreTelling is Explore, and also reports which properties were first seen violated
// in a level, at the end of that level, together with what is known by then. Exploring
// continues when seen returns. An error ends it at the end of its level, and is returned
// with what was explored by then: every other violation in that level is found, in
// whichever order the states are taken.
func ExploreTelling(m Model, l Limits, seen func(now Broken, so Exploration)) (*Exploration, error) {
	if l.Workers <= 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	e := &explorer{watch: l.watch(), model: m, seen: seen, table: newTable(16), broken: map[Broken]Sighting{}}
	workers := make([]*levelWorker, l.Workers)
	for i := range workers {
		workers[i] = &levelWorker{explorer: e, worker: m.Worker()}
	}
	e.err = e.begin(workers[0])
	for len(e.next) > 0 && !e.ended.Load() && e.err == nil {
		e.advance(workers)
	}
	so := e.sofar()
	return &so, e.err
}

// sofar returns what is known now, while no worker is running.
func (e *explorer) sofar() Exploration {
	return Exploration{
		States: e.table.count.Load(), Transitions: e.transitions.Load(), Depth: e.depth, Whole: e.whole,
		Unfinished: e.why, Broken: e.broken, Elapsed: time.Since(e.start), Memory: e.memory(), Table: e.table.bytes.Load(),
	}
}

func (e *explorer) begin(run *levelWorker) error {
	err := run.worker.Init(func(state []byte) bool {
		if e.table.add(Fingerprint(state)) {
			run.keep(state)
			if e.table.count.Add(1)&0x3ff == 0 {
				run.weigh()
				e.pace()
			}
			e.room()
		}
		return !e.ended.Load()
	})
	run.give()
	return err
}

// advance explores one level.
func (e *explorer) advance(workers []*levelWorker) {
	e.level, e.next = e.next, nil
	e.taken.Store(0)
	e.done.Store(0)
	before := e.sighted()
	var wg sync.WaitGroup
	for _, w := range workers[:min(len(workers), len(e.level))] {
		wg.Go(w.work)
	}
	wg.Wait()
	if e.err != nil {
		e.end("error")
	}
	e.depth++
	if !e.ended.Load() {
		e.whole++
	}
	now := e.sighted() &^ before
	if now&e.Stop != 0 {
		e.end("")
	}
	if now != 0 && e.seen != nil {
		left := time.Now()
		e.seen(now, e.sofar())
		e.away += time.Since(left)
	}
}

// sighted returns all properties seen violated.
func (e *explorer) sighted() Broken {
	var all Broken
	for b := range e.broken {
		all |= b
	}
	return all
}

// room grows the table if it is nearly full. No goroutine may hold the gate meanwhile.
func (e *explorer) room() {
	if !e.table.full() {
		return
	}
	e.gate.Lock()
	defer e.gate.Unlock()
	size := e.table.bytes.Load()
	switch {
	case !e.table.full():
	case e.Memory > 0 && e.memory()+2*size > e.Memory:
		e.end(OutOfMemory + ": --memory does not allow a larger table")
		if e.table.brim() {
			e.table.grow() // grow all the same: running workers must be able to finish
		}
	default:
		e.table.grow()
	}
}

// pace reports progress and checks the limits.
func (e *explorer) pace() {
	memory := e.memory()
	if why := e.over(memory); why != "" {
		e.end(why)
	}
	if e.Progress != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.tell(Progress{
			States: e.table.count.Load(), Transitions: e.transitions.Load(),
			Queue: len(e.level) - int(e.done.Load()) + len(e.next), Depth: e.depth, Memory: memory,
		})
	}
}

func (e *explorer) memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.table.bytes.Load() + e.chunks*chunkSize + e.kept.Load() + bytesOf(e.model)
}

func (e *explorer) end(why string) {
	if !e.ended.Swap(true) {
		e.why = why
	}
}

// A levelWorker explores chunks of one level after the other.
type levelWorker struct {
	*explorer
	worker Worker
	out    chunk
	weight int64 // bytes that the worker keeps
}

// work takes chunks of the level until there are none.
func (l *levelWorker) work() {
	e := l.explorer
	for !e.ended.Load() {
		i := int(e.taken.Add(1)) - 1
		if i >= len(e.level) {
			break
		}
		l.explore(e.level[i])
		e.mu.Lock()
		e.free = append(e.free, e.level[i][:0])
		e.mu.Unlock()
		e.level[i] = nil
		e.done.Add(1)
		l.weigh()
		e.room()
		e.pace()
	}
	l.give()
}

// weigh notes how much the worker keeps.
func (l *levelWorker) weigh() {
	now := bytesOf(l.worker)
	l.kept.Add(now - l.weight)
	l.weight = now
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
	enough := e.table.share(e.Workers)
	emit := func(s Step, next []byte) {
		transitions++
		if s.Broken != 0 {
			l.saw(s.Broken, Sighting{Depth: e.depth, From: Fingerprint(from), Label: s.Label, Edge: true})
		}
		if !e.table.add(Fingerprint(next)) {
			return
		}
		l.keep(next)
		if fresh++; fresh >= enough {
			e.table.count.Add(fresh)
			fresh = 0
			e.gate.RUnlock()
			e.room()
			e.gate.RLock()
		}
	}
	for len(c) > 0 && !e.ended.Load() {
		size, n := binary.Uvarint(c)
		from = c[n : n+int(size)]
		c = c[n+int(size):]
		broken, err := l.worker.Next(from, emit)
		if err != nil {
			e.failed(err)
		}
		if broken != 0 {
			l.saw(broken, Sighting{Depth: e.depth, From: Fingerprint(from)})
		}
	}
}

// failed notes an error, and always the same one among those of one level: that of P1
// before that of P2.
//
// It does not end the level, however long that takes. Which states come before the one
// that failed depends on the number of workers and on their speed, because chunks are
// filled in the order in which states are found. So only a level that is explored
// completely has the same least error each time, and the same violations beside it, which
// decide whether a check fails or reports a violation. To avoid the wait, a caller
// interrupts the exploration or limits its time: then what was noted is reported at once.
func (e *explorer) failed(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || err.Error() < e.err.Error() {
		e.err = err
	}
}

// keep stores a state for the next level.
func (l *levelWorker) keep(state []byte) {
	if len(l.out)+len(state)+binary.MaxVarintLen32 > chunkSize {
		l.give()
	}
	if l.out == nil {
		l.take()
	}
	l.out = AppendState(l.out, state)
}

// give hands over the states that were kept.
func (l *levelWorker) give() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.out) > 0 {
		l.next = append(l.next, l.out)
	}
	l.out = nil
}

// take gets an empty chunk.
func (l *levelWorker) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.free) - 1; last >= 0 {
		l.out, l.free = l.free[last], l.free[:last]
		return
	}
	l.out = make(chunk, 0, chunkSize)
	l.chunks++
}

// saw remembers the first sighting of each property, and always the same one among those
// of one level.
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
