package views

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// renews brings a renewal, confirms it, and reports whether it was answered.
func (d *testLeader) renews(inc, number uint64) bool {
	d.t.Helper()
	d.say("m", Message{Kind: Renew, Inc: inc, Number: number, Epoch: d.Record().Epoch})
	d.tick(0)
	d.Out.Send = nil
	d.Confirmed(d.now, d.reads)
	return has(d.said(), Renewed)
}

// An evicted member is a ghost until its lease has expired by the leader's count, in every
// view until then. That holds for the first member as for any other.
func TestGhostsKeepTheirEnd(t *testing.T) {
	d := leader(t, 3, 1)
	patience := d.patience()
	d.tick(second)
	d.renews(64, 1)
	d.renews(66, 1)
	until := d.now + patience
	_ = d.Evict(64)
	_ = d.Evict(66)
	rest := func(x *Change, want ...uint64) {
		t.Helper()
		var got []uint64
		for _, g := range x.Ghosts {
			if got = append(got, g.Inc); g.Rest != member.Span(until-d.now) {
				t.Errorf("ghost %d rests %d, want %d", g.Inc, g.Rest, until-d.now)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ghosts %v, want %v", got, want)
		}
	}
	x := d.tick(second)
	rest(x, 64, 66)
	if !slices.Equal(x.Drop, []uint64{64, 66}) {
		t.Errorf("%+v", x)
	}
	d.commit()
	for _, at := range []member.Instant{until - second, until - 1, until} {
		for d.now < at {
			d.now = min(at, d.now+second)
			d.say("m", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: d.Record().Epoch})
			d.Tick(d.now)
		}
		if d.since = d.now - 2*second; d.Choose(central()) != nil {
			t.Fatal("no choice")
		}
		x := d.tick(0)
		if at == until {
			rest(x)
			break
		}
		rest(x, 64, 66)
		d.commit()
	}
}

// A member that leaves is no ghost, and is not waited for.
func TestLeaverIsNoGhost(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	d.renews(66, 1)
	d.say("C", Message{Kind: Leave, Inc: 66})
	x := d.tick(1)
	if x == nil || !slices.Equal(x.Left, []uint64{66}) || len(x.Drop)+len(x.Ghosts) > 0 {
		t.Fatalf("%+v", x)
	}
	r, ok := Apply(*d.Record(), 1, d.entry)
	if !ok {
		t.Fatal("void")
	}
	d.Applied(d.now, r)
	var gone, views []string
	for _, l := range d.Out.Send {
		switch m, _ := ParseMessage(l.Bytes); m.Kind {
		case Gone:
			gone = append(gone, l.To)
		case View:
			views = append(views, l.To)
		}
	}
	if !slices.Equal(gone, []string{"C"}) || !slices.Equal(views, []string{"A", "B"}) {
		t.Errorf("GONE to %v, VIEW to %v", gone, views)
	}
}

// What a leader knows of a member stays with it from view to view.
func TestStandingsStay(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	for inc := range uint64(3) {
		if !d.renews(64+inc, 5) || d.renews(64+inc, 4) || !d.renews(64+inc, 5) {
			t.Errorf("%d: want renewals 5 and 5 confirmed, and not 4", 64+inc)
		}
	}
	_ = d.Choose(central())
	d.tick(second)
	d.commit()
	for inc := range uint64(3) {
		if s := d.standing(64 + inc); s.number != 5 || !s.proven || d.renews(64+inc, 4) {
			t.Errorf("%d: %+v in the next view", 64+inc, s)
		}
	}
}

// A renewal of one with an older view is confirmed, and answered with the record too.
func TestRenewalWithAnOlderView(t *testing.T) {
	d := leader(t, 2, 1)
	d.tick(second)
	_ = d.Choose(central())
	d.tick(1)
	d.commit()
	for epoch := range uint64(3) {
		all := d.say("m", Message{Kind: Renew, Inc: 65, Number: 7, Epoch: epoch})
		if has(all, View) != (epoch < 2) {
			t.Errorf("epoch %d: %v", epoch, all)
		}
	}
	if d.tick(1); d.Out.Read == 0 {
		t.Error("no read")
	}
}

