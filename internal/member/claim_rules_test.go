package member

import (
	"slices"
	"testing"
)

// claimAt claims the lock through a member, for a client with a session there.
func (c *claimed) claimAt(i int, client uint64, t Token, through ...uint64) {
	c.tb.Helper()
	m := c.members[i]
	if _, err := m.Renew(m.now, client, 100*Second); err != nil {
		c.tb.Fatal(err)
	}
	if _, err := m.Claim(m.now, c.name, t, client, through, Terms{}); err != nil {
		c.tb.Fatal(err)
	}
	c.take(i)
}

// over lets the leases of all ghosts expire, at the home.
func (c *claimed) over() { c.elapse(20 * Second) }

// elapse lets time pass at the home.
func (c *claimed) elapse(after Span) {
	home := c.members[c.home]
	home.Wake(home.now + Instant(after))
	c.take(c.home)
	c.settle()
}

// later has an operator take the lock from the first client, and a second one enter
// through the same member. It returns the token of the second one.
func (c *claimed) later() Token {
	c.tb.Helper()
	a, heard := c.members[c.a], told(c.fleet, c.a)
	if _, err := a.Renew(0, 8, 100*Second); err != nil {
		c.tb.Fatal(err)
	}
	if _, err := a.Lock(0, c.name, Ask{Client: 8, Deadline: Never}); err != nil {
		c.tb.Fatal(err)
	}
	if err := a.Release(0, c.name, c.token); err != nil {
		c.tb.Fatal(err)
	}
	c.take(c.a)
	if len(*heard) != 2 || (*heard)[1].Kind != Held {
		c.tb.Fatalf("the second client hears %v", *heard)
	}
	return (*heard)[1].Token
}

// Of two clients that held a lock one after the other only the later one can still hold
// it: its claim is honoured, and that of the earlier one is refused, because an operator
// had taken the lock. That is so whichever comes first, and if both have to wait.
func TestClaimsOfTwoClients(t *testing.T) {
	for _, x := range []struct {
		what           string
		waits, earlier bool // both wait for another ghost; the earlier client claims first
	}{{"the later one has claimed", false, false}, {"both wait, the earlier one first", true, true}, {"both wait, the later one first", true, false}} {
		for _, atHome := range []bool{false, true} {
			c := newClaimed(t, "naimi-trehel", atHome, false)
			later, heard := c.later(), told(c.fleet, 1)
			if x.waits {
				c.then.Ghosts = append(c.then.Ghosts, Ghost{Inc: 99, Rest: 3 * Second})
			}
			c.install(c.then)
			if x.waits {
				for _, m := range c.members {
					m.frozen = nil // no witness
				}
			}
			c.settle()
			claims := []func(){
				func() { c.claimAt(1, 8, later, c.members[c.a].Inc) },
				func() { c.claimAt(c.b, 7, c.token, c.members[c.a].Inc) },
			}
			if x.earlier {
				slices.Reverse(claims)
			}
			for _, claim := range claims {
				claim()
				c.settle()
			}
			if x.waits {
				if len(*heard)+len(*c.heard) > 0 {
					t.Errorf("%s: while another ghost may be inside: %v, %v", x.what, *heard, *c.heard)
				}
				c.elapse(5 * Second)
			}
			if len(*heard) != 1 || (*heard)[0].Kind != Held || (*heard)[0].Token != later {
				t.Errorf("%s: the later client hears %v", x.what, *heard)
			}
			if !c.refused() || (*c.heard)[0].Cause != Released {
				t.Errorf("%s: the earlier client hears %v", x.what, *c.heard)
			}
		}
	}
}

