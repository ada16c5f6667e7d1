package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// leaves lets a member ask to leave, and returns the answers to it.
func (d *testLeader) leaves(inc, voter uint64) []Message {
	d.t.Helper()
	return d.say("m", Message{Kind: Leave, Inc: inc, Voter: voter})
}

// The last member is told that it has left when the members that left before it know that
// they have: none of them has asked for the time of a renewal.
func TestLastLeaverWaits(t *testing.T) {
	d := leader(t, 2, 1)
	d.live(2*second, 64, 65)
	d.leaves(65, 0)
	d.tick(1)
	d.commit()
	d.now += second
	if all := d.leaves(65, 0); !has(all, Gone) || has(all, View) {
		t.Errorf("%v: want only GONE, as it has no voter", all)
	}
	for _, x := range []struct {
		by   member.Instant
		gone bool
	}{{second, false}, {second, false}, {1, true}} {
		if d.now += x.by; has(d.leaves(64, 64), Gone) != x.gone {
			t.Errorf("%d after the other one asked: told that it is gone: %v", d.now, !x.gone)
		}
	}
	d.say("m", Message{Kind: Renew, Inc: 65, Number: 1})
	if !has(d.leaves(64, 64), Gone) {
		t.Error("it waits for one that does not leave")
	}
}

// The last member stays as long as there is something to be done: another one wants to
// join, a change is under way, the log has other voters, or there are more members.
func TestLastLeaverStays(t *testing.T) {
	for what, keep := range map[string]func(d *testLeader){
		"nothing":             func(*testLeader) {},
		"a joiner":            func(d *testLeader) { d.join("X", 5, 64) },
		"a change":            func(d *testLeader) { _ = d.Choose(central()); d.tick(second) },
		"another voter":       func(d *testLeader) { d.Voters([]uint64{64, 65}, false, true); d.leftAt = 0 },
		"a learner":           func(d *testLeader) { d.Voters([]uint64{64}, true, true); d.leftAt = 0 },
		"a change of the log": func(d *testLeader) { d.Voters([]uint64{64}, false, false); d.leftAt = 0 },
	} {
		d := leader(t, 1, 1)
		keep(d)
		if has(d.leaves(64, 64), Gone) != (what == "nothing") {
			t.Errorf("kept by %s: it is told that it is gone, or not", what)
		}
	}
	two := leader(t, 2, 1)
	if has(two.leaves(64, 64), Gone) {
		t.Error("one of two members is told at once that it is gone")
	}
}

// A leaver whose voter is needed gets no answer; any other is told that it has left, by any
// voter; one that has a voter is sent to the leader, which knows. It also gets the view,
// which shows that the others can do without it.
func TestLeaverIsTold(t *testing.T) {
	d := leader(t, 4, 3)
	d.live(3*second, 64, 65, 66, 67)
	d.leaves(66, 66)
	d.here(67)
	d.tick(1)
	d.commit()
	if all := d.leaves(66, 66); len(all) > 0 {
		t.Errorf("the log has its voter, and it is told %v", all)
	}
	rest := []uint64{64, 65, 128}
	d.Voters(rest, false, false)
	if all := d.leaves(66, 66); len(all) > 0 {
		t.Errorf("the log is being changed, and it is told %v", all)
	}
	if all := d.leaves(66, 999); len(all) != 2 || all[1].Kind != Gone {
		t.Errorf("the record has no such voter, and it is told %v", all)
	}
	d.Voters(rest, false, true)
	if all := d.leaves(66, 66); len(all) != 2 || all[0].Kind != View || all[1].Kind != Gone {
		t.Errorf("%v, want VIEW and GONE", all)
	}
	if all := d.leaves(66, 0); len(all) != 1 || all[0].Kind != Gone {
		t.Errorf("%v, want GONE", all)
	}
	d.Follow(d.now, 65)
	if all := d.leaves(66, 66); len(all) != 1 || all[0].Kind != NotLeader {
		t.Errorf("%v, want NOTLEADER", all)
	}
	if all := d.leaves(66, 0); len(all) != 1 || all[0].Kind != Gone {
		t.Errorf("%v, want GONE", all)
	}
}

// A leaver that is to vote, and has not heard of it, gets the view.
func TestLeaverHearsOfItsVoter(t *testing.T) {
	d := leader(t, 3, 3)
	if all := d.leaves(65, 65); has(all, View) {
		t.Errorf("%v: it knows its voter", all)
	}
	if all := d.leaves(65, 0); !has(all, View) {
		t.Errorf("%v: it does not know its voter", all)
	}
}

