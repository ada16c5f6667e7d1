package kernel

import (
	"fmt"
	"slices"
	"sort"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/trace"
)

// What an adversary does to messages in flight. None of it is on the path of a plain run,
// so it is written to be simple, not fast.

func (e *Event) on(l link) bool {
	return e.Kind == deliver && algorithm.ID(e.arg) == l.from && algorithm.ID(e.proc) == l.to
}

func (k *Kernel) called(slot int32) string { return k.handler.Called(&k.slots[slot]) }

// inFlight returns the messages on a link in the order in which they would arrive; all
// messages if the link is nil.
func (k *Kernel) inFlight(l *link) []Event {
	var all []Event
	add := func(list []Event) {
		for i := range list {
			if e := &list[i]; e.Kind == deliver && (l == nil || e.on(*l)) {
				all = append(all, *e)
			}
		}
	}
	add(k.faults.held)
	add(k.flight)
	here := len(all)
	add(k.queue.heap)
	ahead := all[here:]
	sort.Slice(ahead, func(i, j int) bool { return ahead[i].before(&ahead[j]) })
	add(k.faults.late)
	return all
}

// find returns the list that contains an event, and its place there. The event must be in
// one.
func (k *Kernel) find(seq uint64) (list *[]Event, place int) {
	for _, list = range []*[]Event{&k.faults.held, &k.flight, &k.faults.late, &k.queue.heap} {
		place = slices.IndexFunc(*list, func(e Event) bool { return e.Seq == seq })
		if place >= 0 {
			break
		}
	}
	return list, place
}

// remove removes an event from whichever list holds it.
func (k *Kernel) remove(seq uint64) Event {
	list, i := k.find(seq)
	e := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	if list == &k.queue.heap {
		rest := slices.Clone(*list)
		*list = (*list)[:0]
		for _, r := range rest {
			k.queue.again(&r)
		}
	}
	return e
}

// Harm does to a message what the adversary wants. In a timed run, if no such message is
// in flight, it does so to the next one sent.
func (k *Kernel) Harm(a *script.Action) error {
	l := link{a.Proc, a.Peer}
	on := k.inFlight(&l)
	mine := slices.DeleteFunc(slices.Clone(on), func(e Event) bool {
		return a.Message != "" && k.called(e.slot) != a.Message
	})
	nth := max(a.Nth, 1)
	if nth > len(mine) {
		if a.Kind == script.Deliver || k.manual || nth > 1 {
			return k.notInFlight(a, on)
		}
		k.faults.tricks = append(k.faults.tricks, trick{l, a.Message, a.Kind, a.By, a.Line})
		return nil
	}
	e := mine[nth-1]
	place := slices.IndexFunc(on, func(o Event) bool { return o.Seq == e.Seq })
	switch a.Kind {
	case script.Deliver:
		return k.deliverNow(e, on[0], a.Overtakes)
	case script.Drop:
		k.remove(e.Seq)
		k.noteMessage(trace.Drop, a.Proc, a.Peer, int(e.Seq), e.slot)
		k.drop(e.slot)
	case script.Duplicate:
		k.duplicate(e)
	case script.Delay:
		k.postpone(e, a.By, on[place+1:])
	case script.Reorder:
		return k.reorder(e, on[place+1:])
	}
	return nil
}

func (k *Kernel) notInFlight(a *script.Action, on []Event) error {
	what := "message"
	if a.Message != "" {
		what = a.Message
	}
	if len(on) == 0 {
		return fmt.Errorf("no message is in flight from %s to %s", k.Name(a.Proc), k.Name(a.Peer))
	}
	names := ""
	for _, e := range on {
		names += " " + k.called(e.slot)
	}
	return fmt.Errorf("no such %s is in flight from %s to %s: there is%s", what, k.Name(a.Proc), k.Name(a.Peer), names)
}

// InFlight calls yield with all messages in flight, those of each link in the order in
// which they would arrive: the number of the message, and its name.
func (k *Kernel) InFlight(yield func(number int, from, to algorithm.ID, name string)) {
	for _, e := range k.inFlight(nil) {
		yield(int(e.Seq), algorithm.ID(e.arg), algorithm.ID(e.proc), k.called(e.slot))
	}
}

