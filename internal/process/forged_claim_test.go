package process

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/ticket"
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

// claim claims a lock with a ticket, and counts what the node answers at once.
func (h *byHand) claim(number uint64, name string, count uint64, proof []byte) {
	for _, f := range h.n.says(h.conn, session.Frame{Kind: session.Claim, Number: number, Name: name, Count: count, Ticket: proof}) {
		h.heard[f.Kind]++
	}
}

// holds acquires a lock, and returns the frame that grants it.
func (h *byHand) holds(number uint64, name string) session.Frame {
	h.n.says(h.conn, session.Frame{Kind: session.Lock, Number: number, Name: name})
	h.n.c.pass(20 * ms)
	all := h.n.says(h.conn, session.Frame{Kind: session.Check, Number: number})
	if len(all) != 1 || all[0].Kind != session.Held {
		h.n.c.t.Fatalf("%s is told %+v", name, all)
	}
	all[0].Ticket = bytes.Clone(all[0].Ticket)
	return all[0]
}

// proof returns a ticket that the cluster could have made.
func (n *node) proof(who, name string, t member.Token, through ...uint64) []byte {
	var o ticket.Office
	o.Set(n.Record().Cluster, n.Record().Keys)
	return o.AppendTo(nil, &ticket.Ticket{Token: t, Last: t.Count, Through: through}, who, name)
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

// A client that makes up claims, or shows tickets that are not its own, gets nothing, and the
// client that holds the lock keeps it. The end of each claim is reported.
func TestForgedClaims(t *testing.T) {
	const holder, other = "client/holder", "client/other"
	for _, name := range []string{"x", "y", "kept/x"} {
		for _, early := range []bool{false, true} {
			for i := range 10 {
				c := newCluster(t, 3, "a", "b", "c")
				c.choices = append(c.choices, member.Choice{Prefix: "kept/", Algorithm: member.Kept(deadlock.None()), Version: 1})
				c.form()
				a, b := c.nodes[0], c.nodes[1]
				mine, theirs := a.opened(1000, holder, session.Quota{}), a.opened(1001, other, session.Quota{})
				held, own := mine.holds(1, name), theirs.holds(1, "own")
				flipped := bytes.Clone(held.Ticket)
				flipped[3] ^= 1
				var foreign, keyless ticket.Office
				foreign.Set(a.Record().Cluster+1, a.Record().Keys)
				keyless.Set(a.Record().Cluster, []ticket.Key{{Epoch: a.Record().Keys[0].Epoch}})
				higher := ticket.Ticket{Token: member.Token{Epoch: held.Token.Epoch, Count: 999_999_999}, Last: 999_999_999, Through: []uint64{a.Inc()}}
				x := []struct {
					what  string
					who   string
					count uint64
					proof []byte
				}{
					{"the holder's ticket", other, held.Token.Count, held.Ticket},
					{"the holder's ticket, without an identity", "", held.Token.Count, held.Ticket},
					{"a ticket of another lock", other, own.Token.Count, own.Ticket},
					{"a changed ticket", holder, held.Token.Count, flipped},
					{"a higher count", holder, held.Token.Count + 1, held.Ticket},
					{"a lower count", holder, held.Token.Count - 1, held.Ticket},
					{"a ticket of another cluster", other, higher.Last, foreign.AppendTo(nil, &higher, other, name)},
					{"a ticket under another key", other, higher.Last, keyless.AppendTo(nil, &higher, other, name)},
					{"no ticket", other, held.Token.Count, nil},
					{"zeros", other, held.Token.Count, make([]byte, len(held.Ticket))},
				}[i]
				forger := b.opened(2000, x.who, session.Quota{})
				if early {
					forger.claim(1, name, x.count, x.proof)
				}
				c.refreshed(mine, forger)
				if !early {
					forger.claim(1, name, x.count, x.proof)
				}
				c.pass(20 * ms)
				if all := a.says(1000, session.Frame{Kind: session.Check, Number: 1}); len(all) != 1 || all[0].Kind != session.Held || all[0].Token != held.Token {
					t.Errorf("%s, %s, early %v: the holder is told %+v", name, x.what, early, all)
				}
				refused := 0
				for _, n := range c.nodes {
					for _, e := range n.claims {
						if refused++; e.Err == nil || e.Conn != 2000 || e.Client.Who != x.who || e.To != name {
							t.Errorf("%s, %s, early %v: reported %+v", name, x.what, early, e)
						}
					}
				}
				if refused != 1 || forger.heard[session.Lost] != 1 || b.clients.Holds() != 0 {
					t.Errorf("%s, %s, early %v: %d claims are refused, %d locks are held; heard %v", name, x.what, early, refused, b.clients.Holds(), forger.heard)
				}
			}
		}
	}
}

// Old tickets of a client's own: of a lock that it has released yields nothing while its member
// is alive, and those that wait count towards the quota.
func TestClaimsBeyondQuota(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	b := c.nodes[1]
	forger := b.opened(2000, "client/other", session.Quota{Locks: 5})
	for i := range uint64(400) {
		name := fmt.Sprint("free", i)
		forger.claim(1+i, name, 7, b.proof("client/other", name, member.Token{Epoch: b.view, Count: 7}, c.nodes[0].Inc()))
	}
	if forger.heard[session.Over] != 395 {
		t.Errorf("beyond a quota of 5: %v", forger.heard)
	}
	c.refreshed(forger)
	if n := b.clients.Holds(); n != 0 || len(b.claims) != 400 {
		t.Errorf("%d locks are held, and the end of %d claims is reported", n, len(b.claims))
	}
}

// A client moves by hand with its ticket, and moves on with the one that it has got for it. When
// the key is replaced, it gets another one.
func TestMovesByTicket(t *testing.T) {
	c := formed(t, 3, "a", "b", "c")
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	mine := a.opened(1000, "client/holder", session.Quota{})
	held := mine.holds(1, "x")
	moved, again := b.opened(2000, "client/holder", session.Quota{}), d.opened(2001, "client/holder", session.Quota{})
	moved.claim(1, "x", held.Token.Count, held.Ticket)
	c.refreshed(mine, moved, again)
	now := b.says(2000, session.Frame{Kind: session.Check, Number: 1})
	if len(now) != 1 || now[0].Kind != session.Held || now[0].Token != held.Token || bytes.Equal(now[0].Ticket, held.Ticket) {
		t.Fatalf("the client that has moved is told %+v", now)
	}
	proof := bytes.Clone(now[0].Ticket)
	a.says(1000, session.Frame{Kind: session.Unlock, Number: 1})
	again.claim(1, "x", held.Token.Count, proof)
	c.refreshed(moved, again)
	if now = d.says(2001, session.Frame{Kind: session.Check, Number: 1}); len(now) != 1 || now[0].Kind != session.Held || now[0].Token != held.Token {
		t.Errorf("the client that has moved on is told %+v", now)
	}
}
