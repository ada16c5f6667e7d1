package model

import (
	"bytes"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/lab/internal/mistake"
)

// Counters that lag behind their anchor. Canonical states do not distinguish how far: such
// a counter becomes equal to the anchor. This is sound if no machine cares, which is
// tested by taking every step again with such counters further behind, and comparing what
// comes of it without regard to how far its counters lag.
//
// Only counters that were seen to lag are moved. Others are equal to the anchor when they
// look so, and an algorithm may rely on that: a process knows the number of its own last
// request. What lags is found out along with the test: a step that copies a counter that
// lags makes another one that does.

// A place is where a counter is: in the states of a seat, or in messages of a kind.
type place struct {
	seat   algorithm.ID // None for a message
	kind   uint8        // kind of the message
	column algorithm.ID
	nth    int // of the counters there
}

// places numbers the counters of one blob. It is part of a visitor.
type places struct{ next place }

func placesOf(seat algorithm.ID, content []byte) places {
	p := places{place{seat: seat}}
	if seat == algorithm.None && len(content) > 0 {
		p.next.kind = content[0]
	}
	return p
}

// step returns the place of the next counter.
func (p *places) step(column algorithm.ID) place {
	p.next.column = column
	p.next.nth++
	return p.next
}

// Time implements host.TimeVisitor.
func (*places) Time(*uint64) {}

// Ticket implements host.TimeVisitor.
func (*places) Ticket(*uint64) {}

// visit shows the counters of a state or a message to v.
func (w *worker) visit(seat algorithm.ID, content []byte, v host.TimeVisitor) (err error) {
	defer w.caught(reading, &err)
	if seat == algorithm.None {
		if err := w.other[0].VisitMessageTimes(content, v); err != nil {
			return mistake.Unreadable("message", err)
		}
		return nil
	}
	m := w.other[seat]
	if err := m.LoadState(content); err != nil {
		return mistake.Unreadable("state", err)
	}
	m.VisitTimes(v)
	return nil
}

// A lagNoter notes which counters of a blob lag behind an anchor.
type lagNoter struct {
	places
	*Model
	anchor []uint64
}

// Seq implements host.TimeVisitor.
func (l *lagNoter) Seq(column algorithm.ID, v *uint64) {
	if p := l.step(column); *v < l.anchor[column] {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lagging[p] = true
	}
}

// Anchor implements host.TimeVisitor: a second anchor must be equal to the first.
func (l *lagNoter) Anchor(column algorithm.ID, v *uint64) {
	if l.step(column); *v != l.anchor[column] {
		l.torn.Store(true)
	}
}

// A lagger moves the counters that it visits up, except that it leaves those behind that
// are equal to the anchor and in a place where counters lag.
type lagger struct {
	places
	lagging map[place]bool
	up      uint64
	way     lagWay
	met     *int // counters left behind so far, in all that is visited
}

// lift is how far the counters of a column are moved up.
func (l *lagger) lift(column algorithm.ID) uint64 { return l.up + uint64(column) }

// Seq implements host.TimeVisitor.
func (l *lagger) Seq(column algorithm.ID, v *uint64) {
	up := l.lift(column)
	if p := l.step(column); *v == 0 && l.lagging[p] {
		up -= min(up, l.way.behind(*l.met))
		*l.met++
	}
	*v += up
}

// Anchor implements host.TimeVisitor.
func (l *lagger) Anchor(column algorithm.ID, v *uint64) {
	l.step(column)
	*v += l.lift(column)
}

// A lagWay is a way to leave counters behind.
type lagWay struct {
	up   uint64 // how far the others are moved up
	by   uint64 // how far counters are left behind
	more uint64 // how much further each of them is than the one before
	only int    // the only one that is; negative if all are
}

// behind returns how far counter i is left behind.
func (l lagWay) behind(i int) uint64 {
	if l.only >= 0 && l.only != i {
		return 0
	}
	return l.by + l.more*uint64(i)
}

// lagWays returns the ways to leave some of n counters behind: all of them, and each alone,
// by little and by much.
func lagWays(n int) []lagWay {
	if n == 0 {
		return nil
	}
	ways := []lagWay{{far, 1, 0, -1}, {far, 1, 1, -1}, {far, 2 * far, 0, -1}, {1, 1, 0, -1}}
	for i := range n {
		ways = append(ways, lagWay{far, 1, 0, i}, lagWay{far, 2 * far, 0, i})
	}
	return ways
}

