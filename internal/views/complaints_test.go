package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// complaining lets members renew, each with its complaints, until a change is proposed
// or so long has passed. It returns who is evicted, and after how long.
func (d *testLeader) complaining(most member.Instant, complaints map[uint64][]uint64) ([]uint64, member.Instant) {
	d.t.Helper()
	begun := d.now
	for d.now-begun < most {
		for _, m := range d.Record().Members {
			d.say("m", Message{Kind: Renew, Inc: m.Inc, Number: uint64(d.now), Epoch: d.Record().Epoch, Who: complaints[m.Inc]})
		}
		if x := d.tick(second / 2); x != nil {
			return x.Drop, d.now - begun
		}
		d.Confirmed(d.now, d.reads)
		d.Out.Reset()
	}
	return nil, d.now - begun
}

// Complaints evict one of the two members after half a lease if they are mutual or come
// from most members, and after three times as long otherwise.
func TestComplaintsEvict(t *testing.T) {
	const a, b, c, d = 64, 65, 66, 67
	for _, x := range []struct {
		what       string
		members    int
		complaints map[uint64][]uint64
		drop       uint64
		after      member.Instant
	}{
		{"mutual: the younger one", 3, map[uint64][]uint64{a: {c}, c: {a}}, c, 5 * second},
		{"mutual, the first ones: the younger one", 3, map[uint64][]uint64{a: {b}, b: {a}}, b, 5 * second},
		{"mutual: the one with more accusers", 4, map[uint64][]uint64{b: {d}, d: {b}, c: {b}}, b, 5 * second},
		{"mutual: the one with more accusers, who is also younger", 4, map[uint64][]uint64{b: {d}, d: {b}, a: {d}}, d, 5 * second},
		{"one of three complains", 3, map[uint64][]uint64{b: {a}}, a, 15 * second},
		{"two of three complain", 3, map[uint64][]uint64{b: {a}, c: {a}}, a, 5 * second},
		{"two of four complain", 4, map[uint64][]uint64{b: {a}, c: {a}}, a, 15 * second},
		{"three of four complain", 4, map[uint64][]uint64{b: {a}, c: {a}, d: {a}}, a, 5 * second},
		{"one complains about two, who complain about it", 3, map[uint64][]uint64{a: {b, c}, b: {a}, c: {a}}, a, 5 * second},
		{"one complains about two, of whom one complains about it", 3, map[uint64][]uint64{a: {b, c}, c: {a}}, c, 5 * second},
		{"one complains about one that complains about another", 3, map[uint64][]uint64{a: {b}, b: {c}}, b, 15 * second},
		{"one complains, and is complained about by another", 3, map[uint64][]uint64{a: {c}, b: {a}}, c, 15 * second},
		{"complaints about itself and about strangers", 3, map[uint64][]uint64{a: {a, 99}, b: {b}}, 0, 20 * second},
	} {
		l := leader(t, x.members, 1)
		l.tick(second)
		drop, after := l.complaining(20*second, x.complaints)
		if (x.drop == 0) != (len(drop) == 0) || x.drop != 0 && !slices.Equal(drop, []uint64{x.drop}) || after != x.after {
			t.Errorf("%s: %v evicted after %v ms, want %d after %v ms", x.what, drop, after/1e6, x.drop, x.after/1e6)
		}
	}
}

// The younger one is evicted, whichever complained first.
func TestComplaintOrder(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	d.say("m", Message{Kind: Renew, Inc: 66, Number: uint64(d.now), Epoch: 1, Who: []uint64{64}})
	if drop, after := d.complaining(20*second, map[uint64][]uint64{64: {66}, 66: {64}}); !slices.Equal(drop, []uint64{66}) || after != 5*second {
		t.Errorf("%v evicted after %v ms", drop, after/1e6)
	}
}

// A complaint that is withdrawn, and made again, counts from then on.
func TestComplaintWithdrawn(t *testing.T) {
	d := leader(t, 3, 1)
	d.tick(second)
	both := map[uint64][]uint64{64: {65}, 65: {64}}
	if drop, _ := d.complaining(4*second, both); drop != nil {
		t.Fatalf("%v evicted too early", drop)
	}
	if drop, _ := d.complaining(second/2, map[uint64][]uint64{64: {65}}); drop != nil || len(d.grudges) != 1 {
		t.Fatalf("%v evicted, %d complaints are left, want 1", drop, len(d.grudges))
	}
	d.complaining(second/2, nil)
	if drop, after := d.complaining(20*second, both); !slices.Equal(drop, []uint64{65}) || after != 5*second {
		t.Errorf("%v evicted after %v ms", drop, after/1e6)
	}
}

// A complaint that was not repeated for four renewals is void: here by a member that has
// an older view, whose complaints do not count.
func TestComplaintFadesAway(t *testing.T) {
	for _, x := range []struct {
		since member.Instant
		drop  bool
	}{{8 * second, true}, {8*second + 1, false}} {
		d := leader(t, 3, 1)
		d.tick(second)
		d.say("m", Message{Kind: Renew, Inc: 64, Number: uint64(d.now), Epoch: 1, Who: []uint64{66}})
		d.say("m", Message{Kind: Renew, Inc: 65, Number: uint64(d.now), Epoch: 1, Who: []uint64{66}})
		end := d.now + x.since
		for d.now < end-second {
			for inc := range uint64(3) {
				d.say("m", Message{Kind: Renew, Inc: 64 + inc, Number: uint64(d.now), Epoch: 0, Who: []uint64{65, 66}})
			}
			d.now += second
		}
		if got := d.tick(end-d.now) != nil; got != x.drop {
			t.Errorf("%v ns after the complaint: a change is proposed: %v", x.since, got)
		}
	}
}

// A new view drops the complaints from and about members that are not in it, and no others.
func TestComplaintsOfTheEvicted(t *testing.T) {
	d := leader(t, 4, 1)
	d.tick(second)
	for _, x := range []struct{ of, about uint64 }{{64, 65}, {65, 64}, {66, 67}, {67, 64}} {
		d.say("m", Message{Kind: Renew, Inc: x.of, Number: 1, Epoch: 1, Who: []uint64{x.about}})
	}
	_ = d.Evict(67)
	d.tick(second)
	d.commit()
	if len(d.grudges) != 2 || d.grudges[0].of != 64 || d.grudges[1].of != 65 {
		t.Errorf("complaints %+v, want those of 64 and 65 about each other", d.grudges)
	}
}
