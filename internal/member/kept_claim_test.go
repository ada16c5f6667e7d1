package member

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm/deadlock"
)

// A keptMove is a cluster of four in which a client, 7, holds a kept lock through the first
// member, and moves to the third. In the next view the lock's home is the third or the
// fourth, and the first is a ghost, or it stays.
type keptMove struct {
	*keptFleet
	name  string
	terms Terms
	then  View
	held  Ticket
	token Token
}

const (
	keptA, keptOther, keptB = 0, 1, 2
	moving                  = 7 // the client
)

func newKeptMove(t *testing.T, method string, terms Terms, atHome, stays bool) *keptMove {
	t.Helper()
	f := newKeptFleet(t, method, 4)
	k := &keptMove{keptFleet: f, terms: terms, then: f.next()}
	if !stays {
		k.then = f.next(1)
		k.then.Ghosts = []Ghost{{1, 8 * Second}}
	}
	home := 3
	if atHome {
		home = keptB
	}
	was := home
	if !stays && !atHome {
		was = keptA
	}
	k.name = away(f.view, k.then, was, k.then.Rank(uint64(home+1)))
	for i := range f.members {
		if _, err := f.members[i].Renew(0, moving, 100*Second); err != nil {
			t.Fatal(err)
		}
	}
	k.held = k.acquires(k.name, terms)
	k.token, k.terms.Born = f.last[k.held].Token, f.last[k.held].Born
	return k
}

// acquires has the client acquire a lock through the first member.
func (k *keptMove) acquires(name string, terms Terms) Ticket {
	k.tb.Helper()
	t := k.asks(keptA, name, terms)
	k.settle()
	k.is(t, Held, NoCause)
	return t
}

// asks has the client request a lock.
func (k *keptMove) asks(i int, name string, terms Terms) Ticket {
	k.tb.Helper()
	t, err := k.members[i].Lock(k.members[i].now, name, Ask{Client: moving, Deadline: Never, Terms: terms})
	if err != nil {
		k.tb.Fatal(err)
	}
	k.take(i)
	return t | Ticket(i)<<56
}

// claim has the client claim a lock through the third member.
func (k *keptMove) claim(name string, t Token, on uint64, terms Terms) Ticket {
	k.tb.Helper()
	ticket, err := k.members[keptB].Claim(k.members[keptB].now, name, t, moving, []uint64{on}, terms)
	if err != nil {
		k.tb.Fatal(err)
	}
	k.take(keptB)
	return ticket | keptB<<56
}

// claims has it claim the lock that it holds.
func (k *keptMove) claims() Ticket {
	k.tb.Helper()
	return k.claim(k.name, k.token, 1, k.terms)
}

// leaves ends the client's session at a member.
func (k *keptMove) leaves(i int) {
	k.members[i].Close(k.members[i].now, moving)
	k.take(i)
	k.settle()
}

// hold keeps back what a member sends to others, until the function is called.
func (k *keptMove) hold(from uint64) (deliver func()) {
	var late []posted
	for len(k.mail) > 0 {
		mail := k.mail
		k.mail = nil
		for _, l := range mail {
			if l.from == from {
				late = append(late, l)
			} else {
				k.deliver(l)
			}
		}
	}
	return func() {
		for _, l := range late {
			k.deliver(l)
		}
		k.settle()
	}
}

var keptModes = map[string]Terms{
	"exclusive": {},
	"shared":    {Mode: deadlock.Shared},
	"units":     {Mode: 2, Units: 3},
	"part":      {Tx: 5},
}

// beside returns a request that is compatible with a hold, if there is one, and one that is
// not.
func beside(terms Terms) (fits []Terms, not Terms) {
	switch terms.Mode {
	case deadlock.Shared:
		return []Terms{{Mode: deadlock.Shared}}, Terms{}
	case 2:
		return []Terms{{Mode: 1, Units: 3}}, Terms{Mode: 2, Units: 3}
	}
	return nil, Terms{}
}

func eachKeptMove(t *testing.T, f func(t *testing.T, k *keptMove, stays bool)) {
	for what, terms := range keptModes {
		for _, atHome := range []bool{false, true} {
			for _, stays := range []bool{false, true} {
				t.Run(what, func(t *testing.T) { f(t, newKeptMove(t, "none", terms, atHome, stays), stays) })
			}
		}
	}
}

