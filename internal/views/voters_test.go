package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// settle commits what is proposed, and does what is asked of the log, until
// nothing more is.
func (d *testLeader) settle(who ...uint64) {
	d.t.Helper()
	for range 20 {
		if x := d.live(8*second, who...); x != nil {
			d.commit()
		}
		d.revoteNow()
	}
}

// revoteNow has the log's list changed as the leader asks.
func (d *testLeader) revoteNow() {
	d.now += 2 * second
	d.hear(d.now)
	d.Out.Reset()
	d.reconcile()
	if x := d.Out.Revote; x != nil {
		if slices.Contains(d.list, d.self) && !slices.Contains(x, d.self) {
			x = append(slices.Clone(x), d.self) // no leader removes itself
			slices.Sort(x)
		}
		d.Voters(x, false, true)
	}
}

func (d *testLeader) votersAre(want ...uint64) {
	d.t.Helper()
	if got := d.record.staying(); !slices.Equal(got, want) || !slices.Equal(d.list, want) {
		d.t.Errorf("voters %v, and the log has %v: want %v", got, d.list, want)
	}
}

func TestOneBecomesThree(t *testing.T) {
	d := lead(t, 2, 5)
	d.record.Settings.Replace = 30 * member.Second
	d.settle(64, 65)
	d.votersAre(64)
	d.say("C", Message{Kind: Join, Name: "C", Address: "C", Nonce: 300, Who: []uint64{64, 65}})
	if d.tick(1) == nil {
		t.Fatal("C is not admitted")
	}
	if d.commit(); len(d.record.Members) != 3 {
		t.Fatal("C is not admitted")
	}
	d.settle(64, 65) // C says nothing: it is none that could be a voter, and then it is gone
	d.votersAre(64)
	d.say("C", Message{Kind: Join, Name: "C", Address: "C", Nonce: 301, Who: []uint64{64, 65}})
	d.tick(1)
	inc := d.commit().Members[2].Inc
	d.settle(64, 65, inc)
	if n := len(d.list); n != 3 {
		t.Fatalf("%d voters", n)
	}
	three := slices.Clone(d.list)
	d.settle(64, 65) // C dies, and no member can take its place
	d.votersAre(three...)
	d.say("D", Message{Kind: Join, Name: "D", Address: "D", Nonce: 302, Who: []uint64{64, 65}})
	d.tick(1)
	inc = d.commit().Members[2].Inc
	d.settle(64, 65, inc)
	if slices.Contains(d.list, three[2]) || len(d.list) != 3 || d.list[0] != 64 {
		t.Errorf("voters %v of %v", d.list, three)
	}
	if d.settle(64, 65, inc); d.flying != nil || len(d.record.Voters) > 4 {
		t.Errorf("%+v", d.record.Voters)
	}
}

