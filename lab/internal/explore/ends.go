package explore

// Runs that end. If no run of a model continues forever, no process waits forever in one,
// and a process can starve only where nothing more need happen: in a deadlock. With a
// bound on requests that is the rule. Establishing that a graph has no cycle takes one
// depth-first search and no more memory than visiting its states, so it is tried before
// the whole graph is kept.

// Runs says whether runs end.
type Runs uint8

// What runs may do.
const (
	AllEnd   Runs = iota // every run ends
	SomeGoOn             // some run continues forever
	Unknown              // a limit was reached before that was known
)

// An Outlook is the result of a search for infinite runs.
type Outlook struct {
	Runs       Runs
	States     int64  // states visited
	Unfinished string // why it is unknown
}

// A descent is a depth-first search.
type descent struct {
	watch
	model  Model
	worker Worker
	seen   *table
	path   []frame
	onPath map[uint64]bool
	todo   []byte // successors that remain to be visited, of all states on the path
	state  []byte
	cycle  bool
	steps  int
	why    string // why it ended early
}

// A frame is one state on the path. Its successors begin at byte begin of todo and end
// where those of the next frame begin.
type frame struct {
	print uint64
	begin int
}

// OutlookOf looks for a cycle.
func OutlookOf(m Model, l Limits) (Outlook, error) {
	d := &descent{watch: l.watch(), model: m, worker: m.Worker(), seen: newTable(16), path: make([]frame, 1), onPath: map[uint64]bool{}}
	err := d.worker.Init(func(state []byte) bool {
		d.push(state)
		return d.goOn()
	})
	for err == nil && len(d.path) > 0 && !d.cycle && d.goOn() {
		top := d.path[len(d.path)-1]
		if len(d.todo) == top.begin {
			delete(d.onPath, top.print)
			d.path = d.path[:len(d.path)-1]
			continue
		}
		d.pop()
		err = d.visit()
	}
	o := Outlook{Runs: AllEnd, States: d.seen.count.Load(), Unfinished: d.why}
	switch {
	case err != nil || d.why != "":
		o.Runs = Unknown
	case d.cycle:
		o.Runs = SomeGoOn
	}
	return o, err
}

// goOn reports progress now and then, and returns whether no limit is reached.
func (d *descent) goOn() bool {
	if d.steps++; d.steps&0x3ff == 1 && d.why == "" {
		memory := d.memory()
		d.why = d.over(memory)
		d.tell(Progress{States: d.seen.count.Load(), Depth: len(d.path), Memory: memory})
	}
	return d.why == ""
}

func (d *descent) memory() int64 {
	const perPath = 16 + 40 // a frame, and its place in a map
	return d.seen.bytes.Load() + int64(cap(d.todo)) + int64(len(d.path))*perPath + bytesOf(d.model) + bytesOf(d.worker)
}

// room grows the table if it is nearly full.
func (d *descent) room() {
	switch {
	case !d.seen.full():
	case d.Memory > 0 && d.memory()+2*d.seen.bytes.Load() > d.Memory:
		d.why = OutOfMemory
	default:
		d.seen.grow()
	}
}

// visit goes to d.state, if that is new.
func (d *descent) visit() error {
	print := Fingerprint(d.state)
	if d.onPath[print] {
		d.cycle = true
		return nil
	}
	if !d.seen.add(print) {
		return nil
	}
	d.seen.count.Add(1)
	d.room()
	d.path = append(d.path, frame{print, len(d.todo)})
	d.onPath[print] = true
	_, err := d.worker.Next(d.state, func(_ Step, next []byte) { d.push(next) })
	return err
}

// push appends a state, followed by its length.
func (d *descent) push(state []byte) {
	d.todo = append(d.todo, state...)
	d.todo = append(d.todo, byte(len(state)), byte(len(state)>>8))
}

// pop removes the last state.
func (d *descent) pop() {
	end := len(d.todo) - 2
	begin := end - int(d.todo[end]) - int(d.todo[end+1])<<8
	d.state = append(d.state[:0], d.todo[begin:end]...)
	d.todo = d.todo[:begin]
}
