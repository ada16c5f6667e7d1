package views

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A testLeader is a leader that gets messages directly, and what it answers.
type testLeader struct {
	*Leader
	t    *testing.T
	now  member.Instant
	term uint64
}

const second = member.Instant(member.Second)

// lead makes a leader of a cluster with so many members; the first one is the leader's own
// process.
func lead(t *testing.T, members, wanted int) *testLeader {
	r := born(t, members, wanted)
	d := &testLeader{NewLeader(64, r), t, 100 * second, 1}
	d.Voters(r.staying(), false, true)
	d.Lead(d.now, 1, r)
	return d
}

// say brings a message, and returns what is said to it.
func (d *testLeader) say(from string, m Message) []Message {
	d.t.Helper()
	m.Cluster = 9
	if err := d.Receive(d.now, from, m.AppendTo(nil)); err != nil {
		d.t.Fatal(err)
	}
	return d.said()
}

func (d *testLeader) said() []Message {
	var all []Message
	for _, l := range d.Out.Send {
		m, err := ParseMessage(l.Bytes)
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, m)
	}
	d.Out.Send = nil
	return all
}

// tick advances the time, and returns what is proposed then.
func (d *testLeader) tick(by member.Instant) *Change {
	d.t.Helper()
	d.now += by
	d.Out.Reset()
	d.Tick(d.now)
	if d.Out.Propose == nil {
		return nil
	}
	x, err := ParseChange(d.Out.Propose)
	if err != nil {
		d.t.Fatal(err)
	}
	return &x
}

// commit applies what was proposed.
func (d *testLeader) commit() Record {
	d.t.Helper()
	r, ok := Apply(*d.Record(), d.term, d.entry)
	if !ok {
		d.t.Fatalf("%+v is void", d.flying)
	}
	d.Applied(d.now, r)
	d.Out.Reset()
	return r
}

// here has these answer a call of this moment.
func (d *testLeader) here(who ...uint64) {
	d.t.Helper()
	for _, inc := range who {
		d.say("m", Message{Kind: Here, Inc: inc, Number: uint64(d.now)})
	}
}

// live lets time pass, in which these renew, and answer calls.
func (d *testLeader) live(by member.Instant, who ...uint64) *Change {
	d.t.Helper()
	for end := d.now + by; d.now < end; {
		for _, inc := range who {
			d.say("m", Message{Kind: Renew, Inc: inc, Number: uint64(d.now), Epoch: d.Record().Epoch})
		}
		d.here(who...)
		if x := d.tick(second / 2); x != nil {
			return x
		}
		d.Confirmed(d.now, d.reads)
		d.Out.Reset()
	}
	return nil
}

func has(all []Message, k Kind) bool {
	return slices.ContainsFunc(all, func(m Message) bool { return m.Kind == k })
}

func TestOneRoundForAll(t *testing.T) {
	d := lead(t, 3, 1)
	for inc := range uint64(3) {
		if all := d.say("m", Message{Kind: Renew, Inc: 64 + inc, Number: 5, Epoch: 1}); len(all) > 0 {
			t.Errorf("%v at once", all)
		}
	}
	d.tick(1)
	first := d.Out.Read
	if first == 0 || len(d.said()) > 0 {
		t.Error("no read, or an answer before it is confirmed")
	}
	if d.tick(1); d.Out.Read != 0 {
		t.Error("a second read for nothing")
	}
	d.say("m", Message{Kind: Renew, Inc: 64, Number: 6, Epoch: 1})
	d.tick(1)
	second := d.Out.Read
	if d.Confirmed(d.now, first); len(d.said()) != 3 {
		t.Error("a read confirms other renewals than those before it")
	}
	if d.Confirmed(d.now, second); len(d.said()) != 1 {
		t.Error("the other is not confirmed")
	}
	if d.Confirmed(d.now, second); len(d.said()) != 0 {
		t.Error("confirmed twice")
	}
	d.say("m", Message{Kind: Status, Number: 3})
	d.tick(1)
	d.Confirmed(d.now, d.Out.Read)
	if all := d.said(); len(all) != 1 || all[0].Kind != State || all[0].Number != 3 {
		t.Errorf("%v", all)
	}
}

