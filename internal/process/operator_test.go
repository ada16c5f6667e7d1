package process

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/views"
)

// elsewhere returns the name of a lock whose home is another node.
func (n *node) elsewhere(prefix string) string {
	v := n.Record().View()
	for i := 'a'; ; i++ {
		if name := prefix + string(i); v.Members[v.Home(name)].Inc != n.Inc() {
			return name
		}
	}
}

// places returns where the first effect of each kind is, or -1.
func places(all []Effect, is ...func(e *Effect) bool) []int {
	at := make([]int, len(is))
	for k := range is {
		at[k] = slices.IndexFunc(all, func(e Effect) bool { return is[k](&e) })
	}
	return at
}

func isPacket(e *Effect) bool { return e.Kind == Send && e.Bytes[0] == Packet }

// A lock that an operator takes from its holder is lost there before anything leaves
// the process by which another one could acquire it.
func TestRelease(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b := c.nodes[0], c.nodes[1]
	name := a.elsewhere("x")
	held := a.lock(name)
	token := a.held[held].token
	waits := b.ask(name)
	c.pass(20 * ms)
	for _, in := range []Input{
		{Text: name, Token: member.Token{Epoch: token.Epoch, Count: token.Count + 1}},
		{Text: name}, {Text: "y", Token: token}, {},
	} {
		in.Kind = Release
		if a.step(in); !errors.Is(a.Out.Err, member.ErrNotHeld) {
			t.Errorf("%+v: %v", in, a.Out.Err)
		}
	}
	if b.step(Input{Kind: Release, Text: name, Token: token}); !errors.Is(b.Out.Err, member.ErrNotHeld) {
		t.Errorf("a lock is taken from a holder elsewhere: %v", b.Out.Err)
	}
	a.step(Input{Kind: Release, Text: name, Token: token})
	at := places(a.effects, func(e *Effect) bool { return e.Kind == Notify && e.Event.Cause == member.Released }, isPacket)
	if a.Out.Err != nil || at[0] < 0 || at[1] < 0 || at[0] > at[1] {
		t.Fatalf("%v: the holder learns it by effect %d, another node by %d", a.Out.Err, at[0], at[1])
	}
	if e := a.told[len(a.told)-1]; e.Ticket != held || e.Kind != member.Lost || e.Token != token {
		t.Errorf("the holder is told %+v", e)
	}
	c.until("b holds it", func() bool { return b.held[waits] != nil })
	if a.step(Input{Kind: Unlock, Text: name, Token: token}); !errors.Is(a.Out.Err, member.ErrNotHeld) {
		t.Errorf("a lock that was taken away is released: %v", a.Out.Err)
	}
}

// The same of a lock that a client holds: the frame that tells it is sent first.
func TestReleaseOfClient(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b := c.nodes[0], c.nodes[1]
	name := a.elsewhere("x")
	g := c.call("g", "a")
	held := g.lock(name)
	waits := b.ask(name)
	c.pass(20 * ms)
	c.over(g.held[held]) // it is notified later, which is the risk of a forced release
	a.step(Input{Kind: Release, Text: name, Token: g.held[held].token})
	at := places(a.effects, func(e *Effect) bool { return e.Kind == Reply && session.Kind(e.Bytes[0]) == session.Lost }, isPacket)
	if a.Out.Err != nil || at[0] < 0 || at[1] < 0 || at[0] > at[1] {
		t.Fatalf("%v: the client is told by effect %d, another node by %d", a.Out.Err, at[0], at[1])
	}
	c.until("b holds it, and the client knows", func() bool { return b.held[waits] != nil && len(g.held) == 0 })
	if e := g.told[len(g.told)-1]; e.Kind != session.Taken || e.Cause != member.Released {
		t.Errorf("the client is told %+v", e)
	}
}

