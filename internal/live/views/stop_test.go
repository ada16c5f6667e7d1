package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/live/member"
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
	d.say("C", again) // too late: the eviction is in flight
	if d.commit(); len(d.record.Ghosts) != 1 {
		t.Fatalf("%+v", d.record)
	}
	other := again
	other.Stopped = 104
	d.say("C", other)
	if d.Out.Reset(); len(d.ghosts) != 1 {
		t.Error("another incarnation ends the ghost")
	}
	d.say("C", again)
	if x := d.tick(2 * second); x == nil || len(x.Ghosts) > 0 || len(x.Join) != 1 {
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

// A leader whose own member stops tries to hand over for two renewals, and not longer.
func TestHeirTakesTooLong(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64, Stops: true})
	two := 2 * member.Instant(d.record.Settings.Renew)
	for by, want := range map[member.Instant]uint64{0: 65, two: 65, two + 1: 0} {
		if d.Leader.now = d.now + by; d.heir() != want {
			t.Errorf("after %d it hands over to %d, want %d", by, d.heir(), want)
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