// A claim is honoured when the process that the hold rests on, which is the last that the
// client names, still has it, and all other processes that may be inside are named as
// well. It is refused when that process says that it does not hold the lock, or is not
// known.
func TestClaimThrough(t *testing.T) {
	const a, other, joiner = 1, 2, 5 // evicted, a survivor that does not hold the lock, and a new member
	for _, x := range []struct {
		through             []uint64
		early, now, finally string // before the survivor has reported, then, and when no ghost is left
	}{
		{[]uint64{a}, "", "honoured", "honoured"},
		{[]uint64{other, a}, "", "honoured", "honoured"},
		{[]uint64{a, other}, "", "refused", "refused"},
		{[]uint64{a, joiner}, "refused", "refused", "refused"},
		{nil, "refused", "refused", "refused"},
		{[]uint64{77}, "refused", "refused", "refused"},
		{[]uint64{a, 77}, "refused", "refused", "refused"},
	} {
		c := newClaimed(t, "naimi-trehel", false, false)
		m, err := New(Config{Inc: joiner, Settings: Usual(), Spec: specs})
		if err != nil {
			t.Fatal(err)
		}
		c.members = append(c.members, m)
		c.then.Members = append(c.then.Members, Who{"m5", joiner})
		c.members[c.a].Close(0, 7)
		c.name = away(c.view, c.then, c.a, c.then.Rank(c.members[c.home].Inc)) // the new member changes homes
		c.token = c.acquire()
		c.view = c.then
		for _, i := range []int{c.b, c.home, joiner - 1} { // the survivor is late
			if err := c.members[i].Install(0, c.then); err != nil {
				t.Fatal(err)
			}
			c.members[i].frozen = nil // no witness
			c.take(i)
		}
		outcome := func() string {
			switch {
			case c.honoured():
				return "honoured"
			case c.refused():
				return "refused"
			}
			return ""
		}
		c.claimAt(c.b, 7, c.token, x.through...)
		if c.hold(other); outcome() != x.early {
			t.Errorf("through %v: %v before the survivor has reported, want %q", x.through, *c.heard, x.early)
		}
		if err := c.members[1].Install(0, c.then); err != nil {
			t.Fatal(err)
		}
		c.members[1].frozen = nil
		c.take(1)
		if c.settle(); outcome() != x.now {
			t.Errorf("through %v: %v, want %q", x.through, *c.heard, x.now)
		}
		if c.over(); outcome() != x.finally {
			t.Errorf("through %v: %v when no ghost is left, want %q", x.through, *c.heard, x.finally)
		}
	}
}

// acquire has client 7 acquire the lock through a, and returns the token.
func (c *claimed) acquire() Token {
	c.tb.Helper()
	c.take(c.a)
	heard := told(c.fleet, c.a)
	if _, err := c.members[c.a].Renew(0, 7, 100*Second); err != nil {
		c.tb.Fatal(err)
	}
	if _, err := c.members[c.a].Lock(0, c.name, Ask{Client: 7, Deadline: Never}); err != nil {
		c.tb.Fatal(err)
	}
	c.take(c.a)
	if c.settle(); len(*heard) != 1 || (*heard)[0].Kind != Held {
		c.tb.Fatalf("the client hears %v", *heard)
	}
	return (*heard)[0].Token
}

// A client that has claimed a lock through one member, and claims it through another, has
// it there only if it names the first one, or when that one has released it.
func TestClaimThroughAnother(t *testing.T) {
	for first, second := range map[int]int{1: 2, 2: 1} {
		const a = 1
		inc := uint64(first + 1)
		for _, x := range []struct {
			through []uint64
			waits   bool
		}{{[]uint64{a}, true}, {[]uint64{a, inc}, false}, {[]uint64{inc, a}, false}} {
			c := newClaimed(t, "naimi-trehel", false, false)
			had, heard := told(c.fleet, first), told(c.fleet, second)
			c.install(c.then)
			c.settle()
			m := c.members[first]
			m.Wake(5)
			c.claimAt(first, 7, c.token, a)
			c.settle()
			if y, _ := m.Inspect(c.name); len(*had) != 1 || y.Holder == nil || y.Holder.Since != 5 || m.Inside() != 1 {
				t.Fatalf("%v, held by %+v, and %d are inside", *had, y.Holder, m.Inside())
			}
			c.claimAt(second, 7, c.token, x.through...)
			if c.settle(); (len(*heard) == 0) != x.waits {
				t.Errorf("through %v: %v", x.through, *heard)
			}
			m.Close(m.now, 7)
			c.take(first)
			if c.settle(); len(*heard) != 1 || (*heard)[0].Kind != Held {
				t.Errorf("through %v, and released by the first: %v", x.through, *heard)
			}
		}
	}
}

