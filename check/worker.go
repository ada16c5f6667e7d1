package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/core"
)

// A worker explores the states of a host.
type worker struct {
	*host
	machines []core.Machine
	other    []core.Machine // for the lift test
	out      core.Output
	lifted   core.Output // of the lift test
	twin     core.Twin
	infos    []*blob           // blobs by number, as far as seen here
	times    []uint64          // their logical times
	ids      map[string]*blob  // blobs by content, as far as seen here
	steps    map[uint64]uint32 // what machines do, as far as seen here: indexes effects
	effects  []effect
	maps     map[uint64]uint32 // what blobs become under a mapping
	rules    map[rule]*mapping
	last     *mapping // the mapping used last, and its rule
	lastRule rule
	from, to *global
	spare    *global
	keyBuf   []byte
	buf      []byte
	state    []byte
	exact    bool // the states are concrete: nothing is left open
	longest  int  // letters on one link
	piled    bool // the state has more letters on a link than there should be
	err      error
}

// stepKey numbers a machine in a state together with what happens to it.
func stepKey(state uint32, kind core.InputKind, from core.ID, msg uint32) uint64 {
	return uint64(state)<<36 | uint64(msg)<<12 | uint64(from+1)<<4 | uint64(kind)
}

// maxBlobs is how many different blobs a stepKey and a Step.Class can tell apart.
const maxBlobs = 1 << 22

// An effect is what a machine did.
type effect struct {
	state   uint32
	sends   []sent
	entered bool
	denied  bool
}

type sent struct {
	link uint8
	blob uint32
	idem bool
}

