package process

import (
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
)

// A byHand is a client whose frames the test sends.
type byHand struct {
	n       *node
	conn    uint64
	session uint64
	heard   map[session.Kind]int
}

// opened begins a session of an identity.
func (n *node) opened(conn uint64, who string, q session.Quota) *byHand {
	n.step(Input{Kind: Opened, Number: conn, Text: who, Quota: q})
	return &byHand{n, conn, n.hello(conn).Session, map[session.Kind]int{}}
}

// claim claims a lock, and counts what the node answers at once.
func (h *byHand) claim(number uint64, name string, t member.Token, through ...uint64) {
	for _, f := range h.n.says(h.conn, session.Frame{Kind: session.Claim, Number: number, Name: name, Token: t, Through: through}) {
		h.heard[f.Kind]++
	}
}

// refreshed begins a view of the same members, with the sessions kept alive.
func (c *cluster) refreshed(all ...*byHand) {
	c.t.Helper()
	epoch := c.nodes[0].view
	c.leader().step(Input{Kind: Refresh})
	for range 20 {
		c.pass(10 * ms)
		for _, h := range all {
			h.n.says(h.conn, session.Frame{Kind: session.Renew, Number: 1})
		}
	}
	for _, n := range c.nodes {
		if n.view <= epoch {
			c.t.Fatalf("%s is in epoch %d", n.name, n.view)
		}
	}
}

// A client that makes up claims gets nothing, and the client that holds the lock keeps it. The
// end of each claim is reported.
func TestForgedClaims(t *testing.T) {
	const holder, other = "client/holder", "client/other"
	for _, name := range []string{"x", "y", "kept/x"} {
		for _, early := range []bool{false, true} {
			for i := range 7 {
				c := newCluster(t, 3, "a", "b", "c")
				c.choices = append(c.choices, member.Choice{Prefix: "kept/", Algorithm: member.Kept(deadlock.None()), Version: 1})
				c.form()
				a, b := c.nodes[0], c.nodes[1]
				mine := a.opened(1000, holder, session.Quota{})
				mine.n.says(mine.conn, session.Frame{Kind: session.Lock, Number: 1, Name: name})
				c.pass(20 * ms)
				check := func() member.Token {
					t.Helper()
					all := mine.n.says(mine.conn, session.Frame{Kind: session.Check, Number: 1})
					if len(all) != 1 || all[0].Kind != session.Held {
						t.Fatalf("%s, case %d, early %v: the holder is told %+v", name, i, early, all)
					}
					return all[0].Token
				}
				token := check()
				higher := member.Token{Epoch: token.Epoch, Count: 999_999_999}
				x := []struct {
					who     string
					token   member.Token
					through []uint64
				}{
					{other, higher, []uint64{a.Inc()}},
					{holder, higher, []uint64{a.Inc()}},
					{other, token, []uint64{a.Inc()}},
					{"", token, []uint64{a.Inc()}},
					{holder, token, []uint64{12345}},
					{other, higher, []uint64{a.Inc(), b.Inc(), c.nodes[2].Inc(), 12345}},
					{other, higher, []uint64{c.nodes[2].Inc(), a.Inc(), b.Inc()}},
				}[i]
				forger := b.opened(2000, x.who, session.Quota{})
				if early {
					forger.claim(1, name, x.token, x.through...)
				}
				c.refreshed(mine, forger)
				if !early {
					forger.claim(1, name, x.token, x.through...)
				}
				c.pass(20 * ms)
				check()
				refused := 0
				for _, n := range c.nodes {
					for _, e := range n.claims {
						if refused++; e.Err == nil || e.Conn != 2000 || e.Client.Who != x.who || e.To != name || e.Event.Token != x.token || e.Peer != x.through[len(x.through)-1] {
							t.Errorf("%s, case %d, early %v: reported %+v", name, i, early, e)
						}
					}
				}
				if refused != 1 || b.clients.Holds() != 0 {
					t.Errorf("%s, case %d, early %v: %d claims are refused, %d locks are held", name, i, early, refused, b.clients.Holds())
				}
			}
		}
	}
}

// Claims through a process that was never a member yield nothing, and those that wait count
// towards the quota.
func TestForgedClaimsBeyondQuota(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	b := c.nodes[1]
	forger := b.opened(2000, "client/other", session.Quota{Locks: 5})
	for i := range uint64(400) {
		forger.claim(1+i, fmt.Sprint("free", i), member.Token{Epoch: b.view, Count: 7}, 12345)
	}
	if forger.heard[session.Over] != 395 {
		t.Errorf("beyond a quota of 5: %v", forger.heard)
	}
	c.refreshed(forger)
	if n := b.clients.Holds(); n != 0 || len(b.claims) != 400 {
		t.Errorf("%d locks are held, and the end of %d claims is reported", n, len(b.claims))
	}
}

// A client that moves by hand keeps its lock, and another client's claim that waits is not in
// its way.
func TestClaimBesideForgedOne(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b := c.nodes[0], c.nodes[1]
	mine := a.opened(1000, "client/holder", session.Quota{})
	mine.n.says(mine.conn, session.Frame{Kind: session.Lock, Number: 1, Name: "x"})
	c.pass(20 * ms)
	token := mine.n.says(mine.conn, session.Frame{Kind: session.Check, Number: 1})[0].Token
	forger, moved := b.opened(2000, "client/other", session.Quota{}), b.opened(2001, "client/holder", session.Quota{Locks: 1})
	forger.claim(1, "x", member.Token{Epoch: token.Epoch, Count: token.Count + 9}, a.Inc())
	moved.claim(1, "x", token, a.Inc())
	c.refreshed(mine, forger, moved)
	if all := b.says(2001, session.Frame{Kind: session.Check, Number: 1}); len(all) != 1 || all[0].Kind != session.Held || all[0].Token != token {
		t.Errorf("the client that has moved is told %+v", all)
	}
	if len(b.claims) != 2 {
		t.Errorf("the end of %d claims is reported", len(b.claims))
	}
}