// A claim that is honoured when the claiming member has no lease, or the client no session,
// is of no use: the home is notified, and the lock becomes free. The answer to a claim that
// was withdrawn does not count for the next one.
func TestClaimHonouredTooLate(t *testing.T) {
	for what, x := range map[string]struct {
		happens func(c *claimed)
		want    []EventKind
	}{
		"no lease":               {func(c *claimed) { c.members[c.b].lease = 0 }, []EventKind{Lost}},
		"no session":             {func(c *claimed) { c.members[c.b].Close(0, 7) }, []EventKind{Stopped}},
		"another lock's session": {func(c *claimed) { c.members[c.b].Close(0, 7); c.claimAt(c.b, 7, c.token) }, []EventKind{Stopped}},
	} {
		c := newClaimed(t, "naimi-trehel", false, false)
		c.install(c.then)
		c.settle()
		c.claim()
		for len(c.mail) == 0 || frameKind(c.mail[0].bytes[0]) != claimedFrame {
			c.deliverNext()
		}
		x.happens(c)
		c.take(c.b)
		c.deliverNext()
		var kinds []EventKind
		for _, e := range *c.heard {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, x.want) {
			t.Errorf("%s: %v", what, *c.heard)
		}
		if what == "another lock's session" {
			continue // its claim waits for the ghost
		}
		c.settle()
		c.over()
		c.lock(1, c.name)
		if c.settle(); !c.holds(1, c.name) {
			t.Errorf("%s: the lock is not free afterwards", what)
		}
	}
}

// deliverNext delivers the frame that was sent first.
func (f *fleet) deliverNext() {
	f.tb.Helper()
	if len(f.mail) == 0 {
		f.tb.Fatal("nothing is in flight")
	}
	l := f.mail[0]
	f.mail = f.mail[1:]
	f.deliver(l)
}

// A claim costs a CLAIM and a CLAIMED, however often the member has to wait before it can
// send it, and follows the REPORT. RELEASED follows only if the home has something to
// forget, witnesses are not asked about what is already decided, and in the end the lock is
// not in use.
func TestClaimFrames(t *testing.T) {
	for _, early := range []bool{false, true} {
		c := newClaimed(t, "naimi-trehel", false, false)
		if early {
			c.claim()
		}
		clear(c.frames)
		c.install(c.then)
		if i := slices.IndexFunc(c.mail, func(l posted) bool { return l.from == c.members[c.b].Inc && l.to == c.members[c.home].Inc }); frameKind(c.mail[i].bytes[0]) != reportFrame {
			t.Errorf("%v comes before the report", frameKind(c.mail[i].bytes[0]))
		}
		if early {
			for _, m := range c.members {
				m.frozen = nil // no witness
			}
		}
		c.settle()
		if !early {
			c.claim()
			c.settle()
		}
		if !c.honoured() || c.frames["CLAIM"] != 1 || c.frames["CLAIMED"] != 1 || c.frames["RELEASED"] != 0 || !early && c.frames["QUERY"] != 0 {
			t.Errorf("claimed early %v: %v, %v", early, *c.heard, c.frames)
		}
		c.claimAt(1, 8, Token{1, 0}, c.members[c.a].Inc)
		if c.settle(); c.frames["CLAIM"] != 2 || c.frames["CLAIMED"] != 2 || c.frames["RELEASED"] != 0 {
			t.Errorf("after a refusal: %v", c.frames)
		}
		c.members[c.b].Close(0, 7)
		c.take(c.b)
		c.settle()
		for _, i := range []int{1, c.b, c.home} {
			if _, busy, _ := c.members[i].Known(); busy > 0 {
				t.Errorf("m%d uses %d locks after all claims", i+1, busy)
			}
		}
	}
}

