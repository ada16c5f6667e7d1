package views

import (
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A voter answers by the record on its disk, before it has heard of a leader.
func TestVoterBeginsWithItsRecord(t *testing.T) {
	d := &testLeader{NewLeader(64, born(t, 2, 1)), t, 0, 0}
	if all := d.say("m", Message{Kind: Fetch, Inc: 65}); !has(all, View) {
		t.Errorf("%v", all)
	}
}

// A leader begins anew in another term, or if it did not lead in between, and not when it
// learns again that it leads.
func TestLeadAgain(t *testing.T) {
	d := leader(t, 2, 1)
	r := *d.Record()
	d.join("X", 5)
	if d.Lead(d.now+second, 1, r); len(d.joiners) != 1 || !d.leads {
		t.Error("it begins anew in the same term")
	}
	d.Follow(d.now, 65)
	if d.Lead(d.now+2*second, 1, r); len(d.joiners) > 0 || !d.leads || d.since != d.now+2*second {
		t.Error("it does not begin anew")
	}
	d.join("X", 5)
	if d.Lead(d.now+3*second, 2, r); len(d.joiners) > 0 || d.Leader.term != 2 {
		t.Error("it does not begin anew in another term")
	}
}

// A ghost's rest counts once: a new leader counts it from when its own voter applied the
// record that names it, and begins it anew only if it does not know when that was.
func TestGhostsRestOnce(t *testing.T) {
	const rest = 5 * second
	old := born(t, 3, 3)
	r := must(t, old, Change{Base: 1, Drop: []uint64{66}, Ghosts: []member.Ghost{{Inc: 66, Rest: member.Span(rest)}}})
	later := must(t, r, Change{Base: 2, Ghosts: []member.Ghost{{Inc: 66, Rest: member.Span(second)}}})
	apply := func(w *Leader, r Record) { w.Applied(100*second, r) }
	for what, x := range map[string]struct {
		disk  Record
		hears func(w *Leader, r Record)
		led   member.Instant // when it is elected
		r     Record         // the record then
		until member.Instant
	}{
		"it is elected at once":            {old, apply, 100 * second, r, 100*second + rest},
		"it is elected later":              {old, apply, 103 * second, r, 100*second + rest},
		"it is elected after the rest":     {old, apply, 140 * second, r, 100*second + rest},
		"it has no record at first":        {Record{}, apply, 103 * second, r, 100*second + rest},
		"it applies a later record":        {old, func(w *Leader, r Record) { w.Applied(90*second, r); w.Applied(100*second, later) }, 103 * second, later, 101 * second},
		"it applies the record again":      {old, func(w *Leader, r Record) { w.Applied(90*second, r); w.Applied(100*second, r) }, 103 * second, r, 90*second + rest},
		"it applies it when it is elected": {old, func(w *Leader, _ Record) { w.Applied(90*second, old) }, 103 * second, r, 103*second + rest},
		"it has skipped a record":          {old, apply, 103 * second, later, 104 * second},
		"it has led before": {old, func(w *Leader, r Record) {
			w.Lead(90*second, 1, old)
			w.Applied(100*second, r)
			w.Follow(101*second, 65)
		}, 103 * second, r, 100*second + rest},
		"it has the record from its disk": {r, func(*Leader, Record) {}, 103 * second, r, 103*second + member.Instant(r.Settings.Patience())},
		"and hears of it again":           {r, apply, 103 * second, r, 103*second + member.Instant(r.Settings.Patience())},
	} {
		w := NewLeader(64, x.disk)
		x.hears(w, r)
		w.Follow(101*second, 65)
		w.Lead(x.led, 5, x.r)
		if len(w.ghosts) != 1 || w.ghosts[0].id != 66 || w.ghosts[0].at != x.until {
			t.Errorf("%s: ghosts %v, want one until %d", what, w.ghosts, x.until)
		}
	}
}

// A view that a new leader makes long after an eviction names no ghost.
func TestGhostIsNotResurrected(t *testing.T) {
	r := must(t, born(t, 3, 3), Change{Base: 1, Drop: []uint64{66}, Ghosts: []member.Ghost{{Inc: 66, Rest: 5 * member.Second}}})
	for after, named := range map[member.Instant]bool{2 * second: true, 20 * second: false} {
		d := &testLeader{NewLeader(64, born(t, 3, 3)), t, 100 * second, 3}
		d.Voters([]uint64{64, 65}, false, true)
		d.Applied(d.now, r)
		d.now += after
		d.Lead(d.now, 3, r)
		_ = d.Choose(central())
		if x := d.live(3*second, 64, 65); x == nil || len(x.Ghosts) > 0 != named {
			t.Errorf("%d s after the eviction: %+v", after/second, x)
		}
	}
}

// A new leader waits a while before the last member leaves, if another member has left that
// may not know it, and counts from its beginning how long voters have been missing.
func TestNewLeaderAndLeavers(t *testing.T) {
	one := born(t, 1, 1)
	left := must(t, born(t, 2, 1), Change{Base: 1, Left: []uint64{65}})
	for what, x := range map[string]struct {
		r    Record
		list []uint64
		gone bool
	}{
		"nobody has left":            {one, []uint64{64}, true},
		"a member has left":          {left, []uint64{64}, false},
		"the log has another voter":  {one, []uint64{64, 65}, false},
		"the log has nobody so far":  {one, nil, false},
		"the log waits for somebody": {left, []uint64{64, 65}, false},
	} {
		d := &testLeader{NewLeader(64, x.r), t, second, 2} // its clock may show little
		d.Voters(x.list, false, true)
		d.leftAt = 0
		d.Lead(d.now, 2, x.r)
		if got := has(d.leaves(64, 64), Gone); got != x.gone || (d.leftAt == d.now) != (!x.gone && x.list != nil) {
			t.Errorf("%s: the last member goes at once: %v, leftAt at %d", what, got, d.leftAt)
		}
	}
	r := must(t, born(t, 3, 3), Change{Base: 1, Drop: []uint64{66}})
	d := &testLeader{NewLeader(64, r), t, 100 * second, 2}
	d.Lead(d.now, 2, r)
	if len(d.absent) != 1 || d.absent[0].id != 66 || d.absent[0].at != d.now {
		t.Errorf("missing voters: %+v", d.absent)
	}
}

// The last member waits from when the view without the others was made, even if none of
// them asks.
func TestLastLeaverWaitsForTheView(t *testing.T) {
	d := leader(t, 2, 1)
	d.live(2*second, 64, 65)
	d.leaves(65, 0)
	d.tick(1)
	d.commit()
	d.now += 2 * second
	if has(d.leaves(64, 64), Gone) {
		t.Error("it does not wait")
	}
	if d.now++; !has(d.leaves(64, 64), Gone) {
		t.Error("it waits for too long")
	}
	if len(d.flaps) > 0 {
		t.Errorf("to leave counts as an eviction: %+v", d.flaps)
	}
}

// A process that is admitted no longer wants to join, also if it is the first member then.
// A ghost of which nothing is known rests for as long as a lease can run.
func TestFirstMemberIsReplaced(t *testing.T) {
	d := leader(t, 2, 1)
	for range 10 {
		d.tick(second)
	}
	d.join("X", 5)
	d.tick(1)
	if r := d.commit(); r.Members[0].Name != "X" || len(d.joiners) > 0 {
		t.Errorf("%+v, and %d want to join", r.Members, len(d.joiners))
	}
	r := d.Record().Clone()
	r.Epoch++
	r.Ghosts = append(r.Ghosts, Ghost{Inc: 70, Nonce: 70, Rest: member.Second})
	d.Applied(d.now, r)
	if g := d.ghosts[len(d.ghosts)-1]; g.id != 70 || g.at != d.now+d.patience() {
		t.Errorf("%+v", g)
	}
}

// A voter that does not lead does nothing by itself, whether it has led before or not.
func TestFollowersAreIdle(t *testing.T) {
	d := lead(t, 3, 3)
	d.live(3*second, 64, 65, 66)
	_ = d.Evict(66)
	d.say("C", Message{Kind: Status, Number: 1})
	d.Follow(d.now, 65)
	never := &testLeader{NewLeader(65, d.record), t, 100 * second, 1}
	for what, d := range map[string]*testLeader{"led": d, "never led": never} {
		if x := d.tick(30 * second); x != nil || len(d.Out.Send) > 0 || d.Out.Read+d.Out.HandOver != 0 || d.Out.Revote != nil {
			t.Errorf("one that has %s: %+v", what, d.Out)
		}
	}
}
