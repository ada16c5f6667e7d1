package member

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// Identities of the client that holds the lock, and of another one.
const (
	honest  = "client/honest"
	hostile = "client/hostile"
)

// A forgery is a claim that no member may honour while the lock is held.
type forgery struct {
	what    string
	who     string
	token   Token
	through []uint64
}

// identify begins sessions of the honest client at a and b, and of a hostile one at b.
func (c *claimed) identify() {
	c.tb.Helper()
	for _, i := range []int{c.a, c.b} {
		c.members[i].Identify(7, honest)
	}
	if _, err := c.members[c.b].Renew(0, 8, 100*Second); err != nil {
		c.tb.Fatal(err)
	}
}

// forge has the hostile client claim the lock at b, and returns what it hears.
func (c *claimed) forge(f *forgery) (events []Event) {
	c.tb.Helper()
	m := c.members[c.b]
	m.Identify(8, f.who)
	heard := len(*c.heard)
	if _, err := m.Claim(m.now, c.name, f.token, 8, f.through, Terms{}); err != nil {
		return []Event{{Kind: Lost}} // refused at once
	}
	c.take(c.b)
	c.settle()
	return (*c.heard)[heard:]
}

// While the member that a client holds a lock through is alive, a claim that was made up is
// refused: with a higher token, by another identity, or through any process. This holds
// whether it is laid before the next view or in it. The client can then still move.
func TestForgedClaim(t *testing.T) {
	for _, alg := range []string{"naimi-trehel", "central"} {
		for _, atHome := range []bool{false, true} {
			for _, early := range []bool{false, true} {
				for _, ghost := range []bool{false, true} {
					forgedClaim(t, alg, atHome, early, ghost)
				}
			}
		}
	}
}

func forgedClaim(t *testing.T, alg string, atHome, early, ghost bool) {
	for i := range 9 {
		c := newClaimed(t, alg, atHome, true)
		c.members[c.a].Identify(7, honest) // which is known before it acquires the lock
		c.members[c.a].Close(0, 7)
		c.take(c.a)
		c.settle()
		if _, err := c.members[c.a].Renew(0, 7, 100*Second); err != nil {
			t.Fatal(err)
		}
		c.identify()
		c.token = c.acquire()
		const dead = 77
		if ghost {
			c.then.Ghosts = []Ghost{{Inc: dead, Rest: 8 * Second}}
		}
		a := c.members[c.a].Inc
		var all []uint64
		for _, who := range c.view.Members {
			all = append(all, who.Inc)
		}
		higher := Token{c.token.Epoch, 999_999_999}
		x := []forgery{
			{"a higher token", hostile, higher, []uint64{a}},
			{"a higher token of the same identity", honest, higher, []uint64{a}},
			{"a token that is one higher", honest, Token{c.token.Epoch, c.token.Count + 1}, []uint64{a}},
			{"another identity", hostile, c.token, []uint64{a}},
			{"no identity", "", c.token, []uint64{a}},
			{"an unknown process", honest, c.token, []uint64{12345}},
			{"all members, and an unknown process", hostile, higher, append(all, 12345)},
			{"all members, and an evicted one", hostile, higher, append(all, dead)},
			{"nothing", honest, higher, nil},
		}[i]
		var heard []Event
		if early {
			heard = c.forge(&x)
		}
		was := len(*c.heard)
		c.install(c.then)
		c.settle()
		if heard = append(heard, (*c.heard)[was:]...); !early {
			heard = c.forge(&x)
		}
		if len(heard) != 1 || heard[0].Kind != Lost {
			t.Errorf("%s, home %v, early %v, ghost %v: a claim with %s: %v", alg, atHome, early, ghost, x.what, heard)
		}
		if y, _ := c.members[c.a].Inspect(c.name); y.Holder == nil || y.Holder.Token != c.token {
			t.Errorf("%s: the client has lost the lock: %+v", x.what, y)
		}
		*c.heard = nil
		c.claim()
		if c.settle(); !c.honoured() {
			t.Errorf("%s, home %v, early %v, ghost %v: after %s the client hears %v", alg, atHome, early, ghost, x.what, *c.heard)
		}
		if heard := c.forge(&x); len(heard) != 1 || heard[0].Kind != Lost {
			t.Errorf("a claim with %s after the client has moved: %v", x.what, heard)
		}
	}
}