func TestDoomedAreNotRenewed(t *testing.T) {
	d := lead(t, 3, 1)
	d.tick(2 * second)
	d.say("B", Message{Kind: Renew, Inc: 65, Number: 1, Epoch: 1})
	if err := d.Evict(65); err != nil {
		t.Fatal(err)
	}
	x := d.tick(1) // which begins its read, and proposes
	if x == nil || !slices.Equal(x.Drop, []uint64{65}) || len(x.Ghosts) != 1 {
		t.Fatalf("%+v", x)
	}
	d.Confirmed(d.now, d.reads)
	d.say("B", Message{Kind: Renew, Inc: 65, Number: 2, Epoch: 1})
	bytes1 := d.entry
	for range 10 { // nothing comes of it: the same is proposed again, whatever else there is to do
		d.say("X", Message{Kind: Join, Name: "X", Nonce: 5, Who: []uint64{64, 65, 66}})
		d.tick(second)
		if d.Out.Propose != nil && !bytes.Equal(d.Out.Propose, bytes1) {
			t.Fatal("another change while one is under way")
		}
		d.Confirmed(d.now, d.reads)
		if has(d.said(), Renewed) {
			t.Fatal("one whose eviction is under way is renewed")
		}
	}
	d.commit()
	if all := d.say("B", Message{Kind: Renew, Inc: 65, Number: 3}); !has(all, Gone) {
		t.Errorf("%v", all)
	}
}

// A new leader begins every lease at full length, and has no joiners.
func TestNewLeaderBeginsAnew(t *testing.T) {
	d := lead(t, 3, 1)
	d.say("X", Message{Kind: Join, Name: "X", Nonce: 5, Who: []uint64{64, 65, 66}})
	d.Follow(d.now, 65)
	d.now += 100 * second
	d.Lead(d.now, 3, *d.Record())
	d.term = 3
	if x := d.tick(2 * second); x != nil {
		t.Errorf("%+v", x)
	}
	x := d.live(20*second, 64, 65) // 66 is silent from the start
	if x == nil || !slices.Equal(x.Drop, []uint64{66}) || len(x.Join) != 0 {
		t.Fatalf("%+v", x)
	}
	waited := member.Span(d.now - 200*second)
	if p := d.record.Settings.Patience(); x.Ghosts[0].Rest != p-waited || waited < p/2 {
		t.Errorf("rest %v after %v", x.Ghosts[0].Rest, waited)
	}
}

// Silent members, and what stays of them.
func TestSomebodyStays(t *testing.T) {
	t.Run("all are silent", func(t *testing.T) {
		d := lead(t, 2, 1)
		for range 100 {
			if x := d.tick(second); x != nil {
				t.Fatalf("%+v", x)
			}
		}
		d.say("X", Message{Kind: Join, Name: "X", Nonce: 5})
		if x := d.tick(1); x == nil || len(x.Drop) != 2 || len(x.Join) != 1 {
			t.Fatalf("%+v", x)
		}
	})
	t.Run("a leaver and one to be evicted", func(t *testing.T) {
		d := lead(t, 2, 1)
		d.tick(2 * second)
		_ = d.Evict(64)
		d.say("B", Message{Kind: Leave, Inc: 65})
		if x := d.tick(1); x == nil || !slices.Equal(x.Left, []uint64{65}) || len(x.Drop) != 0 {
			t.Fatalf("%+v", x)
		}
	})
	t.Run("a leaver and a silent one", func(t *testing.T) {
		d := lead(t, 2, 1)
		for range 6 {
			d.tick(second)
			d.say("B", Message{Kind: Leave, Inc: 65, Voter: 0})
			if d.flying != nil {
				break
			}
		}
		if d.flying == nil || len(d.flying.Left) != 1 {
			t.Fatalf("%+v", d.flying)
		}
	})
	t.Run("the last one", func(t *testing.T) {
		d := lead(t, 1, 1)
		if all := d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64}); !has(all, Gone) {
			t.Errorf("%v", all)
		}
	})
}

