package model

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/mistake"
	"github.com/stile-lock/stile/lab/trace"
)

// A worker explores the states of a model.
type worker struct {
	*Model
	machines []algorithm.Machine
	loaded   []uint32            // state that each of them is in
	other    []algorithm.Machine // for the lift test
	out      host.Output
	lifted   host.Output // output of the lift test
	twin     mistake.Twin

	infos []*blob          // blobs by number, as far as seen here
	times []uint64         // their logical times
	ids   map[string]*blob // blobs by content, as far as seen here

	steps   map[uint64]uint32 // what machines do, as far as seen here: index into effects
	effects []effect

	maps   map[uint64]uint32 // what blobs become under a mapping
	rules  map[rule]*mapping
	shifts map[uint64]*mapping // the same, for rules that only have times
	last   *mapping            // most recently used of those, and its times

	lastTimes uint64
	mappings  []*mapping // by number
	counters  []counter  // counters of a state

	classes   map[class]uint32 // fair actions that are not labels: see fair.go
	named     []class          // the same, by number
	renamings map[renaming]uint32
	renamed   []renaming
	retags    []func(t family.Tag) family.Tag // changes of tags in the current step

	from, to, spare *state
	at              *state // state that the Env asks about
	acts            []family.Act
	note            func(a family.Act)
	old             uint64 // times of from
	unsent          *effect
	sender          algorithm.ID
	broken          explore.Broken // by the current step
	enters          int8
	fair            bool // something fair can happen in from
	lost            uint64
	piled           bool
	longest         int // messages on one link

	view spentView // with spent messages removed

	exact   bool   // the states are concrete: nothing is left open
	floor   string // with exact: the last anchors, which canonical states are relative to if there are none any more
	telling bool
	told    []trace.Event
	walking bool          // the steps of machines are noted
	done    []did         // since the current step began
	over    func() string // why to end a validation now, or nothing; nil if nothing ends it

	keyBuf, buf, state []byte
	emit               func(s explore.Step, next []byte)
	err                error // error of the current step
	failed             error // error of the first step out of from that could not be made
}

// Worker implements explore.Model.
func (m *Model) Worker() explore.Worker { return m.worker() }