func TestVoterLeaves(t *testing.T) {
	t.Run("another takes its place", func(t *testing.T) {
		d := lead(t, 4, 3)
		d.live(3*second, 64, 65, 66, 67)
		d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		d.here(67)
		x := d.tick(1)
		if x == nil || !slices.Equal(x.Left, []uint64{66}) || !slices.Equal(x.Retire, []uint64{66}) || !slices.Equal(x.Promote, []uint64{104}) {
			t.Fatalf("%+v", x)
		}
		d.commit()
		if all := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66}); len(all) > 0 {
			t.Errorf("the log has it still: %v", all)
		}
		d.revoteNow()
		all := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		if len(all) != 2 || all[0].Kind != View || all[1].Kind != Gone {
			t.Errorf("it is told of the view first, and then that it is gone: %v", all)
		}
		d.votersAre(64, 65, 128)
	})
	t.Run("nobody does", func(t *testing.T) {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		if x := d.tick(1); x != nil {
			t.Errorf("before the others have answered: %+v", x)
		}
		d.here(65)
		if x := d.tick(1); x == nil || len(x.Retire) != 2 {
			t.Fatalf("%+v", x)
		}
		d.commit()
		d.settle(64, 65)
		d.votersAre(64)
	})
	t.Run("the leader", func(t *testing.T) {
		d := lead(t, 2, 1)
		d.live(3*second, 64, 65)
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		d.here(65)
		d.tick(1)
		d.commit()
		d.revoteNow()
		if !slices.Equal(d.list, []uint64{64, 128}) {
			t.Errorf("%v", d.list)
		}
		if d.revoteNow(); d.Out.HandOver != 128 {
			t.Errorf("%+v", d.Out)
		}
	})
	t.Run("the leader, and the first that could lead is dead", func(t *testing.T) {
		d := lead(t, 4, 3)
		d.live(3*second, 64, 65, 66, 67)
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		d.here(65, 66, 67)
		d.tick(1)
		d.commit()
		d.revoteNow()
		if d.revoteNow(); d.Out.HandOver != 65 {
			t.Errorf("%+v", d.Out)
		}
		d.live(7*second, 64, 66, 67)
		if d.revoteNow(); d.Out.HandOver != 66 {
			t.Errorf("it hands over to a voter that is silent: %+v", d.Out)
		}
	})
	t.Run("the only one that has spoken", func(t *testing.T) {
		d := lead(t, 2, 1)
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		if x := d.tick(2 * second); x != nil {
			t.Errorf("%+v", x)
		}
		if x := d.live(3*second, 65); x == nil || len(x.Left) != 1 || len(x.Promote) != 1 {
			t.Errorf("%+v", x)
		}
	})
}

// If all leave at once they do not wait for each other: all but the one that leads
// can go, and then it can.
func TestAllLeave(t *testing.T) {
	d := lead(t, 3, 3)
	all := []uint64{64, 65, 66}
	d.settle(all...)
	d.votersAre(all...)
	for i, inc := range all {
		d.say(string(rune('A'+i)), Message{Kind: Leave, Inc: inc, Voter: inc})
	}
	x := d.tick(2 * second)
	if x == nil || len(x.Left) != 2 || len(x.Retire) != 2 {
		t.Fatalf("%+v", x)
	}
	if d.commit(); len(d.record.Members) != 1 || d.record.Members[0].Inc != 64 {
		t.Fatalf("%+v", d.record.Members)
	}
	last := Message{Kind: Leave, Inc: 64, Voter: 64}
	if said := d.say("A", last); has(said, Gone) {
		t.Errorf("the last one goes before the log can do without the others: %+v", said)
	}
	d.revoteNow()
	d.votersAre(64)
	for i, inc := range all[1:] {
		if said := d.say("A", last); has(said, Gone) {
			t.Errorf("the last one goes before %d has heard that it may: %+v", inc, said)
		}
		d.tick(second)
		if said := d.say(string(rune('B'+i)), Message{Kind: Leave, Inc: inc, Voter: inc}); !has(said, Gone) {
			t.Errorf("%d may go: %+v", inc, said)
		}
	}
	d.tick(3 * second)
	if said := d.say("A", last); !has(said, Gone) {
		t.Errorf("nobody has asked for long, and the last one may go: %+v", said)
	}
}

func TestWanted(t *testing.T) {
	d := lead(t, 5, 5)
	all := []uint64{64, 65, 66, 67, 68}
	d.settle(all...)
	d.votersAre(all...)
	if err := d.Want(2); err == nil {
		t.Error("two")
	}
	if err := d.Want(3); err != nil {
		t.Fatal(err)
	}
	d.settle(all...)
	d.votersAre(64, 65, 66)
	if err := d.Want(5); err != nil {
		t.Fatal(err)
	}
	if d.settle(all...); len(d.list) != 5 || slices.Contains(d.list, 67) {
		t.Errorf("%v", d.list) // a number is never used again
	}
}

