package deadlock

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// begun returns a request of a transaction that began at a time.
func begun(origin uint64, tx int, stamp uint64, mode Mode) Request {
	return Request{Attempt: Attempt{Origin: origin, Tx: tx, Number: 1, Stamp: algorithm.TimeOf(stamp), Seq: 1}, Mode: mode}
}

func keeperOf(t *testing.T, m Method, c KeeperConfig) *Keeper {
	t.Helper()
	k, err := m.Keeper(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestOrigins: transactions of different members may have the same number.
func TestOrigins(t *testing.T) {
	k := keeperOf(t, WoundWait(), KeeperConfig{})
	young, old := begun(7, 1<<40, 5, Exclusive), begun(8, 1<<40, 4, Exclusive)
	if e, ok := k.Request(young); !ok || len(e) != 1 || e[0].Kind != Grant {
		t.Fatalf("the first request: %v, %v", e, ok)
	}
	if e, ok := k.Request(young); ok || e != nil {
		t.Errorf("the same request again was taken: %v", e)
	}
	e, ok := k.Request(old)
	if !ok || len(e) != 1 || e[0].Kind != Wound || e[0].Attempt != young.Attempt || e[0].By != old.Attempt {
		t.Errorf("the older request: %v, %v", e, ok)
	}
	if e := k.Release(old.Attempt); len(e) != 0 || len(k.Holds()) != 1 || len(k.Waits()) != 0 {
		t.Errorf("the older one gives up: %v, holds %v", e, k.Holds())
	}
	if a, b := begun(1, 2, 5, Shared), begun(2, 1, 5, Shared); !a.older(b.Attempt) || b.older(a.Attempt) {
		t.Error("among equal stamps the smaller origin is not the older one")
	}
}

// TestDyingFor: a request that dies says for which holder.
func TestDyingFor(t *testing.T) {
	k := keeperOf(t, WaitDie(), KeeperConfig{})
	old, young := begun(1, 1, 1, Exclusive), begun(1, 2, 2, Shared)
	k.Request(old)
	if e, ok := k.Request(young); !ok || len(e) != 1 || e[0].Kind != Die || e[0].By != old.Attempt || len(k.Waits()) != 0 {
		t.Errorf("the younger request: %v, %v", e, ok)
	}
}

// TestOpen: a request would be granted at once exactly if it is.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		config KeeperConfig
		before []Request
		try    Request
		open   bool
	}{
		{"free", KeeperConfig{}, nil, begun(1, 9, 9, Exclusive), true},
		{"held", KeeperConfig{}, []Request{begun(1, 1, 1, Exclusive)}, begun(1, 9, 9, Shared), false},
		{"shared", KeeperConfig{}, []Request{begun(1, 1, 1, Shared)}, begun(1, 9, 9, Shared), true},
		{"behind a writer", KeeperConfig{}, []Request{begun(1, 1, 1, Shared), begun(1, 2, 2, Exclusive)}, begun(1, 9, 9, Shared), false},
		{"held already", KeeperConfig{}, []Request{begun(1, 9, 9, Shared)}, begun(1, 9, 9, Shared), false},
		{"units left", KeeperConfig{Units: 3}, []Request{begun(1, 1, 1, 1)}, begun(1, 9, 9, 2), true},
		{"too many units", KeeperConfig{Units: 3}, nil, begun(1, 9, 9, 4), false},
		{"suspects", KeeperConfig{Suspects: []uint64{4}}, nil, begun(1, 9, 9, Shared), false},
	} {
		k := keeperOf(t, None(), c.config)
		for _, r := range c.before {
			k.Request(r)
		}
		if k.Units() != max(1, c.config.Units) || !slices.Equal(k.Suspects(), c.config.Suspects) {
			t.Errorf("%s: %d units, suspects %v", c.name, k.Units(), k.Suspects())
		}
		open := k.Open(c.try)
		e, _ := k.Request(c.try)
		if granted := len(e) == 1 && e[0].Kind == Grant; open != c.open || granted != open {
			t.Errorf("%s: open is %v, granted %v, want %v", c.name, open, granted, c.open)
		}
	}
}

// TestStrangeHolds: whatever a member reports, its hold is no smaller than one that exists.
func TestStrangeHolds(t *testing.T) {
	for _, mode := range []Mode{-7, Shared, 1 << 40, 3} {
		k := keeperOf(t, None(), KeeperConfig{Units: 3, Suspects: []uint64{1}})
		k.Report(1, []Hold{{Request: begun(1, 1, 1, mode)}}, nil)
		if k.Open(begun(1, 2, 2, 1)) {
			t.Errorf("beside a hold of %d, a unit of 3 is free", mode)
		}
	}
}

