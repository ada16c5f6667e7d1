package process

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/views"
)

// A packet is what a link sends: eight numbers, and then the frames.
type packet struct {
	epoch, from, to, got, echo, ask, first, n uint64
	frames                                    []byte // each after its length
}

func parsePacket(b []byte) (p packet) {
	for _, x := range []*uint64{&p.epoch, &p.from, &p.to, &p.got, &p.echo, &p.ask, &p.first, &p.n} {
		v, k := binary.Uvarint(b)
		*x, b = v, b[k:]
	}
	p.frames = b
	return p
}

// message returns a packet as a message.
func (p packet) message() []byte {
	b := []byte{Packet}
	for _, x := range []uint64{p.epoch, p.from, p.to, p.got, p.echo, p.ask, p.first, p.n} {
		b = binary.AppendUvarint(b, x)
	}
	return append(b, p.frames...)
}

// spoil hands a packet with a frame that no member sends to a node, as if it came from
// another one over their link.
func (c *cluster) spoil(n, from *node) {
	c.t.Helper()
	var last packet
	c.sent = func(m *message) {
		if m.from == from.name && m.to == n.name && m.bytes[0] == Packet {
			if p := parsePacket(m.bytes[1:]); p.first+p.n >= last.first+last.n {
				last = p
			}
		}
	}
	for i := range 10 { // so that something is sent
		from.unlock(from.lock(fmt.Sprint("x", i)))
	}
	c.pass(40 * ms)
	c.sent = nil
	if last.epoch != n.view {
		c.t.Fatalf("%s sends nothing to %s", from.name, n.name)
	}
	last.first, last.n, last.frames = last.first+last.n, 1, []byte{1, 0} // of a known kind, and too short
	n.step(Input{Kind: Message, Text: from.name, Bytes: last.message()})
}

// A frame that no member sends, in a well-formed packet, ends the link to its sender until
// the next view. Everything else continues; the view service separates the two, and they
// are linked again later.
func TestMalformedFrameOfMember(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n, o := c.nodes[1], c.nodes[3]
	held := n.lock("held")
	epoch := n.view
	c.spoil(n, o)
	if n.failed != nil || n.Phase() != Member || n.held[held] == nil {
		t.Fatalf("%v", n.failed)
	}
	if len(n.linkEnds) != 1 || len(n.hangUps) > 0 {
		t.Errorf("%d links end, %d connections", len(n.linkEnds), len(n.hangUps))
	}
	c.nodes[0].unlock(c.nodes[0].lock(c.nodes[0].name))
	c.until("there is a view without one of them", func() bool { return n.view > epoch })
	c.until("both are members again", c.whole)
	for _, x := range c.nodes {
		x.unlock(x.lock("y"))
	}
}

// The host learns which link has ended, and why.
func TestLinkEnded(t *testing.T) {
	c := formed(t, 3, names(4)...)
	n, o := c.nodes[1], c.nodes[3]
	c.spoil(n, o)
	if len(n.linkEnds) != 1 || len(n.hangUps) > 0 {
		t.Fatalf("%d links end, %d connections", len(n.linkEnds), len(n.hangUps))
	}
	if e := n.linkEnds[0]; e.To != o.name || e.Peer != o.Inc() || e.Err == nil {
		t.Errorf("%+v", e)
	}
	if c.pass(3 * ms); len(n.linkEnds) != 1 {
		t.Error("the end of a link is reported again")
	}
}

// So it does of a link that is full, because the other end confirms nothing.
func TestLinkFull(t *testing.T) {
	c := newCluster(t, 1, "a", "b", "c")
	for i, n := range c.nodes {
		config := n.config(i == 0)
		config.Links.Bytes = 2000
		n.bootWith(config)
	}
	c.until("all are members", c.whole)
	n, o := c.nodes[1], c.nodes[2]
	c.lost = func(m *message) bool { return m.from == o.name && m.to == n.name && m.bytes[0] == Packet }
	for i := 0; len(n.linkEnds) == 0 && i < 200; i++ {
		n.ask(o.homed(fmt.Sprint("x", i, " ")))
	}
	if len(n.linkEnds) != 1 || n.linkEnds[0].To != o.name || n.failed != nil {
		t.Errorf("%+v, %v", n.linkEnds, n.failed)
	}
}

// homed returns the name of a lock whose home is a node.
func (n *node) homed(prefix string) string {
	v := n.Record().View()
	for i := 'a'; ; i++ {
		if name := prefix + string(i); v.Members[v.Home(name)].Inc == n.Inc() {
			return name
		}
	}
}