func (m *Model) worker() *worker {
	w := &worker{
		Model: m, ids: map[string]*blob{}, steps: map[uint64]uint32{}, maps: map[uint64]uint32{},
		rules: map[rule]*mapping{}, shifts: map[uint64]*mapping{}, classes: map[class]uint32{}, renamings: map[renaming]uint32{},
		view: spentView{assumed: map[inFlight]bool{}},
		from: newState(m.Seats, m.Env), to: newState(m.Seats, m.Env), spare: newState(m.Seats, m.Env),
	}
	w.note = func(a family.Act) { w.acts = append(w.acts, a) }
	for i := range algorithm.ID(m.Seats) {
		w.machines = append(w.machines, m.birth(i, m.Starts[0]))
		w.other = append(w.other, m.birth(i, m.Starts[0]))
		w.loaded = append(w.loaded, unloaded)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = append(m.used, w.machines)
	return w
}

// Unwritten returns the names of fields that have changed in what was explored, and are
// missing from Fields: states that differ in them were taken for one. No worker may be
// running.
func (m *Model) Unwritten() []string {
	var names []string
	for _, machines := range m.used {
		for seat, used := range machines {
			names = append(names, mistake.Unwritten(used, m.birth(algorithm.ID(seat), m.Starts[0]))...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unloaded marks a machine whose state has no number.
const unloaded = ^uint32(0)

// load puts the machine of a seat into a state.
func (w *worker) load(b *blob) (algorithm.Machine, error) {
	m := w.machines[b.seat]
	if w.loaded[b.seat] == b.id {
		return m, nil
	}
	w.loaded[b.seat] = unloaded
	if err := m.LoadState(b.bytes); err != nil {
		return nil, mistake.Unreadable("state", err)
	}
	w.loaded[b.seat] = b.id
	return m, nil
}

// info returns a blob by its number.
func (w *worker) info(id uint32) *blob {
	if int(id) < len(w.infos) && w.infos[id] != nil {
		return w.infos[id]
	}
	b := w.blobs.get(id)
	w.remember(b)
	return b
}

func (w *worker) remember(b *blob) {
	for len(w.infos) <= int(b.id) {
		w.infos = append(w.infos, nil)
		w.times = append(w.times, 0)
	}
	w.infos[b.id] = b
	w.times[b.id] = b.times
}

// know makes sure that all blobs of a state have been seen here.
func (w *worker) know(g *state) {
	for i := range g.seats {
		w.info(g.seats[i].blob)
	}
	for i := range g.messages {
		w.info(g.messages[i].blob)
	}
}

// blob returns the blob of a state (of seat) or a message (seat None).
func (w *worker) blob(seat algorithm.ID, bytes []byte) (*blob, error) {
	w.keyBuf = key(w.keyBuf, seat, bytes)
	if b, ok := w.ids[string(w.keyBuf)]; ok {
		return b, nil
	}
	b, err := w.blobs.number(w.keyBuf, w.describe)
	if err != nil {
		return nil, err
	}
	w.ids[string(w.keyBuf)] = b
	w.remember(b)
	return b, nil
}

// describe analyses a new blob.
func (w *worker) describe(b *blob) (err error) {
	defer w.caught(reading, &err)
	l := &lister{b: b, n: w.Seats, form: w.Form}
	if b.seat == algorithm.None {
		if err := w.machines[0].VisitMessageTimes(b.bytes, l); err != nil {
			return mistake.Unreadable("message", err)
		}
		mark, err := w.machines[0].Mark(b.bytes)
		if err != nil {
			return err
		}
		b.tokens, b.idem = mark.Tokens, mark.Idempotent && !w.Copies && w.Comebacks == 0 // who comes back has forgotten the first copy
		return l.err
	}
	w.loaded[b.seat] = unloaded
	m := w.machines[b.seat]
	if err := m.LoadState(b.bytes); err != nil {
		return mistake.Unreadable("state", err)
	}
	m.VisitTimes(l)
	b.tokens = m.Tokens()
	for d := range algorithm.ID(w.Seats) {
		if m.Alibi(d) {
			b.alibis |= 1 << d
		}
	}
	return l.err
}

// Init implements explore.Worker.
func (w *worker) Init(emit func(state []byte) bool) error {
	w.err, w.old, w.at = nil, 0, w.to
	w.from.timers = w.from.timers[:0]
	on := true
	w.emit = func(_ explore.Step, state []byte) { on = on && emit(state) }
	if w.Upset {
		return w.initUpset(&on)
	}
	for _, v := range w.Starts {
		g := w.bear()
		for i := range g.seats {
			b, err := w.newborn(algorithm.ID(i), v)
			if err != nil {
				return fmt.Errorf("%s: %v: %w", w.Spec.Name, algorithm.ID(i), err)
			}
			g.seats[i] = seat{blob: b.id}
		}
		g.env.Begin(w, v)
		if w.err == nil {
			w.settle(explore.Step{})
		}
		if w.err != nil || !on {
			break
		}
	}
	return w.err
}

// newborn returns the state of a newly created machine.
func (w *worker) newborn(seat algorithm.ID, v algorithm.View) (*blob, error) {
	state, err := w.bornAs(seat, v)
	if err != nil {
		return nil, err
	}
	return w.blob(seat, state)
}

// bornAs returns the encoded state of a newly created machine.
func (w *worker) bornAs(seat algorithm.ID, v algorithm.View) (state []byte, err error) {
	defer w.caught(func() string { return "at its birth" }, &err)
	return w.birth(seat, v).AppendState(nil), nil
}

// bear makes w.to a state in which nothing has happened yet.
func (w *worker) bear() *state {
	g := w.to
	g.messages, g.timers = g.messages[:0], g.timers[:0]
	g.crashes, g.comebacks, g.errors, g.losses = uint8(w.Crashes), uint8(w.Comebacks), 0, uint8(w.Losses)
	if w.Wrong {
		g.errors = 1
	}
	return g
}

// initUpset emits every combination of the states that machines may be found in.
func (w *worker) initUpset(on *bool) error {
	w.eachStart(func(pick [][]byte) bool {
		g := w.bear()
		for i, bytes := range pick {
			b, err := w.blob(algorithm.ID(i), bytes)
			if err != nil {
				w.err = err
				return false
			}
			g.seats[i] = seat{blob: b.id}
		}
		g.env.Begin(w, algorithm.View{N: w.Seats})
		if w.err == nil {
			w.settle(explore.Step{})
		}
		return w.err == nil && *on
	})
	return w.err
}

// eachStart calls f with every combination of the states that machines may be found in,
// as long as f returns true. There may be very many, so none is kept.
func (m *Model) eachStart(f func(pick [][]byte) bool) {
	pick := make([][]byte, m.Seats)
	var choose func(i int) bool
	choose = func(i int) bool {
		if i == len(pick) {
			return f(pick)
		}
		for state := range m.Spec.Upset(algorithm.ID(i), m.Seats) {
			pick[i] = state
			if !choose(i + 1) {
				return false
			}
		}
		return true
	}
	choose(0)
}

// Waiting implements explore.Waits.
func (w *worker) Waiting(state []byte) (waiting, calm uint32) {
	g := w.from
	w.unpack(state, g)
	for i, p := range w.Waiters {
		if g.env.Waits(p) {
			waiting |= 1 << min(i, maxWaiters-1)
		}
	}
	switch {
	case w.Settles:
		if waiting != 0 {
			waiting = 1 << Unsettled
		}
		return waiting | 1<<Always, 0
	case w.Upset:
		in := 0
		for p := range algorithm.ID(w.Seats) {
			if g.env.Inside(p) {
				in++
			}
		}
		if in > 1 {
			waiting |= 1 << TwoInside
		}
	}
	calm = waiting
	for i := range g.messages {
		from, _ := w.ends(&g.messages[i])
		if bit := slices.Index(w.Waiters, from); bit >= 0 && !w.Sites {
			calm &^= 1 << bit
		}
	}
	return waiting, calm
}

// Bits of the waiting set of a state, besides those of Config.Waiters.
const (
	Unsettled = 0  // with Settles: some application waits
	Always    = 1  // with Settles: set in every state
	Mark      = 30 // for the builder of a graph
	TwoInside = 31 // with Upset: two are inside
)

func (w *worker) fail(seat algorithm.ID, err error) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %v: %w", w.Spec.Name, seat, err)
	}
}
