package kernel

import (
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/trace"
)

// A Timer is a timer of a process, in one of the groups.
type Timer struct {
	Group int
	ID    int
}

func (t Timer) before(o Timer) bool { return t.Group < o.Group || t.Group == o.Group && t.ID < o.ID }

// running is a timer that is set.
type running struct {
	Timer
	seq uint64 // number of the event at which it expires
	tag Tag
}

// SetTimer makes a timer expire after this many units, or stops it if that is 0. A timer
// set again starts anew. Because a timer is set for the maximum time that an answer can
// take, it expires after everything else of its time.
func (k *Kernel) SetTimer(p algorithm.ID, t Timer, after int, tag Tag) {
	if after <= 0 {
		k.stop(p, t)
		return
	}
	i, runs := k.timer(p, t)
	if !runs {
		k.ticks++
		k.timers[p] = slices.Insert(k.timers[p], i, running{Timer: t})
	}
	r := &k.timers[p][i]
	r.tag = tag
	if k.manual {
		r.seq = uint64(k.Number())
		return
	}
	at := k.now + int64(after)*k.unit
	r.seq = k.queue.pushLast(&Event{At: at, proc: int32(p), slot: int32(t.Group), arg: int32(t.ID), Kind: expire})
}

// timer returns the place of a timer among those of its process, and whether it is set.
func (k *Kernel) timer(p algorithm.ID, t Timer) (i int, runs bool) {
	all := k.timers[p]
	i = sort.Search(len(all), func(i int) bool { return !all[i].before(t) })
	return i, i < len(all) && all[i].Timer == t
}

// stop stops a timer, if it is set, and returns what it was.
func (k *Kernel) stop(p algorithm.ID, t Timer) running {
	i, runs := k.timer(p, t)
	if !runs {
		return running{}
	}
	k.ticks++
	r := k.timers[p][i]
	k.timers[p] = slices.Delete(k.timers[p], i, i+1)
	return r
}

// Retag changes the tags of all messages and timers of a group that are in flight. It
// visits all of them.
func (k *Kernel) Retag(group int, f func(t Tag) Tag) {
	k.retag(group, f)
	for _, all := range k.timers {
		for i := range all {
			if r := &all[i]; r.Group == group {
				r.tag = f(r.tag)
			}
		}
	}
}

// Running reports whether a timer is set.
func (k *Kernel) Running(p algorithm.ID, t Timer) bool {
	_, runs := k.timer(p, t)
	return runs
}

// Timers calls yield with all timers that are set.
func (k *Kernel) Timers(yield func(p algorithm.ID, t Timer)) {
	for p, all := range k.timers {
		for i := range all {
			yield(algorithm.ID(p), all[i].Timer)
		}
	}
}

// Ticks counts how often a timer has been started or stopped: while the count is
// unchanged, the same timers run.
func (k *Kernel) Ticks() int { return k.ticks }

// AnyTimer reports whether any timer of any process is set.
func (k *Kernel) AnyTimer() bool {
	return slices.ContainsFunc(k.timers, func(all []running) bool { return len(all) > 0 })
}

func (k *Kernel) expire(e *Event) {
	p, t := algorithm.ID(e.proc), Timer{int(e.slot), int(e.arg)}
	if i, runs := k.timer(p, t); runs && k.timers[p][i].seq == e.Seq { // otherwise set anew since, or stopped
		k.Expire(p, t)
	}
}

// Expire makes a timer expire now.
func (k *Kernel) Expire(p algorithm.ID, t Timer) {
	tag := k.stop(p, t).tag
	k.Note(trace.Event{Kind: trace.Expire, Proc: p})
	k.handler.Expired(p, t, tag)
}
