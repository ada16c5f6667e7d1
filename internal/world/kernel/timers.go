package kernel

import (
	"cmp"
	"maps"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/trace"
)

// A Timer is a timer of a process, in one of the groups.
type Timer struct {
	Group int
	ID    int
}

type timerKey struct {
	proc algorithm.ID
	Timer
}

func (t timerKey) compare(o timerKey) int {
	return cmp.Or(cmp.Compare(t.proc, o.proc), cmp.Compare(t.Group, o.Group), cmp.Compare(t.ID, o.ID))
}

// running is a timer that is set.
type running struct {
	seq uint64 // number of the event at which it expires
	tag Tag
}

// SetTimer makes a timer expire after this many units, or stops it if that is 0. A timer
// set again starts anew. Because a timer is set for the maximum time that an answer can
// take, it expires after everything else of its time.
func (k *Kernel) SetTimer(p algorithm.ID, t Timer, after int, tag Tag) {
	key := timerKey{p, t}
	if _, runs := k.timers[key]; runs != (after > 0) {
		k.ticks++
	}
	if after <= 0 {
		delete(k.timers, key)
		return
	}
	if k.timers == nil {
		k.timers = make(map[timerKey]running)
	}
	if k.manual {
		k.timers[key] = running{uint64(k.Number()), tag}
		return
	}
	at := k.now + int64(after)*k.unit
	seq := k.queue.pushLast(&Event{At: at, proc: int32(p), slot: int32(t.Group), arg: int32(t.ID), Kind: expire})
	k.timers[key] = running{seq, tag}
}

// Retag changes the tags of all messages and timers of a group that are in flight. It
// visits all of them.
func (k *Kernel) Retag(group int, f func(t Tag) Tag) {
	k.retag(group, f)
	for _, key := range slices.SortedFunc(maps.Keys(k.timers), timerKey.compare) {
		if key.Group == group {
			r := k.timers[key]
			k.timers[key] = running{r.seq, f(r.tag)}
		}
	}
}

// Running reports whether a timer is set.
func (k *Kernel) Running(p algorithm.ID, t Timer) bool {
	_, ok := k.timers[timerKey{p, t}]
	return ok
}

// Timers calls yield with all timers that are set.
func (k *Kernel) Timers(yield func(p algorithm.ID, t Timer)) {
	for _, key := range slices.SortedFunc(maps.Keys(k.timers), timerKey.compare) {
		yield(key.proc, key.Timer)
	}
}

// Ticks counts how often a timer has been started or stopped: while the count is
// unchanged, the same timers run.
func (k *Kernel) Ticks() int { return k.ticks }

// AnyTimer reports whether any timer of any process is set.
func (k *Kernel) AnyTimer() bool { return len(k.timers) > 0 }

func (k *Kernel) expire(e *Event) {
	p, t := algorithm.ID(e.proc), Timer{int(e.slot), int(e.arg)}
	if k.timers[timerKey{p, t}].seq == e.Seq { // otherwise set anew since, or stopped
		k.Expire(p, t)
	}
}

// Expire makes a timer expire now.
func (k *Kernel) Expire(p algorithm.ID, t Timer) {
	key := timerKey{p, t}
	tag := k.timers[key].tag
	delete(k.timers, key)
	k.ticks++
	k.Note(trace.Event{Kind: trace.Expire, Proc: p})
	k.handler.Expired(p, t, tag)
}
