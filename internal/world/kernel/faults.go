package kernel

import (
	"maps"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// faults is what an adversary has done to a world.
type faults struct {
	crashed []bool
	paused  []bool
	side    []int   // which part of a partition each process is in
	held    []Event // what came to a process that cannot take it for now
	late    []Event // messages that wait until the next one on their link overtakes them
	tricks  []trick // what happens to the next messages of a link
	blamed  int     // the line whose trick is being played, or 0
}

// A trick is played on the next message of a link.
type trick struct {
	link
	kind  string // only on messages of this kind, if not empty
	what  scenario.ActionKind
	delay int64
	line  int // of the scenario, if one wants it so
}

func newFaults(n int) *faults {
	return &faults{crashed: make([]bool, n), paused: make([]bool, n), side: make([]int, n)}
}

// intercept plays a trick on a message that is being sent, if one is due. It
// reports whether the message has been dealt with.
func (k *Kernel) intercept(from, to algorithm.ID, slot int32) bool {
	f := k.faults
	i := -1
	if len(f.tricks) > 0 {
		name := k.called(slot)
		i = slices.IndexFunc(f.tricks, func(t trick) bool {
			return t.from == from && t.to == to && (t.kind == "" || t.kind == name)
		})
	}
	if i < 0 {
		return k.overtake(from, to, slot)
	}
	t := f.tricks[i]
	f.tricks = slices.Delete(f.tricks, i, i+1)
	f.blamed = t.line
	defer func() { f.blamed = 0 }()
	switch t.what {
	case scenario.Drop:
		k.Lose(from, to, slot)
	case scenario.Duplicate:
		k.schedule(from, to, slot, k.delay(from, to))
		k.double(from, to, slot)
	case scenario.Reorder:
		k.schedule(from, to, slot, k.delay(from, to))
		f.late = append(f.late, k.remove(k.queue.seq))
	default:
		k.schedule(from, to, slot, k.delay(from, to)+t.delay)
	}
	return true
}

// Blamed returns the line that wanted what is happening to a message, if it was
// said before that message was sent; else 0.
func (k *Kernel) Blamed() int {
	if k.faults == nil {
		return 0
	}
	return k.faults.blamed
}

// overtake sends a message on its way and lets those that it overtakes arrive
// right behind it. It reports whether there are any.
func (k *Kernel) overtake(from, to algorithm.ID, slot int32) bool {
	f := k.faults
	i := slices.IndexFunc(f.late, func(e Event) bool { return e.on(link{from, to}) })
	if i < 0 {
		return false
	}
	at := k.schedule(from, to, slot, k.delay(from, to))
	e := f.late[i]
	f.late = slices.Delete(f.late, i, i+1)
	e.At = k.arrival(from, to, at+1)
	k.queue.again(&e)
	return true
}

// cut reports whether messages from one process to another cannot arrive.
func (f *faults) cut(from, to algorithm.ID) bool {
	return f.paused[to] || f.side[from] != f.side[to]
}

// holdBack keeps an event from a process that cannot take it. It reports
// whether it did.
func (k *Kernel) holdBack(e *Event) bool {
	f, p := k.faults, algorithm.ID(e.proc)
	if f.crashed[p] {
		if e.Kind == deliver {
			k.noteMessage(trace.Drop, algorithm.ID(e.arg), p, int(e.Seq), e.slot)
			k.drop(e.slot)
		}
		return true
	}
	if f.paused[p] || e.Kind == deliver && f.cut(algorithm.ID(e.arg), p) {
		f.held = append(f.held, *e)
		return true
	}
	return false
}

// release lets what was held back happen, if it can now.
func (k *Kernel) release() {
	f := k.faults
	held := f.held
	f.held = nil
	for _, e := range held {
		if f.paused[e.proc] || e.Kind == deliver && f.cut(algorithm.ID(e.arg), algorithm.ID(e.proc)) {
			f.held = append(f.held, e)
			continue
		}
		e.At = k.now
		k.queue.again(&e)
	}
}

// Crashed reports whether a process has crashed, and is not back.
func (k *Kernel) Crashed(p algorithm.ID) bool { return k.faults != nil && k.faults.crashed[p] }

// Paused reports whether a process stands still.
func (k *Kernel) Paused(p algorithm.ID) bool { return k.faults != nil && k.faults.paused[p] }

// Crash lets a process stop for good: what comes to it is lost, and its timers
// never run out. All others are told, if anybody is.
func (k *Kernel) Crash(p algorithm.ID) {
	k.Bury(p)
	if !k.detects {
		return
	}
	for q := range algorithm.ID(k.n) {
		if q != p {
			// Not before everything that p sent has arrived. This is the
			// perfect failure detector: nobody is told of a process that is
			// alive by then.
			k.queue.pushLast(&Event{At: k.now + k.unit, proc: int32(q), arg: int32(p), Kind: believe})
		}
	}
}

// Bury is Crash of a process of which nobody need be told.
func (k *Kernel) Bury(p algorithm.ID) {
	f := k.faults
	f.crashed[p], f.paused[p] = true, false
	f.held = slices.DeleteFunc(f.held, func(e Event) bool { return e.Kind != deliver && algorithm.ID(e.proc) == p })
	k.ticks++
	maps.DeleteFunc(k.timers, func(t timerKey, _ running) bool { return t.proc == p })
	k.Note(trace.Event{Kind: trace.Crash, Proc: p})
}

func (k *Kernel) believed(e *Event) {
	if p, dead := algorithm.ID(e.proc), algorithm.ID(e.arg); k.faults.crashed[dead] {
		k.handler.Believed(p, dead)
	}
}

// Restart seats a new process.
func (k *Kernel) Restart(p algorithm.ID) {
	k.faults.crashed[p] = false
	k.Note(trace.Event{Kind: trace.Restart, Proc: p})
}

// Pause lets a process stand still: what comes to it waits.
func (k *Kernel) Pause(p algorithm.ID) {
	k.faults.paused[p] = true
	k.Note(trace.Event{Kind: trace.Pause, Proc: p})
}

// Resume lets it go on.
func (k *Kernel) Resume(p algorithm.ID) {
	k.faults.paused[p] = false
	k.Note(trace.Event{Kind: trace.Resume, Proc: p})
	k.release()
}

// Partition cuts the network: only processes of the same part hear each other.
// Those that are in no part are one more.
func (k *Kernel) Partition(parts [][]algorithm.ID) {
	clear(k.faults.side)
	for i, part := range parts {
		for _, p := range part {
			k.faults.side[p] = i + 1
		}
	}
	k.Note(trace.Event{Kind: trace.Partition, Proc: algorithm.None, Name: k.sides(len(parts))})
	k.release()
}

// sides names who hears whom: P1 P2 | P3. Those in no part come last.
func (k *Kernel) sides(parts int) string {
	var sides []string
	for i := 1; i <= parts+1; i++ {
		var names []string
		for p, side := range k.faults.side {
			if side == i%(parts+1) {
				names = append(names, k.Name(algorithm.ID(p)))
			}
		}
		if len(names) > 0 {
			sides = append(sides, strings.Join(names, " "))
		}
	}
	return strings.Join(sides, " | ")
}

// Heal lets all hear each other again.
func (k *Kernel) Heal() {
	clear(k.faults.side)
	k.Note(trace.Event{Kind: trace.Heal, Proc: algorithm.None})
	k.release()
}
