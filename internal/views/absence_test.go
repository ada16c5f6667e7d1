package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// The absence of a voter counts from the view that first lacks it, whatever views
// follow, until a member has the voter again.
func TestAbsence(t *testing.T) {
	d := lead(t, 3, 3)
	_ = d.Evict(65)
	_ = d.Evict(66)
	d.tick(2 * second)
	d.commit()
	first := []timed{{65, d.now}, {66, d.now}}
	if !slices.Equal(d.absent, first) {
		t.Fatalf("absent %v, want %v", d.absent, first)
	}
	d.now += second
	_ = d.Choose(central())
	d.tick(2 * second)
	if d.commit(); !slices.Equal(d.absent, first) {
		t.Errorf("absent %v after another view, want %v", d.absent, first)
	}
	r := must(t, d.record, Change{Base: 3, Join: []Joiner{{"B", "B", 900, 65}}})
	if d.Applied(d.now, r); !slices.Equal(d.absent, first[1:]) {
		t.Errorf("absent %v after 65 is back, want %v", d.absent, first[1:])
	}
}

// A member has missed three renewals when more time than that has passed since the last
// one. It then neither counts as present, nor does the leader hand over to it.
func TestThreeRenewals(t *testing.T) {
	d := lead(t, 3, 3)
	three := 3 * member.Instant(d.record.Settings.Renew)
	for by, want := range map[member.Instant]bool{three: true, three + 1: false} {
		d.standings[1].heard = d.now - by
		if got := slices.Contains(d.roster(&Change{}).present, 65); got != want || d.responds(65) != want {
			t.Errorf("after %d: present %v, responds %v", by, got, d.responds(65))
		}
	}
}

// Members get half of a lease to answer a call, and not longer.
func TestTimeToAnswer(t *testing.T) {
	d := lead(t, 3, 3)
	d.leaves(66, 66)
	x := &Change{Left: []uint64{66}}
	for by, want := range map[member.Instant]bool{0: true, d.silence(): true, d.silence() + 1: false} {
		d.Leader.now = d.now + by
		d.standings[1].heard = d.Leader.now
		if got := d.roster(x).awaited; got != want {
			t.Errorf("after %d: awaited %v", by, got)
		}
	}
}

// Voters that are present are in the order of their numbers, not of their members.
func TestPresentInOrder(t *testing.T) {
	d := lead(t, 3, 3)
	d.record.Members[1].Voter, d.record.Members[2].Voter = 66, 65
	if got := d.roster(&Change{}).present; !slices.Equal(got, []uint64{64, 65, 66}) {
		t.Errorf("present %v", got)
	}
}

// The log is not asked for other voters while it changes them, and is asked at once
// afterwards, also if the clock has just begun.
func TestLogIsAskedWhenSettled(t *testing.T) {
	r := born(t, 3, 3)
	d := &testLeader{NewLeader(64, r), t, 1, 1}
	d.Voters([]uint64{64}, false, false)
	d.Lead(d.now, 1, r)
	if d.tick(1); d.Out.Revote != nil {
		t.Errorf("asked for %v while it changes", d.Out.Revote)
	}
	d.Voters([]uint64{64}, false, true)
	if d.tick(1); !slices.Equal(d.Out.Revote, r.staying()) {
		t.Errorf("asked for %v, want %v", d.Out.Revote, r.staying())
	}
}

// A leader that is not to vote hands over when the log has the other voters, and no
// learners.
func TestHandOverWithoutLearners(t *testing.T) {
	d := lead(t, 3, 3)
	d.record.Voters[0].Leaves = true
	for _, growing := range []bool{true, false} {
		d.Voters([]uint64{64, 65, 66}, growing, true)
		if d.tick(1); (d.Out.HandOver == 65) == growing || (d.Out.Revote != nil) != growing {
			t.Errorf("learners %v: asked for %v, handed over to %d", growing, d.Out.Revote, d.Out.HandOver)
		}
	}
}