// TestClaim: a claim is honoured if the hold is in the book, or may be one of a suspect.
func TestClaim(t *testing.T) {
	const ghost = 4
	held := func(origin uint64, mode Mode, count uint64) Hold {
		return Hold{Request: begun(origin, 1, 1, mode), Epoch: 1, Count: count}
	}
	for _, c := range []struct {
		name   string
		units  int
		before []Hold // reported by member 1
		over   bool   // the ghost's lease
		claim  Hold
		want   bool
	}{
		{"in the book", 0, []Hold{held(1, Exclusive, 1)}, true, held(2, Exclusive, 1), true},
		{"in the book, in another mode", 0, []Hold{held(1, Shared, 1)}, true, held(2, Exclusive, 1), false},
		{"another hold is in the book", 0, []Hold{held(1, Shared, 1)}, true, held(2, Shared, 2), false},
		{"of the ghost", 0, nil, false, held(2, Exclusive, 1), true},
		{"of a ghost whose lease has expired", 0, nil, true, held(2, Exclusive, 1), false},
		{"of the ghost, beside a reader", 0, []Hold{held(1, Shared, 1)}, false, held(2, Shared, 2), true},
		{"of the ghost, exclusive beside a reader", 0, []Hold{held(1, Shared, 1)}, false, held(2, Exclusive, 2), false},
		{"of the ghost, beside a writer", 0, []Hold{held(1, Exclusive, 1)}, false, held(2, Shared, 2), false},
		{"of the ghost, units that are left", 3, []Hold{held(1, 1, 1)}, false, held(2, 2, 2), true},
		{"of the ghost, too many units", 3, []Hold{held(1, 2, 1)}, false, held(2, 2, 2), false},
		{"of the ghost, more units than there are", 3, nil, false, held(2, 4, 2), false},
	} {
		k := keeperOf(t, None(), KeeperConfig{Epoch: 2, Units: c.units, Suspects: []uint64{1, ghost}})
		k.Report(1, c.before, nil)
		if c.over {
			k.Over(ghost)
		}
		_, ok := k.Claim(c.claim, ghost)
		if ok != c.want || ok && !k.Has(1, c.claim.Count) {
			t.Errorf("%s: honoured %v, want %v: %+v", c.name, ok, c.want, k.Holds())
		}
	}
}

// TestOwners: a hold that two members have counts once, is that of the last one, and ends
// with the last.
func TestOwners(t *testing.T) {
	for _, first := range []uint64{1, 2} {
		k := keeperOf(t, WoundWait(), KeeperConfig{Epoch: 2, Units: 3, Suspects: []uint64{1, 2}})
		one := Hold{Request: begun(1, 1, 5, 2), Epoch: 1, Count: 1, Elsewhere: true}
		two := one
		two.Attempt = begun(2, 7, 5, 2).Attempt
		k.Report(1, []Hold{one}, nil)
		k.Report(2, []Hold{two}, nil)
		if all := k.Holds(); len(all) != 1 || all[0].Origin != 2 {
			t.Fatalf("%+v", all)
		}
		effects, _ := k.Request(begun(3, 1, 1, 2))
		if len(effects) != 1 || effects[0].Kind != Wound || effects[0].Origin != 2 {
			t.Errorf("an older one waits: %+v", effects)
		}
		ends, left := one.Attempt, two.Attempt
		if first == 2 {
			ends, left = left, ends
		}
		for _, e := range k.Release(ends) {
			if e.Kind == Grant || e.Origin != left.Origin {
				t.Errorf("one has ended it: %+v", e)
			}
		}
		if effects := k.Release(left); len(effects) != 1 || effects[0].Kind != Grant {
			t.Errorf("both have ended it: %+v", effects)
		}
	}
}

// TestThreeOwners: a hold that three members have, as they have reported or claimed it, counts
// once and ends with the last of them, in whatever order they end it.
func TestThreeOwners(t *testing.T) {
	for _, order := range [][]uint64{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}} {
		for _, claimed := range []bool{false, true} {
			k := keeperOf(t, None(), KeeperConfig{Epoch: 2, Suspects: []uint64{1, 2, 3}})
			all := map[uint64]Attempt{}
			for member := range uint64(3) {
				h := Hold{Request: begun(member+1, int(7*member), 5, Exclusive), Epoch: 1, Count: 1, Elsewhere: true}
				if all[member+1] = h.Attempt; claimed && member > 0 {
					k.Report(member+1, nil, nil)
					if _, ok := k.Claim(h, 1); !ok {
						t.Fatalf("the claim through member %d is refused", member+1)
					}
					continue
				}
				k.Report(member+1, []Hold{h}, nil)
			}
			next := begun(4, 1, 9, Exclusive)
			if effects, ok := k.Request(next); !ok || len(effects) > 0 || len(k.Holds()) != 1 {
				t.Fatalf("beside %+v: %+v", k.Holds(), effects)
			}
			for i, member := range order {
				effects := k.Release(all[member])
				if last := i == len(order)-1; last != (len(effects) == 1 && effects[0].Kind == Grant) || !last && !k.Has(1, 1) {
					t.Errorf("claimed %t, ended in the order %d: after %d: %+v, held %+v", claimed, order, member, effects, k.Holds())
				}
			}
		}
	}
}

// arc makes an arc. The number of the request for which it waits is 0 for a hold.
func arc(from Attempt, to Attempt, seq int) Arc {
	to.Seq = seq
	return Arc{From: from, To: to, Units: 1}
}

