package views

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A member that stops leaves the view, and its voter stays; it is notified at once.
func TestStopper(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	if got := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66, Stops: true}); !has(got, View) || has(got, Gone) || has(got, Call) {
		t.Errorf("it is answered %+v", got)
	}
	x := d.tick(1)
	if x == nil || !slices.Equal(x.Left, []uint64{66}) || len(x.Drop)+len(x.Retire)+len(x.Promote)+len(x.Ghosts) > 0 {
		t.Fatalf("%+v", x)
	}
	r := d.commit()
	if !slices.Equal(r.staying(), []uint64{64, 65, 66}) || len(r.Voters) != 3 {
		t.Errorf("%+v", r)
	}
	if got := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66, Stops: true}); !has(got, Gone) {
		t.Errorf("it asks again, and is answered %+v", got)
	}
	d.Follow(d.now, 65)
	if got := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66, Stops: true}); !has(got, Gone) {
		t.Errorf("it asks a voter that does not lead, and is answered %+v", got)
	}
}

// A member that stops is notified even if the log needs its voter, because that returns
// with it: if the record retires the voter, and if the last member stops.
func TestStopperWithVoter(t *testing.T) {
	d := lead(t, 4, 3)
	d.Applied(d.now, must(t, d.record, Change{Base: 1, Left: []uint64{66}, Retire: []uint64{66}, Promote: []uint64{104}}))
	d.said()
	for _, stops := range []bool{false, true} {
		if got := d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66, Stops: stops}); has(got, Gone) != stops {
			t.Errorf("the record retires its voter, it stops %v: answered %+v", stops, got)
		}
	}
	d = lead(t, 1, 1)
	d.Voters([]uint64{64, 65}, false, true)
	d.leftAt = 0
	for _, stops := range []bool{false, true} {
		if got := d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64, Stops: stops}); has(got, Gone) != stops {
			t.Errorf("the last member, it stops %v: answered %+v", stops, got)
		}
	}
}

// A leader whose own member stops hands over to a voter that responds and does not leave;
// it leaves the view by its own change only if there is none, or none takes over.
func TestHeir(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	d.say("B", Message{Kind: Leave, Inc: 65, Voter: 65, Stops: true})
	d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64, Stops: true})
	x := d.tick(1)
	if d.Out.HandOver != 66 || x == nil || !slices.Equal(x.Left, []uint64{65}) {
		t.Errorf("handed over to %d: %+v", d.Out.HandOver, x)
	}
	d.commit()
	if x := d.live(5*second, 66); x == nil || !slices.Contains(x.Left, 64) {
		t.Errorf("none takes over: %+v", x)
	}
}

// An incarnation that its process's folder testifies for leaves without a ghost, and the
// process is admitted by the same change. One that is a ghost no longer is.
func TestTestimony(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	again := Message{Kind: Join, Name: "C", Address: "C", Nonce: 900, Voter: 66, Stopped: 103, Who: []uint64{64, 65}}
	d.say("C", again)
	x := d.tick(1)
	if x == nil || !slices.Equal(x.Left, []uint64{66}) || len(x.Drop)+len(x.Ghosts)+len(x.Retire) > 0 || len(x.Join) != 1 {
		t.Fatalf("%+v", x)
	}
	d = lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	_ = d.Evict(66)
	if x := d.tick(1); x == nil || len(x.Ghosts) != 1 {
		t.Fatalf("%+v", x)
	}
	if d.say("C", again); d.standing(66).leaves { // too late: the eviction is in flight
		t.Error("an evicted member leaves")
	}
	if d.commit(); len(d.record.Ghosts) != 1 {
		t.Fatalf("%+v", d.record)
	}
	other := again
	other.Stopped = 104
	d.say("C", other)
	if d.Out.Reset(); len(d.ghosts) != 1 || d.ghosts[0].at <= d.now {
		t.Error("another incarnation ends the ghost")
	}
	d.say("C", again)
	if x := d.tick(2 * second); x == nil || len(x.Ghosts) > 0 || len(x.Join) != 1 {
		t.Errorf("%+v", x)
	}
}

