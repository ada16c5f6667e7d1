package views

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

// A record that voters cannot have agreed on is refused, whatever the one fault is, and
// one at the bounds is not.
func TestRecordCheck(t *testing.T) {
	good := func() Record {
		r := born(t, 4, 3)
		return must(t, r, Change{Base: 1, Drop: []uint64{67}, Ghosts: []member.Ghost{{Inc: 67, Rest: 9}}})
	}
	for what, spoil := range map[string]func(r *Record){
		"no cluster":                        func(r *Record) { r.Cluster = 0 },
		"an epoch beyond the last":          func(r *Record) { r.Epoch = maxEpoch },
		"settings that do not work":         func(r *Record) { r.Settings.Renew = r.Settings.Lease },
		"a view that cannot be":             func(r *Record) { r.Choices = nil },
		"a member without a name":           func(r *Record) { r.Members[1].Name = "" },
		"two members of one name":           func(r *Record) { r.Members[1].Name = "A" },
		"a member without a nonce":          func(r *Record) { r.Members[2].Nonce = 0 },
		"two members with one nonce":        func(r *Record) { r.Members[1].Nonce = r.Members[0].Nonce },
		"a member with the nonce of ghosts": func(r *Record) { r.Members[1].Nonce = r.Ghosts[0].Nonce },
		"a member of the future":            func(r *Record) { r.Members[2].Inc = 3 * places },
		"members in another order":          func(r *Record) { r.Members[0], r.Members[1] = r.Members[1], r.Members[0] },
		"a voter without a number":          func(r *Record) { r.Voters[0].ID, r.Members[0].Voter = 0, 0 },
		"a voter of the future":             func(r *Record) { r.Voters[2].ID = 3 * places },
		"voters in another order":           func(r *Record) { r.Voters[0], r.Voters[1] = r.Voters[1], r.Voters[0] },
		"a voter twice":                     func(r *Record) { r.Voters[1].ID = r.Voters[0].ID },
		"two voters":                        func(r *Record) { r.Voters[0].Leaves = true },
		"no voters":                         func(r *Record) { r.Voters = nil },
		"seven voters":                      func(r *Record) { r.Voters = manyVoters(7, 0) },
		"too many that leave":               func(r *Record) { r.Voters = manyVoters(1, maxLeaving) },
		"no voters are wanted":              func(r *Record) { r.Wanted = 0 },
		"a negative number is wanted":       func(r *Record) { r.Wanted = -1 },
		"two voters are wanted":             func(r *Record) { r.Wanted = 2 },
		"seven voters are wanted":           func(r *Record) { r.Wanted = 7 },
		"a voter in two processes":          func(r *Record) { r.Members[2].Voter = r.Members[0].Voter },
	} {
		r := good()
		if spoil(&r); r.Check() == nil {
			t.Errorf("%s: not refused", what)
		}
	}
	for what, change := range map[string]func(r *Record){
		"as it is":                  func(r *Record) {},
		"the last epoch":            func(r *Record) { r.Epoch = maxEpoch - 1 },
		"a member of this epoch":    func(r *Record) { r.Members[2].Inc = 2*places + 63 },
		"a voter of this epoch":     func(r *Record) { r.Voters[2].ID = 2*places + 63 },
		"one voter":                 func(r *Record) { r.Voters = r.Voters[:1] },
		"five voters":               func(r *Record) { r.Voters = manyVoters(5, 0) },
		"many that leave":           func(r *Record) { r.Voters = manyVoters(1, maxLeaving-1) },
		"one is wanted":             func(r *Record) { r.Wanted = 1 },
		"five are wanted":           func(r *Record) { r.Wanted = 5 },
		"members that do not vote":  func(r *Record) { r.Members[0].Voter, r.Members[1].Voter = 0, 0 },
		"a voter without a process": func(r *Record) { r.Members[1].Voter = 0 },
	} {
		r := good()
		if change(&r); r.Check() != nil {
			t.Errorf("%s: %v", what, r.Check())
		}
	}
}