// A change is proposed when the view has lived for long enough, and again, the very same
// bytes, as often as members renew, until the log has it. A view without a change is made for idle names when
// the present one has lived four times as long.
func TestWhenToPropose(t *testing.T) {
	d := leader(t, 2, 1)
	_ = d.Choose(central())
	if x := d.tick(second - 1); x != nil {
		t.Errorf("proposed before the view has lived: %+v", x)
	}
	if x := d.tick(1); x == nil || len(x.Choices) != 1 || x.Base != 1 || x.Term != 1 {
		t.Fatalf("%+v", x)
	}
	first := d.entry
	if x := d.tick(2*second - 1); x != nil {
		t.Errorf("proposed again too early: %+v", x)
	}
	if x := d.tick(1); x == nil || !bytes.Equal(d.Out.Propose, first) {
		t.Errorf("not proposed again: %+v", x)
	}
	if x := d.tick(2*second - 1); x != nil {
		t.Errorf("proposed a third time too early: %+v", x)
	}
	if x := d.tick(1); x == nil || !bytes.Equal(d.Out.Propose, first) {
		t.Errorf("not proposed a third time: %+v", x)
	}
	d.Appended()
	if x := d.tick(100 * second); x != nil || d.flying == nil {
		t.Errorf("the log has it, and it is proposed again: %+v", x)
	}
	d.commit()
	d.renews(64, 9)
	d.renews(65, 9)
	_ = d.Forget()
	if x := d.tick(4 * second); x != nil {
		t.Errorf("a view for idle names too early: %+v", x)
	}
	if x := d.tick(1); x == nil {
		t.Error("no view for idle names")
	}
	d.commit()
	d.say("m", Message{Kind: Renew, Inc: 64, Number: 10, Epoch: d.Record().Epoch, Forget: true})
	d.say("m", Message{Kind: Renew, Inc: 65, Number: 10, Epoch: d.Record().Epoch})
	if x := d.tick(4*second + 1); x == nil || len(x.Choices)+x.Wanted > 0 {
		t.Errorf("a member asks for a view: %+v", x)
	}
}

// Requests wait for a read and are bounded; those that came last are answered.
func TestRequestsAreBounded(t *testing.T) {
	d := leader(t, 2, 1)
	ask := func(from, to uint64) {
		for n := from; n < to; n++ {
			d.say("x", Message{Kind: Status, Number: n})
		}
		d.tick(1)
	}
	ask(0, maxRequests+9)
	d.Confirmed(d.now, d.reads)
	if all := d.said(); len(all) != maxRequests || all[0].Number != 0 {
		t.Errorf("%d answers, the first to %d", len(all), all[0].Number)
	}
	ask(0, 600)
	ask(600, maxRequests)
	ask(maxRequests, maxRequests+1)
	d.Confirmed(d.now, d.reads)
	if all := d.said(); len(all) != maxRequests || all[0].Number != 1 {
		t.Errorf("%d answers, the first to %d: want %d, the first to 1", len(all), all[0].Number, maxRequests)
	}
}

// Only a leader takes orders, and only such as can be followed.
func TestOrders(t *testing.T) {
	d := leader(t, 3, 3)
	bad := []member.Choice{{Prefix: "a", Algorithm: "central"}}
	for i, err := range []error{d.Evict(67), d.Evict(0), d.Choose(bad), d.Choose(nil), d.Want(0), d.Want(2), d.Want(4), d.Want(6)} {
		if err == nil || errors.Is(err, ErrNotLeader) {
			t.Errorf("order %d: %v", i, err)
		}
	}
	for i, err := range []error{d.Evict(64), d.Evict(66), d.Choose(central()), d.Forget(), d.Want(1), d.Want(3), d.Want(5)} {
		if err != nil {
			t.Errorf("order %d: %v", i, err)
		}
	}
	if x := d.tick(second); x == nil || x.Wanted != 5 || !slices.Equal(x.Choices, central()) || len(x.Drop) != 2 {
		t.Errorf("%+v", x)
	}
	d.Follow(d.now, 65)
	for i, err := range []error{d.Evict(64), d.Choose(central()), d.Forget(), d.Want(1)} {
		if !errors.Is(err, ErrNotLeader) {
			t.Errorf("order %d to one that does not lead: %v", i, err)
		}
	}
}

// A voter that does not lead proposes nothing and confirms nothing, and names the leader
// if it knows it.
func TestFollower(t *testing.T) {
	d := leader(t, 3, 3)
	d.tick(second)
	d.say("m", Message{Kind: Renew, Inc: 65, Number: 1, Epoch: 1})
	d.tick(1)
	d.Follow(d.now, 66)
	if d.Confirmed(d.now, d.reads); len(d.Out.Send) > 0 {
		t.Error("a follower confirms")
	}
	if x := d.tick(100 * second); x != nil || d.Out.Read != 0 || len(d.Out.Send) > 0 {
		t.Errorf("a follower decides: %+v, %+v", x, d.Out)
	}
	for _, kind := range []Kind{Join, Status, Renew, Leave} {
		for leader, address := range map[uint64]string{0: "", 64: "", 66: "C"} {
			d.Follow(d.now, leader)
			all := d.say("m", Message{Kind: kind, Inc: 65, Epoch: 1, Name: "X", Nonce: 5})
			if len(all) != 1 || all[0].Kind != NotLeader || all[0].Address != address || all[0].Epoch != 1 {
				t.Errorf("%v, while %d leads: %+v", kind, leader, all)
			}
		}
	}
	next := must(t, *d.Record(), Change{Base: 1, Left: []uint64{65}})
	if d.Applied(d.now, next); len(d.Out.Send) > 0 || d.Record().Epoch != 2 {
		t.Errorf("a follower sends %v, and knows epoch %d", d.Out.Send, d.Record().Epoch)
	}
	if all := d.say("B", Message{Kind: Renew, Inc: 65, Epoch: 1}); !has(all, Gone) {
		t.Errorf("any voter knows who is gone: %v", all)
	}
	for epoch, want := range map[uint64]Kind{1: View, 2: NotLeader, 3: NotLeader} {
		if all := d.say("A", Message{Kind: Fetch, Inc: 64, Epoch: epoch}); !has(all, want) {
			t.Errorf("one with epoch %d fetches: %v, want %v", epoch, all, want)
		}
	}
}

