package transactions

import "github.com/stile-lock/stile/algorithm"

// The number of processes that wait for another is updated incrementally if there is a
// Watcher, because in a long run it is needed at every request.

// edges is that number, and what it is derived from.
type edges struct {
	n     int
	queue []int32 // for each lock: processes waiting for it whose request has arrived and that are not doomed
	live  []int32 // for each lock: holders that are not doomed
}

// Edges returns how many processes wait for another. There must be a Watcher.
func (e *Env) Edges() int { return e.edges.n }

// change changes a process, and recounts what depends on it: which process it waits for,
// and which wait for it.
func (e *Env) change(p algorithm.ID, f func(c *client)) {
	c := &e.clients[p]
	if e.watch == nil {
		f(c)
		return
	}
	e.count(p, -1)
	f(c)
	e.count(p, 1)
}

func (e *Env) count(p algorithm.ID, by int32) {
	c, x := &e.clients[p], &e.edges
	if c.doomed {
		return
	}
	if c.waits && c.arrived {
		k := c.program[c.got]
		if x.queue[k] += by; x.live[k] > 0 {
			x.n += int(by)
		}
	}
	for _, k := range c.program[:c.got] {
		if x.live[k] += by; x.live[k] == max(0, by) { // the first one, or the last
			x.n += int(by * x.queue[k])
		}
	}
}