// DeliverAll empties the network in order of sending, until over returns true. Messages
// that cannot arrive stay in flight.
func (k *Kernel) DeliverAll(over func() bool) error {
	for limit := 1000 * (k.n + 10); ; limit-- {
		first, any := k.oldest()
		if !any || over() {
			return nil
		}
		if limit == 0 {
			return fmt.Errorf("the network never empties: the algorithm keeps sending forever")
		}
		e := k.remove(k.ahead(first).Seq)
		k.deliver(&e)
	}
}

// oldest returns the earliest-sent message among those that can arrive.
func (k *Kernel) oldest() (first Event, any bool) {
	for _, list := range [][]Event{k.faults.held, k.flight, k.queue.heap, k.faults.late} {
		for _, e := range list {
			from, to := algorithm.ID(e.arg), algorithm.ID(e.proc)
			if e.Kind == deliver && (!any || e.Seq < first.Seq) && (k.faults.crashed[to] || !k.faults.cut(from, to)) {
				first, any = e, true
			}
		}
	}
	return first, any
}

// ahead returns the first message on the link of e: after a reordering it may be one that
// was sent later.
func (k *Kernel) ahead(e Event) Event {
	if !k.fifo {
		return e
	}
	return k.inFlight(&link{algorithm.ID(e.arg), algorithm.ID(e.proc)})[0]
}

// deliverNow delivers a message before its time.
func (k *Kernel) deliverNow(e, first Event, overtakes bool) error {
	from, to := algorithm.ID(e.arg), algorithm.ID(e.proc)
	if k.faults.cut(from, to) && !k.faults.crashed[to] {
		if k.faults.paused[to] {
			return fmt.Errorf("%s is paused", k.Name(to))
		}
		return fmt.Errorf("%s and %s are in different parts of the network", k.Name(from), k.Name(to))
	}
	if k.fifo && e.Seq != first.Seq && !overtakes {
		return fmt.Errorf("on a fifo link %s arrives first: deliver it, reorder it, add the line network unordered, or end this line with overtaking", k.called(first.slot))
	}
	e = k.remove(e.Seq)
	k.deliver(&e)
	return nil
}

// duplicate puts a copy right behind a message.
func (k *Kernel) duplicate(e Event) {
	k.queue.seq++
	twin := e
	twin.Seq = k.queue.seq
	k.slots[e.slot].refs++
	k.noteMessage(trace.Duplicate, algorithm.ID(e.arg), algorithm.ID(e.proc), int(twin.Seq), e.slot)
	if list, i := k.find(e.Seq); list != &k.queue.heap {
		*list = slices.Insert(*list, i+1, twin)
	} else {
		k.queue.again(&twin)
	}
}

// postpone delays a message. On a FIFO link those behind it wait.
func (k *Kernel) postpone(e Event, by int64, behind []Event) {
	e = k.remove(e.Seq)
	e.At = max(e.At, k.now) + by
	k.queue.again(&e)
	k.waitFor(e, behind)
}

// waitFor keeps the messages behind e on a FIFO link behind it.
func (k *Kernel) waitFor(e Event, behind []Event) {
	if !k.fifo {
		return
	}
	k.arrival(algorithm.ID(e.arg), algorithm.ID(e.proc), e.At)
	for _, o := range behind {
		if o.At < e.At {
			o = k.remove(o.Seq)
			o.At = e.At
			k.queue.again(&o)
		}
	}
}

// reorder lets the message behind e overtake it.
func (k *Kernel) reorder(e Event, behind []Event) error {
	if len(behind) == 0 {
		if k.manual {
			return fmt.Errorf("no message is behind %s, so none can overtake it", k.called(e.slot))
		}
		k.faults.late = append(k.faults.late, k.remove(e.Seq))
		return nil
	}
	next := behind[0]
	list, i := k.find(e.Seq)
	if other, j := k.find(next.Seq); other == list && (list == &k.faults.held || list == &k.flight) {
		(*list)[i], (*list)[j] = (*list)[j], (*list)[i]
		return nil
	}
	e = k.remove(e.Seq)
	e.At = max(next.At, k.now) + 1
	k.queue.again(&e)
	k.waitFor(e, behind[1:])
	return nil
}