// A claim that was made up and waits does not keep the client from claiming the lock at the
// same member, nor does its end withdraw the client's claim.
func TestForgedClaimInTheWay(t *testing.T) {
	for _, atHome := range []bool{false, true} {
		for _, ends := range []bool{false, true} {
			c := newClaimed(t, "naimi-trehel", atHome, true)
			c.identify()
			c.members[c.a].Close(0, 7)
			c.take(c.a)
			c.settle()
			if _, err := c.members[c.a].Renew(0, 7, 100*Second); err != nil {
				t.Fatal(err)
			}
			c.members[c.a].Identify(7, honest)
			c.token = c.acquire()
			c.then.Ghosts = []Ghost{{Inc: 77, Rest: 8 * Second}} // which may have the lock
			x := forgery{"", hostile, Token{c.token.Epoch, 999}, []uint64{c.members[c.a].Inc, 77}}
			if heard := c.forge(&x); len(heard) != 0 {
				t.Fatal(heard)
			}
			c.claim()
			c.install(c.then)
			if ends {
				c.members[c.b].Close(0, 8)
				c.take(c.b)
			}
			c.settle()
			held := 0
			for _, e := range *c.heard {
				if e.Kind == Held && e.Token == c.token {
					held++
				}
			}
			if held != 1 {
				t.Errorf("at home %v, the other ends its session %v: %v", atHome, ends, *c.heard)
			}
		}
	}
}

// What the process of a member holds itself, no client can claim.
func TestForgedClaimOfProcess(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, true)
	c.members[c.a].Close(0, 7)
	c.take(c.a)
	c.lock(c.a, c.name)
	if c.settle(); !c.holds(c.a, c.name) {
		t.Fatal("the process does not hold the lock")
	}
	y, _ := c.members[c.a].Inspect(c.name)
	c.token = y.Holder.Token
	c.install(c.then)
	c.settle()
	c.claim()
	if c.settle(); !c.refused() || !c.holds(c.a, c.name) {
		t.Errorf("a claim of what a process holds: %v", *c.heard)
	}
}

// The same with kept locks, whose tokens anyone may see: neither another identity nor
// another token makes a second holder.
func TestForgedKeptClaim(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, atHome := range []bool{false, true} {
			for i := range 5 {
				terms := Terms{}
				if shared {
					terms.Mode = deadlock.Shared
				}
				k := newKeptMove(t, "none", terms, atHome, true)
				k.leaves(keptA)
				for _, at := range []int{keptA, keptB} {
					if _, err := k.members[at].Renew(0, moving, 100*Second); err != nil {
						t.Fatal(err)
					}
					k.members[at].Identify(moving, honest)
				}
				k.terms.Born = 0
				k.held = k.acquires(k.name, k.terms)
				k.token = k.last[k.held].Token
				x := []forgery{
					{"the token, by another identity", hostile, k.token, []uint64{1}},
					{"the token, without an identity", "", k.token, []uint64{1}},
					{"a higher token", hostile, Token{k.token.Epoch, 999}, []uint64{1}},
					{"a higher token of the same identity", honest, Token{k.token.Epoch, 999}, []uint64{1}},
					{"the token, through an unknown process", honest, k.token, []uint64{12345}},
				}[i]
				b := k.members[keptB]
				if _, err := b.Renew(0, 8, 100*Second); err != nil {
					t.Fatal(err)
				}
				b.Identify(8, x.who)
				k.install(k.then)
				k.settle()
				forged, err := b.Claim(0, k.name, x.token, 8, x.through, k.terms)
				if err != nil {
					t.Fatal(err)
				}
				k.take(keptB)
				k.settle()
				if e := k.last[forged|keptB<<56]; e.Kind != Lost {
					t.Errorf("shared %v, home %v: a claim with %s: %v", shared, atHome, x.what, e)
				}
				k.is(k.held, Held, NoCause)
				claimed := k.claims()
				k.settle()
				k.is(claimed, Held, NoCause)
			}
		}
	}
}
