package views

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// As long as a change is in flight its very bytes are proposed again, one renewal
// period apart, whatever happens meanwhile. The first proposal may still be
// applied: a member that it evicts must not be renewed because a later one would
// let it stay.
func TestProposalIsNeverRebuilt(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(4*second, 64, 65, 66)
	first := d.live(9*second, 64, 65)
	if first == nil || !slices.Equal(first.Drop, []uint64{66}) || len(first.Ghosts) != 1 {
		t.Fatalf("%+v", first)
	}
	began := d.now
	entry := slices.Clone(d.entry)
	_ = d.Evict(65)
	_ = d.Want(3)
	_ = d.Choose([]member.Choice{{Algorithm: "raymond", Version: 1}})
	proposed := 0
	for i := range uint64(40) {
		for _, inc := range []uint64{64, 65, 66} { // 66 is back
			if inc != 64 && i > 20 {
				break // and then others are silent
			}
			d.say("m", Message{Kind: Renew, Inc: inc, Number: uint64(d.now), Epoch: 1})
		}
		d.say("X", Message{Kind: Join, Name: "X", Address: "X", Nonce: 5, Who: []uint64{64, 65, 66}})
		d.tick(second / 4)
		if b := d.Out.Propose; b != nil {
			if proposed++; !bytes.Equal(b, entry) {
				t.Fatalf("another change while one is in flight: %+v", d.flying)
			}
		}
		d.Confirmed(d.now, d.reads)
		if slices.ContainsFunc(d.said(), func(m Message) bool { return m.Kind == Renewed && m.Inc == 66 }) {
			t.Fatal("66 is renewed, and the first proposal may be applied")
		}
	}
	if periods := int((d.now - began) / member.Instant(d.record.Settings.Renew)); proposed != periods {
		t.Errorf("proposed %d times in %d renewal periods", proposed, periods)
	}
	if r := d.commit(); r.Rank(66) >= 0 || r.Rank(65) < 0 || r.Ghosts[0].Rest != first.Ghosts[0].Rest {
		t.Errorf("%+v", r)
	}
}

// A change that the log has is not proposed again in the same term, however long it takes. In
// the next term it is, if it was lost; and if another one took its place, the next one is new.
func TestProposedOnceInATerm(t *testing.T) {
	d := lead(t, 3, 1)
	d.tick(2 * second)
	_ = d.Evict(66)
	if x := d.tick(1); x == nil || !slices.Equal(x.Drop, []uint64{66}) {
		t.Fatalf("%+v", x)
	}
	d.Appended()
	if x := d.live(60*second, 64, 65); x != nil {
		t.Errorf("proposed again: %+v", x)
	}
	d.Follow(d.now, 65)
	d.term = 3
	d.Lead(d.now, 3, *d.Record())
	if x := d.live(20*second, 64, 65); x == nil || x.Term != 3 || !slices.Equal(x.Drop, []uint64{66}) {
		t.Fatalf("in the next term: %+v", x)
	}
	d.Appended()
	d.Applied(d.now, must(t, *d.Record(), Change{Base: 1, Wanted: 3})) // the change in flight is void now
	for range 2 {
		if x := d.live(3*second, 64, 65); x == nil || x.Base != 2 || !slices.Equal(x.Drop, []uint64{66}) {
			t.Fatalf("after another view: %+v", x)
		}
	}
}

// A renewal that came before its sender asked to leave, or before its eviction was
// proposed, is not confirmed afterwards.
func TestLateConfirmation(t *testing.T) {
	for what, x := range map[string]struct {
		inc uint64
		end func(d *testLeader)
	}{
		"it leaves":               {65, func(d *testLeader) { d.say("B", Message{Kind: Leave, Inc: 65}) }},
		"it has to wait to leave": {64, func(d *testLeader) { d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64}) }},
		"it is evicted":           {65, func(d *testLeader) { _ = d.Evict(65) }},
	} {
		d := lead(t, 3, 1)
		d.tick(2 * second)
		for _, inc := range []uint64{x.inc, 66} {
			d.say("m", Message{Kind: Renew, Inc: inc, Number: 1, Epoch: 1})
		}
		x.end(d)
		d.tick(1)
		d.said()
		d.Confirmed(d.now, d.reads)
		if all := d.said(); len(all) != 1 || all[0].Kind != Renewed || all[0].Inc != 66 {
			t.Errorf("%s: %+v", what, all)
		}
	}
}