// Worker implements explore.Model.
func (h *host) Worker() explore.Worker {
	w := &worker{
		host: h, ids: map[string]*blob{}, steps: map[uint64]uint32{},
		maps: map[uint64]uint32{}, rules: map[rule]*mapping{},
		from: newGlobal(h.Nodes), to: newGlobal(h.Nodes), spare: newGlobal(h.Nodes),
	}
	for i := range core.ID(h.Nodes) {
		w.machines = append(w.machines, h.birth(i, h.Starts[0]))
		w.other = append(w.other, h.birth(i, h.Starts[0]))
	}
	return w
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
func (w *worker) know(g *global) {
	for i := range g.procs {
		w.info(g.procs[i].blob)
	}
	for i := range g.letters {
		w.info(g.letters[i].blob)
	}
}

// blob returns the blob of a state (of seat) or a message (seat None).
func (w *worker) blob(seat core.ID, bytes []byte) (*blob, error) {
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

// describe finds out about a new blob.
func (w *worker) describe(b *blob) error {
	l := &lister{b: b, n: w.Nodes, spreads: w.Spec.Spreads}
	c := core.VisitTimes(w.Nodes, l)
	if b.seat == core.None {
		if err := w.machines[0].VisitMessage(b.bytes, c); err != nil {
			return err
		}
		b.kind = b.bytes[0]
		mark, err := core.MarkOf(w.machines[0], w.Nodes, b.bytes)
		if err != nil {
			return err
		}
		b.tokens, b.idem = mark.Tokens, mark.Idempotent
		return l.err
	}
	m := w.machines[b.seat]
	if err := m.LoadState(b.bytes); err != nil {
		return err
	}
	m.Visit(c)
	b.tokens = core.Tokens(m, w.Nodes)
	b.clock = m.Clock()
	for d := range core.ID(w.Nodes) {
		if m.Alibi(d) {
			b.alibis |= 1 << d
		}
	}
	return l.err
}

// step returns what the machine of a seat does with an input, running it if
// nobody has before.
func (w *worker) step(state uint32, in core.InputKind, from core.ID, msg uint32) (*effect, error) {
	k := stepKey(state, in, from, msg)
	if i, ok := w.steps[k]; ok {
		return &w.effects[i], nil
	}
	var letter *blob
	if in == core.Receive {
		letter = w.info(msg)
	}
	e, err := w.run(w.info(state), in, from, letter)
	if err != nil {
		return nil, fmt.Errorf("%s: %v: %w", w.Spec.Name, w.info(state).seat, err)
	}
	w.steps[k] = uint32(len(w.effects))
	w.effects = append(w.effects, e)
	return &w.effects[len(w.effects)-1], nil
}

func (w *worker) run(state *blob, in core.InputKind, from core.ID, msg *blob) (effect, error) {
	m := w.machines[state.seat]
	if err := m.LoadState(state.bytes); err != nil {
		return effect{}, err
	}
	input := core.Input{Kind: in, From: from}
	switch {
	case msg != nil:
		input.Bytes = msg.bytes
	case in == core.Hear:
		input.From, input.Time = core.None, uint64(from)
	}
	if err := w.twin.Before(m, w.birth(state.seat, w.Starts[0])); err != nil {
		return effect{}, err
	}
	if err := m.Step(input, &w.out); err != nil {
		return effect{}, err
	}
	if err := w.twin.After(state.seat, input, m, &w.out); err != nil {
		return effect{}, err
	}
	e := effect{entered: w.out.Entered}
	for _, n := range w.out.Notices {
		e.denied = e.denied || n.Kind == core.Denied
	}
	w.state = m.AppendState(w.state[:0])
	if err := w.lift(state, input, msg); err != nil {
		return effect{}, err
	}
	allowed := w.counted(state, input, msg)
	after := slices.Clone(w.state)
	sends := make([][]byte, len(w.out.Sends))
	for i := range sends {
		sends[i] = slices.Clone(w.out.Bytes(i))
	}
	for i, s := range w.out.Sends {
		b, err := w.blob(core.None, sends[i])
		if err != nil {
			return effect{}, err
		}
		if b.times&^allowed != 0 {
			return effect{}, liftError{fmt.Sprintf("a message of %v has a time that was counted up by more than one", state.seat), false}
		}
		e.sends = append(e.sends, sent{uint8(int(state.seat)*w.Nodes + int(s.To)), b.id, b.idem})
	}
	b, err := w.blob(state.seat, after)
	if err != nil {
		return effect{}, err
	}
	if b.times&^allowed != 0 {
		return effect{}, liftError{fmt.Sprintf("%v counts up by more than one in one step", state.seat), false}
	}
	e.state = b.id
	return e, nil
}

// Init implements Worker.
func (w *worker) Init(emit func(state []byte) bool) error {
	if w.Upset {
		return w.initUpset(emit)
	}
	g := w.to
	for _, v := range w.Starts {
		for i := range g.procs {
			b, err := w.blob(core.ID(i), w.birth(core.ID(i), v).AppendState(nil))
			if err != nil {
				return err
			}
			g.procs[i] = proc{blob: b.id, seen: w.Fence, left: uint8(w.Requests)}
			if v.Busy && v.Holder == core.ID(i) {
				g.procs[i].phase = inside
			}
			if g.procs[i].start, err = w.moves(b.id); err != nil {
				return err
			}
		}
		g.letters = g.letters[:0]
		on := true
		w.settle(0, explore.Step{}, func(_ explore.Step, state []byte) { on = on && emit(state) })
		if !on {
			break
		}
	}
	return w.err
}

// moves reports whether a machine does anything at Start.
func (w *worker) moves(state uint32) (bool, error) {
	e, err := w.step(state, core.Start, core.None, 0)
	if err != nil {
		return false, err
	}
	return e.state != state || len(e.sends) > 0 || e.entered, nil
}

// The kinds of steps, as labels number them.
const (
	doAsk = iota
	doLeave
	doStart
	doDeliver
	doDrop
	doKeep // deliver a copy, and keep the letter
	doTell
	doExpire
)

// label numbers a step: what, the process, its peer, and which of the letters
// on the link.
func label(kind int, p, peer core.ID, nth int) uint32 {
	return uint32(kind) | uint32(p)<<4 | uint32(peer)<<8 | uint32(nth)<<12
}

// Next implements Worker.
func (w *worker) Next(state []byte, emit func(s explore.Step, next []byte)) (explore.Broken, error) {
	w.err = nil
	g := w.from
	w.unpack(state, g)
	w.know(g)
	old := w.timesOf(g)
	for p := range core.ID(w.Nodes) {
		if g.procs[p].told {
			w.hurry(p, old, emit)
			return 0, w.err
		}
	}
	waiting, fair := false, len(g.letters) > 0
	for p := range core.ID(w.Nodes) {
		me := &g.procs[p]
		switch me.phase {
		case idle:
			if w.mayAskNow(p) {
				w.ask(p, old, emit)
			}
		case waits:
			waiting = true
		case inside:
			w.leave(p, old, emit)
			fair = true
		}
		if me.start {
			w.start(p, old, emit)
			fair = true
		}
	}
	w.piled = false
	w.deliverAll(old, emit)
	if w.Open {
		w.tell(old, emit)
	}
	if w.Upset {
		w.expire(old, emit)
	}
	broken := w.look(g)
	if waiting && !fair {
		broken |= brokenDeadlock
	}
	if w.piled {
		broken |= brokenChannels
	}
	return broken, w.err
}

// look returns what a state itself breaks.
func (w *worker) look(g *global) explore.Broken {
	var broken explore.Broken
	tokens := 0
	var in, alibis uint32
	for p := range g.procs {
		b := w.infos[g.procs[p].blob]
		tokens += b.tokens
		alibis |= b.alibis
		if g.procs[p].phase == inside {
			in |= 1 << p
		}
	}
	for i := range g.letters {
		tokens += w.infos[g.letters[i].blob].tokens
	}
	if tokens > 1 {
		broken |= brokenToken
	}
	if bits.OnesCount32(in) > 1 {
		broken |= brokenExclusion
	}
	if alibis&in != 0 {
		broken |= brokenAlibi
	}
	return broken
}

// Waiting implements Waits.
func (w *worker) Waiting(state []byte) (waiting, calm uint32) {
	w.unpack(state, w.from)
	for p := range w.from.procs {
		if w.from.procs[p].phase == waits {
			waiting |= 1 << p
		}
	}
	calm = waiting
	for i := range w.from.letters {
		calm &^= 1 << (int(w.from.letters[i].link) / w.Nodes)
	}
	return waiting, calm
}
