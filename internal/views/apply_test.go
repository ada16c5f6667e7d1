package views

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func central() []member.Choice { return []member.Choice{{Algorithm: "central", Version: 1}} }

// born returns the record of a cluster with members A, B and so on.
func born(t *testing.T, members, wanted int) Record {
	t.Helper()
	var all []Joiner
	for i := range members {
		name := string(rune('A' + i))
		all = append(all, Joiner{Name: name, Address: name, Nonce: uint64(101 + i)})
	}
	x := Birth(Start{Cluster: 9, Epoch: 1, Settings: member.Usual()}, wanted, central(), all...)
	r, ok := Apply(Record{}, 0, x.AppendTo(nil))
	if !ok {
		t.Fatal("the birth is void")
	}
	return r
}

func must(t *testing.T, r Record, x Change) Record {
	t.Helper()
	n, ok := Apply(r, x.Term, x.AppendTo(nil))
	if !ok {
		t.Fatalf("%+v is void", x)
	}
	return n
}

func TestBirth(t *testing.T) {
	r := born(t, 3, 3)
	want := []Member{{"A", "A", 101, 64, 64}, {"B", "B", 102, 65, 65}, {"C", "C", 103, 66, 66}}
	if !slices.Equal(r.Members, want) || r.Epoch != 1 || r.Before != 0 || len(r.Voters) != 3 || r.Wanted != 3 {
		t.Errorf("%+v", r)
	}
	if two := born(t, 2, 5); len(two.Voters) != 1 {
		t.Errorf("%d voters of two members", len(two.Voters))
	}
}

// A record that is a wire format: it must not change unless its form does.
func TestRecordBytes(t *testing.T) {
	r := born(t, 2, 3)
	r = must(t, r, Change{Base: 1, Drop: []uint64{65}, Ghosts: []member.Ghost{{Inc: 65, Rest: 5 * member.Second}}})
	const want = "0109020180c8afa02580a8d6b907904e0a108094ebdc0380e0a596bb11" + "03" + "01" + "01410141654040" + "024041" + "01416680e497d012" + "01000763656e7472616c01" + "01400141014100" + "00"
	keys := "01" + "01" + strings.Repeat("00", 32) + "02"
	if got := hex.EncodeToString(r.AppendTo(nil)); got != want+keys {
		t.Errorf("%s\nwant %s", got, want+keys)
	}
	back, err := ParseRecord(r.AppendTo(nil))
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v, %v", back, err)
	}
}

// Applying is total and canonical: whatever the bytes are, nothing breaks, what
// is applied is a record that can be read again, and what is void changes nothing.
func TestAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	base := born(t, 4, 3)
	x := Change{Base: 1, Drop: []uint64{65}, Left: []uint64{66}, Join: []Joiner{{"X", "x", 500, 0}}, Ghosts: []member.Ghost{{Inc: 65, Rest: 7}},
		Choices: central(), Wanted: 1, Promote: []uint64{500, 104}, Retire: []uint64{65, 66}}
	good := x.AppendTo(nil)
	if _, ok := Apply(base, 0, good); !ok {
		t.Fatal("void")
	}
	applied := 0
	for range 200_000 {
		b := slices.Clone(good)
		for range 1 + r.IntN(3) {
			switch i := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[i] = byte(r.IntN(256))
			case 1:
				b = slices.Delete(b, i, i+1)
			case 2:
				b = slices.Insert(b, i, byte(r.IntN(256)))
			}
			if len(b) == 0 {
				break
			}
		}
		n, ok := Apply(base, 0, b)
		if !ok {
			if !reflect.DeepEqual(n, base) {
				t.Fatalf("% x is void, and changes something", b)
			}
			continue
		}
		applied++
		bytes1 := n.AppendTo(nil)
		if again, err := ParseRecord(bytes1); err != nil || !bytes.Equal(again.AppendTo(nil), bytes1) || again.Epoch <= base.Epoch {
			t.Fatalf("% x: %v", b, err)
		}
		if y, err := ParseChange(b); err != nil || !bytes.Equal(y.AppendTo(nil), b) {
			t.Fatalf("% x: two forms of one change", b)
		}
	}
	if applied < 1000 {
		t.Errorf("only %d of the changed changes were applied", applied)
	}
}