// A process may testify that a ghost has ended while a change that names it is in flight. That
// change does not begin the ghost anew.
func TestTestimonyInFlight(t *testing.T) {
	d := lead(t, 4, 3)
	d.live(3*second, 64, 65, 66, 67)
	_ = d.Evict(66)
	d.tick(1)
	d.commit()
	_ = d.Evict(67)
	if x := d.live(3*second, 64, 65, 67); x == nil || len(x.Ghosts) != 2 {
		t.Fatalf("%+v", x)
	}
	d.say("C", Message{Kind: Join, Name: "C", Address: "C", Nonce: 900, Voter: 66, Stopped: 103, Who: []uint64{64, 65}})
	if d.commit(); len(d.record.Ghosts) != 2 {
		t.Fatalf("%+v", d.record)
	}
	if x := d.live(3*second, 64, 65); x == nil || len(x.Ghosts) != 1 || x.Ghosts[0].Inc != 67 {
		t.Errorf("%+v", x)
	}
}

// A view is made as soon as it may be when a member asks for one later than the present
// one, and not when it has a later one already.
func TestRefresh(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	if x := d.tick(1); x != nil {
		t.Fatalf("%+v", x)
	}
	if got := d.say("B", Message{Kind: Fetch, Inc: 65, Epoch: 1, Refresh: true}); !has(got, View) {
		t.Errorf("it is answered %+v", got)
	}
	x := d.tick(1)
	if x == nil || len(x.Drop)+len(x.Left)+len(x.Join) > 0 {
		t.Fatalf("%+v", x)
	}
	d.commit()
	if got := d.say("B", Message{Kind: Fetch, Inc: 65, Epoch: 1, Refresh: true}); !has(got, View) {
		t.Errorf("it is answered %+v", got)
	}
	if got := d.say("B", Message{Kind: Fetch, Inc: 65, Epoch: 2}); len(got) > 0 {
		t.Errorf("there is no later view, and it does not want one: it is answered %+v", got)
	}
	if x := d.tick(3 * second); x != nil {
		t.Errorf("%+v", x)
	}
}

