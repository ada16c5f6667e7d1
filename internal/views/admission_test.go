package views

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// leader makes a leader of a cluster that breaks no rule.
func leader(t *testing.T, members, wanted int) *testLeader {
	t.Helper()
	return lead(t, members, wanted)
}

// join asks for membership and returns the answer.
func (d *testLeader) join(name string, nonce uint64, reached ...uint64) Message {
	d.t.Helper()
	all := d.say(name, Message{Kind: Join, Name: name, Address: name, Nonce: nonce, Who: reached})
	if len(all) != 1 {
		d.t.Fatalf("%d answers to the JOIN of %s: %v", len(all), name, all)
	}
	return all[0]
}

// incs returns the incarnations of all members.
func (d *testLeader) incs() (all []uint64) {
	for _, m := range d.Record().Members {
		all = append(all, m.Inc)
	}
	return all
}

// There are never more than MaxMembers: further processes are told that the cluster is
// full, also if many ask at once.
func TestAdmissionIsBounded(t *testing.T) {
	d := leader(t, member.MaxMembers-2, 1)
	d.tick(second)
	for i := range uint64(4) {
		if m := d.join(fmt.Sprintf("new %d", i), 900+i, d.incs()...); m.Reason != Soon {
			t.Errorf("process %d has to wait because of %d", i, m.Reason)
		}
	}
	x := d.tick(1)
	if x == nil || len(x.Join) != 2 || x.Join[0].Nonce != 900 || x.Join[1].Nonce != 901 {
		t.Fatalf("%+v", x)
	}
	d.commit()
	if len(d.joiners) != 2 {
		t.Errorf("%d processes still wait, want 2", len(d.joiners))
	}
	if m := d.join("new 2", 902, d.incs()...); m.Reason != Full {
		t.Errorf("reason %d, want Full", m.Reason)
	}
}

// A process that has not asked for four renewals no longer wants to join.
func TestSilentJoiner(t *testing.T) {
	for _, x := range []struct {
		since member.Instant
		joins int
	}{{8 * second, 1}, {8*second + 1, 0}} {
		d := leader(t, 2, 1)
		d.tick(second)
		if err := d.Choose(central()); err != nil {
			t.Fatal(err)
		}
		if d.tick(1) == nil {
			t.Fatal("no change is proposed")
		}
		d.join("X", 5, 64, 65)
		end := d.now + x.since
		for d.now < end-2*second {
			for _, inc := range d.incs() {
				d.say("m", Message{Kind: Renew, Inc: inc, Number: uint64(d.now), Epoch: 1})
			}
			d.now += second / 2
		}
		d.commit() // only now can another change be proposed
		if d.tick(end - d.now); len(d.joiners) != x.joins {
			t.Errorf("%d ns after it asked: %d processes want to join, want %d", x.since, len(d.joiners), x.joins)
		}
	}
}

// A request to join is answered: with the view if the process is a member already, be it
// the first, and with the record only if it has an older one.
func TestJoinIsAnswered(t *testing.T) {
	d := leader(t, 2, 1)
	for nonce := range uint64(2) {
		if m := d.join("somewhere", 101+nonce); m.Kind != View {
			t.Errorf("the process with nonce %d gets %v, want VIEW", 101+nonce, m.Kind)
		}
	}
	for _, m := range []Message{{Kind: Join, Name: "X"}, {Kind: Join, Nonce: 1}} {
		if all := d.say("X", m); len(all) > 0 {
			t.Errorf("%+v is answered: %v", m, all)
		}
	}
	if m := d.join("X", 1); m.Kind != Wait || m.Reason != Reach || len(m.Record) == 0 || m.Nonce != 1 {
		t.Errorf("%+v", m)
	}
	all := d.say("X", Message{Kind: Join, Name: "X", Nonce: 1, Epoch: 1})
	if len(all) != 1 || len(all[0].Record) > 0 {
		t.Errorf("%v: want no record, as the process has it", all)
	}
}

// One process of each name can wait, the last that asked, and not more than a bound.
func TestJoinersAreBounded(t *testing.T) {
	d := leader(t, 2, 1)
	for i := range uint64(maxJoiners + 10) {
		d.join(fmt.Sprint("new ", i), 1000+i)
	}
	d.join("new 0", 7)
	d.join("new 3", 8)
	if len(d.joiners) != maxJoiners || d.joiners[0].Nonce != 7 || d.joiners[3].Nonce != 8 {
		t.Errorf("%d wait, the first with nonce %d, the fourth with %d: want %d, 7, 8", len(d.joiners), d.joiners[0].Nonce, d.joiners[3].Nonce, maxJoiners)
	}
}

