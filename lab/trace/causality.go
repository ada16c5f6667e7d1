package trace

import "github.com/stile-lock/stile/algorithm"

// Causality is the happened-before order among the events of a trace. It holds a vector
// clock for each event, so it takes memory for N numbers times the number of events.
// Events are identified by their index in Trace.Events.
type Causality struct {
	n      int
	proc   []algorithm.ID // process of each event; None if it has none
	own    []int32        // position among the events of its process, from 1
	clocks []int32        // n numbers for each event
}

// Causality computes the happened-before order of the trace.
func (t *Trace) Causality() *Causality {
	c := &Causality{
		n: t.N, proc: make([]algorithm.ID, len(t.Events)),
		own: make([]int32, len(t.Events)), clocks: make([]int32, t.N*len(t.Events)),
	}
	last := make([]int, t.N)  // last event of each process, from 1
	sent := make(map[int]int) // index where a message begins
	for i := range t.Events {
		e := &t.Events[i]
		clock := c.Clock(i)
		if c.proc[i] = t.owner(e); c.proc[i] == algorithm.None {
			if s, ok := sent[e.Msg]; ok && e.Kind == Drop {
				copy(clock, c.Clock(s))
			}
			continue
		}
		if last[e.Proc] > 0 {
			copy(clock, c.Clock(last[e.Proc]-1))
		}
		if s, ok := sent[e.Msg]; ok && e.Kind == Receive {
			for q, v := range c.Clock(s) {
				clock[q] = max(clock[q], v)
			}
		}
		if e.Kind == Send || e.Kind == Duplicate {
			sent[e.Msg] = i
		}
		clock[e.Proc]++
		c.own[i] = clock[e.Proc]
		last[e.Proc] = i + 1
	}
	return c
}

// owner returns the process to which e belongs.
func (t *Trace) owner(e *Event) algorithm.ID {
	if e.Kind == Drop || !t.has(e.Proc) {
		return algorithm.None
	}
	return e.Proc
}

// Clock returns the vector clock of event i: how many events of each process are in its
// past, itself included. The caller must not modify it.
func (c *Causality) Clock(i int) []int32 { return c.clocks[i*c.n : (i+1)*c.n] }

// HappenedBefore reports whether event i can have influenced event j.
func (c *Causality) HappenedBefore(i, j int) bool {
	return i != j && c.proc[i] != algorithm.None && c.Clock(j)[c.proc[i]] >= c.own[i]
}

// Concurrent reports whether i and j are different events and neither happened
// before the other.
func (c *Causality) Concurrent(i, j int) bool {
	return i != j && !c.HappenedBefore(i, j) && !c.HappenedBefore(j, i)
}

// Past returns all events that happened before event i, in order.
func (c *Causality) Past(i int) []int {
	return c.where(func(j int) bool { return c.HappenedBefore(j, i) })
}

// Future returns all events that event i happened before, in order.
func (c *Causality) Future(i int) []int {
	return c.where(func(j int) bool { return c.HappenedBefore(i, j) })
}

func (c *Causality) where(ok func(j int) bool) []int {
	var found []int
	for j := range c.proc {
		if ok(j) {
			found = append(found, j)
		}
	}
	return found
}