// A member asks for a later view until it has one.
func TestRefreshIsRepeated(t *testing.T) {
	r := born(t, 3, 3)
	p, err := NewMembership(MembershipConfig{Name: "B", Address: "b", Nonce: 102, Voters: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Join(1)
	p.take(r)
	asks := func() (all []Message) {
		for _, l := range p.Out.Send {
			if m, err := ParseMessage(l.Bytes); err == nil && m.Kind == Fetch && m.Refresh && m.Epoch == 1 && m.Seen == 1 {
				all = append(all, m)
			}
		}
		p.Out.Reset()
		return all
	}
	p.Refresh(2, 1)
	p.Refresh(3, 1)
	if n := len(asks()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	p.Wake(p.Out.Wake)
	if n := len(asks()); n != 1 {
		t.Errorf("asked %d times again", n)
	}
	p.take(must(t, r, Change{Base: 1, Choices: central()}))
	if p.wants() || p.Out.Wake != member.Never {
		t.Error("it still asks")
	}
	if p.Refresh(second, 1); len(asks()) > 0 {
		t.Error("it asks for what it has")
	}
}

// A process that stops gives up when no leader has answered for two renewals.
func TestStopGivesUp(t *testing.T) {
	for _, led := range []bool{false, true} {
		r := born(t, 3, 3)
		p, err := NewMembership(MembershipConfig{Name: "B", Address: "b", Nonce: 102, Voters: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		p.Join(1)
		p.take(r)
		p.Stop(2)
		p.Stop(3)
		end := 3*member.Instant(r.Settings.Renew) + 2
		for p.Out.Ending == Running && p.Out.Wake < end {
			now := p.Out.Wake
			if m := (Message{Kind: View, Cluster: 9, Record: r.AppendTo(nil)}); led {
				_ = p.Receive(now, "a", m.AppendTo(nil))
			}
			refused := Message{Kind: NotLeader, Cluster: 9, Inc: p.inc}
			_ = p.Receive(now, "a", refused.AppendTo(nil))
			p.Wake(now)
		}
		if want := map[bool]Ending{false: Stopped, true: Running}[led]; p.Out.Ending != want {
			t.Errorf("a leader answers %v: ending %d", led, p.Out.Ending)
		}
	}
}

// The next epoch is above every epoch that the leader has heard of, whoever said so. That
// alone is a reason for a view. What no cluster reaches is not believed.
func TestFloor(t *testing.T) {
	for what, hear := range map[string]func(d *testLeader, epoch uint64){
		"a member": func(d *testLeader, epoch uint64) {
			d.say("B", Message{Kind: Renew, Inc: 65, Number: 99, Epoch: 1, Seen: epoch})
		},
		"an unknown": func(d *testLeader, epoch uint64) {
			d.say("X", Message{Kind: Renew, Inc: 7000, Number: 99, Epoch: 1, Seen: epoch})
		},
		"a joiner":      func(d *testLeader, epoch uint64) { d.say("X", Message{Kind: Join, Name: "X", Nonce: 5, Seen: epoch}) },
		"another voter": func(d *testLeader, epoch uint64) { d.Spoke(d.now, 65, epoch) },
	} {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		hear(d, 1<<60)
		hear(d, 1)
		if x := d.tick(1); x != nil {
			t.Errorf("%s: %+v", what, x)
		}
		hear(d, 50)
		hear(d, 40)
		if x := d.tick(1); x == nil || x.Above != 50 {
			t.Fatalf("%s: %+v", what, x)
		}
		if r := d.commit(); r.Epoch != 51 || r.Before != 1 {
			t.Errorf("%s: epoch %d after %d", what, r.Epoch, r.Before)
		}
		if x := d.tick(3 * second); x != nil {
			t.Errorf("%s: another one: %+v", what, x)
		}
	}
	d := lead(t, 3, 3)
	other := Message{Kind: Renew, Cluster: 8, Inc: 65, Number: 99, Seen: 50}
	if _ = d.Receive(d.now, "B", other.AppendTo(nil)); d.floor != 0 {
		t.Error("it believes another cluster")
	}
	for epoch, believed := range map[uint64]bool{maxEpoch/2 - 1: true, maxEpoch / 2: false} {
		d := lead(t, 3, 3)
		if d.Raise(epoch); (d.floor == epoch) != believed {
			t.Errorf("epoch %d is believed: %v", epoch, !believed)
		}
	}
	d.Raise(50)
	d.Lead(d.now, 2, d.record)
	if d.floor != 50 {
		t.Error("it forgets the floor with its term")
	}
}

// A new leader makes no view before all voters have spoken, or have had time to.
func TestSurvey(t *testing.T) {
	d := lead(t, 3, 3)
	d.Lead(d.now, 2, d.record)
	half := member.Instant(d.record.Settings.Renew / 2)
	for by, want := range map[member.Instant]bool{0: false, half - 1: false, half: true} {
		if d.Leader.now = d.now + by; d.surveyed() != want {
			t.Errorf("after %d: %v", by, !want)
		}
	}
	d.Leader.now = d.now
	if d.Spoke(d.now, 65, 1); d.surveyed() {
		t.Error("one has not spoken")
	}
	if d.Spoke(d.now, 66, 1); !d.surveyed() {
		t.Error("all have spoken")
	}
	d = lead(t, 3, 3)
	d.record.Settings.ViewLife = member.Second / 2
	_ = d.Choose(central())
	for by, want := range []bool{false, true} {
		if x := d.tick(second / 2); (x != nil) != want {
			t.Errorf("%d half seconds after it began to lead: %+v", by+1, x)
		}
	}
}

// The silence of a former leader counts from when it was first known to lead, or last spoke.
func TestFormerLeaderIsSilent(t *testing.T) {
	d := lead(t, 3, 3)
	for _, x := range []struct {
		leader uint64
		want   timed
	}{{65, timed{65, d.now + 1}}, {65, timed{65, d.now + 1}}, {0, timed{65, d.now + 1}}, {64, timed{65, d.now + 1}}, {66, timed{66, d.now + 5}}} {
		d.now++
		if d.Follow(d.now, x.leader); d.former != x.want {
			t.Errorf("%d leads: %v, want %v", x.leader, d.former, x.want)
		}
	}
	d.now++
	if d.Spoke(d.now, 66, 1); d.former != (timed{66, d.now}) {
		t.Errorf("it has spoken: %v", d.former)
	}
}

// A process that has seen an epoch which is not in the history of a record reports it.
func TestRolledBack(t *testing.T) {
	r := born(t, 3, 3)
	next := must(t, r, Change{Base: 1, Above: 30, Choices: central()})
	for what, x := range map[string]struct {
		past Past
		back uint64
	}{
		"nothing":         {Past{}, 0},
		"a lost epoch":    {Past{Cluster: 9, Epoch: 30}, 30},
		"an earlier one":  {Past{Cluster: 9, Epoch: 1}, 0},
		"a later one":     {Past{Cluster: 9, Epoch: 31}, 0},
		"another cluster": {Past{Cluster: 8, Epoch: 30}, 0},
	} {
		p, err := NewMembership(MembershipConfig{Name: "X", Address: "x", Nonce: 500, Voters: []string{"a"}, Past: x.past})
		if err != nil {
			t.Fatal(err)
		}
		p.Join(1)
		if p.take(next); p.Out.Back != x.back {
			t.Errorf("%s: reports %d", what, p.Out.Back)
		}
	}
}

func TestPast(t *testing.T) {
	for _, p := range []Past{{}, {Cluster: 1, Epoch: 2, Stopped: 3}, {1<<64 - 1, 1<<64 - 1, 1<<64 - 1}} {
		b := p.AppendTo(nil)
		sum := fnv.New64a() // the form of the file must not change
		for _, n := range []uint64{p.Cluster, p.Epoch, p.Stopped} {
			sum.Write(binary.LittleEndian.AppendUint64(nil, n))
		}
		if want := fmt.Sprintf("check %016x\n", sum.Sum64()); !strings.HasSuffix(string(b), want) {
			t.Errorf("%q does not end with %q", b, want)
		}
		if got, err := ParsePast(b); err != nil || got != p {
			t.Errorf("%+v: %+v, %v", p, got, err)
		}
		for i := range b {
			bad := slices.Clone(b)
			bad[i] ^= 1
			if got, err := ParsePast(bad); err == nil {
				t.Errorf("%q is %+v", bad, got)
			}
			if got, err := ParsePast(b[:i]); err == nil && i > 0 {
				t.Errorf("%q is %+v", b[:i], got)
			}
		}
	}
	if p, err := ParsePast(nil); err != nil || p != (Past{}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// A leader that has returned does not hand over because its earlier process had stopped.
func TestHeirOfTheReturned(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	d.say("A", Message{Kind: Join, Name: "A", Address: "A", Nonce: 900, Voter: 64, Stopped: 101, Who: []uint64{65, 66}})
	if x := d.tick(1); d.Out.HandOver != 0 || x == nil || !slices.Equal(x.Left, []uint64{64}) || len(x.Join) != 1 {
		t.Errorf("handed over to %d: %+v", d.Out.HandOver, x)
	}
}

// A leader whose own member stops hands over to a voter of the record and of the log that
// responds and does not leave, for two renewals at most.
func TestHeirs(t *testing.T) {
	none := func(*testLeader) {}
	for what, x := range map[string]struct {
		happens func(d *testLeader) // to 65, the first candidate
		to      uint64
	}{
		"nothing":                     {none, 65},
		"it is retired":               {func(d *testLeader) { d.record.Voters[1].Leaves = true }, 66},
		"the log does not have it":    {func(d *testLeader) { d.Voters([]uint64{64, 66}, false, true) }, 66},
		"it is silent":                {func(d *testLeader) { d.standings[1].heard = d.now - 7*second }, 66},
		"it leaves":                   {func(d *testLeader) { d.standings[1].leaves = true }, 66},
		"the others leave":            {func(d *testLeader) { d.standings[1].leaves, d.standings[2].leaves = true, true }, 0},
		"two renewals pass":           {func(d *testLeader) { d.Leader.now = d.now + 4*second }, 65},
		"more than two renewals do":   {func(d *testLeader) { d.Leader.now = d.now + 4*second + 1 }, 0},
		"its own voter has no member": {func(d *testLeader) { d.record.Members[0].Voter = 0 }, 0},
	} {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64, Stops: true})
		if x.happens(d); d.heir() != x.to {
			t.Errorf("%s: it hands over to %d, want %d", what, d.heir(), x.to)
		}
	}
}

// A process that returns testifies for its former incarnation however long that has been
// silent, as long as it is a member: it does not become a ghost.
func TestTestimonyForTheSilent(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	if x := d.live(9*second/2, 64, 65); x != nil {
		t.Fatalf("C is evicted too soon: %+v", x)
	}
	d.say("C", Message{Kind: Join, Name: "C", Address: "C", Nonce: 900, Voter: 66, Stopped: 103, Who: []uint64{64, 65}})
	if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{66}) || len(x.Drop)+len(x.Ghosts) > 0 {
		t.Errorf("%+v", x)
	}
}

// A process that was leaving, and not stopping, testifies when it starts again. If its LEAVE
// arrives after all, its voter leaves, and members are called that have not answered since
// the leader first heard of it.
func TestTestimonyOfLeaver(t *testing.T) {
	for _, before := range []bool{false, true} {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		first := d.now
		if before {
			d.leaves(66, 66)
			d.now += second
		}
		d.say("C", Message{Kind: Join, Name: "C", Address: "C", Nonce: 900, Voter: 66, Stopped: 103, Who: []uint64{64, 65}})
		if got := d.asks([]uint64{66}); got != 0 {
			t.Errorf("its voter stays, and members must have answered since %d", got)
		}
		d.now += second
		if d.leaves(66, 66); d.asks([]uint64{66}) != first {
			t.Errorf("it left before %v: members must have answered since %d, want %d", before, d.asks([]uint64{66}), first)
		}
	}
}

// As many voters are surveyed as the log can have, and no further ones are remembered.
func TestSurveyIsBounded(t *testing.T) {
	d := lead(t, 3, 3)
	many := make([]uint64, maxLeaving+1)
	for i := range many {
		many[i] = 65 + uint64(i)
	}
	d.Voters(many[:maxLeaving], false, true)
	for _, id := range many {
		d.Spoke(d.now, id, 1)
		d.Spoke(d.now, id, 1)
	}
	if !d.surveyed() || len(d.spoke) != maxLeaving {
		t.Errorf("all have spoken: %v; %d are remembered, want %d", d.surveyed(), len(d.spoke), maxLeaving)
	}
}

// Only a member that stays asks for a later view.
func TestOnlyMembersRefresh(t *testing.T) {
	early := testMembership(t, "A")
	early.Join(1)
	late, _ := joined(t)
	late.Leave(3)
	for what, p := range map[string]*Membership{"joins": early, "leaves": late} {
		p.sent(t)
		if p.Refresh(4, 9); len(p.Out.Send) > 0 {
			t.Errorf("a process that %s asks for another view", what)
		}
	}
}

// A voter that stops ends with the first view without it, because its vote stays.
func TestStoppedVoterEnds(t *testing.T) {
	p, r := voterOf(t)
	p.Stop(10)
	r = must(t, r, Change{Base: 1, Left: []uint64{66}})
	if p.told(t, 20, "A", Message{Kind: View, Record: r.AppendTo(nil)}); p.Out.Ending != Stopped {
		t.Errorf("ending %d", p.Out.Ending)
	}
}

// A new view is not the end of what a process asks for: it wants to leave, or a view that
// is later still.
func TestGoesOnAskingAfterView(t *testing.T) {
	for what, x := range map[string]struct {
		ask  func(p *Membership)
		asks bool
	}{
		"nothing":               {func(p *Membership) {}, false},
		"that view":             {func(p *Membership) { p.Refresh(3, 2) }, false},
		"a later view":          {func(p *Membership) { p.Refresh(3, 3) }, true},
		"to leave":              {func(p *Membership) { p.Leave(3) }, true},
		"a renewal":             {func(p *Membership) { p.Renew(3, 1, false, nil) }, true},
		"what another has":      {func(p *Membership) { p.Newer(3, 4) }, true},
		"what another has, too": {func(p *Membership) { p.Newer(3, 3) }, false},
	} {
		p, r := joined(t)
		x.ask(p)
		r = must(t, r, Change{Base: 2, Choices: central()})
		if p.told(t, 4, "A", Message{Kind: View, Record: r.AppendTo(nil)}); (p.Out.Wake != member.Never) != x.asks {
			t.Errorf("it asks for %s: woken at %d", what, p.Out.Wake)
		}
	}
}

// A process that stops has two renewals to hear from a leader, from when it stops. One that
// leaves already does not stop.
func TestStopBegins(t *testing.T) {
	for by, want := range map[member.Instant]Ending{second: Running, 4*second - 1: Running, 4 * second: Stopped} {
		p, _ := joined(t)
		p.Stop(100 * second)
		if p.Wake(100*second + by); p.Out.Ending != want {
			t.Errorf("after %d: ending %d, want %d", by, p.Out.Ending, want)
		}
	}
	p, _ := joined(t)
	p.Leave(3)
	p.sent(t)
	p.Stop(4)
	p.Wake(p.Out.Wake)
	if all, _ := p.sent(t); len(all) != 1 || all[0].Kind != Leave || all[0].Stops {
		t.Errorf("it asks %+v", all)
	}
}

// What is sent again says the highest epoch that is known by then. Asking for a view that
// is there already sends nothing.
func TestRenewalIsRepeatedWithEpoch(t *testing.T) {
	p, _ := joined(t)
	p.Renew(3, 1, false, nil)
	p.sent(t)
	if p.Refresh(4, 1); len(p.Out.Send) > 0 {
		t.Error("it has a later view")
	}
	p.Newer(5, 7)
	if all, _ := p.sent(t); len(all) != 2 || all[0].Kind != Renew || all[0].Seen != 7 || all[1].Kind != Fetch || all[1].Seen != 7 {
		t.Errorf("it sends %+v", all)
	}
	if p.Refresh(9*second, 2); p.Out.Wake != 9*second+second/2 {
		t.Errorf("it asks at %d, and is woken at %d", 9*second, p.Out.Wake)
	}
}

// A membership that has ended is over: it has seen what it had seen, and does nothing more
// if it is woken.
func TestEndIsFinal(t *testing.T) {
	p, _ := joined(t)
	p.Stop(3)
	p.told(t, 4, "A", Message{Kind: Gone, Inc: 128})
	if p.Out.Ending != Stopped {
		t.Fatalf("ending %d", p.Out.Ending)
	}
	p.Out.Reset()
	if p.Wake(100 * second); p.Out.Ending != Running || len(p.Out.Send) > 0 || p.Out.Wake != member.Never {
		t.Errorf("it ends again, or goes on: %+v", p.Out)
	}
	early := testMembership(t, "A")
	early.Join(1)
	if early.Leave(2); early.Seen() != 0 {
		t.Errorf("it has seen epoch %d, and has heard of none", early.Seen())
	}
}
