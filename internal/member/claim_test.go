package member

import (
	"errors"
	"testing"
)

// A claimed is a cluster in which a client has acquired a lock through member a, which
// is then evicted or stops, and claims it through member b. The lock's home in the next
// view is home.
type claimed struct {
	*fleet
	name       string
	token      Token
	a, b, home int // ranks at the beginning
	then       View
	heard      *[]Event
}

// newClaimed has the client acquire the lock. In the next view, b of four is home or
// not, and a is a ghost or, if it stays, a member.
func newClaimed(t *testing.T, alg string, atHome, stays bool) *claimed {
	t.Helper()
	f := newFleet(t, alg, 4)
	c := &claimed{fleet: f, a: 0, b: 2, home: 3}
	if atHome {
		c.home = c.b
	}
	if stays {
		c.then = f.next()
	} else {
		c.then = f.next(f.members[c.a].Inc)
		c.then.Ghosts = []Ghost{{Inc: f.members[c.a].Inc, Rest: 8 * Second}}
	}
	was := c.home
	if !stays && !atHome {
		was = c.a // the home moves only if it is evicted
	}
	c.name = away(f.view, c.then, was, c.then.Rank(f.members[c.home].Inc))
	for _, i := range []int{c.a, c.b} {
		if _, err := f.members[i].Renew(0, 7, 100*Second); err != nil {
			t.Fatal(err)
		}
	}
	heard := told(f, c.a)
	if _, err := f.members[c.a].Lock(0, c.name, Ask{Client: 7, Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	f.take(c.a)
	f.settle()
	if len(*heard) != 1 || (*heard)[0].Kind != Held {
		t.Fatalf("the client hears %v", *heard)
	}
	c.token = (*heard)[0].Token
	c.heard = told(f, c.b)
	return c
}

// Only the home of a lock takes claims of it.
func TestClaimElsewhere(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	name := away(f.view, f.view, 1, 1)
	c := frame{kind: claimFrame, name: []byte(name), token: Token{1, 1}}
	if err := f.members[0].Deliver(0, f.members[2].Inc, c.append(nil)); !errors.Is(err, errUnexpected) {
		t.Errorf("a claim at another member: %v", err)
	}
}

// claim claims the lock through b.
func (c *claimed) claim() Ticket {
	c.tb.Helper()
	t, err := c.members[c.b].Claim(c.members[c.b].now, c.name, c.token, 7, []uint64{c.members[c.a].Inc}, Terms{})
	if err != nil {
		c.tb.Fatal(err)
	}
	c.take(c.b)
	return t
}

// honoured reports whether the claim was.
func (c *claimed) honoured() bool {
	return len(*c.heard) == 1 && (*c.heard)[0].Kind == Held && (*c.heard)[0].Token == c.token
}

// refused reports whether the claim was.
func (c *claimed) refused() bool { return len(*c.heard) == 1 && (*c.heard)[0].Kind == Lost }

func eachClaim(t *testing.T, f func(t *testing.T, c *claimed)) {
	for _, alg := range live() {
		for _, atHome := range []bool{false, true} {
			for _, stays := range []bool{false, true} {
				f(t, newClaimed(t, alg, atHome, stays))
			}
		}
	}
}

// A claim is honoured in the next view, whether it is made before it or in it, and
// whether the member through which the lock was held has crashed or has reported it.
// Until it is released no other process enters.
func TestClaim(t *testing.T) {
	for _, early := range []bool{false, true} {
		eachClaim(t, func(t *testing.T, c *claimed) {
			if early {
				c.claim()
				if c.settle(); len(*c.heard) > 0 {
					t.Fatalf("in the view of its token: %v", *c.heard)
				}
			}
			c.install(c.then)
			c.settle()
			if !early {
				c.claim()
				c.settle()
			}
			if !c.honoured() {
				t.Fatalf("claimed early %v: %v", early, *c.heard)
			}
			waits := told(c.fleet, 1)
			c.lock(1, c.name)
			c.settle()
			if len(*waits) > 0 {
				t.Fatalf("another member hears %v", *waits)
			}
			if c.then.Rank(c.members[c.a].Inc) >= 0 { // it still holds it too, and says when it does not
				c.members[c.a].Close(0, 7)
				c.take(c.a)
				if c.settle(); len(*waits) > 0 {
					t.Fatalf("after the first session: %v", *waits)
				}
			}
			m := c.members[c.b]
			if err := m.Unlock(m.now, c.name, c.token); err != nil {
				t.Fatal(err)
			}
			c.take(c.b)
			c.settle()
			if c.then.Rank(c.members[c.a].Inc) < 0 { // the ghost's lease is waited out
				home := c.members[c.home]
				home.Wake(home.now + 100*Instant(Second))
				c.take(c.home)
				c.settle()
			}
			if len(*waits) != 1 || !c.token.Less((*waits)[0].Token) {
				t.Errorf("after it is released: %v", *waits)
			}
		})
	}
}

// A claimed hold is carried into later views like any other.
func TestClaimCarried(t *testing.T) {
	eachClaim(t, func(t *testing.T, c *claimed) {
		c.install(c.then)
		c.settle()
		c.claim()
		if c.settle(); !c.honoured() {
			t.Fatal(*c.heard)
		}
		if c.then.Rank(c.members[c.a].Inc) >= 0 {
			c.members[c.a].Close(0, 7)
			c.take(c.a)
			c.settle()
		}
		v := c.next()
		v.Ghosts = c.then.Ghosts
		c.install(v)
		waits := told(c.fleet, 1)
		c.lock(1, c.name)
		for _, m := range c.members {
			if v.Rank(m.Inc) >= 0 {
				m.Wake(m.now + 100*Instant(Second))
			}
		}
		c.members[c.b].lease = Never - 1
		if c.settle(); len(*waits) > 0 {
			t.Fatalf("another member hears %v", *waits)
		}
		m := c.members[c.b]
		d := templateOf(t, m.Config, c.name, m.epoch.view)
		if u := load(t, d, saved(t, m)).epoch.found(0); !u.byClaim {
			t.Error("it is not carried as claimed")
		}
	})
}

// A claim that the home has not answered when its view ends is sent to the home of the next
// view. A home that has only claims of others carries nothing over.
func TestClaimSentAgain(t *testing.T) {
	for _, alg := range live() {
		c := newClaimed(t, alg, false, false)
		c.install(c.then)
		c.settle()
		c.claim()
		answered := len(c.mail) > 0
		v := c.next()
		v.Ghosts = c.then.Ghosts
		c.install(v)
		if c.settle(); !answered || !c.honoured() {
			t.Fatalf("%s: %v", alg, *c.heard)
		}
		v = c.next()
		v.Ghosts = c.then.Ghosts
		c.install(v)
		if known, _, _ := c.members[c.home].Known(); known > 0 {
			t.Errorf("%s: the home knows %d locks before it has a report", alg, known)
		}
	}
}

// The home refuses a claim if it has entered, lent or released the lock in this view.
func TestClaimTooLate(t *testing.T) {
	for _, alg := range live() {
		for who := range 3 { // the home itself, another member, or one that has waited since the view before
			c := newClaimed(t, alg, false, false)
			if who == 2 {
				c.lock(1, c.name)
				c.settle()
			}
			c.install(c.then)
			c.settle()
			home := c.members[c.home]
			home.Wake(home.now + 100*Instant(Second)) // the ghost's lease is over, and so is the client's time
			c.take(c.home)
			user := []int{c.home, 1, 1}[who]
			if who < 2 {
				c.lock(user, c.name)
			}
			if c.settle(); !c.holds(user, c.name) {
				t.Fatalf("%s: the lock is not acquired", alg)
			}
			c.unlock(user, c.name)
			c.settle()
			c.claim()
			if c.settle(); !c.refused() || c.frames["CLAIMED"] != 1 {
				t.Errorf("%s: %v, %d answers", alg, *c.heard, c.frames["CLAIMED"])
			}
			c.lock(1, c.name)
			if c.settle(); !c.holds(1, c.name) {
				t.Errorf("%s: the lock is not free after the claim", alg)
			}
		}
	}
}

// A claim waits for processes that may be inside and are not those that the client
// names, and for named members that have not reported.
func TestClaimWaits(t *testing.T) {
	for _, alg := range live() {
		c := newClaimed(t, alg, false, true)
		v := c.then
		for _, i := range []int{1, c.b, c.home} { // a is late
			if err := c.members[i].Install(0, v); err != nil {
				t.Fatal(err)
			}
			c.take(i)
		}
		c.view = v
		c.claim()
		if c.hold(c.members[c.a].Inc); len(*c.heard) > 0 {
			t.Fatalf("%s: before the member has reported: %v", alg, *c.heard)
		}
		if err := c.members[c.a].Install(0, v); err != nil {
			t.Fatal(err)
		}
		c.take(c.a)
		if c.settle(); !c.honoured() {
			t.Errorf("%s: after its report: %v", alg, *c.heard)
		}

		c = newClaimed(t, alg, true, false)
		c.then.Ghosts = append(c.then.Ghosts, Ghost{Inc: 99, Rest: 3 * Second})
		c.install(c.then)
		c.settle()
		if c.claim(); !c.honoured() {
			t.Errorf("%s: the home knows itself that no other ghost is inside: %v", alg, *c.heard)
		}

		c = newClaimed(t, alg, false, false)
		c.then.Ghosts = append(c.then.Ghosts, Ghost{Inc: 99, Rest: 3 * Second})
		c.install(c.then)
		for _, m := range c.members {
			m.frozen = nil // no witness
		}
		c.settle()
		c.claim()
		if c.settle(); len(*c.heard) > 0 {
			t.Fatalf("%s: while another ghost may be inside: %v", alg, *c.heard)
		}
		home := c.members[c.home]
		home.Wake(home.now + 4*Instant(Second))
		c.take(c.home)
		if c.settle(); !c.honoured() {
			t.Errorf("%s: after the other ghost: %v", alg, *c.heard)
		}
	}
}

// A member that is inside refuses a claim, and so does one that enters while a claim
// waits.
func TestClaimInside(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, false)
	other := "other"
	if _, err := c.members[c.b].Lock(0, other, Ask{Client: 7, Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	c.take(c.b)
	c.settle()
	if _, err := c.members[c.b].Claim(0, other, Token{1, 1}, 7, []uint64{1}, Terms{}); !errors.Is(err, ErrNotHeld) {
		t.Errorf("a claim of a lock that is held: %v", err)
	}
	if _, err := c.members[c.b].Claim(0, "x", Token{1, 1}, 8, nil, Terms{}); !errors.Is(err, ErrSession) {
		t.Errorf("without a session: %v", err)
	}
	c.claim()
	y, _ := c.members[c.a].Inspect(c.name)
	*c.heard = nil
	if err := c.members[c.a].Unlock(0, c.name, y.Holder.Token); err != nil {
		t.Fatal(err)
	}
	c.take(c.a)
	c.lock(c.b, c.name)
	c.settle()
	if len(*c.heard) != 2 || (*c.heard)[0].Kind != Lost || (*c.heard)[1].Kind != Held {
		t.Errorf("%v", *c.heard)
	}
	if c.members[c.b].clients[7].uses != 1 {
		t.Errorf("the client has %d requests", c.members[c.b].clients[7].uses)
	}
}

// A claim that ends with its session, before or after it was honoured, is released at
// the home.
func TestClaimWithdrawn(t *testing.T) {
	for _, when := range []string{"before the view", "on the way", "honoured"} {
		eachClaim(t, func(t *testing.T, c *claimed) {
			c.claim()
			if when == "before the view" {
				c.members[c.b].Close(0, 7)
				c.take(c.b)
			}
			c.install(c.then)
			if when == "honoured" {
				c.settle()
			}
			c.members[c.b].Close(0, 7)
			c.take(c.b)
			c.settle()
			if c.then.Rank(c.members[c.a].Inc) >= 0 {
				c.members[c.a].Close(0, 7)
				c.take(c.a)
				c.settle()
			}
			home := c.members[c.home]
			home.Wake(home.now + 100*Instant(Second))
			c.take(c.home)
			c.settle()
			c.lock(1, c.name)
			if c.settle(); !c.holds(1, c.name) {
				y, _ := home.Inspect(c.name)
				t.Errorf("%s: the lock is not acquired: %+v", when, y)
			}
		})
	}
}

// A later claim of the same lock replaces an earlier one, which is refused.
func TestClaimTwice(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, false)
	m := c.members[c.b]
	old := c.token
	c.claim()
	if _, err := m.Claim(0, c.name, old, 7, nil, Terms{}); !errors.Is(err, ErrNotHeld) {
		t.Errorf("the same claim again: %v", err)
	}
	c.token.Count++
	c.claim()
	if len(*c.heard) != 1 || (*c.heard)[0].Kind != Lost || (*c.heard)[0].Token != old {
		t.Errorf("%v", *c.heard)
	}
	*c.heard = nil
	c.install(c.then)
	if c.settle(); !c.honoured() {
		t.Errorf("%v", *c.heard)
	}
}

// A claimed hold proves nothing about other processes: its client may still hold the
// lock through the one that it has entered through.
func TestClaimProvesNothing(t *testing.T) {
	eachClaim(t, func(t *testing.T, c *claimed) {
		c.install(c.then)
		c.settle()
		c.claim()
		if c.settle(); !c.honoured() {
			t.Fatal(*c.heard)
		}
		m := c.members[c.b]
		if got := m.testimony(c.name); got != m.epoch.everybody {
			t.Errorf("it says that only %v may be inside", got.list())
		}
	})
}

// A claim of a lock that an operator has taken from the client is refused, wherever the
// lock is by then. If another process has entered since, the client is notified why.
func TestClaimReleased(t *testing.T) {
	for _, stays := range []bool{true, false} {
		for _, next := range []string{"free", "free in the next view", "at the same member", "elsewhere", "elsewhere, and released"} {
			if !stays && (next == "free" || next == "free in the next view" || next == "at the same member") {
				continue // only the evicted member knows
			}
			for _, alg := range live() {
				for _, atHome := range []bool{false, true} {
					c := newClaimed(t, alg, atHome, stays)
					a := c.members[c.a]
					switch next {
					case "at the same member":
						c.lock(c.a, c.name)
					case "elsewhere", "elsewhere, and released":
						c.lock(1, c.name)
					}
					c.settle()
					force := func() {
						if err := a.Release(a.now, c.name, c.token); err != nil {
							t.Fatal(err)
						}
						c.take(c.a)
						c.settle()
					}
					if next != "free in the next view" {
						force()
					}
					c.install(c.then)
					c.settle()
					switch next {
					case "free in the next view":
						force()
					case "elsewhere, and released":
						c.unlock(1, c.name)
						c.settle()
					}
					c.claim()
					if c.settle(); !c.refused() || next[0] != 'f' && (*c.heard)[0].Cause != Released {
						t.Errorf("%s, home %v, stays %v, %s: %v", alg, atHome, stays, next, *c.heard)
					}
				}
			}
		}
	}
}

// Claim returns an error where Lock does: for an invalid name, for a client that uses too
// many locks, and at a process that is not a member.
func TestClaimErrors(t *testing.T) {
	f := newFleet(t, "central", 2)
	m := f.members[0]
	lone, err := New(m.Config)
	if err != nil {
		t.Fatal(err)
	}
	m.Limits.Names = 2
	if _, err := m.Renew(0, 7, Second); err != nil {
		t.Fatal(err)
	}
	claim := func(m *Member, name string, want error) {
		t.Helper()
		if _, err := m.Claim(0, name, Token{1, 1}, 7, nil, Terms{}); !errors.Is(err, want) {
			t.Errorf("a claim of %q: %v, want %v", name, err, want)
		}
	}
	claim(lone, "a", ErrGone)
	claim(m, "", ErrName)
	claim(m, "a", nil)
	claim(m, "b", nil)
	claim(m, "c", ErrNames)
	m.Leave(0)
	claim(m, "a", ErrGone)
}

// A claim follows the last part of the REPORT to the lock's home, so that the home knows
// by then what the claiming member holds.
func TestClaimBehindReport(t *testing.T) {
	f, held, _ := parts(t, 2, 0)
	m := f.members[0]
	f.sent(0)
	if _, err := m.Renew(0, 7, Second); err != nil {
		t.Fatal(err)
	}
	name := homed(f.view, 1, 3, 20)[2]
	if _, err := m.Claim(0, name, Token{1, 1}, 7, nil, Terms{}); err != nil {
		t.Fatal(err)
	}
	other := homed(f.view, 1, 4, 20)[3] // a claim of it is withdrawn while a request waits
	if _, err := m.Renew(0, 8, Second); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Claim(0, other, Token{1, 1}, 8, nil, Terms{}); err != nil {
		t.Fatal(err)
	}
	if got := text(f.sent(0)); got != "" {
		t.Errorf("before the last part it sends %s", got)
	}
	if _, err := m.Lock(0, other, Ask{Deadline: Never}); err != nil {
		t.Fatal(err)
	}
	m.Close(0, 8)
	f.sent(0)
	if !m.More(0, 2) {
		t.Fatal("the report has one part")
	}
	if got, want := text(f.sent(0)), "REPORT["+held[1]+"] []CLAIM[] []"; got != want {
		t.Errorf("it sends %s, want %s", got, want)
	}
}

// A claim that waits for a late report is refused when witnesses have ruled the late member
// out, and the home therefore releases the lock.
func TestClaimEndsWithRelease(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, true)
	a, home := c.members[c.a], c.members[c.home]
	if err := a.Release(0, c.name, c.token); err != nil {
		t.Fatal(err)
	}
	c.take(c.a)
	c.settle()
	for _, i := range []int{1, c.b, c.home} { // a is late
		if err := c.members[i].Install(0, c.then); err != nil {
			t.Fatal(err)
		}
		c.take(i)
	}
	c.claim()
	c.hold(a.Inc)
	home.epoch.found(find(&home.epoch.table, c.name, hashName(c.name))).may = set{} // as witnesses may have said
	c.lock(1, c.name)
	if c.hold(a.Inc); !c.holds(1, c.name) || !c.refused() {
		t.Errorf("another member holds the lock: %v; the client hears %v", c.holds(1, c.name), *c.heard)
	}
}