// A claim is honoured in the view after the token's, whether it is made before that view or
// in it, and whether the former member is a ghost or has reported the hold. The hold counts
// once, in later views too, and ends when all members through which it was held have ended
// it.
func TestKeptClaim(t *testing.T) {
	eachKeptMove(t, func(t *testing.T, k *keptMove, stays bool) {
		early := k.view.Home(k.name)%2 == 0
		var c Ticket
		if early {
			c = k.claims()
			k.settle()
			k.waits(c)
		}
		k.install(k.then)
		k.settle()
		if !early {
			c = k.claims()
			k.settle()
		}
		k.is(c, Held, NoCause)
		if k.last[c].Token != k.token || k.last[c].Born != k.last[k.held].Born {
			t.Errorf("claimed with %+v, held with %+v", k.last[c], k.last[k.held])
		}
		v := k.next() // in which both report it, if the former member is one
		v.Ghosts = k.then.Ghosts
		fits, not := beside(k.terms)
		waits := k.want(keptOther, k.name, not)
		k.settle()
		k.install(v)
		k.settle()
		k.pass(10 * Second) // the ghost's lease
		k.settle()
		for _, terms := range fits {
			other := k.want(keptOther, k.name, Terms{Mode: terms.Mode, Units: terms.Units})
			k.settle()
			k.waits(other) // not before the first one
			k.members[keptOther].Cancel(0, waits&(1<<56-1))
			k.take(keptOther)
			k.settle()
			k.is(other, Held, NoCause)
			waits = k.want(keptOther, k.name, not)
			k.settle()
			k.release(keptOther, k.name, other)
			k.settle()
		}
		if k.waits(waits); stays {
			k.leaves(keptA)
			k.waits(waits)
		}
		k.leaves(keptB)
		k.is(waits, Held, NoCause)
	})
}

// The same holds if the former member ends the hold last.
func TestKeptClaimEndsFirst(t *testing.T) {
	eachKeptMove(t, func(t *testing.T, k *keptMove, stays bool) {
		k.install(k.then)
		k.settle()
		c := k.claims()
		k.settle()
		k.is(c, Held, NoCause)
		_, not := beside(k.terms)
		waits := k.want(keptOther, k.name, not)
		k.settle()
		k.leaves(keptB)
		if k.waits(waits); stays {
			k.leaves(keptA)
		} else {
			k.pass(10 * Second)
			k.settle()
		}
		k.is(waits, Held, NoCause)
	})
}

// A claim that is not of a hold in the book, and not of a ghost that may still have it, is
// refused: the hold is over.
func TestKeptClaimRefused(t *testing.T) {
	eachKeptMove(t, func(t *testing.T, k *keptMove, stays bool) {
		k.install(k.then)
		k.settle()
		mode, units := k.terms, k.terms
		if mode.Mode = deadlock.Shared; k.terms.Mode == deadlock.Shared {
			mode.Mode = deadlock.Exclusive
		} else if k.terms.Units > 0 {
			mode.Mode = 1
		}
		units.Mode, units.Units = 1, 7
		other := k.token
		other.Count += 5
		all := map[string]Ticket{"an incarnation that never was": k.claim(k.name, other, 99, k.terms)}
		if stays { // it has reported
			k.leaves(keptB)
			if _, err := k.members[keptB].Renew(0, moving, 100*Second); err != nil {
				t.Fatal(err)
			}
			all = map[string]Ticket{}
			for what, x := range map[string]struct {
				t     Token
				terms Terms
			}{"another token": {other, k.terms}, "another mode": {k.token, mode}, "another number of units": {k.token, units}} {
				x.terms.Tx = 0
				all[what] = k.claim(k.name, x.t, 1, x.terms)
				k.settle()
			}
			k.leaves(keptA)
			all["after its end"] = k.claims()
		} else {
			k.pass(10 * Second)
			k.settle()
			all["after the lease of the ghost"] = k.claims()
		}
		k.settle()
		for what, c := range all {
			if e := k.last[c]; e.Kind != Lost || e.Cause != NoCause {
				t.Errorf("%s: %+v", what, e)
			}
		}
		free := k.want(keptOther, k.name, Terms{})
		k.settle()
		k.is(free, Held, NoCause)
	})
}