// Only a leader does what an operator asks of the view service.
func TestOrders(t *testing.T) {
	c := formed(t, 3, names(4)...)
	lead := c.leader()
	for _, in := range []Input{{Kind: Evict, Number: lead.Inc()}, {Kind: Choose, Choice: central()}, {Kind: Refresh}, {Kind: Resize, Number: 3}} {
		for _, n := range c.nodes {
			if n == lead {
				continue
			}
			if n.step(in); !errors.Is(n.Out.Err, views.ErrNotLeader) {
				t.Errorf("%s, which does not lead, takes %v: %v", n.name, in.Kind, n.Out.Err)
			}
		}
	}
	epoch := lead.Record().Epoch
	if c.pass(4 * lease); lead.Record().Epoch != epoch {
		t.Error("the view is another one, though no leader was asked")
	}
	for _, in := range []Input{{Kind: Evict, Number: 12345}, {Kind: Choose}, {Kind: Resize, Number: 2}, {Kind: Resize}} {
		if lead.step(in); lead.Out.Err == nil || errors.Is(lead.Out.Err, views.ErrNotLeader) {
			t.Errorf("the leader takes %+v: %v", in, lead.Out.Err)
		}
	}
	for _, in := range []Input{{Kind: Refresh}, {Kind: Choose, Choice: central()}, {Kind: Resize, Number: 5}} {
		epoch := c.leader().Record().Epoch
		if c.leader().step(in); c.leader().Out.Err != nil {
			t.Errorf("%v: %v", in.Kind, c.leader().Out.Err)
		}
		c.until("there is another view", func() bool { return c.whole() && c.leader().Record().Epoch > epoch })
	}
	if r := c.leader().Record(); r.Choices[0].Algorithm != "central" || r.Wanted != 5 {
		t.Errorf("%+v", r)
	}
	lead = c.leader()
	lead.step(Input{Kind: Evict, Number: lead.Inc()})
	c.until("the leader is evicted", func() bool { return len(lead.ended) > 0 })
	c.until("it is back", c.whole)
}

// What an operator asks of a process that is not a member, or has ended, is refused.
func TestOrdersRefused(t *testing.T) {
	c := newCluster(t, 1, "a", "b")
	c.nodes[0].boot(true)
	n := c.nodes[1]
	p, err := New(n.config(false))
	if err != nil {
		t.Fatal(err)
	}
	at := member.Instant(0)
	take := func(in Input) error {
		at++
		in.At = at
		p.Step(&in)
		return p.Out.Err
	}
	refused := func(what string, want map[Kind]error) {
		for kind := range Kinds {
			if kind != Start && kind != Leave && kind != Stop && kind != Saved {
				if err := take(Input{Kind: kind, Text: "a", Bytes: []byte{0}}); !errors.Is(err, want[kind]) || err == nil && want[kind] != nil {
					t.Errorf("%s: %v: %v, want %v", what, kind, err, want[kind])
				}
			}
		}
	}
	leader := views.ErrNotLeader
	outside := map[Kind]error{
		Lock: member.ErrGone, Unlock: member.ErrNotHeld, Release: member.ErrGone, Move: member.ErrGone, Trail: member.ErrGone, Evict: leader, Choose: leader, Refresh: leader, Resize: leader,
	}
	refused("before it has started", outside)
	if p.Phase() != Idle || p.Err() != nil {
		t.Fatalf("%v, %v", p.Phase(), p.Err())
	}
	if err := take(Input{Kind: Start}); err != nil {
		t.Fatal(err)
	}
	refused("while it joins", outside)
	if err := take(Input{Kind: Start}); err == nil || !strings.Contains(err.Error(), "b") {
		t.Errorf("it starts twice: %v", err)
	}
	take(Input{Kind: Leave})
	if p.Phase() != Over {
		t.Fatalf("%v", p.Phase())
	}
	for kind := range Kinds + 1 {
		if err := take(Input{Kind: kind}); err != ErrOver || len(p.Out.Effects) > 0 || p.Out.Wake != member.Never {
			t.Errorf("it has ended, and takes %v: %v", kind, err)
		}
	}
}

// A leader does not choose an algorithm that it cannot run: all nodes would fail, and
// fail again when they are started.
func TestChooseUnknown(t *testing.T) {
	c := formed(t, 1, "a", "b")
	for _, choice := range []member.Choice{{Algorithm: "of the future", Version: 1}, {Algorithm: "central", Version: 9}} {
		if c.leader().step(Input{Kind: Choose, Choice: []member.Choice{choice}}); c.leader().Out.Err == nil {
			t.Errorf("%+v is chosen", choice)
		}
	}
	if c.pass(4 * lease); c.nodes[0].down || c.nodes[1].down {
		t.Errorf("%v, %v", c.nodes[0].failed, c.nodes[1].failed)
	}
}

// The choices of an operator are the process's own, whatever the host does with its
// input afterwards.
func TestChoiceKept(t *testing.T) {
	c := formed(t, 1, "a", "b")
	choice := central()
	c.nodes[0].step(Input{Kind: Choose, Choice: choice})
	choice[0].Algorithm = "overwritten"
	epoch := c.nodes[0].view
	c.until("the view is another one", func() bool { return c.nodes[0].down || c.nodes[0].view > epoch })
	if got := c.nodes[0].Record().Choices[0].Algorithm; got != "central" {
		t.Errorf("%q is chosen", got)
	}
}
