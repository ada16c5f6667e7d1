package process

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// Messages of a later version that may be ignored are, at each layer.
func TestOptionalMessages(t *testing.T) {
	c := formed(t, 1, "a", "b")
	for _, n := range c.nodes {
		n.step(Input{Kind: Message, Text: "x", Bytes: []byte{0x40, 1, 2}})
		ignored := len(n.effects) == 0
		n.step(Input{Kind: Message, Text: "x", Bytes: []byte{serviceMessage, 0x40, 1, 2}})
		if !ignored || len(n.effects) != 0 || n.failed != nil {
			t.Errorf("%s: %s", n.name, list(n.effects))
		}
	}
}

// Bytes that no node sends have the connection closed that they came by, and nothing
// else.
func TestGarbage(t *testing.T) {
	c := formed(t, 1, "a", "b")
	service, voters := byte(serviceMessage), byte(voterMessage)
	for _, n := range c.nodes {
		inc, epoch := n.Inc(), n.view
		for _, b := range [][]byte{
			nil, {}, {3}, {255, 1, 2}, {Packet}, {Packet, 255}, {service}, {service, 255}, {service, byte(views.Renew)},
			{service, byte(views.View), 1, 1, 1}, {service, byte(views.State), 1, 0, 0},
			bytes.Repeat([]byte{255}, 100), append([]byte{Packet}, bytes.Repeat([]byte{255}, 100)...),
		} {
			n.step(Input{Kind: Message, Text: "x", Bytes: b})
			if len(n.effects) != 1 || n.effects[0].Kind != HangUp || n.effects[0].To != "x" || n.effects[0].Err == nil {
				t.Errorf("%s, %x: %s", n.name, b, list(n.effects))
			}
		}
		n.step(Input{Kind: Message, Text: "x", Bytes: []byte{voters, 255}})
		if refused := len(n.effects) == 1 && n.effects[0].Kind == HangUp; refused != (n.Voter() != nil) {
			t.Errorf("%s, a message to a voter: %s", n.name, list(n.effects))
		}
		if n.failed != nil || n.Inc() != inc || n.view != epoch {
			t.Errorf("%s is harmed: %v", n.name, n.failed)
		}
	}
	c.nodes[0].lock("x")
	c.nodes[1].lock("y")
	n := c.add("c")
	p, err := New(n.config(false))
	if err != nil {
		t.Fatal(err)
	}
	for kind := range Messages + 1 {
		p.Step(&Input{Kind: Message, At: c.now, Text: "a", Bytes: []byte{kind, 1, 2, 3}})
		for _, e := range p.Out.Effects {
			if e.Kind != HangUp {
				t.Errorf("one that has not started answers: %s", list(p.Out.Effects))
			}
		}
	}
}

// A node that has the address of another one, by mistake, harms nothing: what it says
// cannot be what the other one says to itself.
func TestOwnAddress(t *testing.T) {
	for kind := range views.Kind(len(views.KindNames())) {
		c := formed(t, 1, "a", "b")
		for _, n := range c.nodes {
			m := views.Message{Kind: kind, Cluster: 1, Inc: n.Inc(), Number: 1, Nonce: 5, Name: n.name, Address: n.name, Epoch: 1}
			n.step(Input{Kind: Message, Text: n.name, Bytes: append([]byte{serviceMessage}, m.AppendTo(nil)...)})
			if len(n.effects) != 1 || n.effects[0].Kind != HangUp || n.effects[0].To != n.name {
				t.Errorf("%s takes %s from its own address: %s", n.name, kind, list(n.effects))
			}
		}
		c.pass(lease)
		for _, n := range c.nodes {
			if n.down || len(n.ended) > 0 {
				t.Errorf("%s from its own address ends %s: %v, %v", kind, n.name, n.failed, n.ended)
			}
		}
	}
}

// harbor returns processes in several phases: three voters, one of which leads, one
// that joins, one that has not started, and one whose applications keep it from leaving.
// A client has a session on connection 1 of each, if it can.
func harbor(t testing.TB, seen func(m *message)) (*cluster, []*node) {
	c := formed(t, 3, names(5)...)
	c.sent = seen
	leaver := c.nodes[4]
	leaver.lock("x")
	for _, n := range c.nodes {
		n.step(Input{Kind: Frame, Number: 1, Bytes: (&session.Frame{Kind: session.Hello, Number: 1, Protocol: session.Protocol}).AppendTo(nil)})
		n.step(Input{Kind: Frame, Number: 1, Bytes: (&session.Frame{Kind: session.Lock, Number: 1, Name: "y"}).AppendTo(nil)})
	}
	leaver.step(Input{Kind: Leave})
	joins := c.add("f")
	joins.boot(false)
	idle := c.add("g")
	p, err := New(idle.config(false))
	if err != nil {
		t.Fatal(err)
	}
	idle.Process, idle.down = p, true
	c.leader().step(Input{Kind: Refresh})
	c.pass(20 * ms)
	c.leader().step(Input{Kind: Choose, Choice: central()})
	c.pass(4 * ms)
	c.sent = nil
	return c, c.nodes
}

// wellMade reports whether a message is one that a node could send: it is a lie if no
// node has. A process believes what nodes of its cluster say, and may fail by a lie.
func wellMade(b []byte) bool {
	switch {
	case len(b) == 0:
		return false
	case b[0] == serviceMessage:
		m, err := views.ParseMessage(b[1:])
		return err == nil && len(m.Record) > 0
	case b[0] == voterMessage:
		b = b[1:]
		for range 3 { // two voters and the generation
			_, n := binary.Uvarint(b)
			b = b[max(n, 0):]
		}
		return len(b) > 9 && proto.Unmarshal(b[9:], new(pb.Message)) == nil
	}
	return false
}

// FuzzInput hands any bytes to processes in all phases, as messages from any address and
// as frames of clients. Nothing panics; what is malformed only ends its connection; no
// process fails, unless by a well-made lie, and then it sends nothing.
func FuzzInput(f *testing.F) {
	var c *cluster
	var nodes []*node
	c, nodes = harbor(f, func(m *message) { f.Add(false, byte(0), m.bytes) })
	for _, k := range []session.Kind{session.Hello, session.Renew, session.Lock, session.Check, session.Unlock, session.Close, session.Ask} {
		f.Add(true, byte(0), (&session.Frame{Kind: k, Number: 1, Protocol: session.Protocol, Name: "x"}).AppendTo(nil))
	}
	f.Add(false, byte(1), []byte{Packet})
	from := append(names(5), "f", "g", "elsewhere", "")
	f.Fuzz(func(t *testing.T, frame bool, who byte, b []byte) {
		changed := false
		for _, n := range nodes {
			in := Input{Kind: Message, At: c.now, Text: from[int(who)%len(from)], Bytes: bytes.Clone(b)}
			if frame {
				in.Kind, in.Number = Frame, 1+uint64(who)%2
			}
			view, phase := n.Process.view, n.Phase()
			n.Step(&in)
			for i := range n.Out.Effects {
				e := &n.Out.Effects[i]
				if e.Kind == Failed && (frame || !wellMade(b)) {
					t.Fatalf("%s fails by %x: %v", n.name, b, e.Err)
				}
				if (e.Kind == HangUp && (frame || e.To != in.Text) || e.Kind == Cut && (!frame || e.Conn != in.Number)) || e.Kind == Failed && i != len(n.Out.Effects)-1 {
					t.Fatalf("%s, %x: %+v", n.name, b, *e)
				}
			}
			if n.Phase() != phase || n.Process.view != view {
				changed = true
			}
		}
		if changed {
			c, nodes = harbor(t, nil)
		}
	})
}