// An evicted member is notified at once, even if it has a voter; a leaving member is
// notified when the log can do without its voter.
func TestGoneAtOnce(t *testing.T) {
	for what, x := range map[string]struct {
		listed, leaves, told bool
	}{
		"evicted voter":                      {true, false, true},
		"leaving voter that the log has":     {true, true, false},
		"leaving voter that the log has not": {false, true, true},
	} {
		d := lead(t, 4, 3)
		change := Change{Base: 1, Drop: []uint64{66}}
		if x.leaves {
			change = Change{Base: 1, Left: []uint64{66}, Retire: []uint64{66}, Promote: []uint64{104}}
		}
		if !x.listed {
			d.Voters([]uint64{64, 65}, false, true)
		}
		d.Applied(d.now, must(t, d.record, change))
		if got := has(d.said(), Gone); got != x.told {
			t.Errorf("%s: told %v", what, got)
		}
	}
}

// A renewal of a member that leaves, or whose eviction is under way, is not taken: no
// read begins for it.
func TestRenewalIsNotTaken(t *testing.T) {
	for what, end := range map[string]func(d *testLeader){
		"leaves":     func(d *testLeader) { d.leaves(65, 0) },
		"is evicted": func(d *testLeader) { _ = d.Evict(65); d.tick(2 * second) },
	} {
		d := lead(t, 3, 1)
		end(d)
		until := d.until(65)
		d.now += second
		d.say("B", Message{Kind: Renew, Inc: 65, Number: 5, Epoch: 1})
		if len(d.waiting) > 0 || d.until(65) != until {
			t.Errorf("a member that %s is renewed", what)
		}
	}
}

// A complaint from a member that is evicted for its silence no longer counts.
func TestComplaintOfTheSilent(t *testing.T) {
	d := lead(t, 3, 1)
	for range 16 { // long enough for one complaint to count
		d.say("B", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: 1, Who: []uint64{66}})
		d.say("m", Message{Kind: Renew, Inc: 64, Number: uint64(d.now), Epoch: 1})
		d.say("m", Message{Kind: Renew, Inc: 66, Number: uint64(d.now), Epoch: 1})
		d.now += second / 2
		d.Tick(d.now)
	}
	d.standings[1].heard = d.now - d.silence() - 1
	d.grudges[0].since = d.now - 100*second
	if drop, _ := d.goers(all); !slices.Equal(drop, []uint64{65}) {
		t.Errorf("%v are evicted, want 65", drop)
	}
}

// The first change of a cluster is applied as an entry of any term.
func TestStartInAnyTerm(t *testing.T) {
	x := Birth(Start{Cluster: 9, Epoch: 1, Settings: member.Usual()}, 1, central(), Joiner{"A", "A", 101, 0})
	if _, ok := Apply(Record{}, 7, x.AppendTo(nil)); !ok {
		t.Error("it is void in term 7")
	}
}

// A clock that is ahead of the backup says where a restore begins, and one that is not
// says nothing.
func TestRestoreByTheClock(t *testing.T) {
	const floor = 100 + Jump
	for clock, want := range map[uint64]uint64{0: floor + spread + 5, floor: floor + spread + 5, floor + 1: floor + 1 + 5} {
		how := Restore{Cluster: spread + 5, Clock: clock}
		if got := how.First(&Record{Epoch: 100}); got != want {
			t.Errorf("with the clock at %d: %d, want %d", clock, got, want)
		}
	}
}

// A membership that has nothing to ask is not woken again.
func TestMembershipFallsSilent(t *testing.T) {
	p, _ := joined(t)
	p.Renew(10*second, 5, false, nil)
	due := p.Out.Wake
	p.told(t, 10*second, "A", Message{Kind: Renewed, Inc: 128, Number: 5, Epoch: 2})
	if p.Wake(due); p.Out.Wake != member.Never {
		t.Errorf("woken at %d, after %d", p.Out.Wake, due)
	}
}