// A member leaves while it and the other one complain about each other: it leaves,
// and the other one stays.
func TestLeaverAndAccuser(t *testing.T) {
	d := lead(t, 2, 1)
	for range 9 {
		d.say("A", Message{Kind: Renew, Inc: 64, Number: uint64(d.now), Epoch: 1, Who: []uint64{65}})
		d.say("B", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: 1, Who: []uint64{64}})
		d.tick(second / 2)
		d.Confirmed(d.now, d.reads)
	}
	var x *Change
	for range 60 {
		d.say("B", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: 1, Who: []uint64{64}})
		d.say("A", Message{Kind: Leave, Inc: 64, Voter: 64})
		d.here(65)
		if x = d.tick(second); x != nil {
			break
		}
	}
	if x == nil || !slices.Equal(x.Left, []uint64{64}) || len(x.Drop) != 0 {
		t.Errorf("%+v", x)
	}
}

// A leader that stood still gives all members time to renew before it evicts any.
func TestGrace(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(3*second, 64, 65, 66)
	d.now += 60 * second
	d.say("A", Message{Kind: Renew, Inc: 64, Number: uint64(d.now), Epoch: 1})
	if x := d.tick(1); x != nil {
		t.Errorf("%+v", x)
	}
}

// An entry that an old leader made, in the log of a later term: a renewal that
// was confirmed in between is not in it.
func TestTermOfAnEntry(t *testing.T) {
	d := lead(t, 3, 1)
	d.live(4*second, 64, 65, 66)
	x := d.live(9*second, 64, 65)
	if x == nil || !slices.Equal(x.Drop, []uint64{66}) {
		t.Fatalf("%+v", x)
	}
	late, r := d.entry, *d.Record()
	next := NewLeader(65, r)
	next.Lead(0, 2, r)
	renewal := Message{Kind: Renew, Cluster: 9, Inc: 66, Number: 1, Epoch: 1}
	if err := next.Receive(0, "C", renewal.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	next.Tick(1)
	if next.Confirmed(1, next.Out.Read); len(next.Out.Send) != 1 {
		t.Fatal("not renewed")
	}
	if _, ok := Apply(r, 3, late); ok {
		t.Error("C is over before its lease is")
	}
}

func TestJoining(t *testing.T) {
	d := lead(t, 2, 1)
	d.live(2*second, 64, 65)
	join := func(name string, nonce uint64, reached ...uint64) Reason {
		all := d.say(name, Message{Kind: Join, Name: name, Address: name, Nonce: nonce, Who: reached})
		if len(all) != 1 || all[0].Kind != Wait {
			t.Fatalf("%v", all)
		}
		return all[0].Reason
	}
	if why := join("X", 5, 64); why != Reach {
		t.Error(why)
	}
	if why := join("A", 6, 64, 65); why != NameUse {
		t.Error(why)
	}
	if x := d.tick(1); x != nil {
		t.Errorf("%+v", x)
	}
	if why := join("X", 5, 64, 65); why != Soon {
		t.Error(why)
	}
	join("Y", 7, 64, 65)
	x := d.tick(1)
	if x == nil || len(x.Join) != 2 {
		t.Fatalf("%+v", x)
	}
	d.commit()
	if all := d.say("X", Message{Kind: Join, Name: "X", Nonce: 5}); !has(all, View) {
		t.Errorf("%v", all)
	}
	_ = d.Evict(2 * 64)
	d.live(5*second, 64, 65, 129)
	d.commit()
	if all := d.say("X", Message{Kind: Join, Name: "X", Nonce: 5}); !has(all, Gone) {
		t.Errorf("one that was admitted and evicted before it heard of it: %v", all)
	}
}

// A name whose bearers are evicted again and again has to wait for longer.
func TestFlapping(t *testing.T) {
	d := lead(t, 2, 1)
	var waits []member.Instant
	for i := range 5 {
		began := d.now
		for d.flying == nil {
			d.live(second/2, 64, 65)
			d.say("X", Message{Kind: Join, Name: "X", Nonce: uint64(500 + i), Who: []uint64{64, 65}})
			d.tick(second / 4)
		}
		waits = append(waits, d.now-began)
		r := d.commit()
		_ = d.Evict(r.Members[2].Inc)
		d.live(9*second, 64, 65, r.Members[2].Inc)
		d.commit()
	}
	if !slices.IsSorted(waits[1:]) || waits[4] < 3*waits[1] || waits[4] > 12*second {
		t.Errorf("%v", waits)
	}
}

// A former leader, and one that does not lead yet, know less than others.
func TestStaleVoter(t *testing.T) {
	d := lead(t, 2, 1)
	if all := d.say("X", Message{Kind: Renew, Inc: 3 * 64, Number: 1, Epoch: 3}); has(all, Gone) || !has(all, NotLeader) {
		t.Errorf("one that was admitted later: %v", all)
	}
	if all := d.say("X", Message{Kind: Renew, Inc: 1*64 + 9, Number: 1, Epoch: 1}); !has(all, Gone) {
		t.Errorf("one that is not there: %v", all)
	}
	d.Follow(d.now, 64+1)
	d.record.Voters = append(d.record.Voters, Voter{ID: 65, Address: "there"})
	all := d.say("A", Message{Kind: Renew, Inc: 64, Number: 1, Epoch: 1})
	if len(all) != 1 || all[0].Kind != NotLeader || all[0].Address != "there" {
		t.Errorf("%v", all)
	}
	if all := d.say("A", Message{Kind: Fetch, Inc: 64, Epoch: 0}); !has(all, View) {
		t.Errorf("any voter knows the view: %v", all)
	}
	x := Message{Kind: Renew, Cluster: 8, Inc: 64}
	_ = d.Receive(d.now, "A", x.AppendTo(nil))
	if all := d.said(); !has(all, Other) {
		t.Errorf("%v", all)
	}
}

// A new leader has heard from the member of the former one when its voter last spoke, but
// leaves it the time to renew.
func TestFormerLeader(t *testing.T) {
	r := born(t, 3, 3)
	renew, quiet := member.Instant(r.Settings.Renew), member.Instant(r.Settings.Patience())/2
	for name, c := range map[string]struct {
		spoke, evicted member.Instant // before and after it is elected
		renews         bool
	}{
		"silent since an election": {spoke: renew, evicted: quiet - renew},
		"silent for long":          {spoke: 10 * renew, evicted: renew + renew/2},
		"just spoke":               {evicted: quiet},
		"renews":                   {spoke: renew, renews: true, evicted: -1},
	} {
		now := 100 * second
		w := NewLeader(r.Voters[0].ID, r)
		w.Voters([]uint64{r.Voters[0].ID, r.Voters[1].ID, r.Voters[2].ID}, false, true)
		w.Follow(now-20*renew, r.Voters[2].ID)
		w.Follow(now-15*renew, r.Voters[1].ID)
		w.Spoke(now-c.spoke, r.Voters[1].ID, 1)
		w.Spoke(now, r.Voters[2].ID, 1)
		w.Follow(now, 0)
		w.Follow(now, r.Voters[0].ID) // it is elected, and does not serve yet
		w.Lead(now, 2, r)
		at := member.Instant(-1)
		for i := member.Instant(0); at < 0 && i <= quiet+renew; i += renew / 20 {
			for _, m := range r.Members[:3] {
				if m.Voter == r.Voters[1].ID && !c.renews {
					continue
				}
				b := Message{Kind: Renew, Cluster: r.Cluster, Inc: m.Inc, Number: uint64(now + i), Epoch: r.Epoch}
				if err := w.Receive(now+i, m.Address, b.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
			}
			w.Out.Reset()
			if w.Tick(now + i); w.Out.Propose != nil {
				if x, err := ParseChange(w.Out.Propose); err != nil || len(x.Drop) != 1 || x.Drop[0] != r.Members[1].Inc {
					t.Fatalf("%s: %+v, %v", name, x, err)
				}
				at = i
			}
		}
		if c.evicted < 0 != (at < 0) || at >= 0 && (at < c.evicted || at > c.evicted+renew/20) {
			t.Errorf("%s: evicted %d ms after the election, want %d", name, at/member.Instant(member.Millisecond), c.evicted/member.Instant(member.Millisecond))
		}
	}
}
