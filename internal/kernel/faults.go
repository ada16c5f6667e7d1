package kernel

import (
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// faults is what an adversary has done to a world.
type faults struct {
	crashed []bool
	paused  []bool
	side    []int   // part of a partition that each process is in
	held    []Event // events for processes that cannot take them for now
	late    []Event // messages that wait until the next one on their link overtakes them
	tricks  []trick // what happens to the next messages of a link
	blamed  int     // line whose trick is being played, or 0
}

// A trick is played on the next message of a link.
type trick struct {
	link
	kind  string // kind of message affected; empty means any
	what  script.ActionKind
	delay int64
	line  int // line of the scenario that asks for it, if any
}

func newFaults(n int) *faults {
	return &faults{crashed: make([]bool, n), paused: make([]bool, n), side: make([]int, n)}
}

// intercept plays a trick on a message that is being sent, if one is due. It reports
// whether the message has been dealt with.
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
	case script.Drop:
		k.Lose(from, to, slot)
	case script.Duplicate:
		k.schedule(from, to, slot, k.delay(from, to))
		k.double(from, to, slot)
	case script.Reorder:
		k.schedule(from, to, slot, k.delay(from, to))
		f.late = append(f.late, k.remove(k.queue.seq))
	default:
		k.schedule(from, to, slot, k.delay(from, to)+t.delay)
	}
	return true
}

// Blamed returns the line responsible for what is happening to a message, if that line
// ran before the message was sent; otherwise 0.
func (k *Kernel) Blamed() int {
	if k.faults == nil {
		return 0
	}
	return k.faults.blamed
}

// overtake sends a message and makes those that it overtakes arrive right after it. It
// reports whether there are any.
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

// holdBack keeps an event from a process that cannot take it, and reports whether it did.
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

// release lets held-back events happen, if they can now.
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

// Crashed reports whether a process has crashed and has not restarted.
func (k *Kernel) Crashed(p algorithm.ID) bool { return k.faults != nil && k.faults.crashed[p] }

// Paused reports whether a process is paused.
func (k *Kernel) Paused(p algorithm.ID) bool { return k.faults != nil && k.faults.paused[p] }

// Crash stops a process for good: whatever reaches it is lost, and its timers never
// expire. All others are notified, if Config.Detects is set.
func (k *Kernel) Crash(p algorithm.ID) {
	k.Bury(p)
	if !k.detects {
		return
	}
	for q := range algorithm.ID(k.n) {
		if q != p {
			// Not before everything that p sent has arrived. This is the perfect failure
			// detector: no process is notified of the crash of a process that is alive by
			// then.
			k.queue.pushLast(&Event{At: k.now + k.unit, proc: int32(q), arg: int32(p), Kind: believe})
		}
	}
}

// Bury is Crash without notifying other processes.
func (k *Kernel) Bury(p algorithm.ID) {
	f := k.faults
	f.crashed[p], f.paused[p] = true, false
	f.held = slices.DeleteFunc(f.held, func(e Event) bool { return e.Kind != deliver && algorithm.ID(e.proc) == p })
	k.ticks++
	k.timers[p] = nil
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

// Pause pauses a process: whatever reaches it waits.
func (k *Kernel) Pause(p algorithm.ID) {
	k.faults.paused[p] = true
	k.Note(trace.Event{Kind: trace.Pause, Proc: p})
}

// Resume continues a paused process.
func (k *Kernel) Resume(p algorithm.ID) {
	k.faults.paused[p] = false
	k.Note(trace.Event{Kind: trace.Resume, Proc: p})
	k.release()
}

// Partition cuts the network: only processes in the same part can communicate. Processes
// in no part form one more.
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

// sides names the parts: P1 P2 | P3. Processes in no part come last.
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

// Heal lets all processes communicate again.
func (k *Kernel) Heal() {
	clear(k.faults.side)
	k.Note(trace.Event{Kind: trace.Heal, Proc: algorithm.None})
	k.release()
}
