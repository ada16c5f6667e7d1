package member

import "testing"

// newKeptTwice is a client that claims a kept lock after two deaths. In the second view the
// first member is a ghost, and the fourth, which is the lock's home, waits for it. The
// third view comes three seconds later: the fourth member is evicted, and does not hear of it.
func newKeptTwice(t *testing.T, terms Terms) (k *keptMove, waits Ticket) {
	t.Helper()
	f := newKeptFleet(t, "none", 4)
	second := f.next(1)
	second.Ghosts = []Ghost{{1, 8 * Second}}
	k = &keptMove{keptFleet: f, name: away(f.view, second, 3, 2), terms: terms}
	for i := range f.members {
		if _, err := f.members[i].Renew(0, moving, 100*Second); err != nil {
			t.Fatal(err)
		}
	}
	k.held = k.acquires(k.name, terms)
	k.token, k.terms.Born = f.last[k.held].Token, f.last[k.held].Born
	k.install(second)
	k.settle()
	_, not := beside(terms)
	waits = k.want(3, k.name, not)
	k.pass(3 * Second)
	k.settle()
	k.waits(waits)
	third := k.next(4)
	third.Ghosts = []Ghost{{1, 5 * Second}, {4, 9 * Second}}
	k.install(third)
	k.settle()
	return k, waits
}

// A claim waits as long as a ghost is suspected that the client does not name: that ghost
// may be the home of the view before, and still grant the lock there, because the lease of
// the member that the hold rests on ends first.
func TestKeptClaimAwaitsGhosts(t *testing.T) {
	for what, terms := range keptModes {
		k, waits := newKeptTwice(t, terms)
		c := k.claims()
		k.settle()
		k.waits(c)
		k.members[3].Wake(8 * Instant(Second) * 102 / 100)
		k.take(3)
		if k.is(waits, Held, NoCause); k.last[waits].Token.Epoch != 2 {
			t.Errorf("%s: %+v", what, k.last[waits])
		}
		k.waits(c)
		k.pass(6 * Second) // both may be over, or only the first
		k.settle()
		k.is(c, Lost, NoCause)
	}
}

// A claim that names all ghosts, because the client holds the lock through each of them, waits
// for none of their leases: also at a member that sends it to the home.
func TestKeptClaimNamesGhosts(t *testing.T) {
	for what, terms := range keptModes {
		for _, all := range []bool{true, false} {
			k, _ := newKeptTwice(t, terms)
			through := []uint64{4, 1}
			if !all {
				through = through[1:]
			}
			m := k.members[keptB]
			c, err := m.Claim(m.now, k.name, k.token, moving, through, k.terms)
			if err != nil {
				t.Fatal(err)
			}
			k.take(keptB)
			if k.settle(); m.epoch.view.Home(k.name) == m.epoch.me {
				t.Fatal("it is the home")
			}
			if e := k.last[c|keptB<<56]; (e.Kind == Held && e.Token == k.token) != all {
				t.Errorf("%s, all named %t: %+v", what, all, e)
			}
		}
	}
}

// after has an operator take the lock from the client, which does not hear of it, and
// another client acquire it, through the same member.
func (k *keptMove) after(t *testing.T) (later Token) {
	t.Helper()
	const other = moving + 1
	m := k.members[keptA]
	if err := m.Release(m.now, k.name, k.token); err != nil {
		t.Fatal(err)
	}
	k.take(keptA)
	for _, m := range k.members {
		if _, err := m.Renew(m.now, other, 100*Second); err != nil {
			t.Fatal(err)
		}
	}
	ticket, err := m.Lock(m.now, k.name, Ask{Client: other, Deadline: Never, Terms: k.terms})
	if err != nil {
		t.Fatal(err)
	}
	k.take(keptA)
	k.settle()
	k.is(ticket|keptA<<56, Held, NoCause)
	return k.last[ticket|keptA<<56].Token
}

// claimsLater has the other client claim its later hold at a member.
func (k *keptMove) claimsLater(t *testing.T, at int, later Token) Ticket {
	t.Helper()
	ticket, err := k.members[at].Claim(k.members[at].now, k.name, later, moving+1, []uint64{1}, k.terms)
	if err != nil {
		t.Fatal(err)
	}
	k.take(at)
	return ticket | Ticket(at)<<56
}

// Of two claims that wait, that of the later hold is decided first: the earlier one is over,
// and its client may not have heard of it.
func TestKeptClaimLatestFirst(t *testing.T) {
	k := newKeptMove(t, "none", Terms{}, false, false)
	later := k.after(t)
	k.install(k.then)
	reports := k.hold(keptOther + 1)
	c := k.claims()
	d := k.claimsLater(t, keptOther, later)
	if k.mail[len(k.mail)-1].from != keptOther+1 {
		t.Fatal("the later hold is not claimed last")
	}
	claim := k.mail
	k.mail = nil
	for _, l := range claim {
		k.deliver(l)
	}
	k.waits(c)
	reports()
	k.is(d, Held, NoCause)
	k.is(c, Lost, Released)
}

// A home that was the home in the previous view knows of the later hold.
func TestKeptClaimOfForced(t *testing.T) {
	k := newKeptMove(t, "none", Terms{}, true, false)
	later := k.after(t)
	k.install(k.then)
	k.settle()
	k.is(k.moves(), Lost, Released)
	d := k.claimsLater(t, keptOther, later)
	k.settle()
	k.is(d, Held, NoCause)
}

// A claim is refused if a later hold excluded it, also when that has ended and says nothing
// about the ghost that both rest on: tokens would fall.
func TestKeptClaimAfterLater(t *testing.T) {
	k := newKeptMove(t, "none", Terms{}, true, true)
	later := k.after(t)
	k.install(k.then)
	k.settle()
	d := k.claimsLater(t, keptB, later)
	k.settle()
	k.is(d, Held, NoCause)
	v := k.next(1)
	v.Ghosts = []Ghost{{1, 8 * Second}}
	k.install(v)
	k.settle()
	if err := k.members[keptB].Unlock(k.members[keptB].now, k.name, later); err != nil {
		t.Fatal(err)
	}
	k.take(keptB)
	k.settle()
	c := k.claims()
	k.settle()
	k.is(c, Lost, Released)
}