// A home testifies for the members whose claims it has honoured: the client may hold the
// lock through them. That is part of its state.
func TestClaimIsTestifiedTo(t *testing.T) {
	for _, by := range []int{1, 2} {
		c := newClaimed(t, "naimi-trehel", false, false)
		heard := told(c.fleet, by)
		c.install(c.then)
		c.settle()
		c.claimAt(by, 7, c.token, c.members[c.a].Inc)
		if c.settle(); len(*heard) != 1 || (*heard)[0].Kind != Held {
			t.Fatalf("the client hears %v", *heard)
		}
		home, v := c.members[c.home], c.next()
		v.Ghosts = c.then.Ghosts
		c.over() // by the home's clock
		c.install(v)
		if got, want := home.testimony(c.name), home.epoch.those(c.members[by].Inc); got != want {
			t.Errorf("claimed through m%d: %v may be inside, want %v", by+1, got.list(), want.list())
		}
		d := templateOf(t, home.Config, c.name, home.epoch.view, home.frozen.view)
		if u := load(t, d, saved(t, home)).frozen.found(0); u.claims.by != 1<<c.then.Rank(c.members[by].Inc) {
			t.Errorf("saved as claimed by %b", u.claims.by)
		}
	}
}

// A claim is refused because an operator had taken the lock if the home itself has held it
// since, and also if it still does.
func TestClaimOfLockThatTheHomeHolds(t *testing.T) {
	for _, alg := range live() {
		c := newClaimed(t, alg, false, false)
		c.lock(c.home, c.name)
		c.settle()
		a := c.members[c.a]
		if err := a.Release(0, c.name, c.token); err != nil {
			t.Fatal(err)
		}
		c.take(c.a)
		if c.settle(); !c.holds(c.home, c.name) {
			t.Fatalf("%s: the home does not hold the lock", alg)
		}
		c.install(c.then)
		c.settle()
		c.claim()
		if c.settle(); !c.refused() || (*c.heard)[0].Cause != Released {
			t.Errorf("%s: %v", alg, *c.heard)
		}
	}
}

// A home that has released a lock keeps no token of those that held it before.
func TestReleasedHomeForgetsTokens(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	v := f.next()
	name := away(f.view, v, 0, 0)
	f.lock(1, name)
	f.settle()
	f.install(v)
	f.settle()
	home := f.members[0].epoch
	if len(home.newest) != 1 {
		t.Fatalf("the home knows %d tokens of what is held", len(home.newest))
	}
	f.unlock(1, name)
	f.lock(2, name)
	if f.settle(); !f.holds(2, name) || len(home.newest) > 0 {
		t.Errorf("another member holds the lock: %v; the home keeps %d tokens", f.holds(2, name), len(home.newest))
	}
}

// After a claimed hold has ended, the next holder at the same member is an ordinary one: it
// proves that no other process is inside.
func TestHolderAfterClaim(t *testing.T) {
	for _, atHome := range []bool{false, true} {
		c := newClaimed(t, "naimi-trehel", atHome, false)
		c.install(c.then)
		c.settle()
		c.claim()
		if c.settle(); !c.honoured() {
			t.Fatal(*c.heard)
		}
		c.lock(c.b, c.name)
		c.settle()
		m := c.members[c.b]
		if err := m.Unlock(m.now, c.name, c.token); err != nil {
			t.Fatal(err)
		}
		c.take(c.b)
		c.settle()
		c.over()
		if !c.holds(c.b, c.name) {
			t.Fatal("the request that waits is not granted")
		}
		v := c.next()
		v.Ghosts = c.then.Ghosts
		c.install(v)
		if got, want := m.testimony(c.name), m.epoch.those(m.Inc); got != want {
			t.Errorf("home %v: %v may be inside, want %v", atHome, got.list(), want.list())
		}
	}
}
