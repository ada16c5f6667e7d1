package member

import (
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A client claims a lock with the proof of a hold that it has released, and another client, which
// has entered since through the same member, claims it later. The later token shows that the
// first hold was over: the first claim has yielded nothing that lasts, and the second is
// honoured, wherever both are laid, also in the view after. Until the lease of the evicted
// member is over no other process enters, even if both have released the lock.
func TestReplayedClaim(t *testing.T) {
	for _, atHome := range []bool{false, true} {
		for _, at := range []int{1, 2} { // the thief's claim is laid at 2
			for _, again := range []bool{false, true} {
				c := newClaimed(t, "naimi-trehel", atHome, false)
				for _, i := range []int{c.a, 1, c.b} {
					if _, err := c.members[i].Renew(0, 8, 100*Second); err != nil {
						t.Fatal(err)
					}
					c.members[i].Identify(7, hostile)
					c.members[i].Identify(8, honest)
				}
				later, heard := c.later(), told(c.fleet, 1)
				if at == c.b {
					heard = c.heard
				}
				c.install(c.then)
				c.settle()
				c.claim()
				if c.settle(); !c.honoured() {
					t.Fatalf("the first client hears %v", *c.heard)
				}
				if again {
					v := c.next()
					v.Ghosts = c.then.Ghosts
					c.install(v)
					c.settle()
				}
				*c.heard, *heard = nil, nil
				c.claimAt(at, 8, later, c.members[c.a].Inc)
				c.settle()
				lost, held := 0, 0
				for _, e := range append(*c.heard, *heard...) {
					switch {
					case e.Kind == Lost && e.Token == c.token && e.Cause == Released:
						lost++
					case e.Kind == Held && e.Token == later:
						held++
					default:
						t.Errorf("heard %v", e)
					}
				}
				if lost == 0 || held == 0 {
					t.Errorf("at home %v, at %d, again %v: the clients hear %v and %v", atHome, at, again, *c.heard, *heard)
				}
				if err := c.members[at].Unlock(c.members[at].now, c.name, later); err != nil {
					t.Error(err)
				}
				c.take(at)
				c.lock(c.home, c.name)
				if c.settle(); c.holds(c.home, c.name) {
					t.Error("another process is inside while a client may be, through the evicted member")
				}
				if c.elapse(10 * Second); !c.holds(c.home, c.name) {
					t.Error("no other process gets in")
				}
			}
		}
	}
}

// A token that is later than what a living member reports proves nothing against its word: that
// member has not lost the lock. The claim is refused.
func TestReportedIsNotOverruled(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, true)
	c.members[c.a].Identify(7, hostile)
	c.install(c.then)
	c.settle()
	heard := told(c.fleet, 1)
	c.claimAt(1, 8, Token{c.token.Epoch, c.token.Count + 9}, c.members[c.a].Inc)
	if c.settle(); len(*heard) != 1 || (*heard)[0].Kind != Lost || !c.holds(c.a, c.name) {
		t.Errorf("heard %v", *heard)
	}
}

// The same with kept locks: an exclusive hold, and one of readers against a writer. Holds that
// can exist at the same time do not disturb each other.
func TestReplayedKeptClaim(t *testing.T) {
	for _, x := range []struct {
		first, second deadlock.Mode
		excludes      bool
	}{{deadlock.Exclusive, deadlock.Exclusive, true}, {deadlock.Shared, deadlock.Exclusive, true}, {deadlock.Exclusive, deadlock.Shared, true}, {deadlock.Shared, deadlock.Shared, false}} {
		for _, atHome := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				k := newKeptMove(t, "none", Terms{Mode: x.first}, atHome, false)
				for _, i := range []int{keptA, 1, keptB} {
					if _, err := k.members[i].Renew(0, 8, 100*Second); err != nil {
						t.Fatal(err)
					}
					k.members[i].Identify(moving, hostile)
					k.members[i].Identify(8, honest)
				}
				if err := k.members[keptA].Release(0, k.name, k.token); err != nil { // for short: its client hears of it
					t.Fatal(err)
				}
				k.take(keptA)
				k.settle()
				ticket, err := k.members[keptA].Lock(0, k.name, Ask{Client: 8, Deadline: Never, Terms: Terms{Mode: x.second}})
				if err != nil {
					t.Fatal(err)
				}
				k.take(keptA)
				k.settle()
				later := k.last[ticket|keptA<<56]
				if later.Kind != Held {
					t.Fatalf("the second client hears %v", later)
				}
				k.install(k.then)
				k.settle()
				first := k.claims()
				if k.settle(); atHome && x.excludes { // the home was so before, and knows the later hold
					k.is(first, Lost, Released)
				} else {
					k.is(first, Held, NoCause)
				}
				if again {
					v := k.next()
					v.Ghosts = k.then.Ghosts
					k.install(v)
					k.settle()
				}
				second, err := k.members[1].Claim(0, k.name, later.Token, 8, []uint64{1}, Terms{Mode: x.second, Born: later.Born})
				if err != nil {
					t.Fatal(err)
				}
				k.take(1)
				k.settle()
				if x.excludes {
					k.is(first, Lost, Released)
				} else {
					k.is(first, Held, NoCause)
				}
				k.is(second|1<<56, Held, NoCause)
			}
		}
	}
}
