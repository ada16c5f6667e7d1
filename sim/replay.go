package sim

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/core"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/trace"
)

// ReplayOptions say how to replay a scenario.
type ReplayOptions struct {
	Until int  // stop once so many events have been recorded; 0 means at the end
	Paged bool // rebuild every machine from its bytes before every step
}

// An Entry is one entry into the critical section.
type Entry struct {
	Proc core.ID
	At   int64 // ticks, or in steps the number of the action
}

// A Playback is what happened when a scenario was run.
type Playback struct {
	Events      []trace.Event
	Entries     []Entry // the holder that is inside from the start is not one
	Messages    int
	ByKind      []int // how many of each of Spec.Kinds
	MaxBypass   int
	Violations  []Violation
	Deadlock    bool           // processes wait for each other for ever
	Differences []Difference   // what came out otherwise than expected
	States      [][]core.Field // of each process, at the end
	Stopped     bool           // by ReplayOptions.Until; then nothing expected was checked

	frame trace.Trace // what a picture needs besides the events
}

// Trace returns the events with what is needed to show them.
func (b *Playback) Trace() *trace.Trace {
	t := b.frame
	t.Events = b.Events
	return &t
}

func frame(spec core.Spec, sc *scenario.Scenario) trace.Trace {
	t := trace.Trace{N: sc.Processes, Title: sc.Title, Algorithm: spec.Name, Kinds: spec.Kinds, Unit: scenario.T}
	if t.Title == "" {
		t.Title = spec.Title
	}
	if sc.Steps {
		t.Unit = 1
	}
	return t
}

// A player runs a scenario.
type player struct {
	sc      *scenario.Scenario
	w       *world
	back    *Playback
	options ReplayOptions
	judge   *judge

	stay    []uint64         // timed: the event that ends each process's stay
	hold    []*scenario.Dist // timed: how long each said it would stay
	leaves  []int            // timed: how many lines still let each leave
	scripts int              // timed: how many actions are still to come
	chance  Rand
	stalled bool // the run was ended since it got nowhere
	cut     bool // the run was ended by the scenario's until
}

// Replay runs a scenario. The spec is what the catalog makes of the
// scenario's algorithm and options. An error means that the scenario cannot be
// run; what came out otherwise than expected is in the Playback.
func Replay(spec core.Spec, sc *scenario.Scenario, options ReplayOptions) (*Playback, error) {
	p, err := newPlayer(spec, sc, options)
	if err == nil {
		err = p.run()
	}
	if err != nil {
		if sc.File != "" {
			return nil, fmt.Errorf("%s: %w", sc.File, err)
		}
		return nil, err
	}
	p.finish()
	return p.back, nil
}

func newPlayer(spec core.Spec, sc *scenario.Scenario, options ReplayOptions) (*player, error) {
	if err := sc.Check(); err != nil {
		return nil, err
	}
	if sc.Transacts() {
		return nil, fmt.Errorf("a scenario with sites is about transactions over several locks, not about a critical section: run it with deadlock/trial")
	}
	if err := spec.Accepts(sc.Processes); err != nil {
		return nil, err
	}
	if err := checkKinds(spec, sc); err != nil {
		return nil, err
	}
	latency, model := sc.Latency, sc.Network
	if sc.Steps {
		latency, model = scenario.Always(1), core.FIFO // the adversary decides, not chance
	}
	view := core.View{N: sc.Processes, Holder: sc.Holder, Busy: sc.Busy}
	w, err := newWorld(spec, view, latency, model, sc.Seed)
	if err != nil {
		return nil, err
	}
	p := &player{
		sc: sc, w: w, options: options, back: &Playback{frame: frame(spec, sc)},
		stay: make([]uint64, view.N), hold: make([]*scenario.Dist, view.N), leaves: make([]int, view.N),
		chance: NewRand(sc.Seed, 1),
	}
	p.judge = newJudge(p)
	p.wire(latency)
	for _, s := range sc.Set {
		if err := core.Assign(w.machines[s.Proc], view.N, s.Field, s.Value); err != nil {
			return nil, at(s.Line, fmt.Errorf("set %v %s %s: %w", s.Proc, s.Field, s.Value, err))
		}
	}
	return p, nil
}

// wire prepares the world for an adversary.
func (p *player) wire(latency scenario.Dist) {
	w := p.w
	w.faults = newFaults(p.sc.Processes)
	w.manual = p.sc.Steps
	w.fifo = p.sc.Network == core.FIFO || p.sc.Network == core.Lossy
	w.net.latency = latency // as it was said, whatever the model
	if len(p.sc.Links) > 0 {
		w.net.setLinks(p.sc.Links)
	}
	if w.fifo {
		w.net.remember() // a message may be delayed, and then those behind it are
	}
	if p.judge.wantsOrder() && w.oracle.order == nil {
		w.oracle.order = newOrder(p.sc.Processes)
	}
	if p.options.Paged {
		w.paged()
	}
	w.observe = func(e trace.Event) { p.back.Events = append(p.back.Events, e) }
	w.onEnter = p.entered
}

// checkKinds refuses names of messages that the algorithm does not have.
func checkKinds(spec core.Spec, sc *scenario.Scenario) error {
	check := func(name string, line int) error {
		if name == "" || slices.Contains(spec.Kinds, name) {
			return nil
		}
		return at(line, fmt.Errorf("%s has no message %q: its messages are %v", spec.Name, name, spec.Kinds))
	}
	for _, a := range sc.Actions {
		if err := check(a.Message, a.Line); err != nil {
			return err
		}
	}
	for _, e := range sc.Expect {
		if e.Kind == scenario.Messages {
			if err := check(e.Name, e.Line); err != nil {
				return err
			}
		}
	}
	return nil
}