func manyVoters(stay, leave int) (all []Voter) {
	for i := range stay + leave {
		all = append(all, Voter{ID: uint64(70 + i), Leaves: i >= stay})
	}
	return all
}

// A record, and a change, of another form, cut short, or with values out of bounds cannot
// be read; at the bounds it can.
func TestRecordBounds(t *testing.T) {
	good := born(t, 3, 3)
	b := good.AppendTo(nil)
	other := slices.Clone(b)
	other[0]++
	for what, x := range map[string][]byte{"nothing": nil, "another form": other, "half of it": b[:len(b)/2], "more than that": append(slices.Clone(b), 0)} {
		if r, err := ParseRecord(x); !errors.Is(err, errBytes) || !reflect.DeepEqual(r, Record{}) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	x := (&Change{Base: 1}).AppendTo(nil)
	for _, bad := range [][]byte{nil, {changeForm + 1}, append([]byte{changeForm + 1}, x[1:]...), append(slices.Clone(x), 0)} {
		if _, err := ParseChange(bad); !errors.Is(err, errBytes) {
			t.Errorf("% x: %v", bad, err)
		}
	}
	name := func(n int) string { return strings.Repeat("x", n) }
	for what, set := range map[string]func(r *Record, over int){
		"a name":          func(r *Record, over int) { r.Members[0].Name = name(maxName + over) },
		"an address":      func(r *Record, over int) { r.Members[0].Address = name(member.MaxAddress + over) },
		"a voter's name":  func(r *Record, over int) { r.Voters[0].Name = name(maxName + over) },
		"voter's address": func(r *Record, over int) { r.Voters[0].Address = name(member.MaxAddress + over) },
		"an algorithm":    func(r *Record, over int) { r.Choices[0].Algorithm = name(maxName + over) },
		"its version":     func(r *Record, over int) { r.Choices[0].Version = 1<<30 + over },
		"a prefix": func(r *Record, over int) {
			r.Choices = append(r.Choices, member.Choice{Prefix: name(member.MaxName + over), Algorithm: "a"})
		},
		"the drift":        func(r *Record, over int) { r.Settings.Drift = 100_000 + int64(over) },
		"what is left":     func(r *Record, over int) { r.Settings.Act, r.Settings.Renew = 50+int64(over), member.Millisecond },
		"the handover":     func(r *Record, over int) { r.Settings.Handover = 1_000_000 + over },
		"members":          func(r *Record, over int) { many(r, member.MaxMembers+over) },
		"former members":   func(r *Record, over int) { r.Formers = numbers(member.MaxMembers + over) },
		"ghosts":           func(r *Record, over int) { withGhosts(r, member.MaxGhosts+over) },
		"voters that were": func(r *Record, over int) { r.Voters = manyVoters(3, maxLeaving-3+over); many(r, 1) },
	} {
		for over := range 2 {
			r := good.Clone()
			r.Epoch = 1 << 30
			set(&r, over)
			if back, err := ParseRecord(r.AppendTo(nil)); (err == nil) != (over == 0) || err == nil && !reflect.DeepEqual(back, r) {
				t.Errorf("%s, %d over: %v", what, over, err)
			}
		}
	}
}

// many gives a record so many members without a voter.
func many(r *Record, n int) {
	r.Members = nil
	for i := range n {
		r.Members = append(r.Members, Member{Name: fmt.Sprint("m", i), Nonce: uint64(1000 + i), Inc: uint64(64 + i)})
	}
}

// withGhosts gives a record so many ghosts.
func withGhosts(r *Record, n int) {
	for i := range n {
		inc := uint64(1000 + i)
		r.Ghosts = append(r.Ghosts, Ghost{Inc: inc, Nonce: inc, Rest: 1})
	}
	r.Formers = nil
}

func numbers(n int) (all []uint64) {
	for i := range n {
		all = append(all, uint64(64+i))
	}
	return all
}

// A copy of a record shares nothing with it.
func TestRecordClone(t *testing.T) {
	r := must(t, born(t, 3, 3), Change{Base: 1, Drop: []uint64{66}, Ghosts: []member.Ghost{{Inc: 66, Rest: 9}}})
	r.Earlier = []uint64{8}
	n := r.Clone()
	if !reflect.DeepEqual(n, r) {
		t.Fatalf("%+v is not %+v", n, r)
	}
	n.Members[0].Name, n.Formers[0], n.Ghosts[0].Inc, n.Choices[0].Version, n.Voters[0].Leaves, n.Earlier[0] = "Z", 1, 1, 99, true, 1
	if reflect.DeepEqual(n, r) || r.Earlier[0] != 8 || r.Members[0].Name != "A" || r.Formers[0] != 64 || r.Ghosts[0].Inc != 66 || r.Choices[0].Version != 1 || r.Voters[0].Leaves {
		t.Errorf("%+v", r)
	}
}

// The first voters are as many as are wanted and as there can be of so many members.
func TestFirstVoters(t *testing.T) {
	for _, x := range []struct{ members, wanted, voters int }{
		{1, 1, 1}, {1, 5, 1}, {2, 3, 1}, {3, 1, 1}, {3, 3, 3}, {3, 5, 3}, {4, 5, 3}, {5, 3, 3}, {5, 5, 5}, {6, 5, 5}, {6, 1, 1},
	} {
		if r := born(t, x.members, x.wanted); len(r.Voters) != x.voters {
			t.Errorf("%d members, %d voters wanted: %d voters, want %d", x.members, x.wanted, len(r.Voters), x.voters)
		}
	}
	if x := Birth(Start{Cluster: 9, Epoch: 1}, 0, nil); len(x.Promote) != 0 {
		t.Errorf("%+v", x)
	}
}

// A cluster is founded in an empty store by one voter, or not at all.
func TestFound(t *testing.T) {
	start := Start{Cluster: 9, Epoch: 1, Settings: member.Usual()}
	one := Birth(start, 1, central(), Joiner{Name: "A", Address: "A", Nonce: 101})
	s := &founded{}
	r, _, err := Found(s, Record{}, one)
	if err != nil || s.cluster != 9 || s.voter != 64 || len(s.machine) == 0 || r.Epoch != 1 || len(r.Voters) != 1 {
		t.Errorf("%+v, %v, %+v", s, err, r)
	}
	if _, _, err := Found(&founded{err: errors.New("planted")}, Record{}, one); err == nil {
		t.Error("the store fails, and the cluster is founded")
	}
	three := Birth(start, 3, central(), Joiner{Name: "A", Nonce: 1}, Joiner{Name: "B", Nonce: 2}, Joiner{Name: "C", Nonce: 3})
	void := one
	void.Join = nil
	late, err := Restored(&r, Restore{Cluster: 10}, Joiner{Name: "Z", Nonce: 900})
	if err != nil {
		t.Fatal(err)
	}
	late.Base = 7
	for what, x := range map[string]Change{"three voters": three, "a void beginning": void, "no beginning": {Base: 1, Choices: central()}, "another backup": late} {
		old := Record{}
		if x.Start == nil || x.Base != 0 {
			old = r
		}
		s := &founded{}
		if _, _, err := Found(s, old, x); err == nil || s.cluster != 0 {
			t.Errorf("%s: founded, %v", what, err)
		}
	}
}

// founded is logs that note what they were founded with.
type founded struct {
	script
	cluster, voter uint64
	machine        []byte
	err            error
}

func (s *founded) Found(cluster, voter uint64, machine []byte) ([]byte, error) {
	s.cluster, s.voter, s.machine = cluster, voter, machine
	return nil, s.err
}

// A cluster is not born again, even by an entry that would make a good record.
func TestBornOnce(t *testing.T) {
	r := born(t, 1, 1)
	again, err := Restored(&r, Restore{Cluster: 10}, Joiner{"Z", "z", 900, 0})
	if _, ok := Apply(r, 0, again.AppendTo(nil)); !ok || err != nil {
		t.Fatalf("a backup cannot be restored: %v", err)
	}
	again.Start.Epoch, again.Start.Settings = 9, member.Usual()
	if _, ok := Apply(r, 0, again.AppendTo(nil)); ok {
		t.Error("a cluster is born a second time")
	}
	for _, x := range []Change{{Base: 1, Start: &Start{Cluster: 9, Epoch: 9}}, {Base: 1, Start: &Start{Epoch: 0}}} {
		if n, ok := Apply(r, 0, x.AppendTo(nil)); ok {
			t.Errorf("%+v is applied: %+v", x, n)
		}
	}
}

// Voters change as an entry says, or the entry is void.
func TestVotersOfAnEntry(t *testing.T) {
	r := born(t, 5, 5)
	five := r.staying()
	r = must(t, r, Change{Base: 1, Retire: five[3:]})
	if !slices.Equal(r.staying(), five[:3]) {
		t.Fatalf("%v", r.Voters)
	}
	for what, x := range map[string]Change{
		"one that leaves is retired":               {Base: 2, Retire: []uint64{five[0], five[3]}, Promote: []uint64{104}},
		"none is retired":                          {Base: 2, Retire: []uint64{five[0], five[1], 7}, Promote: []uint64{104}},
		"one that stays is forgotten":              {Base: 2, Forget: []uint64{five[0]}, Promote: []uint64{104}},
		"none is forgotten":                        {Base: 2, Forget: []uint64{7}},
		"one that stays becomes one":               {Base: 2, Promote: []uint64{101, 104}, Retire: []uint64{five[1], five[2]}},
		"one that is no member becomes one":        {Base: 2, Promote: []uint64{104, 999}},
		"one that leaves becomes one, and nobody":  {Base: 2, Promote: []uint64{104}, Forget: []uint64{five[4], 7}},
		"one that is retired becomes one and more": {Base: 2, Promote: []uint64{104, 105, 101}},
	} {
		if n, ok := Apply(r, 0, x.AppendTo(nil)); ok {
			t.Errorf("%s: applied, voters %+v", what, n.Voters)
		}
	}
	again := must(t, r, Change{Base: 2, Promote: []uint64{104, 105}})
	if !slices.Equal(again.staying(), five) || again.Members[3].Voter != five[3] {
		t.Errorf("voters that leave become voters again: %+v", again.Voters)
	}
	without := must(t, r, Change{Base: 2, Forget: five[3:]})
	if !slices.Equal(without.staying(), five[:3]) || len(without.Voters) != 3 || without.Members[3].Voter != 0 || without.Members[4].Voter != 0 || without.Members[2].Voter != five[2] {
		t.Errorf("%+v, %+v", without.Voters, without.Members)
	}
	moved := must(t, r, Change{Base: 2, Drop: []uint64{64}})
	moved = must(t, moved, Change{Base: 3, Join: []Joiner{{"new name", "new address", 7, 64}}})
	if v := moved.Voters[0]; v.Name != "new name" || v.Address != "new address" || moved.Members[4].Voter != 64 {
		t.Errorf("%+v", v)
	}
}

// An entry is of its form, even if the rest could be read.
func TestFormOfAnEntry(t *testing.T) {
	good := (&Change{Base: 1}).AppendTo(nil)
	for form := range byte(3) {
		b := slices.Concat([]byte{form}, good[1:])
		if x, err := ParseChange(b); (err == nil) != (form == changeForm) || err != nil && !reflect.DeepEqual(x, Change{}) {
			t.Errorf("form %d: %+v, %v", form, x, err)
		}
	}
}