// A silent member is evicted after half of what its lease is counted, or after two
// renewals if another process of its name wants to join.
func TestSilentMember(t *testing.T) {
	for _, again := range []bool{false, true} {
		d := leader(t, 3, 1)
		after := d.silence()
		if again {
			after = 4 * second
		}
		begun := d.now
		step := func(to member.Instant) *Change {
			for _, inc := range []uint64{64, 65} {
				d.say("m", Message{Kind: Renew, Inc: inc, Number: uint64(d.now), Epoch: 1})
			}
			if again {
				if m := d.join("C", 7, 64, 65); m.Reason != NameUse {
					t.Errorf("reason %d", m.Reason)
				}
			}
			return d.tick(to - d.now)
		}
		for d.now < begun+after-2*second {
			if x := step(d.now + second); x != nil {
				t.Fatalf("evicted after %v: %+v", d.now-begun, x)
			}
		}
		if x := step(begun + after); x != nil {
			t.Errorf("evicted after %v: %+v", after, x)
		}
		if x := step(begun + after + 1); x == nil || !slices.Equal(x.Drop, []uint64{66}) || len(x.Join) != map[bool]int{true: 1}[again] {
			t.Errorf("after %v: %+v", after+1, x)
		}
	}
}

// The first eviction of a name has no consequence, the second makes it wait for a
// renewal, each further one for twice as long, up to a lease. After eight leases it is
// forgotten.
func TestFlapsWait(t *testing.T) {
	d := leader(t, 2, 1)
	until := func(name string) member.Instant {
		j := joiner{Joiner: Joiner{Name: name}, reached: d.incs()}
		begun := d.Leader.now
		defer func() { d.Leader.now = begun }()
		for _, after := range []member.Instant{0, 2 * second, 4 * second, 8 * second, 10 * second} {
			if d.Leader.now = begun + after; d.against(&j, d.Record().Members) == Soon {
				if d.Leader.now--; after > 0 && d.against(&j, d.Record().Members) != Flaps {
					t.Errorf("%s waits for less than %v", name, after)
				}
				return after
			}
		}
		return -1
	}
	d.flapped("other")
	for i, want := range []member.Instant{0, 2 * second, 4 * second, 8 * second, 10 * second, 10 * second} {
		if d.flapped("X"); until("X") != want || until("Y") != 0 {
			t.Errorf("eviction %d: X waits for %d, Y for %d, want %d, 0", i+1, until("X"), until("Y"), want)
		}
	}
	d.Leader.now += 80 * second
	if d.flapped("X"); until("X") != 10*second {
		t.Errorf("after eight leases X waits for %d", until("X"))
	}
	d.Leader.now += 80*second + 1
	if d.flapped("X"); until("X") != 0 {
		t.Errorf("after more than eight leases X waits for %d", until("X"))
	}
	for i := range maxFlaps + 10 {
		d.flapped(fmt.Sprint("name ", i))
	}
	if len(d.flaps) != maxFlaps {
		t.Errorf("%d names are remembered, want %d", len(d.flaps), maxFlaps)
	}
}

// An eviction is remembered from the last one on.
func TestFlapsAreRemembered(t *testing.T) {
	d := leader(t, 1, 1)
	for range 4 {
		d.flapped("X")
		d.Leader.now += 70 * second
	}
	if len(d.flaps) != 1 || d.flaps[0].times != 4 {
		t.Errorf("%+v", d.flaps)
	}
}

// However often a name is evicted, its wait does not overflow.
func TestFlapsDoNotOverflow(t *testing.T) {
	d := leader(t, 1, 1)
	d.record.Settings = member.Settings{Lease: 3600 * member.Second, Renew: member.Millisecond, Act: 1, Handover: 1, Replace: 3600 * member.Second}
	for range 100 {
		d.flapped("X")
	}
	if got, want := d.flaps[0].until-d.Leader.now, member.Instant(member.Millisecond)<<20; got != want {
		t.Errorf("it waits for %d, want %d", got, want)
	}
}

// A process that was admitted and evicted before it heard of it is notified, and no longer
// wants to join.
func TestGhostThatJoins(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	_ = d.Evict(64)
	d.tick(second)
	d.commit()
	if m := d.join("A", 101); m.Kind != Gone || m.Nonce != 101 || len(d.joiners) > 0 {
		t.Errorf("%+v, and %d want to join", m, len(d.joiners))
	}
}

// A view life that is longer than a renewal is what a name has to wait for.
func TestFlapsWaitForAViewLife(t *testing.T) {
	d := leader(t, 1, 1)
	d.record.Settings.ViewLife = 3 * member.Second
	d.flapped("X")
	d.flapped("X")
	if got := d.flaps[0].until - d.Leader.now; got != 3*second {
		t.Errorf("it waits for %d", got)
	}
}
