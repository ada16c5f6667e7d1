package sim

import (
	"fmt"
	"math"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// A world is a group of machines, the messages between them, and the oracle
// that judges them.
type world struct {
	spec     core.Spec
	view     core.View
	birth    core.Birth
	machines []core.Machine
	spare    []core.Machine // for Config.Paged: what states are loaded into
	out      core.Output
	queue    queue
	now      int64
	net      network
	oracle   *oracle
	elects   *electorate // nil if the algorithm is no election
	meter    meter
	faults   *faults             // nil if there are none
	manual   bool                // messages and timers wait in flight for the adversary
	fifo     bool                // the adversary too has to keep the order of each link, unless it reorders
	flight   []event             // manual: the messages under way, in order of sending
	observe  func(e trace.Event) // nil if nobody looks
	steps    int                 // events observed
	state    []byte
	shadow   shadow
	unasked  core.Set // who is inside without having asked

	// What the run does when a process has entered, or was denied.
	onEnter func(p core.ID)
	onDeny  func(p core.ID)
}

func newWorld(spec core.Spec, view core.View, latency scenario.Dist, net core.Network, seed uint64) (*world, error) {
	machines, err := spec.Group(view)
	if err != nil {
		return nil, err
	}
	birth, err := spec.Birth(view.N)
	if err != nil {
		return nil, err
	}
	w := &world{
		spec: spec, view: view, birth: birth, machines: machines,
		oracle: newOracle(view.N, spec.Theory.ME3),
	}
	w.net.init(view.N, latency, net, seed)
	w.meter.init(view.N, len(spec.Kinds))
	if spec.Family == core.Election {
		w.elects = newElectorate(view)
	} else if view.Busy {
		w.oracle.asked(view.Holder)
		w.oracle.entered(view.Holder, 0)
	}
	return w, nil
}

// paged makes every step run on a machine rebuilt from its bytes.
func (w *world) paged() {
	w.spare = make([]core.Machine, len(w.machines))
	for i := range w.spare {
		w.spare[i] = w.birth(core.ID(i), w.view)
	}
}

// step gives p's machine an input and does what it wants done.
func (w *world) step(p core.ID, in core.Input) error {
	if w.spare != nil {
		w.state = w.machines[p].AppendState(w.state[:0])
		if err := w.spare[p].LoadState(w.state); err != nil {
			return fmt.Errorf("%s: the state of %v does not load: %w", w.spec.Name, p, err)
		}
		w.machines[p], w.spare[p] = w.spare[p], w.machines[p]
	}
	if err := w.take(p, in); err != nil {
		return fmt.Errorf("%s: %v at %s: %w", w.spec.Name, p, scenario.FormatTime(w.now), err)
	}
	w.send(p)
	if w.out.Entered {
		w.enter(p)
	}
	for _, n := range w.out.Notices {
		w.noticed(p, n)
	}
	return nil
}

// take lets p's machine take a step, and now and then a twin of it too, unless
// it is rebuilt from its bytes for every step anyway.
func (w *world) take(p core.ID, in core.Input) error {
	if w.shadow.taken++; w.shadow.taken > w.shadow.next && w.spare == nil {
		return w.takeTwice(p, in)
	}
	return w.machines[p].Step(in, &w.out)
}

// noticed does what a notice of p's machine asks for.
func (w *world) noticed(p core.ID, n core.Notice) {
	switch n.Kind {
	case core.Denied:
		w.oracle.denied(p)
		w.note(trace.Event{Kind: trace.Deny, Proc: p})
		if w.onDeny != nil {
			w.onDeny(p)
		}
	case core.SetTimer:
		w.setTimer(p, n.Timer, n.After)
	case core.Leader:
		w.led(p, n.Who)
	case core.Victim:
		w.note(trace.Event{Kind: trace.Abort, Proc: p, Peer: n.Who})
	}
}

func (w *world) ask(p core.ID) error {
	if w.elects != nil {
		return w.elect(p)
	}
	w.meter.asked(p, w.now, w.oracle)
	w.oracle.asked(p)
	w.note(trace.Event{Kind: trace.Ask, Proc: p})
	if w.unasked.Has(p) { // it goes out before it asks
		w.unasked.Remove(p)
		if err := w.step(p, core.Input{Kind: core.Release}); err != nil {
			return err
		}
	}
	return w.step(p, core.Input{Kind: core.Request})
}

func (w *world) enter(p core.ID) {
	before := len(w.oracle.found)
	if w.oracle.procs[p].phase != waiting {
		w.oracle.violate(Violation{"unasked-entry", w.now, p, core.None})
		w.note(trace.Event{Kind: trace.Violation, Proc: p, Peer: core.None, Name: "unasked-entry"})
		w.unasked.Add(p)
		return
	}
	w.oracle.entered(p, w.now)
	w.meter.entered(p, w.now)
	w.note(trace.Event{Kind: trace.Enter, Proc: p})
	for _, v := range w.oracle.found[before:] {
		w.note(trace.Event{Kind: trace.Violation, Proc: p, Peer: v.Other, Name: v.Property})
	}
	if w.onEnter != nil {
		w.onEnter(p)
	}
}

func (w *world) leave(p core.ID) error {
	w.oracle.left(p)
	w.meter.left(p, w.now, w.oracle)
	w.note(trace.Event{Kind: trace.Exit, Proc: p})
	return w.step(p, core.Input{Kind: core.Release})
}

// send puts what the last step sent on its way. The parts of a multicast share
// one slot.
func (w *world) send(p core.ID) {
	sends := w.out.Sends
	for len(sends) > 0 {
		first := len(w.out.Sends) - len(sends)
		slot := w.net.keep(w.out.Bytes(first))
		if o := w.oracle.order; o != nil {
			said, at := o.sent(p)
			w.net.slots[slot].say(said, at)
		}
		if w.elects != nil {
			w.net.slots[slot].round = w.elects.began
		}
		parts := 1
		for parts < len(sends) && sends[parts].Group == sends[0].Group {
			parts++
		}
		w.meter.sent(p, sends[0].Kind, parts, len(w.net.slots[slot].bytes))
		if w.faults == nil && w.observe == nil && w.net.constant {
			w.scheduleAll(p, sends[:parts], slot)
		} else {
			for i := range parts {
				w.dispatch(p, sends[i].To, slot)
			}
		}
		w.net.drop(slot)
		sends = sends[parts:]
	}
}

// scheduleAll is dispatch for the parts of a multicast, where nothing can
// happen to them on the way.
func (w *world) scheduleAll(from core.ID, sends []core.Send, slot int32) {
	e := event{at: w.now + w.net.latency.A, slot: slot, arg: int32(from), kind: deliver}
	w.net.slots[slot].refs += int32(len(sends))
	if n := len(sends); n > 1 && n == w.view.N-1 && n <= math.MaxUint16 {
		w.queue.pushAll(e, n) // distinct and in ascending order, so all others
		return
	}
	for i := range sends {
		e.proc = int32(sends[i].To)
		w.queue.push(e)
	}
}

// dispatch sends one message on its way, as the network does.
func (w *world) dispatch(from, to core.ID, slot int32) {
	if w.faults != nil && w.faults.intercept(w, from, to, slot) {
		return
	}
	if w.net.loses() {
		w.noteMessage(trace.Send, from, to, int(w.queue.seq)+1, slot)
		w.queue.seq++
		w.noteMessage(trace.Drop, from, to, int(w.queue.seq), slot)
		return
	}
	w.schedule(from, to, slot, w.net.delay(from, to))
	if w.net.doubles() {
		w.noteMessage(trace.Duplicate, from, to, int(w.queue.seq)+1, slot)
		w.schedule(from, to, slot, w.net.delay(from, to))
	}
}

// schedule lets a message arrive after delay, and returns when.
func (w *world) schedule(from, to core.ID, slot int32, delay int64) int64 {
	at := w.net.arrival(from, to, w.now+delay)
	w.net.slots[slot].refs++
	e := event{at: at, slot: slot, proc: int32(to), arg: int32(from), kind: deliver}
	if w.manual {
		w.queue.seq++
		e.seq = w.queue.seq
		w.flight = append(w.flight, e)
	} else {
		w.queue.push(e)
	}
	n := w.queue.seq
	if w.observe != nil {
		w.noteMessage(trace.Send, from, to, int(n), slot)
	}
	return at
}

// deliver hands over a message that has arrived.
func (w *world) deliver(e event) error {
	if w.faults != nil && w.faults.holdBack(w, e) {
		return nil
	}
	from, to := core.ID(e.arg), core.ID(e.proc)
	w.meter.load[to]++
	if w.observe != nil {
		w.noteMessage(trace.Receive, to, from, int(e.seq), e.slot)
	}
	s := &w.net.slots[e.slot]
	if o := w.oracle.order; o != nil {
		o.received(to, s.knows, s.at)
	}
	if w.elects != nil {
		w.elects.began = s.round
	}
	err := w.step(to, core.Input{Kind: core.Receive, From: from, Bytes: s.bytes})
	w.net.drop(e.slot)
	return err
}

func (w *world) setTimer(p core.ID, id, after int) {
	key := timer{p, id}
	if w.net.timers == nil {
		w.net.timers = make(map[timer]uint64)
	}
	if after <= 0 {
		delete(w.net.timers, key)
		return
	}
	if w.elects != nil {
		w.elects.timers[key] = w.elects.began
	}
	if w.manual {
		w.queue.seq++
		w.net.timers[key] = w.queue.seq
		return
	}
	at := w.now + int64(after)*w.net.latency.Max()
	w.net.timers[key] = w.queue.pushLast(event{at: at, proc: int32(p), arg: int32(id), kind: expire})
}

func (w *world) expire(e event) error {
	p, t := core.ID(e.proc), int(e.arg)
	if w.net.timers[timer{p, t}] != e.seq {
		return nil // set anew since
	}
	return w.expired(p, t)
}

func (w *world) expired(p core.ID, t int) error {
	delete(w.net.timers, timer{p, t})
	w.note(trace.Event{Kind: trace.Expire, Proc: p})
	if w.elects != nil {
		w.elects.began = w.elects.timers[timer{p, t}]
	}
	return w.step(p, core.Input{Kind: core.Expire, Timer: t})
}

func (w *world) note(e trace.Event) {
	if w.observe == nil {
		return
	}
	e.Step, e.At = w.steps, w.now
	w.steps++
	w.observe(e)
}

func (w *world) noteMessage(kind trace.Kind, p, peer core.ID, n int, slot int32) {
	if w.observe == nil { // the fast path asks before it calls
		return
	}
	b := w.net.slots[slot].bytes
	fields, _ := core.DescribeMessage(w.machines[p], w.view.N, b)
	w.note(trace.Event{Kind: kind, Proc: p, Peer: peer, Msg: n, Name: w.spec.Kinds[b[0]], Fields: fields})
}