// If no member would be left, leavers stay first, then members that should be evicted; an
// eviction that is impossible is not made later either.
func TestWhoStays(t *testing.T) {
	d := leader(t, 2, 1)
	d.tick(second)
	_ = d.Evict(64)
	_ = d.Evict(65)
	if x := d.tick(1); x != nil {
		t.Fatalf("%+v", x)
	}
	d.join("X", 5, 64, 65)
	if x := d.tick(1); x == nil || len(x.Drop) > 0 || len(x.Join) != 1 {
		t.Errorf("%+v: want X to join, and nobody evicted", x)
	}

	d = leader(t, 2, 1)
	for range 5 {
		d.say("m", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: 1})
		if x := d.tick(second); x != nil {
			t.Fatalf("%+v", x)
		}
	}
	d.leaves(65, 0)
	if x := d.tick(second / 2); x == nil || !slices.Equal(x.Drop, []uint64{64}) || len(x.Left) > 0 {
		t.Errorf("%+v: want 64 evicted, which is silent, and 65 to stay, which leaves", x)
	}
}

// A change that would be void, here for too many ghosts, is not proposed.
func TestTooManyGhosts(t *testing.T) {
	d := leader(t, 2, 1)
	withGhosts(&d.record, member.MaxGhosts)
	for _, g := range d.record.Ghosts {
		d.ghosts = append(d.ghosts, timed{g.Inc, member.Never})
	}
	_ = d.Evict(65)
	if x := d.tick(2 * second); x != nil || d.flying != nil {
		t.Errorf("%+v", x)
	}
}

// A voter without a record belongs to no other cluster, and a voter of the future is sent
// to the leader.
func TestVoterKnowsLittle(t *testing.T) {
	d := &testLeader{NewLeader(64, Record{}), t, 0, 0}
	if all := d.say("m", Message{Kind: Renew, Inc: 65}); len(all) != 1 || all[0].Kind != NotLeader {
		t.Errorf("%v", all)
	}
	if all := d.say("m", Message{Kind: Renew, Inc: 5}); len(all) != 1 || all[0].Kind != NotLeader {
		t.Errorf("a small incarnation: %v", all)
	}
	d = leader(t, 2, 1)
	if all := d.say("m", Message{Kind: Fetch, Inc: 3 * 64, Epoch: 0}); len(all) != 1 || all[0].Kind != NotLeader {
		t.Errorf("%v", all)
	}
}

// If all leave and no process joins, the member whose voter leads stays until the others
// have left; without such a member it is the first. If a process joins, none has to stay.
func TestOneLeaverIsKept(t *testing.T) {
	for _, x := range []struct {
		self uint64
		last uint64
		join bool
	}{{64, 64, false}, {65, 65, false}, {66, 66, false}, {99, 64, false}, {65, 0, true}} {
		d := leader(t, 3, 3)
		r := *d.Record()
		d.Leader = NewLeader(x.self, r)
		d.Voters(r.staying(), false, true)
		d.Lead(d.now, 1, r)
		d.live(2*second, 64, 65, 66)
		for inc := range uint64(3) {
			d.leaves(64+inc, 64+inc)
		}
		if x.join {
			d.join("X", 5, 64, 65, 66)
		}
		change := Change{}
		change.Drop, change.Left = d.goers(all)
		d.keepOne(&change)
		want := slices.DeleteFunc([]uint64{64, 65, 66}, func(inc uint64) bool { return inc == x.last })
		if d.last != x.last || !slices.Equal(change.Left, want) {
			t.Errorf("voter %d leads, a process joins: %v: %d stays, %v leave", x.self, x.join, d.last, change.Left)
		}
		d.join("X", 5, 64, 65, 66)
		if d.keepOne(&change); d.last != 0 && !x.join {
			t.Errorf("%d stays though a process joins", d.last)
		}
	}
}

// A member that leaves is not evicted, even if an operator wants it: it is no ghost.
func TestLeaverIsNotEvicted(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	d.leaves(65, 0)
	_ = d.Evict(65)
	if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{65}) || len(x.Drop)+len(x.Ghosts) > 0 {
		t.Errorf("%+v", x)
	}
}

// The address of a voter is that of the record, of the first as of any other.
func TestAddressOfVoters(t *testing.T) {
	r := born(t, 3, 3)
	for id, want := range map[uint64]string{64: "A", 65: "B", 66: "C", 67: ""} {
		if got := r.Address(id); got != want {
			t.Errorf("voter %d is at %q, want %q", id, got, want)
		}
	}
}
