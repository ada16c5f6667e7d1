package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// sessionWorld is members on hostile connections. What a connection carries is
// in order while it lives, unless the world is lossy; when it breaks, some of
// what was under way is lost and the rest comes late, in any order, twice.
type sessionWorld struct {
	r      *rand.Rand
	limits LinkLimits
	lossy  bool
	heavy  bool // some frames are large
	now    Instant
	epoch  uint64 // the latest view's
	incs   uint64 // how many there have been
	views  []View
	nodes  []*sessionNode
	wires  map[[2]uint64]*sessionWire // by sender and receiver
	sent   map[sessionKey]uint64      // frames
	came   map[sessionKey]uint64
}

type sessionNode struct {
	inc   uint64
	epoch uint64
	s     *Links
}

type sessionKey struct{ epoch, from, to uint64 }

type sessionWire struct {
	whole bool
	queue [][]byte
	late  [][]byte
}

func newSessionWorld(seed uint64) *sessionWorld {
	w := &sessionWorld{
		r:      rand.New(rand.NewPCG(seed, 7)),
		limits: LinkLimits{Bytes: 4 << 20, Early: 400, Patience: 40, Complain: 4000},
		wires:  map[[2]uint64]*sessionWire{}, sent: map[sessionKey]uint64{}, came: map[sessionKey]uint64{},
	}
	if w.lossy, w.heavy = w.r.IntN(3) == 0, w.r.IntN(3) == 0; w.heavy {
		w.limits.Early = 50_000
	}
	for range 2 + w.r.IntN(3) {
		w.boot()
	}
	w.commit()
	return w
}

func (w *sessionWorld) boot() {
	w.incs++
	n := &sessionNode{inc: w.incs, s: NewLinks(w.incs, w.limits)}
	w.nodes = append(w.nodes, n)
}

func (w *sessionWorld) commit() {
	w.epoch++
	v := View{Epoch: w.epoch}
	for _, n := range w.nodes {
		v.Members = append(v.Members, Who{"m", n.inc})
	}
	w.views = append(w.views, v)
}

func (w *sessionWorld) node() *sessionNode { return w.nodes[w.r.IntN(len(w.nodes))] }

func (w *sessionWorld) pair() (a, b *sessionNode) {
	i := w.r.IntN(len(w.nodes))
	j := (i + 1 + w.r.IntN(len(w.nodes)-1)) % len(w.nodes)
	return w.nodes[i], w.nodes[j]
}

func (w *sessionWorld) wire(from, to uint64) *sessionWire {
	x := w.wires[[2]uint64{from, to}]
	if x == nil {
		x = &sessionWire{}
		w.wires[[2]uint64{from, to}] = x
	}
	return x
}

// install lets a member go to some view that is newer than its own.
func (w *sessionWorld) install(n *sessionNode, v View) error {
	if v.Epoch <= n.epoch || v.Rank(n.inc) < 0 {
		return nil
	}
	n.epoch = v.Epoch
	if err := n.s.Install(w.now, v); err != nil {
		return err
	}
	w.send(n, v.Members[w.r.IntN(len(v.Members))].Inc) // what goes first
	if w.r.IntN(4) == 0 {
		return nil // Receive hands it out
	}
	n.s.Early(w.now, w.expect(n))
	return w.ended(n)
}

// ended returns why a link has ended: none should.
func (w *sessionWorld) ended(n *sessionNode) error {
	for _, e := range n.s.Ended() {
		return fmt.Errorf("the link from %d to %d has ended: %w", n.inc, e.Peer, e.Why)
	}
	return nil
}

// send sends a frame that says what it is.
func (w *sessionWorld) send(n *sessionNode, to uint64) {
	if n.epoch == 0 || to == n.inc || w.views[n.epoch-1].Rank(to) < 0 {
		n.s.Send(to, nil) // it is dropped
		return
	}
	k := sessionKey{n.epoch, n.inc, to}
	w.sent[k]++
	var f writer
	f.number(k.epoch)
	f.number(w.sent[k])
	size := w.r.IntN(40)
	if w.heavy && w.r.IntN(3) == 0 {
		size = w.r.IntN(maxPacket)
	}
	f = append(f, bytes.Repeat([]byte{byte(w.sent[k])}, size)...)
	n.s.Send(to, f)
	clear(f) // it is the caller's again
}

