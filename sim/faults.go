package sim

import (
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/trace"
)

// faults is what an adversary has done to a world.
type faults struct {
	crashed []bool
	paused  []bool
	side    []int   // which part of a partition each process is in
	held    []event // messages that cannot arrive for now
	tricks  []trick // what happens to the next messages of a link
}

// A trick is played on the next message of a link.
type trick struct {
	link
	kind  string // only on messages of this kind, if not empty
	what  trace.Kind
	delay int64
}

func newFaults(n int) *faults {
	return &faults{crashed: make([]bool, n), paused: make([]bool, n), side: make([]int, n)}
}

// intercept plays a trick on a message that is being sent, if one is due. It
// reports whether the message has been dealt with.
func (f *faults) intercept(w *world, from, to core.ID, slot int32) bool {
	name := w.spec.Kinds[w.net.slots[slot].bytes[0]]
	i := slices.IndexFunc(f.tricks, func(t trick) bool {
		return t.from == from && t.to == to && (t.kind == "" || t.kind == name)
	})
	if i < 0 {
		return false
	}
	t := f.tricks[i]
	f.tricks = slices.Delete(f.tricks, i, i+1)
	switch t.what {
	case trace.Drop:
		w.queue.seq++
		n := int(w.queue.seq)
		w.noteMessage(trace.Send, from, to, n, slot)
		w.noteMessage(trace.Drop, from, to, n, slot)
	case trace.Duplicate:
		w.schedule(from, to, slot, w.net.delay(from, to))
		w.noteMessage(trace.Duplicate, from, to, int(w.queue.seq)+1, slot)
		w.schedule(from, to, slot, w.net.delay(from, to))
	default:
		w.schedule(from, to, slot, w.net.delay(from, to)+t.delay)
	}
	return true
}

// holdBack keeps a message that has arrived from a process that cannot take
// it. It reports whether it did.
func (f *faults) holdBack(w *world, e event) bool {
	from, to := core.ID(e.arg), core.ID(e.proc)
	if f.crashed[to] {
		w.noteMessage(trace.Drop, from, to, int(e.seq), e.slot)
		w.net.drop(e.slot)
		return true
	}
	if f.paused[to] || f.side[from] != f.side[to] {
		f.held = append(f.held, e)
		return true
	}
	return false
}

// release lets the messages that were held back arrive, if they can now.
func (f *faults) release(w *world) {
	held := f.held
	f.held = nil
	for _, e := range held {
		at := e.at
		e.at = w.now
		if f.paused[e.proc] || f.side[e.arg] != f.side[e.proc] {
			e.at = at
			f.held = append(f.held, e)
			continue
		}
		w.queue.again(e)
	}
}

func (w *world) crash(p core.ID) {
	w.faults.crashed[p] = true
	w.oracle.crashed(p)
	w.note(trace.Event{Kind: trace.Crash, Proc: p})
}

// restart seats a new process that remembers nothing.
func (w *world) restart(p core.ID) {
	w.faults.crashed[p] = false
	v := w.view
	v.Busy = false
	w.machines[p] = w.birth(p, v)
	w.note(trace.Event{Kind: trace.Restart, Proc: p})
}

func (w *world) pause(p core.ID) {
	w.faults.paused[p] = true
	w.note(trace.Event{Kind: trace.Pause, Proc: p})
}

func (w *world) resume(p core.ID) {
	w.faults.paused[p] = false
	w.note(trace.Event{Kind: trace.Resume, Proc: p})
	w.faults.release(w)
}

// partition cuts the network: only processes on the same side hear each other.
func (w *world) partition(side []int) {
	copy(w.faults.side, side)
	w.note(trace.Event{Kind: trace.Partition, Proc: core.None})
}

func (w *world) heal() {
	clear(w.faults.side)
	w.note(trace.Event{Kind: trace.Heal, Proc: core.None})
	w.faults.release(w)
}