// lags tests that no machine cares how far counters lag behind their anchor.
func (w *worker) lags(all []taken) error {
	if w.torn.Load() {
		return ClaimError{"two states or messages have Coder.Anchors at the same time that differ: counters can only be measured from one"}
	}
	for known := -1; known != len(w.lagging); { // until no other counter is found to lag
		known = len(w.lagging)
		for i := range all {
			s := &all[i]
			if !s.state.seqs && (s.msg == nil || !s.msg.seqs) || known == 0 {
				continue
			}
			if err := w.cut("Coder.Anchors", i, len(all)); err != nil {
				return err
			}
			if err := w.lag(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// lag takes a step, and again with counters left behind.
func (w *worker) lag(s *taken) error {
	var n int
	count := func(b *blob) error {
		return w.visit(b.seat, b.bytes, &lagger{places: placesOf(b.seat, b.bytes), lagging: w.lagging, met: &n})
	}
	if err := count(s.state); err != nil {
		return err
	}
	if s.msg != nil {
		if err := count(s.msg); err != nil {
			return err
		}
	}
	ways := lagWays(n)
	if ways == nil {
		return nil
	}
	if err := w.step(s.state, s.in, false); err != nil {
		return err
	}
	for _, way := range ways {
		same, err := w.leftBehind(s, way)
		if err != nil {
			return err
		}
		if !same {
			return w.claim(s, "it behaves differently if counters lag further behind, but Coder.Anchors declares that this does not matter")
		}
	}
	return nil
}

// leftBehind takes the step that w has just taken with counters left behind, and reports
// whether the same comes of it.
func (w *worker) leftBehind(s *taken, way lagWay) (same bool, err error) {
	met := 0
	lower := func(b *blob) ([]byte, error) {
		return w.rewrite(b, &lagger{places: placesOf(b.seat, b.bytes), lagging: w.lagging, up: way.up, way: way, met: &met})
	}
	from, err := lower(s.state)
	if err != nil {
		return false, err
	}
	in := s.in
	if s.msg != nil {
		if in.Bytes, err = lower(s.msg); err != nil {
			return false, err
		}
	}
	after, err := w.stepFrom(w.other[s.state.seat], from, in)
	if err != nil {
		return false, err
	}
	// What is compared is relative to the anchors after the step, or before it if they are elsewhere.
	c := lagComparison{worker: w, up: way.up, floor: make([]uint64, w.Seats)}
	for i := range c.floor {
		c.floor[i] = way.up + uint64(i)
	}
	if err := w.visit(s.state.seat, w.state, &floorFinder{c.floor, way.up}); err != nil {
		return false, err
	}
	for i := range w.out.Sends {
		if err := w.visit(algorithm.None, w.out.Bytes(i), &floorFinder{c.floor, way.up}); err != nil {
			return false, err
		}
	}
	same = mistake.Equal(&w.lifted, &w.out, func(low, sent []byte) bool { return c.alike(algorithm.None, low, sent) })
	return same && c.alike(s.state.seat, after, w.state), c.err
}

// A floorFinder finds the anchors after a step, moved up.
type floorFinder struct {
	floor []uint64
	up    uint64
}

// Time implements host.TimeVisitor.
func (*floorFinder) Time(*uint64) {}

// Ticket implements host.TimeVisitor.
func (*floorFinder) Ticket(*uint64) {}

// Seq implements host.TimeVisitor.
func (*floorFinder) Seq(algorithm.ID, *uint64) {}

// Anchor implements host.TimeVisitor.
func (f *floorFinder) Anchor(column algorithm.ID, v *uint64) {
	f.floor[column] = *v + f.up + uint64(column)
}

// A lagComparison compares states and messages without regard to how far their counters
// are behind the floor.
type lagComparison struct {
	*worker
	up    uint64
	floor []uint64
	err   error
}

// alike reports whether low, with counters left behind, is like high, whose counters have
// not been moved up yet. It notes which of the counters lag.
func (c *lagComparison) alike(seat algorithm.ID, low, high []byte) bool {
	l := &raiser{places: placesOf(seat, low), floor: c.floor}
	h := &raiser{places: placesOf(seat, high), floor: c.floor, up: c.up, moves: true}
	a, err := c.rewrite(&blob{seat: seat, bytes: low}, l)
	if err == nil {
		var b []byte
		if b, err = c.rewrite(&blob{seat: seat, bytes: high}, h); err == nil && bytes.Equal(a, b) {
			for i := range l.values {
				if l.values[i] < h.values[i] {
					c.lagging[l.at[i]] = true
				}
			}
			return true
		}
	}
	c.err = err
	return false
}

// A raiser raises the counters that it visits to a floor, after it has moved them up, and
// notes what they were. Anchors stay as they are.
type raiser struct {
	places
	floor  []uint64
	up     uint64
	moves  bool
	values []uint64
	at     []place
}

// Seq implements host.TimeVisitor.
func (r *raiser) Seq(column algorithm.ID, v *uint64) {
	r.Anchor(column, v)
	*v = max(*v, r.floor[column])
}

// Anchor implements host.TimeVisitor.
func (r *raiser) Anchor(column algorithm.ID, v *uint64) {
	if r.moves {
		*v += r.up + uint64(column)
	}
	r.values, r.at = append(r.values, *v), append(r.at, r.step(column))
}