// A voter whose disk is lost, because a member with its name does not have it, is replaced
// before voters that have been absent for long, and by that member before all others.
func TestLostDisk(t *testing.T) {
	d := lead(t, 5, 3)
	d.live(3*second, 64, 65, 66, 67, 68)
	d.Applied(d.now, must(t, d.record, Change{Base: 1, Drop: []uint64{65, 66}, Join: []Joiner{{"C", "C", 900, 0}}}))
	d.absent[0].at = d.now - member.Instant(d.record.Settings.Replace) - 1
	for _, proven := range []bool{false, true} { // only a member that has renewed can become a voter
		overdue, spares := []uint64{65}, []uint64{104, 105}
		if d.standings[3].proven = proven; proven {
			overdue, spares = []uint64{66, 65}, []uint64{900, 104, 105}
		}
		if r := d.roster(&Change{}); !slices.Equal(r.overdue, overdue) || !slices.Equal(r.spares, spares) {
			t.Errorf("C has renewed %v: overdue %v, spares %v; want %v and %v", proven, r.overdue, r.spares, overdue, spares)
		}
	}
	d.record.Voters = append(d.record.Voters, Voter{ID: 70, Name: "C", Leaves: true})
	d.record.Members[3].Voter = 70
	if r := d.roster(&Change{}); !slices.Equal(r.overdue, []uint64{65}) || !slices.Equal(r.spares, []uint64{104, 105, 900}) {
		t.Errorf("C has the disk of a retired voter: overdue %v, spares %v", r.overdue, r.spares)
	}
	d = lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	d.Applied(d.now, must(t, d.record, Change{Base: 1, Drop: []uint64{66}, Join: []Joiner{{"C", "C", 900, 0}}}))
	if x := d.live(3*second, 64, 65, 128); x == nil || !slices.Equal(x.Promote, []uint64{900}) || !slices.Equal(x.Retire, []uint64{66}) {
		t.Errorf("the only spare has the name of the absent voter: %+v", x)
	}
}

// A voter that has left is forgotten when the log no longer has it for sure, and once.
func TestVoterIsForgotten(t *testing.T) {
	left := func() *testLeader {
		d := lead(t, 4, 3)
		d.live(3*second, 64, 65, 66, 67)
		d.Applied(d.now, must(t, d.record, Change{Base: 1, Left: []uint64{66}, Retire: []uint64{66}, Promote: []uint64{104}}))
		return d
	}
	for _, x := range []struct{ listed, steady, want bool }{{false, true, true}, {true, true, false}, {false, false, false}} {
		d, list := left(), []uint64{64, 65, 128}
		if x.listed {
			list = []uint64{64, 65, 66}
		}
		d.Voters(list, false, x.steady)
		var c Change
		if d.revote(&c); slices.Equal(c.Forget, []uint64{66}) != x.want || !x.want && len(c.Forget) > 0 {
			t.Errorf("the log has it %v, and is steady %v: %v is forgotten", x.listed, x.steady, c.Forget)
		}
	}
	d := left()
	d.Voters([]uint64{64, 65, 128}, false, true)
	for _, m := range d.record.Members { // more than one attempt is needed: all cannot go
		_ = d.Evict(m.Inc)
	}
	_ = d.Choose(central())
	if x := d.tick(2 * second); x == nil || len(x.Drop) > 0 || !slices.Equal(x.Forget, []uint64{66}) {
		t.Errorf("%+v", x)
	}
}

// The log can do without members that have no voter, or one that is retired already: no
// member is asked whether it runs when they leave. Nor is it when a voter only stops.
func TestLeavingWithoutVoter(t *testing.T) {
	for what, x := range map[string]struct {
		leaves  func(d *testLeader)
		leaving []uint64
	}{
		"a voter":               {func(d *testLeader) { d.leaves(66, 66) }, []uint64{66}},
		"one that stops":        {func(d *testLeader) { d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66, Stops: true}) }, nil},
		"one that is retired":   {func(d *testLeader) { d.leaves(66, 66); d.record.Voters[2].Leaves = true }, nil},
		"one that has no voter": {func(d *testLeader) { d.leaves(66, 66); d.record.Members[2].Voter = 0 }, nil},
	} {
		d := lead(t, 4, 3)
		d.live(3*second, 64, 65, 66, 67)
		x.leaves(d)
		all := []uint64{66}
		if got := d.roster(&Change{Left: all}).leaving; !slices.Equal(got, x.leaving) || (d.asks(all) != 0) != (len(x.leaving) > 0) {
			t.Errorf("%s leaves: voters %v leave, asked at %d", what, got, d.asks(all))
		}
	}
}
