package explore

// Runs that end. If no run of a model goes on for ever, nobody waits for ever
// in one, and whoever starves does so where nothing need happen any more: in a
// deadlock. With a bound on requests that is the rule. To see that a graph has
// no cycle takes one search in depth and no more memory than to visit its
// states, so it is tried before the whole graph is kept.

// An Outlook is what a search for runs without end comes to.
type Outlook uint8

// The outlooks.
const (
	AllEnd   Outlook = iota // every run ends
	SomeGoOn                // some run goes on for ever
	Unknown                 // a limit was reached before that was known
)

// A descent is a search in depth.
type descent struct {
	worker Worker
	seen   *table
	path   []frame
	onPath map[uint64]bool
	todo   []byte // successors that remain to be visited, of all states on the path
	state  []byte
	cycle  bool
}

// A frame is one state on the path. Its successors begin at byte begin of todo
// and end where those of the next begin.
type frame struct {
	print uint64
	begin int
}

// OutlookOf looks for a cycle. If that is ended early it says why.
func OutlookOf(m Model, l Limits) (o Outlook, why string, err error) {
	w := l.watch()
	d := &descent{worker: m.Worker(), seen: newTable(16), path: make([]frame, 1), onPath: map[uint64]bool{}}
	err = d.worker.Init(func(state []byte) bool {
		d.push(state)
		return true
	})
	if err != nil {
		return Unknown, "", err
	}
	for steps := 0; len(d.path) > 0; steps++ {
		if steps&0xfff == 0 {
			if why := w.over(d.seen.bytes.Load()); why != "" {
				return Unknown, why, nil
			}
		}
		top := d.path[len(d.path)-1]
		if len(d.todo) == top.begin {
			delete(d.onPath, top.print)
			d.path = d.path[:len(d.path)-1]
			continue
		}
		d.pop()
		if err := d.visit(); err != nil {
			return Unknown, "", err
		}
		if d.cycle {
			return SomeGoOn, "", nil
		}
	}
	return AllEnd, "", nil
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
	if d.seen.full() {
		d.seen.grow()
	}
	d.path = append(d.path, frame{print, len(d.todo)})
	d.onPath[print] = true
	_, err := d.worker.Next(d.state, func(_ Step, next []byte) { d.push(next) })
	return err
}

// push puts a state last, with its length behind it.
func (d *descent) push(state []byte) {
	d.todo = append(d.todo, state...)
	d.todo = append(d.todo, byte(len(state)), byte(len(state)>>8))
}

// pop takes the last state off.
func (d *descent) pop() {
	end := len(d.todo) - 2
	begin := end - int(d.todo[end]) - int(d.todo[end+1])<<8
	d.state = append(d.state[:0], d.todo[begin:end]...)
	d.todo = d.todo[:begin]
}