// A leaving voter is told that it may stop when the log can do without it, and only by the
// leader, because only the leader knows that.
func TestLeavingVoterIsToldLate(t *testing.T) {
	leave := Message{Kind: Leave, Inc: 66, Voter: 66}
	d := lead(t, 5, 3)
	d.live(3*second, 64, 65, 66, 67, 68)
	d.say("C", leave)
	d.say("E", Message{Kind: Leave, Inc: 68})
	d.here(67)
	if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{66, 68}) || !slices.Equal(x.Promote, []uint64{104}) {
		t.Fatalf("%+v", x)
	}
	r, ok := Apply(d.record, 1, d.entry)
	if !ok {
		t.Fatal("void")
	}
	d.Applied(d.now, r)
	if all := d.said(); slices.ContainsFunc(all, func(m Message) bool { return m.Kind == Gone && m.Inc == 66 }) || !has(all, Gone) {
		t.Errorf("only the one that is not a voter may go: %+v", all)
	}
	if all := d.say("C", leave); len(all) > 0 {
		t.Errorf("the log has it: %+v", all)
	}
	d.Voters([]uint64{64, 65, 128}, false, false)
	if all := d.say("C", leave); len(all) > 0 {
		t.Errorf("the log may still need it: %+v", all)
	}
	d.Voters([]uint64{64, 65, 128}, false, true)
	d.Follow(d.now, 65)
	if all := d.say("C", leave); len(all) != 1 || all[0].Kind != NotLeader {
		t.Errorf("a follower does not know: %+v", all)
	}
	d.Lead(d.now, 3, r)
	if all := d.say("C", leave); !has(all, Gone) || !has(all, View) {
		t.Errorf("it may go: %+v", all)
	}
}

// A leaving member that has become a voter without knowing it is pushed the record.
func TestLeavingMemberLearnsThatItVotes(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(3*second, 64, 65, 66)
	_ = d.Want(3)
	d.tick(1)
	id := d.commit().Members[1].Voter
	if all := d.say("B", Message{Kind: Leave, Inc: 65}); id == 0 || !has(all, View) {
		t.Errorf("voter %d does not know that it is one: %+v", id, all)
	}
	if all := d.say("B", Message{Kind: Leave, Inc: 65, Voter: id}); has(all, View) {
		t.Errorf("voter %d knows that it is one: %+v", id, all)
	}
}

// The last member goes neither while a change is in flight, nor before the log has
// only its voter.
func TestLastMemberWaits(t *testing.T) {
	last := Message{Kind: Leave, Inc: 64, Voter: 64}
	t.Run("for a change", func(t *testing.T) {
		d := lead(t, 1, 1)
		_ = d.Choose([]member.Choice{{Algorithm: "raymond", Version: 1}})
		if x := d.tick(2 * second); x == nil {
			t.Fatal("no change")
		}
		if all := d.say("A", last); has(all, Gone) {
			t.Errorf("a change is in flight: %+v", all)
		}
		d.commit()
		d.tick(3 * second)
		if all := d.say("A", last); !has(all, Gone) {
			t.Errorf("%+v", all)
		}
	})
	t.Run("for the log", func(t *testing.T) {
		d := lead(t, 3, 3)
		d.live(3*second, 64, 65, 66)
		d.say("B", Message{Kind: Leave, Inc: 65, Voter: 65})
		d.say("C", Message{Kind: Leave, Inc: 66, Voter: 66})
		d.tick(1)
		if r := d.commit(); len(r.Members) != 1 {
			t.Fatalf("%+v", r.Members)
		}
		for range 10 {
			d.tick(second)
			if all := d.say("A", last); has(all, Gone) {
				t.Fatalf("the log has voters %d: %+v", d.list, all)
			}
		}
		d.Voters([]uint64{64}, false, true)
		d.tick(3 * second)
		if all := d.say("A", last); !has(all, Gone) {
			t.Errorf("%+v", all)
		}
	})
}