// What another member holds, by its own report, shows that a ghost has nothing: a claim is
// refused, and the lock was passed on. It stays refused when that hold has ended.
func TestKeptClaimStruckOut(t *testing.T) {
	for _, released := range []bool{false, true} {
		k := newKeptMove(t, "none", Terms{}, false, false)
		k.leaves(keptA)
		held := k.want(keptOther, k.name, Terms{})
		k.settle()
		k.is(held, Held, NoCause)
		k.install(k.then)
		k.settle()
		if released {
			k.release(keptOther, k.name, held)
			k.settle()
		}
		c := k.claims()
		k.settle()
		if released {
			k.is(c, Lost, NoCause)
		} else {
			k.is(c, Lost, Released)
		}
	}
}

// A claim of a hold that an operator has taken is refused, and its client is notified of that
// if a later hold excludes the one that it claims.
func TestKeptClaimPassedOn(t *testing.T) {
	all := Terms{Mode: deadlock.Exclusive, Units: 3}
	for _, x := range []struct {
		what          string
		claimed, next Terms
		why           Cause
	}{
		{"exclusive, then shared", Terms{}, Terms{Mode: deadlock.Shared}, Released},
		{"shared, then exclusive", Terms{Mode: deadlock.Shared}, Terms{}, Released},
		{"shared, then shared", Terms{Mode: deadlock.Shared}, Terms{Mode: deadlock.Shared}, NoCause},
		{"units, then all", Terms{Mode: 2, Units: 3}, all, Released},
		{"units, then too many", Terms{Mode: 2, Units: 3}, Terms{Mode: 2, Units: 3}, Released},
		{"units, then the rest", Terms{Mode: 2, Units: 3}, Terms{Mode: 1, Units: 3}, NoCause},
		{"units, then those of another semaphore", Terms{Mode: 2, Units: 3}, Terms{Mode: 1, Units: 4}, Released},
	} {
		for _, stays := range []bool{false, true} {
			k := newKeptMove(t, "none", x.claimed, false, stays)
			if err := k.members[keptA].Release(0, k.name, k.token); err != nil {
				t.Fatal(err)
			}
			k.take(keptA)
			k.settle()
			k.is(k.held, Lost, Released)
			k.leaves(keptA) // so that the session, which has not heard of it, does not act
			next := k.want(keptOther, k.name, x.next)
			k.settle()
			k.is(next, Held, NoCause)
			k.install(k.then)
			k.settle()
			c := k.claims()
			if k.settle(); !stays && x.why == NoCause {
				k.is(c, Held, NoCause) // the ghost may still have it
				continue
			}
			if e := k.last[c]; e.Kind != Lost || e.Cause != x.why {
				t.Errorf("%s (former member stays: %v): %+v", x.what, stays, e)
			}
		}
	}
}

// A claim waits for all reports, because one may show that the hold is over. One that is
// withdrawn meanwhile, or afterwards, leaves nothing behind.
func TestKeptClaimWaits(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		k := newKeptMove(t, "none", Terms{}, false, false)
		k.install(k.then)
		reports := k.hold(keptOther + 1)
		c := k.claims()
		k.settle()
		k.waits(c)
		if withdrawn {
			k.members[keptB].Cancel(0, c&(1<<56-1))
			k.take(keptB)
			k.settle()
		}
		reports()
		if withdrawn {
			k.waits(c)
			k.pass(10 * Second)
			k.settle()
			next := k.want(keptOther, k.name, Terms{})
			k.settle()
			k.is(next, Held, NoCause)
			continue
		}
		k.is(c, Held, NoCause)
	}
}

// A claim that was not answered in its view is sent to the home of the next one. One of a
// member that is already known there by an earlier session is refused at once.
func TestKeptClaimAgain(t *testing.T) {
	k := newKeptMove(t, "none", Terms{}, false, false)
	k.install(k.then)
	k.settle()
	c := k.claims()
	v := k.next()
	v.Ghosts = k.then.Ghosts
	k.install(v)
	k.settle()
	k.is(c, Held, NoCause)
	if _, err := k.members[keptB].Renew(0, moving+1, Second); err != nil {
		t.Fatal(err)
	}
	if _, err := k.members[keptB].Claim(0, k.name, k.token, moving+1, []uint64{1}, Terms{}); !errors.Is(err, ErrNotHeld) {
		t.Errorf("claimed twice: %v", err)
	}
}

