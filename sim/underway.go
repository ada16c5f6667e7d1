package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// What an adversary does to messages that are under way. None of it is on the
// path of a plain run, so it is written to be simple, not fast.

func (e *event) on(l link) bool {
	return e.kind == deliver && core.ID(e.arg) == l.from && core.ID(e.proc) == l.to
}

func (w *world) kindOf(slot int32) string { return w.spec.Kinds[w.net.slots[slot].bytes[0]] }

// underWay returns the messages on a link in the order in which they would
// arrive; all messages, if the link is nil.
func (w *world) underWay(l *link) []event {
	all := slices.Clone(w.queue.heap)
	slices.SortFunc(all, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq))
	})
	all = slices.Concat(w.faults.held, w.flight, all, w.faults.late)
	return slices.DeleteFunc(all, func(e event) bool {
		return e.kind != deliver || l != nil && !e.on(*l)
	})
}

// remove takes an event out of wherever it is.
func (w *world) remove(seq uint64) event {
	for _, list := range []*[]event{&w.faults.held, &w.flight, &w.faults.late, &w.queue.heap} {
		i := slices.IndexFunc(*list, func(e event) bool { return e.seq == seq })
		if i < 0 {
			continue
		}
		e := (*list)[i]
		*list = slices.Delete(*list, i, i+1)
		if list == &w.queue.heap {
			rest := slices.Clone(*list)
			*list = (*list)[:0]
			for _, r := range rest {
				w.queue.again(r)
			}
		}
		return e
	}
	return event{}
}

// harm does to a message what the adversary wants. In a timed run it is done
// to the next message sent if none is under way.
func (w *world) harm(a *scenario.Action) error {
	l := link{a.Proc, a.Peer}
	on := w.underWay(&l)
	mine := slices.DeleteFunc(slices.Clone(on), func(e event) bool {
		return a.Message != "" && w.kindOf(e.slot) != a.Message
	})
	nth := max(a.Nth, 1)
	if nth > len(mine) {
		if a.Kind == scenario.Deliver || w.manual || nth > 1 {
			return w.notUnderWay(a, on)
		}
		w.faults.tricks = append(w.faults.tricks, trick{l, a.Message, a.Kind, a.By})
		return nil
	}
	e := mine[nth-1]
	place := slices.IndexFunc(on, func(o event) bool { return o.seq == e.seq })
	switch a.Kind {
	case scenario.Deliver:
		return w.deliverNow(e, on[0])
	case scenario.Drop:
		w.remove(e.seq)
		w.noteMessage(trace.Drop, a.Proc, a.Peer, int(e.seq), e.slot)
		w.net.drop(e.slot)
	case scenario.Duplicate:
		w.duplicate(e)
	case scenario.Delay:
		w.delay(e, a.By, on[place+1:])
	case scenario.Reorder:
		return w.reorder(e, on[place+1:])
	}
	return nil
}

func (w *world) notUnderWay(a *scenario.Action, on []event) error {
	what := "message"
	if a.Message != "" {
		what = a.Message
	}
	if len(on) == 0 {
		return fmt.Errorf("no message is under way from %v to %v", a.Proc, a.Peer)
	}
	names := ""
	for _, e := range on {
		names += " " + w.kindOf(e.slot)
	}
	return fmt.Errorf("no such %s is under way from %v to %v: there is%s", what, a.Proc, a.Peer, names)
}

// deliverNow lets a message arrive before its time.
func (w *world) deliverNow(e, first event) error {
	from, to := core.ID(e.arg), core.ID(e.proc)
	if w.faults.cut(from, to) && !w.faults.crashed[to] {
		if w.faults.paused[to] {
			return fmt.Errorf("%v is paused", to)
		}
		return fmt.Errorf("%v and %v are in different parts", from, to)
	}
	if w.fifo && e.seq != first.seq {
		return fmt.Errorf("on a fifo link %s comes first: deliver it, or reorder it, or say network unordered", w.kindOf(first.slot))
	}
	return w.deliver(w.remove(e.seq))
}

// duplicate puts a copy right behind a message.
func (w *world) duplicate(e event) {
	w.queue.seq++
	twin := e
	twin.seq = w.queue.seq
	w.net.slots[e.slot].refs++
	w.noteMessage(trace.Duplicate, core.ID(e.arg), core.ID(e.proc), int(twin.seq), e.slot)
	for _, list := range []*[]event{&w.faults.held, &w.flight, &w.faults.late} {
		if i := slices.IndexFunc(*list, func(o event) bool { return o.seq == e.seq }); i >= 0 {
			*list = slices.Insert(*list, i+1, twin)
			return
		}
	}
	w.queue.again(twin)
}

// delay lets a message arrive later. On a FIFO link those behind it wait.
func (w *world) delay(e event, by int64, behind []event) {
	e = w.remove(e.seq)
	e.at = max(e.at, w.now) + by
	w.queue.again(e)
	w.waitFor(e, behind)
}

// waitFor keeps the messages behind e on a FIFO link behind it.
func (w *world) waitFor(e event, behind []event) {
	if !w.fifo {
		return
	}
	w.net.arrival(core.ID(e.arg), core.ID(e.proc), e.at)
	for _, o := range behind {
		if o.at < e.at {
			o = w.remove(o.seq)
			o.at = e.at
			w.queue.again(o)
		}
	}
}

// reorder lets the message behind e overtake it.
func (w *world) reorder(e event, behind []event) error {
	if len(behind) == 0 {
		if w.manual {
			return fmt.Errorf("no message is behind %s, so none can overtake it", w.kindOf(e.slot))
		}
		w.faults.late = append(w.faults.late, w.remove(e.seq))
		return nil
	}
	next := behind[0]
	for _, list := range []*[]event{&w.faults.held, &w.flight} {
		i := slices.IndexFunc(*list, func(o event) bool { return o.seq == e.seq })
		j := slices.IndexFunc(*list, func(o event) bool { return o.seq == next.seq })
		if i >= 0 && j >= 0 {
			(*list)[i], (*list)[j] = (*list)[j], (*list)[i]
			return nil
		}
	}
	e = w.remove(e.seq)
	e.at = max(next.at, w.now) + 1
	w.queue.again(e)
	w.waitFor(e, behind[1:])
	return nil
}