// TestDeadlocks: cycles with any numbers, one after the other.
func TestDeadlocks(t *testing.T) {
	a, b, c := begun(3, 1<<40, 1, 0).Attempt, begun(2, 1<<40, 2, 0).Attempt, begun(3, 5, 3, 0).Attempt
	two := []Arc{arc(a, b, 0), arc(b, a, 0), arc(c, a, 0)}
	if d := Deadlocks(two); len(d) != 1 || d[0].Victim != b || len(d[0].Cycle) != 2 || len(d[0].Behind) != 2 {
		t.Errorf("two in a ring, and one that waits for them: %v", d)
	}
	// Both b and c keep a waiting, each in a cycle of its own.
	twice := []Arc{arc(a, b, 0), arc(a, c, 0), arc(b, a, 0), arc(c, a, 0)}
	if d := Deadlocks(twice); len(d) != 2 || d[0].Victim == d[1].Victim || d[0].Victim == a || d[1].Victim == a {
		t.Errorf("two rings with one in common: %v", d)
	}
	again := b
	again.Number++
	if d := Deadlocks([]Arc{arc(a, b, 0), arc(again, a, 0)}); d != nil {
		t.Errorf("another attempt waits: %v", d)
	}
	// A unit is free when c ends.
	units := []Arc{{From: a, To: b, Units: 1, Spare: 1}, {From: a, To: c, Units: 1, Spare: 1}, {From: b, To: a, Units: 1}}
	if d := Deadlocks(units); d != nil {
		t.Errorf("a cycle of units: %v", d)
	}
	if d := Deadlocks(append(units, arc(c, a, 0))); len(d) == 0 || len(d[0].Behind) != 3 {
		t.Errorf("all units are kept: %v", d)
	}
}

// TestGivenUp: a request waits behind another request, not behind whatever that one's
// transaction requests later.
func TestGivenUp(t *testing.T) {
	k := keeperOf(t, None(), KeeperConfig{})
	reader, writer, last := begun(1, 1, 1, Shared), begun(1, 2, 2, Exclusive), begun(1, 3, 3, Shared)
	k.Request(reader)
	k.Request(writer)
	k.Request(last)
	stale := k.Arcs() // last waits behind writer, which gives up and waits for last elsewhere
	next := writer.Attempt
	next.Seq++
	stale = append(slices.DeleteFunc(stale, func(a Arc) bool { return a.From == writer.Attempt }), arc(next, last.Attempt, 0))
	if d := Deadlocks(stale); d != nil {
		t.Errorf("the last reader must wait only for the request that was cancelled: %v", d)
	}
	if d := Deadlocks(append(k.Arcs(), arc(reader.Attempt, last.Attempt, 0))); len(d) != 1 || len(d[0].Cycle) != 3 {
		t.Errorf("the queue is part of a deadlock: %v", d)
	}
}

// TestInquiries: a victim aborts only if all of them still wait.
func TestInquiries(t *testing.T) {
	a, b, c := begun(1, 1, 1, 0).Attempt, begun(1, 2, 2, 0).Attempt, begun(2, 2, 3, 0).Attempt
	d := Deadlock{Victim: c, Cycle: []Attempt{a, c}, Behind: []Attempt{a, c, b}}
	type answer struct {
		who Attempt
		yes bool
	}
	for _, x := range []struct {
		name      string
		answers   []answer
		decided   int // index of the answer that decides
		confirmed bool
	}{
		{"all", []answer{{b, true}, {a, true}, {c, true}}, 2, true},
		{"one does not", []answer{{a, true}, {b, false}, {c, true}}, 1, false},
		{"none", []answer{{a, false}, {b, false}, {c, false}}, 0, false},
		{"unasked", []answer{{Attempt{Tx: 9}, false}, {a, true}, {a, true}, {b, true}, {c, true}}, 4, true},
	} {
		var q Inquiries
		q.Open(d)
		for i, s := range x.answers {
			got, confirmed := q.Answered(s.who, s.yes)
			if (got != nil) != (i == x.decided) || confirmed != (i == x.decided && x.confirmed) {
				t.Errorf("%s: answer %d decides %v, confirmed %v", x.name, i, got, confirmed)
			}
			if got != nil && (got.Victim != c || !slices.Equal(got.Behind, d.Behind)) {
				t.Errorf("%s: it was about %v", x.name, *got)
			}
			if open := i < x.decided; q.About(c) != open || q.About(a) {
				t.Errorf("%s: after answer %d the victim is in question: %v", x.name, i, q.About(c))
			}
		}
		if len(q.all) != 0 {
			t.Errorf("%s: still open", x.name)
		}
	}
	var q Inquiries
	q.Open(d)
	q.Open(d)
	q.Answered(a, true)
	if failed := q.Drop(func(who Attempt) bool { return who.Origin == 2 }); len(failed) != 2 || q.About(c) || len(q.all) != 2 {
		t.Errorf("a home is gone: %v, %v", failed, q.all)
	}
	for _, who := range []Attempt{b, a, b} {
		if got, _ := q.Answered(who, true); got != nil {
			t.Errorf("an answer decides what is void: %v", *got)
		}
	}
	if len(q.all) != 0 {
		t.Errorf("still open: %v", q.all)
	}
}
