package measure

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/kernel"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/trace"
)

// T is the mean latency of a message: one tick of the kernel is a nanosecond.
const T = scenario.T

// wakes is the event that wakes a process. Events of the measurements are numbered from own
// on.
const (
	wakes = kernel.Own + iota
	own
)

// A harness runs processes on the event kernel. Connections between them never break, and a
// save is durable at once.
type harness struct {
	*kernel.Kernel
	nodes []*node
	at    map[string]*node // by address
	err   error

	seen    func(n *node, e *process.Effect) // called with effects that the harness does not carry out
	outside func(n *node, to string, b []byte)
}

// A node is a process of a harness.
type node struct {
	*process.Process // nil before it starts
	h                *harness
	id               algorithm.ID
	address          string
	saves            []uint64 // not acknowledged yet
	wakeAt           int64    // time of its next wake; 0 if there is none
	wakeNo           int
}

// newHarness makes a harness for a number of processes.
func newHarness(processes int, latency scenario.Dist, seed uint64) *harness {
	h := &harness{at: map[string]*node{}}
	h.Kernel = kernel.New(kernel.Config{Processes: processes, Latency: latency, Network: algorithm.FIFO, Seed: seed, Adversary: true}, h)
	for i := range processes {
		n := &node{h: h, id: algorithm.ID(i), address: fmt.Sprint("p", i+1)}
		h.nodes = append(h.nodes, n)
		h.at[n.address] = n
	}
	h.outside = func(n *node, to string, _ []byte) {
		h.fail(fmt.Errorf("%s sends a message to %q, where no process is", n.address, to))
	}
	return h
}

func (h *harness) now() member.Instant { return member.Instant(h.Now()) }

// fail records the first error.
func (h *harness) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

// start starts a process, which then has connections to all others.
func (n *node) start(c process.Config) {
	c.Name, c.Address, c.Observe = n.address, n.address, true
	p, err := process.New(c)
	if err != nil {
		n.h.fail(err)
		return
	}
	n.Process = p
	n.step(process.Input{Kind: process.Start})
	for _, o := range n.h.nodes {
		if o != n {
			n.step(process.Input{Kind: process.Up, Text: o.address})
		}
	}
}

// step hands an input to a process, and carries out its effects.
func (n *node) step(in process.Input) {
	n.take(in)
	n.carryOut()
}

// take only hands in an input. The caller can inspect the output before its effects are
// carried out.
func (n *node) take(in process.Input) {
	in.At = n.h.now()
	n.Step(&in)
}

// carryOut carries out the effects of a process.
func (n *node) carryOut() {
	h := n.h
	for i := range n.Out.Effects {
		switch e := &n.Out.Effects[i]; e.Kind {
		case process.Send:
			n.send(e.To, e.Bytes)
		case process.Save, process.Erase, process.Remember:
			n.saves = append(n.saves, e.Number)
		case process.HangUp, process.Cut, process.LinkEnded, process.Failed:
			h.fail(fmt.Errorf("%s: %w", n.address, e.Err))
		default:
			h.seen(n, e)
		}
	}
	n.schedule()
	for len(n.saves) > 0 && h.err == nil {
		number := n.saves[0]
		n.saves = slices.Delete(n.saves, 0, 1)
		n.step(process.Input{Kind: process.Saved, Number: number})
	}
}

// send puts a message in flight.
func (n *node) send(to string, b []byte) {
	if o := n.h.at[to]; o != nil {
		n.h.Send(n.id, o.id, n.h.Keep(b, 0, 0, 1))
		return
	}
	n.h.outside(n, to, b)
}

// schedule schedules the next wake of the process.
func (n *node) schedule() {
	if n.Out.Wake == member.Never {
		return
	}
	at := max(int64(n.Out.Wake), n.h.Now()+1)
	if n.wakeAt == 0 || at < n.wakeAt {
		n.wakeNo++
		n.wakeAt = at
		n.h.At(at, wakes, n.id, n.wakeNo)
	}
}

// wake wakes a process, unless its wake has been rescheduled since.
func (h *harness) wake(e *kernel.Event) {
	if n := h.nodes[e.Proc()]; e.Arg() == n.wakeNo {
		n.wakeAt = 0
		n.step(process.Input{Kind: process.Wake})
	}
}

// Deliver hands over a message that has arrived.
func (h *harness) Deliver(from, to algorithm.ID, slot int32) {
	if n := h.nodes[to]; n.Process != nil { // otherwise it has not started yet
		n.step(process.Input{Kind: process.Message, Text: h.nodes[from].address, Bytes: h.Slot(slot).Bytes})
	}
}

// Expired is not used: processes say when to wake them.
func (h *harness) Expired(algorithm.ID, kernel.Timer, kernel.Tag) {}

// Believed is not used: views say which processes are members.
func (h *harness) Believed(algorithm.ID, algorithm.ID) {}

// Called is not used: no events are recorded.
func (h *harness) Called(*kernel.Slot) string { return "" }

// Describe is not used: no events are recorded.
func (h *harness) Describe(*trace.Event, *kernel.Slot) {}
