package sim

import (
	"maps"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// faults is what an adversary has done to a world.
type faults struct {
	crashed []bool
	paused  []bool
	side    []int   // which part of a partition each process is in
	held    []event // what came to a process that cannot take it for now
	late    []event // messages that wait until the next one on their link overtakes them
	tricks  []trick // what happens to the next messages of a link
}

// A trick is played on the next message of a link.
type trick struct {
	link
	kind  string // only on messages of this kind, if not empty
	what  scenario.ActionKind
	delay int64
}

func newFaults(n int) *faults {
	return &faults{crashed: make([]bool, n), paused: make([]bool, n), side: make([]int, n)}
}

// intercept plays a trick on a message that is being sent, if one is due. It
// reports whether the message has been dealt with.
func (f *faults) intercept(w *world, from, to core.ID, slot int32) bool {
	name := w.kindOf(slot)
	i := slices.IndexFunc(f.tricks, func(t trick) bool {
		return t.from == from && t.to == to && (t.kind == "" || t.kind == name)
	})
	if i < 0 {
		return f.overtake(w, from, to, slot)
	}
	t := f.tricks[i]
	f.tricks = slices.Delete(f.tricks, i, i+1)
	switch t.what {
	case scenario.Drop:
		w.queue.seq++
		n := int(w.queue.seq)
		w.noteMessage(trace.Send, from, to, n, slot)
		w.noteMessage(trace.Drop, from, to, n, slot)
	case scenario.Duplicate:
		w.schedule(from, to, slot, w.net.delay(from, to))
		w.noteMessage(trace.Duplicate, from, to, int(w.queue.seq)+1, slot)
		w.schedule(from, to, slot, w.net.delay(from, to))
	case scenario.Reorder:
		w.schedule(from, to, slot, w.net.delay(from, to))
		f.late = append(f.late, w.remove(w.queue.seq))
	default:
		w.schedule(from, to, slot, w.net.delay(from, to)+t.delay)
	}
	return true
}

// overtake sends a message on its way and lets those that it overtakes arrive
// right behind it. It reports whether there are any.
func (f *faults) overtake(w *world, from, to core.ID, slot int32) bool {
	i := slices.IndexFunc(f.late, func(e event) bool { return e.on(link{from, to}) })
	if i < 0 {
		return false
	}
	at := w.schedule(from, to, slot, w.net.delay(from, to))
	e := f.late[i]
	f.late = slices.Delete(f.late, i, i+1)
	e.at = w.net.arrival(from, to, at+1)
	w.queue.again(e)
	return true
}

// cut reports whether messages from one process to another cannot arrive.
func (f *faults) cut(from, to core.ID) bool {
	return f.paused[to] || f.side[from] != f.side[to]
}

// holdBack keeps an event from a process that cannot take it. It reports
// whether it did.
func (f *faults) holdBack(w *world, e event) bool {
	p := core.ID(e.proc)
	if f.crashed[p] {
		if e.kind == deliver {
			w.noteMessage(trace.Drop, core.ID(e.arg), p, int(e.seq), e.slot)
			w.net.drop(e.slot)
		}
		return true
	}
	if f.paused[p] || e.kind == deliver && f.cut(core.ID(e.arg), p) {
		f.held = append(f.held, e)
		return true
	}
	return false
}

// release lets what was held back happen, if it can now.
func (f *faults) release(w *world) {
	held := f.held
	f.held = nil
	for _, e := range held {
		if f.paused[e.proc] || e.kind == deliver && f.cut(core.ID(e.arg), core.ID(e.proc)) {
			f.held = append(f.held, e)
			continue
		}
		e.at = w.now
		w.queue.again(e)
	}
}

func (w *world) crash(p core.ID) {
	w.faults.crashed[p] = true
	w.faults.paused[p] = false
	w.faults.held = slices.DeleteFunc(w.faults.held, func(e event) bool {
		return e.kind != deliver && core.ID(e.proc) == p
	})
	w.oracle.crashed(p)
	maps.DeleteFunc(w.net.timers, func(t timer, _ uint64) bool { return t.proc == p })
	w.note(trace.Event{Kind: trace.Crash, Proc: p})
	for q := range w.machines {
		w.believe(core.ID(q), p)
	}
	w.changed(p)
}

// restart seats a new process that remembers nothing.
func (w *world) restart(p core.ID) error {
	w.faults.crashed[p] = false
	v := w.view
	v.Busy = false
	w.machines[p] = w.birth(p, v)
	w.note(trace.Event{Kind: trace.Restart, Proc: p})
	w.changed(p)
	if err := w.trusted(p); err != nil {
		return err
	}
	return w.step(p, core.Input{Kind: core.Start})
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

// partition cuts the network: only processes of the same part hear each other.
// Those that are in no part are one more.
func (w *world) partition(parts [][]core.ID) {
	clear(w.faults.side)
	for i, part := range parts {
		for _, p := range part {
			w.faults.side[p] = i + 1
		}
	}
	w.note(trace.Event{Kind: trace.Partition, Proc: core.None})
	w.faults.release(w)
}

func (w *world) heal() {
	clear(w.faults.side)
	w.note(trace.Event{Kind: trace.Heal, Proc: core.None})
	w.faults.release(w)
}

// tell lets p's application talk to peer's. The message takes no time and
// carries the clock.
func (w *world) tell(p, peer core.ID) error {
	w.queue.seq++
	n := int(w.queue.seq)
	w.note(trace.Event{Kind: trace.Send, Proc: p, Peer: peer, Msg: n, Name: "TELL"})
	w.note(trace.Event{Kind: trace.Receive, Proc: peer, Peer: p, Msg: n, Name: "TELL"})
	if o := w.oracle.order; o != nil {
		said, at := o.sent(p)
		o.received(peer, said, at)
	}
	return w.step(peer, core.Input{Kind: core.Hear, From: core.None, Time: w.machines[p].Clock()})
}

func (w *world) suspect(p, peer core.ID) error {
	w.note(trace.Event{Kind: trace.Suspect, Proc: p, Peer: peer})
	return w.step(p, core.Input{Kind: core.Suspect, From: peer})
}