// Messages for members, and bytes that are none, are refused by voters.
func TestVoterRefuses(t *testing.T) {
	d := leader(t, 1, 1)
	for k := range kinds {
		err := d.Receive(d.now, "x", (&Message{Kind: k, Cluster: 9}).AppendTo(nil))
		if (err != nil) != (k >= Wait) || ForVoter([]byte{byte(k)}) != (k < Wait) {
			t.Errorf("%v: %v", k, err)
		}
	}
	for _, b := range [][]byte{nil, {}, {byte(kinds), 0, 0}, {byte(Join)}} {
		if d.Receive(d.now, "x", b) == nil {
			t.Errorf("% x is taken", b)
		}
	}
	if _, err := ParseMessage([]byte{byte(kinds), 0, 0}); err == nil {
		t.Error("a message of no kind is read")
	}
	wait := (&Message{Kind: Wait, Reason: reasons - 1}).AppendTo(nil)
	if _, err := ParseMessage(wait); err != nil {
		t.Error(err)
	}
	wait = (&Message{Kind: Wait, Reason: reasons}).AppendTo(nil)
	if _, err := ParseMessage(wait); err == nil {
		t.Error("a reason that is none is read")
	}
	if ForVoter(nil) {
		t.Error("no bytes are a message for a voter")
	}
}

// Kinds of messages have names of their own.
func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range kinds {
		if seen[k.String()] || KindNames()[k] != k.String() {
			t.Errorf("%d is called %v", k, k)
		}
		seen[k.String()] = true
	}
	if Kind(kinds).String() != fmt.Sprintf("kind %d", int(kinds)) {
		t.Error(Kind(kinds))
	}
}

// A leader that has applied nothing new continues; the record of another cluster counts as
// new whatever its epoch. A new view lives from when it was applied.
func TestApplied(t *testing.T) {
	d := leader(t, 2, 1)
	since := d.since
	if d.Applied(d.now+second, *d.Record()); d.since != since || len(d.Out.Send) > 0 {
		t.Errorf("%+v", d.Out)
	}
	r := d.Record().Clone()
	r.Cluster = 10
	if d.Applied(d.now+2*second, r); d.since != d.now+2*second || len(d.Out.Send) != 2 || d.Record().Cluster != 10 {
		t.Errorf("since %d, sends %v", d.since-d.now, d.Out.Send)
	}
}

// A leader grants a new lease to all only if it stood still for longer than a renewal.
func TestGraceAfterARenewal(t *testing.T) {
	for by, grace := range map[member.Instant]bool{2 * second: false, 2*second + 1: true} {
		d := leader(t, 2, 1)
		d.tick(second)
		if d.tick(by); (d.standing(65).heard == d.now) != grace {
			t.Errorf("after %d: heard %d before", by, d.now-d.standing(65).heard)
		}
	}
}

// While a change is in flight, members that stay are renewed.
func TestRenewalsWhileAChangeIsUnderWay(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	_ = d.Evict(66)
	if d.tick(1) == nil {
		t.Fatal("no change is proposed")
	}
	for inc := range uint64(3) {
		if d.renews(64+inc, 5) != (inc < 2) {
			t.Errorf("%d is renewed, or not", 64+inc)
		}
	}
}

// When the log's voters change, in whatever way, the leader looks at once whether there is
// something to be done, and counts from then how long leavers have been silent.
func TestVotersOfTheLogChange(t *testing.T) {
	for what, change := range map[string]func(d *testLeader){
		"nothing":          func(d *testLeader) { d.Voters([]uint64{64}, true, true) },
		"the list":         func(d *testLeader) { d.Voters([]uint64{64, 65}, true, true) },
		"a learner":        func(d *testLeader) { d.Voters([]uint64{64}, false, true) },
		"that it is going": func(d *testLeader) { d.Voters([]uint64{64}, true, false) },
	} {
		d := leader(t, 1, 1)
		d.Voters([]uint64{64}, true, true)
		d.tick(second)
		if d.Out.Revote == nil {
			t.Fatal("nothing is asked of the log")
		}
		before := d.leftAt
		change(d)
		if at := d.Leader.now; (d.revoted == 0 && d.leftAt == at) != (what != "nothing") || (d.leftAt == before) != (what == "nothing") {
			t.Errorf("%s changes: asked at %d, leftAt at %d, now %d", what, d.revoted, d.leftAt, at)
		}
	}
}