// Packets of a view that is not installed yet are kept. Their frames are delivered in
// the step that installs it, after the member's own reports are under way.
func TestEarlyPackets(t *testing.T) {
	c := formed(t, 1, "a", "b", "c")
	n := c.nodes[2]
	n.crash()
	c.observe = true
	n.boot(false)
	c.until("it is back", c.whole)
	for _, o := range c.nodes {
		o.lock("kept by " + o.name)
	}
	c.lost = func(m *message) bool { // until others have sent it their reports
		kind, ok := m.service()
		return ok && kind == views.View && m.to == n.name
	}
	epoch := n.view
	c.nodes[0].step(Input{Kind: Refresh})
	c.until("the others are in another view", func() bool { return c.nodes[1].view > epoch && c.nodes[0].view > epoch })
	c.pass(3 * ms)
	c.lost = nil
	if n.view != epoch {
		t.Fatal("it has the view already")
	}
	c.until("it installs the view", func() bool { return n.view > epoch })
	view, sent, first := -1, -1, -1
	for i := range n.effects {
		switch e := &n.effects[i]; e.Kind {
		case View:
			view = i
		case FrameSent:
			sent = i
		case Delivering:
			if first < 0 {
				first = i
			}
		}
	}
	if view < 0 || first < 0 || sent < view || first < sent && slices.IndexFunc(n.effects, func(e Effect) bool { return e.Kind == FrameSent }) > first {
		t.Errorf("the view is effect %d, a frame is sent by %d, the first one delivered by %d", view, sent, first)
	}
}

// A packet of a newer view has a process fetch that view at once.
func TestNewerViewFetched(t *testing.T) {
	c := formed(t, 1, "a", "b", "c")
	n := c.nodes[2]
	dropped := 0
	c.lost = func(m *message) bool {
		kind, ok := m.service()
		if ok = ok && kind == views.View && m.to == n.name && dropped == 0; ok {
			dropped++
		}
		return ok
	}
	fetches := member.Instant(0)
	newer := member.Instant(0)
	c.sent = func(m *message) {
		if kind, ok := m.service(); ok && kind == views.Fetch && m.from == n.name && fetches == 0 {
			fetches = c.now
		}
		if m.to == n.name && m.bytes[0] == Packet && newer == 0 {
			if epoch, _, _, _ := member.PacketEnds(m.bytes[1:]); epoch > n.view {
				newer = c.now
			}
		}
	}
	epoch := n.view
	c.nodes[0].step(Input{Kind: Refresh})
	c.until("it installs the view", func() bool { return n.view > epoch })
	if dropped != 1 || newer == 0 || fetches != newer+ms {
		t.Errorf("a packet of a newer view is sent at %d, the view fetched at %d", newer, fetches)
	}
}

// Links forget members that have left, although the connection to their address stays: the
// next incarnation uses it.
func TestFormerMembersForgotten(t *testing.T) {
	c := formed(t, 1, "a", "b", "c")
	n := c.nodes[1]
	for range 20 {
		was := len(c.nodes[2].ended)
		c.leader().step(Input{Kind: Evict, Number: c.nodes[2].Inc()})
		c.until("it is evicted", func() bool { return len(c.nodes[2].ended) > was })
		c.until("it is back", c.whole)
	}
	if known := reflect.ValueOf(n.links).Elem().FieldByName("peers").Len(); known != 2 {
		t.Errorf("%d incarnations are kept, and there are 2 other members", known)
	}
}

// Packets for an earlier incarnation at this address are dropped.
func TestFormerIncarnation(t *testing.T) {
	c := formed(t, 1, "a", "b", "c")
	n := c.nodes[1]
	var old [][]byte
	c.sent = func(m *message) {
		if m.to == n.name {
			old = append(old, m.bytes)
		}
	}
	for i := range 5 {
		n.unlock(n.lock(fmt.Sprint("x", i)))
	}
	c.sent = nil
	c.leader().step(Input{Kind: Evict, Number: n.Inc()})
	c.until("it is evicted", func() bool { return len(n.ended) > 0 })
	c.until("it is back", c.whole)
	for _, b := range old {
		n.step(Input{Kind: Message, Text: "a", Bytes: b})
	}
	if n.failed != nil || len(n.ended) != 1 || len(n.hangUps) > 0 {
		t.Errorf("%v, %v, %+v", n.failed, n.ended, n.hangUps)
	}
	n.unlock(n.lock("x0"))
}

// A report of many locks goes out as the links have room for it: they keep less than
// it, and none is full.
func TestManyLocks(t *testing.T) {
	c := newCluster(t, 1, "a", "b", "c")
	for i, n := range c.nodes {
		config := n.config(i == 0)
		config.Links.Bytes, config.Links.Window, config.Limits.Part = 100_000, 20_000, 4000
		n.bootWith(config)
	}
	c.until("all are members", c.whole)
	n, o := c.nodes[1], c.nodes[2]
	var held []member.Ticket
	for i := range 4000 {
		held = append(held, n.ask(fmt.Sprintf("a lock with a name that is rather long, as many are in practice: %d", i)))
		if i%50 == 0 {
			c.pass(2 * ms)
		}
	}
	c.until("all are held", func() bool { return len(n.held) == len(held) })
	waits := o.ask(n.held[held[17]].name)
	c.pass(20 * ms)
	for range 3 {
		epoch := n.view
		c.leader().step(Input{Kind: Refresh})
		c.until("there is another view", func() bool { return c.whole() && n.view > epoch })
	}
	for _, x := range c.nodes {
		x.unlock(x.lock("y"))
		if len(x.linkEnds) > 0 || len(x.ended) > 0 || len(x.lostOnes(member.Lost)) > 0 {
			t.Errorf("%s: %+v, %v", x.name, x.linkEnds, x.ended)
		}
	}
	n.unlock(held[17])
	c.until("the one that waited holds it", func() bool { return o.held[waits] != nil })
}
