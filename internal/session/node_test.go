package session

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

const ms = member.Millisecond

// A node is a cluster of one: a member that learns at once that it may act, and its server.
type node struct {
	t       testing.TB
	now     member.Instant
	inc     uint64
	m       *member.Member
	d       *Server
	drawn   uint64
	mute    bool // its renewals are not confirmed
	sent    []Sent
	last    []uint64 // connections that it has closed
	shown   []string // names of locks with values that have changed
	strange []member.Event
}

func settings() member.Settings {
	s := member.Usual()
	s.Lease, s.Renew = 1000*ms, 150*ms
	return s
}

func newNode(t testing.TB) *node {
	n := &node{t: t, now: 1}
	n.d = NewServer(ServerConfig{Draw: n.draw})
	n.start(0)
	return n
}

func (n *node) draw() (uint64, Secret) {
	n.drawn++
	return n.drawn, Secret{0: byte(n.drawn), 1: byte(n.drawn >> 8), 2: 77}
}

// start starts another member in the place of the one before, whose lease others wait
// for.
func (n *node) start(rest member.Span) {
	n.inc++
	m, err := member.New(member.Config{Inc: n.inc, Settings: settings(), Spec: func(string, int) (algorithm.Spec, error) { return mutex.NaimiTrehel(), nil }})
	if err != nil {
		n.t.Fatal(err)
	}
	n.m = m
	n.d.Rekey(n.inc, []ticket.Key{{Epoch: 1, Secret: [32]byte{7}}})
	v := member.View{Epoch: n.inc, Members: []member.Who{{Name: "n", Inc: n.inc}}, Choices: []member.Choice{{Algorithm: "naimi-trehel"}, {Prefix: "k/", Algorithm: "kept:wound-wait", Version: 1}}}
	if n.inc > 1 {
		v.BeforeEpoch, v.Before, v.Ghosts = n.inc-1, []uint64{n.inc - 1}, []member.Ghost{{Inc: n.inc - 1, Rest: rest}}
	}
	if err := m.Install(n.now, v); err != nil {
		n.t.Fatal(err)
	}
	n.take()
}

// take does what the member and the server want done, but for what is sent to clients.
func (n *node) take() {
	for range 4 {
		for len(n.m.Out.Events) > 0 || n.m.Out.Renew != 0 {
			out := n.m.Out
			n.m.Out = member.Out{Wake: out.Wake}
			for i := range out.Events {
				if !n.d.Told(&out.Events[i]) {
					n.strange = append(n.strange, out.Events[i])
				}
			}
			if out.Renew != 0 && !n.mute {
				n.m.Renewed(n.now, out.Renew)
			}
		}
		if n.d.Out.Wake <= n.now {
			n.d.Wake(n.now, n.m)
		}
	}
	for _, s := range n.d.Out.Frames {
		if len(s.Bytes) > 0 {
			n.sent = append(n.sent, Sent{s.Conn, slices.Clone(s.Bytes), s.Last})
		}
		if s.Last {
			n.last = append(n.last, s.Conn)
		}
	}
	n.shown = append(n.shown, n.d.Out.Shown...)
	n.d.Out.Reset()
}

// wake lets time pass.
func (n *node) wake(to member.Instant) {
	for n.now < to {
		n.now = min(to, max(n.now+1, min(n.m.Out.Wake, n.d.Out.Wake)))
		n.m.Wake(n.now)
		n.take()
	}
}

// says hands in a frame of a client.
func (n *node) says(conn uint64, f Frame) {
	n.t.Helper()
	if err := n.d.Receive(n.now, n.m, conn, f.AppendTo(nil)); err != nil {
		n.t.Fatal(err)
	}
	n.take()
}

// hears returns what was sent on a connection since.
func (n *node) hears(conn uint64) []Frame {
	n.t.Helper()
	var all []Frame
	n.sent = slices.DeleteFunc(n.sent, func(s Sent) bool {
		if s.Conn != conn {
			return false
		}
		f, err := Parse(s.Bytes)
		if err != nil {
			n.t.Fatal(err)
		}
		all = append(all, f)
		return true
	})
	return all
}

// hello begins a session on a connection, or continues one.
func (n *node) hello(conn uint64, old Frame) Frame {
	n.t.Helper()
	n.says(conn, Frame{Kind: Hello, Number: conn, Protocol: Protocol, Session: old.Session, Secret: old.Secret})
	all := n.hears(conn)
	if len(all) == 0 || all[0].Kind != Welcome {
		n.t.Fatalf("no welcome: %+v", all)
	}
	return all[0]
}

// expect compares the kinds and numbers of frames with what is wanted.
func expect(t testing.TB, what string, got []Frame, want ...Frame) {
	t.Helper()
	for i := range got {
		got[i].Nodes = nil
		if got[i].Kind == Held {
			got[i].Token = member.Token{}
		}
	}
	if !slices.EqualFunc(got, want, func(a, b Frame) bool {
		return a.Kind == b.Kind && a.Number == b.Number && a.Why == b.Why && a.OK == b.OK && a.Cause == b.Cause
	}) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}
