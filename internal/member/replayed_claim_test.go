package member

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/nightly"
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

// deliverAny delivers one of the frames that can arrive next: each link keeps its order.
func (f *fleet) deliverAny(r *rand.Rand) {
	i := r.IntN(len(f.mail))
	for k, l := range f.mail[:i] {
		if l.from == f.mail[i].from && l.to == f.mail[i].to {
			i = k
			break
		}
	}
	l := f.mail[i]
	f.mail = slices.Delete(f.mail, i, i+1)
	f.deliver(l)
}

// The same in any order of frames and of what the clients do, with other processes that wait for
// the lock, and with view changes in between: the holder always keeps its lock, the other client
// never has it beside it for good, and no process enters before the evicted member's lease is over.
func TestReplayedClaimInAnyOrder(t *testing.T) {
	honoured, overruled := 0, 0
	for seed := range nightly.Pick[uint64](600, 30_000) {
		r := rand.New(rand.NewPCG(seed, 45))
		c := newClaimed(t, []string{"naimi-trehel", "central", "raymond"}[r.IntN(3)], r.IntN(2) == 0, false)
		for _, i := range []int{c.a, 1, c.b} {
			if _, err := c.members[i].Renew(0, 8, 100*Second); err != nil {
				t.Fatal(err)
			}
			c.members[i].Identify(7, hostile)
			c.members[i].Identify(8, honest)
		}
		at := 1 + r.IntN(2)
		later := c.later()
		heard := map[Token][]Event{}
		before := c.events
		c.events = func(i int, e Event) {
			before(i, e)
			heard[e.Token] = append(heard[e.Token], e)
		}
		c.install(c.then)
		waiter := 1 + r.IntN(3)
		steps := []func(){
			func() {
				_, _ = c.members[c.b].Claim(0, c.name, c.token, 7, []uint64{c.members[c.a].Inc}, Terms{})
				c.take(c.b)
			},
			func() { c.claimAt(at, 8, later, c.members[c.a].Inc) },
			func() { c.lock(waiter, c.name) },
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		changes := r.IntN(2)
		for len(steps)+len(c.mail) > 0 {
			switch {
			case len(steps) > 0 && (len(c.mail) == 0 || r.IntN(6) == 0):
				steps[0]()
				steps = steps[1:]
			case changes > 0 && r.IntN(12) == 0:
				changes--
				v := c.next()
				v.Ghosts = c.then.Ghosts
				c.install(v)
			default:
				c.deliverAny(r)
			}
			for i := 1; i < len(c.members); i++ {
				if y, _ := c.members[i].Inspect(c.name); y.Holder != nil && y.Holder.Token != c.token && y.Holder.Token != later {
					t.Fatalf("seed %d: m%d enters while a client is inside: %+v", seed, i+1, y.Holder)
				}
			}
		}
		kinds := map[EventKind]int{}
		for _, e := range heard[later] {
			kinds[e.Kind]++
		}
		if kinds[Held] != 1 || kinds[Lost] != 0 {
			t.Fatalf("seed %d: the holder hears %v", seed, heard[later])
		}
		kinds = map[EventKind]int{}
		for _, e := range heard[c.token] {
			kinds[e.Kind]++
		}
		if kinds[Held] > 0 {
			if honoured++; kinds[Lost] == 0 {
				t.Fatalf("seed %d: both clients hold the lock: %v", seed, heard[c.token])
			}
			overruled++
		}
		if err := c.members[at].Unlock(c.members[at].now, c.name, later); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c.take(at)
		if c.settle(); c.holds(waiter, c.name) {
			t.Fatalf("seed %d: another process is inside before the lease of the evicted member is over", seed)
		}
		if c.elapse(10 * Second); !c.holds(waiter, c.name) {
			t.Fatalf("seed %d: the process that waits never gets in", seed)
		}
	}
	if t.Logf("the earlier claim was honoured %d times, and overruled %d times", honoured, overruled); overruled == 0 {
		t.Error("too little happens")
	}
}

// The same with kept locks, exclusive or shared.
func TestReplayedKeptClaimInAnyOrder(t *testing.T) {
	honoured, overruled := 0, 0
	for seed := range nightly.Pick[uint64](600, 30_000) {
		r := rand.New(rand.NewPCG(seed, 46))
		modes := [][2]deadlock.Mode{{deadlock.Exclusive, deadlock.Exclusive}, {deadlock.Shared, deadlock.Exclusive}, {deadlock.Exclusive, deadlock.Shared}}[r.IntN(3)]
		k := newKeptMove(t, "none", Terms{Mode: modes[0]}, r.IntN(2) == 0, false)
		for _, i := range []int{keptA, 1, keptB, 3} {
			if _, err := k.members[i].Renew(0, 8, 100*Second); err != nil {
				t.Fatal(err)
			}
			k.members[i].Identify(moving, hostile)
			k.members[i].Identify(8, honest)
		}
		if err := k.members[keptA].Release(0, k.name, k.token); err != nil {
			t.Fatal(err)
		}
		k.take(keptA)
		k.settle()
		ticket, err := k.members[keptA].Lock(0, k.name, Ask{Client: 8, Deadline: Never, Terms: Terms{Mode: modes[1]}})
		if err != nil {
			t.Fatal(err)
		}
		k.take(keptA)
		k.settle()
		later := k.last[ticket|keptA<<56]
		heard := map[Token][]Event{}
		before := k.events
		k.events = func(i int, e Event) {
			before(i, e)
			heard[e.Token] = append(heard[e.Token], e)
		}
		k.install(k.then)
		at, waiter := 1+r.IntN(3), 1+r.IntN(3)
		claim := func(i int, client uint64, t Token, terms Terms) func() {
			return func() { _, _ = k.members[i].Claim(0, k.name, t, client, []uint64{1}, terms); k.take(i) }
		}
		waits := Ticket(0)
		steps := []func(){
			claim(keptB, moving, k.token, k.terms),
			claim(at, 8, later.Token, Terms{Mode: modes[1], Born: later.Born}),
			func() { waits = k.want(waiter, k.name, Terms{}) },
		}
		r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		changes := r.IntN(2)
		for len(steps)+len(k.mail) > 0 {
			switch {
			case len(steps) > 0 && (len(k.mail) == 0 || r.IntN(6) == 0):
				steps[0]()
				steps = steps[1:]
			case changes > 0 && r.IntN(12) == 0:
				changes--
				v := k.next()
				v.Ghosts = k.then.Ghosts
				k.install(v)
			default:
				k.deliverAny(r)
			}
			if e := k.last[waits]; waits != 0 && e.Kind == Held && !e.Token.IsNone() {
				t.Fatalf("seed %d: another process enters while a client is inside: %+v", seed, e)
			}
		}
		kinds := map[EventKind]int{}
		for _, e := range heard[later.Token] {
			kinds[e.Kind]++
		}
		if kinds[Held] != 1 || kinds[Lost] != 0 {
			t.Fatalf("seed %d: the holder hears %v", seed, heard[later.Token])
		}
		kinds = map[EventKind]int{}
		for _, e := range heard[k.token] {
			kinds[e.Kind]++
		}
		if kinds[Held] > 0 {
			if honoured++; kinds[Lost] == 0 {
				t.Fatalf("seed %d: both clients hold the lock: %v", seed, heard[k.token])
			}
			overruled++
		}
	}
	if t.Logf("the earlier claim was honoured %d times, and overruled %d times", honoured, overruled); overruled == 0 {
		t.Error("too little happens")
	}
}

// A client that claims a lock through a second member, before it has heard that the first claim was
// honoured, still holds it there when the lease of the evicted member is over: the second claim
// waits until that hold ends, and is then refused.
func TestClaimBesideClaim(t *testing.T) {
	c := newClaimed(t, "naimi-trehel", false, false)
	c.install(c.then)
	c.settle()
	c.claim()
	if c.settle(); !c.honoured() {
		t.Fatal(*c.heard)
	}
	heard := told(c.fleet, 1)
	c.claimAt(1, 7, c.token, c.members[c.a].Inc)
	c.settle()
	if c.over(); len(*heard) != 0 {
		t.Errorf("while the client holds the lock: %v", *heard)
	}
	c.unlock(c.b, c.name)
	if c.settle(); len(*heard) != 1 || (*heard)[0].Kind != Lost {
		t.Errorf("when it has released the lock: %v", *heard)
	}
}