// A hold that a client may have through two members says nothing about the other one, if
// that has not reported it yet: neither the claimed one, nor the older one.
func TestKeptClaimProvesNothing(t *testing.T) {
	for what, terms := range keptModes {
		for _, first := range []int{keptA, keptB} {
			k := newKeptMove(t, "none", terms, false, true)
			k.install(k.then)
			k.settle()
			k.is(k.moves(), Held, NoCause)
			k.install(k.next())
			second := keptA + keptB - first
			reports := k.hold(uint64(second + 1))
			k.leaves(first)
			_, not := beside(terms)
			waits := k.want(keptOther, k.name, not)
			k.settle()
			if _, ok := k.last[waits]; ok {
				t.Errorf("%s: granted although m%d has not reported", what, second+1)
			}
			reports()
			k.waits(waits)
			k.leaves(second)
			k.is(waits, Held, NoCause)
		}
	}
}

// moves has the client claim the lock, and waits for the answer.
func (k *keptMove) moves() Ticket {
	k.tb.Helper()
	c := k.claims()
	k.settle()
	return c
}

// A transaction that has moved goes on at the other member: with its age, with the locks
// that it has claimed, and in deadlocks, which are detected, or prevented.
func TestKeptClaimTransaction(t *testing.T) {
	for _, stays := range []bool{false, true} {
		for _, method := range []string{"detect-central", "detect-distributed", "wound-wait", "wait-die"} {
			k := newKeptMove(t, method, Terms{Tx: 5}, false, stays)
			k.acquires("second", Terms{Tx: 5})
			k.want(keptOther, "time passes", Terms{})
			young := k.want(keptOther, "mine", Terms{Tx: 1})
			k.settle()
			k.is(young, Held, NoCause)
			k.install(k.then)
			k.settle()
			terms := k.terms
			c := k.claims()
			if _, err := k.members[keptB].Lock(0, "mine", Ask{Client: moving, Deadline: Never, Terms: terms}); !errors.Is(err, ErrWaits) {
				t.Errorf("a request before the claims are answered: %v", err)
			}
			k.settle()
			k.is(c, Held, NoCause)
			c = k.claim("second", Token{1, 1}, 1, terms)
			k.settle()
			k.is(c, Held, NoCause)
			k.pass(10 * Second)
			k.settle()
			waits := k.asks(keptB, "mine", terms) // of the younger one
			k.settle()
			k.waits(waits)
			if method == "wound-wait" {
				k.is(young, Doomed, Deadlock)
				continue
			}
			other := k.want(keptOther, k.name, Terms{Tx: 1})
			k.settle()
			k.pass(DetectAfter)
			k.settle()
			k.is(other, Stopped, Deadlock)
			if k.last[c].Born != terms.Born {
				t.Errorf("%s: born %d, and then %d", method, terms.Born, k.last[c].Born)
			}
		}
	}
}

// A holder that has moved and must abort is notified where it is now.
func TestKeptClaimWounded(t *testing.T) {
	for _, stays := range []bool{false, true} {
		k := newKeptMove(t, "wound-wait", Terms{Tx: 5}, false, stays)
		k.install(k.then)
		k.settle()
		old := k.want(keptOther, k.name, Terms{Tx: 1, Born: 1})
		k.settle()
		c := k.moves()
		k.is(c, Doomed, Deadlock)
		k.leaves(keptB)
		if stays {
			k.leaves(keptA)
		}
		k.pass(10 * Second)
		k.settle()
		k.is(old, Held, NoCause)
	}
}

// If the kind of the lock changes, a claim that waits is refused.
func TestKeptClaimChanged(t *testing.T) {
	for _, kind := range []string{"central", "kept:detect-distributed"} {
		k := newKeptMove(t, "none", Terms{Mode: 2, Units: 3}, false, true)
		c := k.claims()
		k.then.Choices = []Choice{{"", kind, 1}}
		k.install(k.then)
		k.settle()
		k.is(c, Lost, Changed)
		if _, err := k.members[keptB].Claim(0, k.name, k.token, moving, []uint64{1}, k.terms); !errors.Is(err, ErrNotHeld) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