// expect takes the frames that come to a member: each once, in order, of its
// epoch. Some are answered.
func (w *sessionWorld) expect(n *sessionNode) func(from uint64, f []byte) error {
	return func(from uint64, f []byte) error {
		epoch, size := binary.Uvarint(f)
		number, more := binary.Uvarint(f[size:])
		for _, x := range f[size+more:] {
			if x != byte(number) {
				return errors.New("bytes have changed")
			}
		}
		k := sessionKey{epoch, from, n.inc}
		w.came[k]++
		if epoch != n.epoch || number != w.came[k] {
			return fmt.Errorf("frame %d of epoch %d from %d came to %d as number %d in epoch %d", number, epoch, from, n.inc, w.came[k], n.epoch)
		}
		if w.r.IntN(8) == 0 {
			w.send(n, from)
		}
		return nil
	}
}

// pump puts what a member has to send on its wires.
func (w *sessionWorld) pump(n *sessionNode) error {
	for i := 0; ; i++ {
		to, p, ok := n.s.Next(w.now, nil)
		if !ok {
			return nil
		}
		if i > 10_000 {
			return fmt.Errorf("%d sends for ever", n.inc)
		}
		if x := w.wire(n.inc, to); x.whole {
			x.queue = append(x.queue, p)
		}
	}
}

// carry lets one packet arrive.
func (w *sessionWorld) carry(a, b *sessionNode) error {
	x := w.wire(a.inc, b.inc)
	if len(x.late) > 0 && w.r.IntN(3) == 0 {
		i := w.r.IntN(len(x.late))
		p := x.late[i]
		if w.r.IntN(2) == 0 {
			x.late = slices.Delete(x.late, i, i+1)
		}
		return w.receive(b, p)
	}
	if len(x.queue) == 0 {
		return nil
	}
	i := 0
	if w.lossy {
		i = w.r.IntN(min(2, len(x.queue)))
	}
	p := x.queue[i]
	chance := 9
	if w.lossy {
		chance = w.r.IntN(10)
	}
	if chance != 1 { // else it comes again
		x.queue = slices.Delete(x.queue, i, i+1)
	}
	if chance == 0 {
		return nil // it is lost
	}
	return w.receive(b, p)
}

func (w *sessionWorld) receive(n *sessionNode, p []byte) error {
	if err := n.s.Receive(w.now, p, w.expect(n)); err != nil {
		return fmt.Errorf("at %d: %w", n.inc, err)
	}
	if err := w.ended(n); err != nil {
		return err
	}
	for _, p := range n.s.peers {
		if p.link != nil && (len(p.link.kept)-p.link.head > w.limits.Bytes || cap(p.link.kept) > 4*w.limits.Bytes) || len(p.early.packets) > w.limits.Early {
			return fmt.Errorf("%d keeps more for %d than its limits", n.inc, p.inc)
		}
	}
	return nil
}

// cut breaks the connection of two members; each notices, or not yet.
func (w *sessionWorld) cut(a, b *sessionNode) {
	for _, x := range []*sessionWire{w.wire(a.inc, b.inc), w.wire(b.inc, a.inc)} {
		x.whole = false
		for _, p := range x.queue {
			if w.r.IntN(2) == 0 && len(x.late) < 8 {
				x.late = append(x.late, p)
			}
		}
		x.queue = nil
	}
	if w.r.IntN(2) == 0 {
		a.s.Down(w.now, b.inc)
	}
	if w.r.IntN(2) == 0 {
		b.s.Down(w.now, a.inc)
	}
}