// A new voter that crashes before it has the log is given up.
func TestStillborn(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(3*second, 64, 65, 66)
	_ = d.Want(3)
	if x := d.tick(1); x == nil || len(x.Promote) != 2 {
		t.Fatalf("%+v", x)
	}
	d.commit()
	x := d.live(9*second, 64, 65) // 66 dies
	if x == nil || !slices.Equal(x.Drop, []uint64{66}) || len(x.Retire) != 2 {
		t.Fatalf("%+v", x)
	}
	d.commit()
	d.settle(64, 65)
	d.votersAre(64)
}

// A member that has missed three renewals may be dead with its disk: it is not a candidate,
// and not one of those that stay, although it is still a member.
func TestCandidatesAreFresh(t *testing.T) {
	quick := func(members, wanted int) *testLeader {
		d := lead(t, members, wanted)
		d.record.Settings.Renew = member.Second
		return d
	}
	t.Run("to become one", func(t *testing.T) {
		d := quick(3, 1)
		d.live(3*second, 64, 65, 66)
		d.live(4*second, 64, 65)
		_ = d.Want(3)
		if x := d.tick(1); x == nil || len(x.Promote) > 0 || len(x.Drop) > 0 {
			t.Fatalf("%+v", x)
		}
		d.commit()
		if x := d.live(2*second, 64, 65, 66); x == nil || !slices.Equal(x.Promote, []uint64{102, 103}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("to stay one", func(t *testing.T) {
		d := quick(3, 3)
		d.live(3*second, 64, 65, 66)
		d.live(4*second, 65, 66)
		d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		d.here(65)
		if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{66}) || !slices.Equal(x.Retire, []uint64{64, 66}) {
			t.Errorf("%+v", x)
		}
	})
}

// A leaver does not leave the log to a voter that may be dead, although that one is still a
// member and has renewed a moment ago: it waits until that one has answered, or is evicted.
// Then all the rest leave, and the last one stays until they have.
func TestLeaversWaitForAnAnswer(t *testing.T) {
	leave := func() *testLeader {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		d.here(66) // under way since before
		d.now++
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		called := d.say("B", Message{Kind: Leave, Inc: 65, Voter: 65})
		if !slices.ContainsFunc(called, func(m Message) bool { return m.Kind == Call && m.Inc == 66 && m.Number == uint64(d.now) }) {
			t.Errorf("it is not called: %+v", called)
		}
		d.say("C", Message{Kind: Here, Inc: 66, Number: uint64(d.now + 9)}) // of another clock
		if x := d.tick(1); x != nil {
			t.Fatalf("%+v", x)
		}
		return d
	}
	t.Run("it lives", func(t *testing.T) {
		d := leave()
		d.here(66)
		if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{64, 65}) || !slices.Equal(x.Retire, []uint64{64, 65}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("it is dead", func(t *testing.T) {
		d := leave()
		for {
			d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
			d.say("B", Message{Kind: Leave, Inc: 65, Voter: 65})
			if x := d.tick(second / 2); x != nil {
				if !slices.Equal(x.Drop, []uint64{66}) || len(x.Left)+len(x.Retire) > 0 {
					t.Fatalf("%+v", x)
				}
				break
			}
		}
		d.commit()
		if x := d.tick(2 * second); x == nil || !slices.Equal(x.Left, []uint64{65}) || !slices.Equal(x.Retire, []uint64{65, 66}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("it renews and never answers", func(t *testing.T) {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		d.now++
		asked := d.now
		d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		var x *Change
		for x == nil {
			d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
			for _, inc := range []uint64{64, 65} {
				d.say("m", Message{Kind: Renew, Inc: inc, Number: uint64(d.now), Epoch: 1})
			}
			x = d.tick(second / 2)
			d.Confirmed(d.now, d.reads)
		}
		if d.now-asked <= d.silence() || len(x.Drop) > 0 || !slices.Equal(x.Left, []uint64{66}) || !slices.Equal(x.Retire, []uint64{65, 66}) {
			t.Errorf("after %d: %+v", d.now-asked, x)
		}
	})
	t.Run("one that was to take the place of the only voter is dead", func(t *testing.T) {
		d := lead(t, 2, 1)
		d.live(3*second, 64, 65)
		var x *Change
		for d.now++; x == nil; x = d.tick(second / 2) {
			d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		}
		if !slices.Equal(x.Drop, []uint64{65}) || len(x.Left)+len(x.Promote) > 0 {
			t.Fatalf("%+v", x)
		}
		d.commit()
		d.tick(3 * second)
		if said := d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64}); !has(said, Gone) {
			t.Errorf("%+v", said)
		}
	})
}

// The log is not left to a voter that may be dead when a new voter crashes before it has
// the log: A is dead, D takes the place of C, which leaves, and crashes as well. Nor do
// the voters become fewer: C goes on voting until one of the others returns.
func TestStillbornLeavesNoDeadVoter(t *testing.T) {
	d := lead(t, 4, 3)
	d.self = 65 // B leads
	d.live(3*second, 64, 65, 66, 67)
	if x := d.live(9*second, 65, 66, 67); x == nil || !slices.Equal(x.Drop, []uint64{64}) {
		t.Fatalf("%+v", x)
	}
	d.commit()
	d.live(2*second, 65, 66, 67)
	d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
	d.here(67)
	if x := d.tick(1); x == nil || !slices.Equal(x.Promote, []uint64{104}) || !slices.Equal(x.Left, []uint64{66}) {
		t.Fatalf("%+v", x)
	}
	d.commit()
	x := d.live(9*second, 65)
	if x == nil || !slices.Equal(x.Drop, []uint64{67}) || len(x.Retire) > 0 {
		t.Fatalf("want no voter to be retired: %+v", x)
	}
}

// Leaving voters go as far as they can, also when another number of voters is wanted.
func TestLeaversGo(t *testing.T) {
	all := []uint64{64, 65, 66, 67, 68}
	leave := func(d *testLeader, who ...uint64) {
		for _, inc := range who {
			d.say("m", Message{Kind: Leave, Inc: inc, Voter: inc})
		}
	}
	t.Run("one of two, while another member's answer is awaited", func(t *testing.T) {
		d := lead(t, 5, 3)
		d.live(3*second, all...)
		d.now++
		leave(d, 65, 66)
		d.here(67)
		if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{66}) || !slices.Equal(x.Retire, []uint64{66}) || !slices.Equal(x.Promote, []uint64{104}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("and an overdue voter stays", func(t *testing.T) {
		d := lead(t, 5, 5)
		d.record.Settings.Replace = 30 * member.Second
		d.live(3*second, all...)
		if x := d.live(9*second, all[:4]...); x == nil || !slices.Equal(x.Drop, all[4:]) {
			t.Fatalf("%+v", x)
		}
		d.commit()
		d.live(40*second, all[:4]...)
		leave(d, 66, 67)
		d.here(65)
		if x := d.tick(1); x == nil || len(x.Left) != 2 || !slices.Equal(x.Retire, []uint64{66, 67}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("fewer are wanted than stay", func(t *testing.T) {
		d := lead(t, 5, 5)
		d.live(3*second, all...)
		_ = d.Want(3)
		leave(d, 66, 67, 68)
		d.here(65)
		if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{66, 67, 68}) || !slices.Equal(x.Retire, []uint64{65, 66, 67, 68}) {
			t.Errorf("%+v", x)
		}
	})
	t.Run("fewer are wanted, and the others have not answered", func(t *testing.T) {
		d := lead(t, 5, 5)
		d.live(3*second, all...)
		d.now++
		leave(d, 68)
		_ = d.Want(3)
		if x := d.tick(1); x == nil || len(x.Left)+len(x.Retire) > 0 {
			t.Fatalf("the log would rest on voters that may be dead: %+v", x)
		}
		d.commit()
		d.here(65)
		if x := d.tick(3 * second); x == nil || !slices.Equal(x.Left, []uint64{68}) || !slices.Equal(x.Retire, []uint64{67, 68}) {
			t.Errorf("%+v", x)
		}
	})
}

// If one of five members cannot become a voter, one voter becomes three meanwhile.
func TestGrowsAsFarAsItCan(t *testing.T) {
	d := lead(t, 5, 1)
	d.live(3*second, 64, 65, 66, 67)
	_ = d.Want(5)
	if x := d.tick(1); x == nil || !slices.Equal(x.Promote, []uint64{102, 103}) {
		t.Errorf("%+v", x)
	}
}

// While a change of the record's voters is in flight, the log's voters stay as they
// are: the log could make a voter of a member that leaves with the change.
func TestOneChangeOfVotersAtATime(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(3*second, 64, 65, 66)
	d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
	d.here(65, 66)
	d.tick(1)
	if r := d.commit(); r.Members[0].Voter != 128 {
		t.Fatalf("B does not take the place of A: %+v", r.Members)
	}
	if d.tick(1); !slices.Equal(d.Out.Revote, []uint64{128}) {
		t.Fatalf("%+v", d.Out)
	}
	d.live(2*second, 65, 66)
	d.say("B", Message{Kind: Leave, Inc: 65, Voter: 128}) // the log does not have it yet
	d.here(66)
	x := d.tick(1)
	if x == nil || !slices.Equal(x.Left, []uint64{65}) || !slices.Equal(x.Retire, []uint64{128}) {
		t.Fatalf("%+v", x)
	}
	for range 5 {
		if d.tick(second); d.Out.Revote != nil {
			t.Fatalf("the log is to have %d, which leaves", d.Out.Revote)
		}
	}
	d.commit()
	if d.tick(second); !slices.Equal(d.Out.Revote, []uint64{192}) {
		t.Errorf("%+v", d.Out)
	}
}

// While a voter wants to leave, members that have not answered are called again, four
// times in a renewal period and not more often.
func TestMembersAreCalledAgain(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	d.now++
	called := func(all []Message) (who []uint64) {
		for _, m := range all {
			if m.Kind == Call {
				who = append(who, m.Inc)
			}
		}
		return who
	}
	if who := called(d.leaves(66, 66)); !slices.Equal(who, []uint64{65, 66}) {
		t.Fatalf("%v are called when a voter leaves", who)
	}
	pause := member.Instant(d.record.Settings.Renew / 4)
	for i := range member.Instant(3) {
		d.tick(pause - 1)
		if who := called(d.said()); len(who) > 0 {
			t.Errorf("%v are called again too soon", who)
		}
		d.tick(1)
		if who := called(d.said()); !slices.Equal(who, []uint64{65, 66}) {
			t.Errorf("%v are called in try %d", who, i+2)
		}
	}
	d.say("C", Message{Kind: Here, Inc: 66, Number: uint64(d.now)})
	d.tick(pause)
	if who := called(d.said()); !slices.Equal(who, []uint64{65}) {
		t.Errorf("%v are called though 66 has answered", who)
	}
}

// The log is asked again for the voters of the record a quarter of a renewal period
// later, and not before.
func TestLogIsAskedAgain(t *testing.T) {
	d := lead(t, 3, 3)
	d.Voters([]uint64{64}, false, true)
	pause := member.Instant(d.record.Settings.Renew / 4)
	for _, x := range []struct {
		by  member.Instant
		ask bool
	}{{1, true}, {1, false}, {pause - 2, false}, {1, true}, {1, false}, {pause - 1, true}} {
		if d.tick(x.by); (d.Out.Revote != nil) != x.ask {
			t.Errorf("%d later the log is asked for %v", x.by, d.Out.Revote)
		}
	}
}

// A voter is overdue when it has been absent for longer than the settings say.
func TestOverdue(t *testing.T) {
	d := lead(t, 3, 3)
	d.absent = []timed{{65, d.now}}
	replace := member.Instant(d.record.Settings.Replace)
	for by, want := range map[member.Instant]int{0: 0, replace: 0, replace + 1: 1} {
		d.Leader.now = d.now + by
		if got := d.roster(&Change{}).overdue; len(got) != want {
			t.Errorf("after %d: %v are overdue", by, got)
		}
	}
}