func TestVoid(t *testing.T) {
	r := born(t, 3, 3)
	r = must(t, r, Change{Base: 1, Drop: []uint64{66}, Ghosts: []member.Ghost{{Inc: 66, Rest: 9}}})
	ghost := []member.Ghost{{Inc: 66, Rest: 8}}
	all, join, one := []uint64{64, 65}, []Joiner{{"X", "x", 7, 0}}, []uint64{7}
	if _, ok := Apply(r, 0, (&Change{Base: 2, Start: &Start{Cluster: 5, Epoch: 2 + Jump}, Drop: all, Join: join, Promote: one}).AppendTo(nil)); !ok {
		t.Error("a restore is void")
	}
	for name, x := range map[string]Change{
		"another epoch":                {Base: 1, Ghosts: ghost},
		"a later epoch":                {Base: 3, Ghosts: ghost},
		"nobody left":                  {Base: 2, Drop: []uint64{64}, Left: []uint64{65}, Ghosts: ghost},
		"one who is no member":         {Base: 2, Drop: []uint64{66}, Ghosts: ghost},
		"one twice":                    {Base: 2, Drop: []uint64{64}, Left: []uint64{64}, Ghosts: ghost},
		"a nonce of a member":          {Base: 2, Join: []Joiner{{"X", "x", 101, 0}}, Ghosts: ghost},
		"a nonce of a ghost":           {Base: 2, Join: []Joiner{{"X", "x", 103, 0}}, Ghosts: ghost},
		"a nonce twice":                {Base: 2, Join: []Joiner{{"X", "x", 7, 0}, {"Y", "y", 7, 0}}, Ghosts: ghost},
		"no nonce":                     {Base: 2, Join: []Joiner{{"X", "x", 0, 0}}, Ghosts: ghost},
		"a name of a member":           {Base: 2, Join: []Joiner{{"A", "x", 7, 0}}, Ghosts: ghost},
		"an address that is too long":  {Base: 2, Join: []Joiner{{"X", strings.Repeat("x", member.MaxAddress+1), 7, 0}}, Ghosts: ghost},
		"no name":                      {Base: 2, Join: []Joiner{{"", "x", 7, 0}}, Ghosts: ghost},
		"a ghost who is a member":      {Base: 2, Ghosts: []member.Ghost{{Inc: 64, Rest: 1}}},
		"a ghost who leaves":           {Base: 2, Left: []uint64{64}, Ghosts: []member.Ghost{{Inc: 64, Rest: 1}}},
		"a ghost from nowhere":         {Base: 2, Ghosts: []member.Ghost{{Inc: 99, Rest: 1}}},
		"a ghost twice":                {Base: 2, Ghosts: []member.Ghost{{Inc: 66, Rest: 1}, {Inc: 66, Rest: 1}}},
		"no algorithm for all":         {Base: 2, Choices: []member.Choice{{Prefix: "a", Algorithm: "central"}}, Ghosts: ghost},
		"two voters":                   {Base: 2, Retire: []uint64{66}, Ghosts: ghost},
		"no voter":                     {Base: 2, Retire: []uint64{64, 65, 66}, Ghosts: ghost},
		"forgotten before it leaves":   {Base: 2, Forget: []uint64{66}, Ghosts: ghost},
		"a voter who is one":           {Base: 2, Retire: []uint64{66}, Promote: []uint64{101}, Ghosts: ghost},
		"a voter who is no member":     {Base: 2, Retire: []uint64{66}, Promote: []uint64{103}, Ghosts: ghost},
		"four voters are wanted":       {Base: 2, Wanted: 4, Ghosts: ghost},
		"born twice":                   {Base: 2, Start: &Start{Cluster: 5, Epoch: 9, Settings: member.Usual()}, Ghosts: ghost},
		"restored as no cluster":       {Base: 2, Start: &Start{Epoch: 2 + Jump}, Drop: all, Join: join, Promote: one},
		"restored as the same cluster": {Base: 2, Start: &Start{Cluster: 9, Epoch: 2 + Jump}, Drop: all, Join: join, Promote: one},
		"restored without an epoch":    {Base: 2, Start: &Start{Cluster: 5}, Drop: all, Join: join, Promote: one},
		"restored too near":            {Base: 2, Start: &Start{Cluster: 5, Epoch: 1 + Jump}, Drop: all, Join: join, Promote: one},
		"restored too far":             {Base: 2, Start: &Start{Cluster: 5, Epoch: maxEpoch}, Drop: all, Join: join, Promote: one},
	} {
		if n, ok := Apply(r, x.Term, x.AppendTo(nil)); ok || !reflect.DeepEqual(n, r) {
			t.Errorf("%s: applied", name)
		}
	}
	x := Change{Base: 2, Term: 4, Ghosts: ghost}
	if _, ok := Apply(r, 5, x.AppendTo(nil)); ok {
		t.Error("an entry of term 5 that was proposed in term 4 is applied")
	}
	if _, ok := Apply(r, 4, x.AppendTo(nil)); !ok {
		t.Error("an entry of its own term is void")
	}
	if _, ok := Apply(Record{}, 4, x.AppendTo(nil)); ok {
		t.Error("applied before birth")
	}
}

