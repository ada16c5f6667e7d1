package views

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// The leader knows why a member has gone, as soon as it has.
func TestParted(t *testing.T) {
	const a, b, c = 64, 65, 66
	quiet := func(d *testLeader) { d.live(20*second, a, b) }
	for what, x := range map[string]struct {
		happens func(d *testLeader)
		want    Parting
	}{
		"it is silent": {quiet, Parting{Why: Silent, Silent: 11 * member.Second / 2}},
		"another process of its name wants to join": {func(d *testLeader) {
			for d.flying == nil {
				d.join("C", 7, a, b)
				d.live(second, a, b)
			}
		}, Parting{Why: Silent, Silent: 2*member.Usual().Renew + member.Second/2, Rival: true}},
		"an operator evicts it": {func(d *testLeader) { _ = d.Evict(c); d.live(2*second, a, b, c) }, Parting{Why: Ordered}},
		"the others complain":   {func(d *testLeader) { d.complaining(20*second, map[uint64][]uint64{a: {c}, b: {c}}) }, Parting{Why: Accused, By: []string{"A", "B"}}},
		"one complains":         {func(d *testLeader) { d.complaining(20*second, map[uint64][]uint64{b: {c}, c: {a}}) }, Parting{Why: Accused, By: []string{"B"}}},
		"it leaves":             {func(d *testLeader) { d.leaves(c, c); d.live(2*second, a, b) }, Parting{Why: Departed}},
		"it stops": {func(d *testLeader) {
			d.say("C", Message{Kind: Leave, Inc: c, Voter: c, Stops: true})
			d.live(2*second, a, b)
		}, Parting{Why: Pauses}},
	} {
		d := leader(t, 3, 3)
		d.live(2*second, a, b, c)
		if x.happens(d); d.flying == nil {
			t.Errorf("%s: it does not go", what)
			continue
		}
		if _, ok := d.Parted(c); ok {
			t.Errorf("%s: it is still a member", what)
		}
		d.commit()
		got, ok := d.Parted(c)
		if x.want.Inc = c; !ok || got.Inc != x.want.Inc || got.Why != x.want.Why || got.Silent != x.want.Silent || got.Rival != x.want.Rival || !slices.Equal(got.By, x.want.By) {
			t.Errorf("%s: %+v (%v), want %+v", what, got, ok, x.want)
		}
		if _, ok := d.Parted(a); ok {
			t.Errorf("%s: the leader's own process has gone", what)
		}
	}
}

// A member that goes for another reason than the one for which a change was proposed before
// that did not come about goes for the last one. What is remembered is bounded.
func TestPartedAnew(t *testing.T) {
	d := leader(t, 3, 3)
	d.partings = []Parting{{Inc: 66, Why: Departed}}
	for i := range uint64(2 * maxPartings) {
		d.partings = append(d.partings, Parting{Inc: 1 + i})
	}
	_ = d.Evict(66)
	d.live(2*second, 64, 65, 66)
	d.commit()
	if p, _ := d.Parted(66); p.Why != Ordered {
		t.Errorf("%+v", p)
	}
	if n := len(d.partings); n != maxPartings {
		t.Errorf("%d are remembered", n)
	}
}

// How members differ from those of an earlier view.
func TestSince(t *testing.T) {
	old := []Member{{Name: "a", Inc: 1, Voter: 1}, {Name: "b", Inc: 2}, {Name: "c", Inc: 3}, {Name: "d", Inc: 4}, {Name: "e", Inc: 5}}
	r := Record{
		Members: []Member{{Name: "a", Inc: 1}, {Name: "b", Inc: 2, Voter: 2}, {Name: "e", Inc: 5}, {Name: "c", Inc: 6, Voter: 6}},
		Ghosts:  []Ghost{{Inc: 3}, {Inc: 9}},
	}
	d := r.Since(old)
	for what, x := range map[string]struct {
		got  []Member
		want []uint64
	}{
		"joined": {d.Joined, []uint64{6}}, "evicted": {d.Evicted, []uint64{3}}, "left": {d.Left, []uint64{4}},
		"promoted": {d.Promoted, []uint64{2}}, "retired": {d.Retired, []uint64{1}},
	} {
		if !slices.EqualFunc(x.got, x.want, func(m Member, inc uint64) bool { return m.Inc == inc && m.Name != "" }) {
			t.Errorf("%s: %+v, want %v", what, x.got, x.want)
		}
	}
}