// join makes a connection between two members.
func (w *sessionWorld) join(a, b *sessionNode) {
	w.cut(a, b)
	w.wire(a.inc, b.inc).whole, w.wire(b.inc, a.inc).whole = true, true
	a.s.Up(w.now, b.inc)
	b.s.Up(w.now, a.inc)
}

// restart makes a member another incarnation.
func (w *sessionWorld) restart() {
	i := w.r.IntN(len(w.nodes))
	w.nodes = slices.Delete(w.nodes, i, i+1)
	w.boot()
	w.commit()
}

func (w *sessionWorld) step() error {
	w.now += Instant(w.r.IntN(8))
	a, b := w.pair()
	switch k := w.r.IntN(100); {
	case k < 30:
		w.send(a, b.inc)
	case k < 50:
		return w.pump(a)
	case k < 85:
		return w.carry(a, b)
	case k < 88:
		w.cut(a, b)
	case k < 93:
		w.join(a, b)
	case k < 94:
		a.s.Up(w.now, b.inc) // it believes so
	case k < 95 && w.r.IntN(3) == 0:
		w.commit()
	case k < 96 && w.r.IntN(8) == 0:
		w.restart()
	case k < 99:
		n := w.node()
		return w.install(n, w.views[w.r.IntN(len(w.views))])
	}
	return nil
}

// heal ends all faults: all members are in the last view, and no packet is lost.
func (w *sessionWorld) heal() error {
	w.lossy = false
	for i, a := range w.nodes {
		for _, b := range w.nodes[:i] {
			w.join(a, b)
		}
	}
	for _, n := range w.nodes {
		if err := w.install(n, w.views[w.epoch-1]); err != nil {
			return err
		}
	}
	for range 10_000 {
		busy := false
		for _, a := range w.nodes {
			if err := w.pump(a); err != nil {
				return err
			}
			for _, b := range w.nodes {
				if a == b {
					continue
				}
				busy = busy || len(w.wire(a.inc, b.inc).queue)+len(w.wire(a.inc, b.inc).late) > 0
				if err := w.carry(a, b); err != nil {
					return err
				}
			}
		}
		if !busy {
			next := Never
			for _, n := range w.nodes {
				next = min(next, n.s.Wake())
			}
			if next == Never {
				return w.silent()
			}
			w.now = max(w.now, next)
		}
	}
	return errors.New("it does not fall silent")
}

// silent checks the outcome, now that nothing more is sent.
func (w *sessionWorld) silent() error {
	for _, a := range w.nodes {
		for _, b := range w.nodes {
			if k := (sessionKey{w.epoch, a.inc, b.inc}); w.sent[k] != w.came[k] {
				return fmt.Errorf("of %d frames from %d to %d in the last epoch %d came", w.sent[k], a.inc, b.inc, w.came[k])
			}
		}
		if all := a.s.Complaints(w.now + 1_000_000); len(all) > 0 || a.s.Newer() != 0 {
			return fmt.Errorf("%d complains about %v, and knows of epoch %d", a.inc, all, a.s.Newer())
		}
		if len(a.s.peers) != len(w.nodes)-1 && w.incs == uint64(len(w.nodes)) {
			return fmt.Errorf("%d knows %d others", a.inc, len(a.s.peers))
		}
		for _, p := range a.s.peers {
			if p.link != nil && len(p.link.kept) > 0 || len(p.early.packets) > 0 {
				return fmt.Errorf("%d keeps something for %d", a.inc, p.inc)
			}
		}
	}
	return nil
}

func stormSessions(seed uint64) error {
	w := newSessionWorld(seed)
	for range 400 + w.r.IntN(400) {
		if err := w.step(); err != nil {
			return err
		}
	}
	return w.heal()
}

// Whatever connections do, frames arrive once, in order and in their epoch; when
// connections are whole all of them have come, and there is silence.
func TestSessions(t *testing.T) {
	seeds := uint64(4000)
	if !nightly.On() {
		seeds = 400
	}
	for seed := range seeds {
		if err := stormSessions(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