func TestRestored(t *testing.T) {
	r := born(t, 3, 3)
	old := r
	x, err := Restored(&r, Restore{Cluster: 10}, Joiner{"Z", "z", 900, 0})
	if err != nil {
		t.Fatal(err)
	}
	r = must(t, r, x)
	if r.Epoch != 1+Jump+10 || r.Cluster != 10 || len(r.Members) != 1 || len(r.Ghosts) != 3 || len(r.Voters) != 1 {
		t.Errorf("%+v", r)
	}
	for _, g := range r.Ghosts {
		if g.Rest != old.Settings.Patience() {
			t.Errorf("ghost %d rests %v", g.Inc, g.Rest)
		}
	}
	// Members admitted by the lost part of the log had other incarnations.
	lost := must(t, old, Change{Base: 1, Join: []Joiner{{"Z", "z", 900, 0}}})
	if lost.Members[3].Inc == r.Members[0].Inc || lost.Epoch >= r.Epoch {
		t.Errorf("%+v, %+v", lost.Members, r.Members)
	}
}

// Two restores of the same backup share no epoch, and so no token, incarnation or
// voter's number: not at the same time, and not with a wrong clock. With a clock
// that is right the later one is higher.
func TestRestoredTwice(t *testing.T) {
	const clock, minute = 1_800_000_000_000, 60_000
	chance := rand.New(rand.NewPCG(5, 6))
	restore := func(r *Record, how Restore) uint64 {
		t.Helper()
		how.Cluster = chance.Uint64()
		x, err := Restored(r, how, Joiner{"Z", "z", 900, 0})
		if err != nil {
			t.Fatal(err)
		}
		n := must(t, *r, x)
		if n.Epoch < r.Epoch+Jump || n.Epoch <= how.Seen || n.Epoch < how.Clock || n.Members[0].Inc/places != n.Epoch {
			t.Errorf("epoch %d after %d: %+v, members %+v", n.Epoch, r.Epoch, how, n.Members)
		}
		return n.Epoch
	}
	for _, c := range []struct {
		what   string
		epoch  uint64 // of the backup
		a, b   Restore
		rises  bool
		shared int // how many of 1000 pairs may be so near that 20 views make them meet
	}{
		{"at the same time", 500, Restore{Clock: clock}, Restore{Clock: clock}, false, 1},
		{"a minute later", 500, Restore{Clock: clock}, Restore{Clock: clock + minute}, false, 1},
		{"an hour later", 500, Restore{Clock: clock}, Restore{Clock: clock + 60*minute}, true, 0},
		{"the clock was set back", 500, Restore{Clock: clock}, Restore{Clock: clock - 60*minute}, false, 0},
		{"there is no clock", 500, Restore{}, Restore{}, false, 0},
		{"the clock is behind the backup", clock + minute, Restore{Clock: clock}, Restore{Clock: clock + 1}, false, 0},
		{"more was seen", 500, Restore{Clock: clock, Seen: 2 * clock}, Restore{Clock: clock, Seen: 3 * clock}, true, 0},
	} {
		r := born(t, 3, 3)
		r.Epoch = c.epoch
		shared := 0
		for range 1000 {
			a, b := restore(&r, c.a), restore(&r, c.b)
			if a < b+20 && b < a+20 {
				shared++
			}
			if c.rises && a >= b {
				t.Errorf("%s: epoch %d after %d", c.what, b, a)
			}
		}
		if shared > c.shared {
			t.Errorf("%s: %d of 1000 pairs share epochs", c.what, shared)
		}
	}
	r := born(t, 1, 1)
	for _, how := range []Restore{{Clock: maxEpoch}, {Clock: 1<<64 - 1}, {Seen: 1<<64 - 1}} {
		if x, err := Restored(&r, how, Joiner{"Z", "z", 900, 0}); err == nil {
			t.Errorf("%+v: epoch %d", how, x.Start.Epoch)
		}
	}
	r.Epoch = maxEpoch - 1
	if x, err := Restored(&r, Restore{}, Joiner{"Z", "z", 900, 0}); err == nil {
		t.Errorf("epoch %d", x.Start.Epoch)
	}
}