// at says on which line of the file an error is.
func at(line int, err error) error {
	if line == 0 {
		return err
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// run lets everything happen.
func (p *player) run() error {
	for _, a := range p.sc.Actions {
		if a.Kind == scenario.Leave {
			p.leaves[a.Proc]++
		}
	}
	if p.sc.Busy && p.w.elects == nil {
		p.w.note(trace.Event{Kind: trace.Enter, Proc: p.sc.Holder})
		p.settle(p.sc.Holder)
	}
	if p.sc.Steps {
		return p.runSteps()
	}
	return p.runTimed()
}

// starts reports whether the scenario says itself who starts when.
func (p *player) starts() bool {
	return slices.ContainsFunc(p.sc.Actions, func(a scenario.Action) bool { return a.Kind == scenario.Start })
}

// enough reports whether the run is to stop here.
func (p *player) enough() bool {
	p.back.Stopped = p.options.Until > 0 && len(p.back.Events) >= p.options.Until
	return p.back.Stopped
}

func (p *player) runSteps() error {
	if !p.starts() {
		for id := range p.w.machines {
			if err := p.w.step(core.ID(id), core.Input{Kind: core.Start}); err != nil {
				return err
			}
		}
	}
	p.judge.after(0)
	for i := range p.sc.Actions {
		if p.enough() {
			return nil
		}
		p.w.now = int64(i) + 1
		if err := p.act(&p.sc.Actions[i]); err != nil {
			return err
		}
		p.judge.after(i + 1)
	}
	return nil
}

// The lines come before what is otherwise due at the same time, so they are
// scheduled first.
func (p *player) runTimed() error {
	w := p.w
	for i, a := range p.sc.Actions {
		w.queue.push(event{at: a.At, arg: int32(i), kind: script})
	}
	p.scripts = len(p.sc.Actions)
	if !p.starts() {
		for id := range w.machines {
			w.queue.push(event{proc: int32(id), kind: start})
		}
	}
	for quiet, seen := 0, 0; len(w.queue.heap) > 0 && !p.enough(); quiet++ {
		if progress := w.meter.entries + w.meter.exits - p.scripts; progress != seen {
			quiet, seen = 0, progress
		}
		if p.stalled = quiet > p.patience(); p.stalled {
			return nil
		}
		next := w.queue.heap[0].at
		if p.cut = p.sc.Until > 0 && next > p.sc.Until; p.cut {
			w.now = p.sc.Until
			return nil
		}
		p.judge.before(next)
		e := w.queue.pop()
		w.now = e.at
		if err := p.happen(e); err != nil {
			return err
		}
	}
	return nil
}

// patience returns how many events the run may see without an entry, an exit
// or a line. A token that runs round for ever would otherwise never end it.
func (p *player) patience() int {
	n, o := p.sc.Processes, p.w.oracle
	if o.nWait == 0 && o.nIn == 0 && p.scripts == 0 && p.w.elects == nil {
		return 20*n + 100
	}
	return 1000 * (n + 10)
}

func (p *player) happen(e event) error {
	w := p.w
	id := core.ID(e.proc)
	if e.kind == script {
		p.scripts--
		return p.act(&p.sc.Actions[e.arg])
	}
	if e.kind == leave && p.stay[id] != e.seq {
		return nil // it has left, or is no more
	}
	if e.kind != deliver && w.faults.holdBack(w, e) {
		return nil
	}
	switch e.kind {
	case deliver:
		return w.deliver(e)
	case leave:
		return p.leave(id)
	case start:
		return w.step(id, core.Input{Kind: core.Start})
	case believe:
		return w.believed(e)
	}
	return w.expire(e)
}

// entered is told that a process is inside.
func (p *player) entered(id core.ID) {
	p.back.Entries = append(p.back.Entries, Entry{id, p.w.now})
	p.judge.entered(id)
	p.settle(id)
}

// settle lets a process that is inside leave when its time is over, unless a
// line will let it leave.
func (p *player) settle(id core.ID) {
	stay := p.hold[id]
	if stay == nil && !p.sc.Manual && p.leaves[id] == 0 {
		stay = &p.sc.Hold
	}
	if stay == nil || p.sc.Steps {
		return
	}
	p.stay[id] = p.w.queue.push(event{at: p.w.now + p.chance.Sample(*stay), proc: int32(id), kind: leave})
}

func (p *player) leave(id core.ID) error {
	p.stay[id] = 0
	return p.w.leave(id)
}

// finish judges the run.
func (p *player) finish() {
	w, b := p.w, p.back
	waiting := w.oracle.nWait
	stuck := w.oracle.nIn == 0 && !p.cut && (p.stalled || len(w.underWay(nil)) == 0 && (!w.manual || len(w.net.timers) == 0))
	if stuck && !b.Stopped {
		b.Deadlock = waiting > 1 && !p.stalled
		w.oracle.ended(w.now)
	}
	if w.elects != nil && stuck && !b.Stopped {
		w.disagreed()
	}
	b.Messages, b.ByKind = w.meter.messages, w.meter.byKind
	b.MaxBypass, b.Violations = w.oracle.bypass, w.oracle.found
	for _, m := range w.machines {
		b.States = append(b.States, core.Describe(m, p.sc.Processes))
	}
	if !b.Stopped {
		b.Differences = p.judge.verdict()
	}
}