// A backup of a cluster in which many have died can be restored: with as many ghosts
// as there can be, all members among them.
func TestRestoredFull(t *testing.T) {
	r := born(t, member.MaxMembers, 5)
	for i := range uint64(member.MaxGhosts) {
		r.Ghosts = append(r.Ghosts, Ghost{Inc: 1000 + i, Nonce: 2000 + i, Rest: 1})
	}
	x, err := Restored(&r, Restore{Cluster: 10}, Joiner{"Z", "z", 900, 0})
	if err != nil {
		t.Fatal(err)
	}
	n := must(t, r, x)
	if len(n.Ghosts) != member.MaxGhosts {
		t.Errorf("%d ghosts", len(n.Ghosts))
	}
	for _, m := range r.Members {
		if !n.isGhost(m.Nonce) {
			t.Errorf("%s is no ghost", m.Name)
		}
	}
}

// A process that comes back with the disk of a voter is that voter; one without
// is none, and the voter is still missing.
func TestVoterComesBack(t *testing.T) {
	r := born(t, 3, 3)
	r = must(t, r, Change{Base: 1, Drop: []uint64{66}})
	with := must(t, r, Change{Base: 2, Join: []Joiner{{"C", "c2", 7, 66}}})
	if with.Members[2].Voter != 66 || with.Address(66) != "c2" {
		t.Errorf("%+v", with)
	}
	wiped := must(t, r, Change{Base: 2, Join: []Joiner{{"C", "c2", 7, 0}}})
	if wiped.Members[2].Voter != 0 {
		t.Errorf("%+v", wiped)
	}
	again := must(t, wiped, Change{Base: 3, Retire: []uint64{66}, Promote: []uint64{7}})
	if id := again.Members[2].Voter; id != 4*64 || again.voter(66) < 0 || !again.Voters[again.voter(66)].Leaves {
		t.Errorf("voter %d, %+v", id, again.Voters)
	}
	stolen := must(t, r, Change{Base: 2, Join: []Joiner{{"D", "d", 7, 64}}})
	if stolen.Members[2].Voter != 0 {
		t.Error("a voter runs in two processes")
	}
}

func TestMessages(t *testing.T) {
	full := Message{Cluster: 300, Inc: 5, Nonce: 6, Number: 7, Epoch: 8, Voter: 9, Name: "n", Address: "a", Who: []uint64{1, 2}, Forget: true, Reason: Full, Record: []byte{1, 2, 3}}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range kinds {
		full.Kind = k
		b := full.AppendTo(nil)
		m, err := ParseMessage(b)
		if err != nil || !bytes.Equal(m.AppendTo(nil), b) || m.Cluster != 300 {
			t.Errorf("%v: %+v, %v", k, m, err)
		}
		if _, err := ParseMessage(append(slices.Clone(b), 0)); err == nil {
			t.Errorf("%v goes on after its end", k)
		}
		for range 2000 {
			c := slices.Clone(b)
			c[1+r.IntN(len(c)-1)] = byte(r.IntN(256))
			x := c[:1+r.IntN(len(c))]
			if m, err := ParseMessage(x); err == nil && !bytes.Equal(m.AppendTo(nil), x) {
				t.Errorf("% x: two forms of one message", x)
			}
		}
	}
	if _, err := ParseMessage(nil); err == nil {
		t.Error("no bytes are a message")
	}
}
