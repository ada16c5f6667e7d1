package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/codec"
)

func TestSettings(t *testing.T) {
	if err := Usual().Check(); err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(s *Settings){
		func(s *Settings) { s.Lease = 9 * Millisecond },
		func(s *Settings) { s.Lease = 3601 * Second },
		func(s *Settings) { s.Renew = 0 },
		func(s *Settings) { s.Renew = 4 * Second },
		func(s *Settings) { s.Act, s.Renew = 50, 3*Second },
		func(s *Settings) { s.Drift = -1 },
		func(s *Settings) { s.Drift = 100_001 },
		func(s *Settings) { s.Act = 0 },
		func(s *Settings) { s.Act = 51 },
		func(s *Settings) { s.Handover = 0 },
		func(s *Settings) { s.ViewLife = 11 * Second },
	} {
		s := Usual()
		change(&s)
		if s.Check() == nil {
			t.Errorf("settings %d can work: %+v", i, s)
		}
		if _, err := New(Config{Inc: 1, Settings: s}); err == nil {
			t.Errorf("a member begins with %+v", s)
		}
	}
}

// The margins hold whatever two clocks do within the drift: the service waits longer than
// the member may act, the home longer than the rest, and a client's time expires before its
// member's.
func TestMargins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		s := Usual()
		s.Lease, s.Drift = 10*Millisecond+Span(r.Int64N(int64(3590*Second))), r.Int64N(100_001)
		slow, fast := int64(1_000_000-s.Drift), int64(1_000_000+s.Drift) // rates, in millionths
		// What takes d by a clock of a rate takes d / rate of true time.
		longer := func(what string, d Span, rate int64, than Span, its int64) {
			if float64(d)/float64(rate) < float64(than)/float64(its)-1e-6 {
				t.Fatalf("%s: %v at rate %d is over before %v at rate %d", what, d, rate, than, its)
			}
		}
		longer("service", s.Patience(), fast, s.Lease, slow)
		longer("home", s.outwait(s.Lease), fast, s.Lease, 1_000_000)
		longer("client", s.Lease, fast, s.within(s.Lease), slow)
	}
}

func TestToken(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	small := func() uint64 { return r.Uint64() >> r.IntN(64) }
	for range 100_000 {
		a, b := Token{small(), small()}, Token{small(), small()}
		if r.IntN(3) == 0 {
			b.Epoch = a.Epoch
		}
		x, y := a.Bytes(), b.Bytes()
		if got := bytes.Compare(x[:], y[:]) < 0; got != a.Less(b) {
			t.Fatalf("%v and %v sort otherwise as bytes", a, b)
		}
		if back, err := ParseToken(x[:]); err != nil || back != a {
			t.Fatalf("%v comes back as %v, %v", a, back, err)
		}
		p, err := a.Pack()
		q, err2 := b.Pack()
		if err == nil && err2 == nil && (p < q) != a.Less(b) || p < 0 {
			t.Fatalf("%v and %v sort otherwise as numbers, %d and %d", a, b, p, q)
		}
	}
	if p, err := (Token{1<<32 - 1, 1<<31 - 1}).Pack(); err != nil || p != 1<<63-1 {
		t.Errorf("the largest one that fits: %d, %v", p, err)
	}
	for _, big := range []Token{{1 << 32, 0}, {0, 1 << 31}} {
		if _, err := big.Pack(); !errors.Is(err, ErrUnpackable) {
			t.Errorf("%v: %v", big, err)
		}
	}
	if !(Token{}).IsNone() || (Token{1, 0}).IsNone() || (Token{0, 1}).IsNone() {
		t.Error("only the zero token is none")
	}
	if _, err := ParseToken(make([]byte, 15)); err == nil {
		t.Error("15 bytes are a token")
	}
}

func TestViewCheck(t *testing.T) {
	good := func() View {
		return View{
			Epoch: 2, Members: []Who{{"a", 1}, {"b", 2}}, BeforeEpoch: 1, Before: []uint64{1, 3},
			Ghosts: []Ghost{{3, Second}}, Choices: []Choice{{"", "central", 1}},
		}
	}
	if v := good(); v.Check() != nil {
		t.Fatal(v.Check())
	}
	largest := View{Epoch: 2, BeforeEpoch: 1}
	for i := range uint64(MaxMembers) {
		largest.Members, largest.Before = append(largest.Members, Who{"m", i + 1}), append(largest.Before, i+1)
	}
	for i := range uint64(MaxGhosts) {
		largest.Ghosts = append(largest.Ghosts, Ghost{1000 + i, MaxSpan})
	}
	for i := range maxChoices {
		largest.Choices = append(largest.Choices, Choice{strings.Repeat("x", i), "central", 1})
	}
	if err := largest.Check(); err != nil {
		t.Errorf("the largest view: %v", err)
	}
	for i, change := range []func(v *View){
		func(v *View) { v.Epoch, v.BeforeEpoch = 0, 0 },
		func(v *View) { v.Before = make([]uint64, 65) },
		func(v *View) { v.Ghosts[0].Rest = MaxSpan + 1 },
		func(v *View) { v.Epoch = 1 },
		func(v *View) { v.Members = nil },
		func(v *View) { v.Members = make([]Who, 65) },
		func(v *View) { v.Members[1].Inc = 1 },
		func(v *View) { v.Members[1].Inc = 0 },
		func(v *View) { v.Ghosts[0].Inc = 1 },
		func(v *View) { v.Ghosts[0].Rest = -1 },
		func(v *View) { v.Ghosts = append(v.Ghosts, v.Ghosts[0]) },
		func(v *View) { v.Ghosts = make([]Ghost, 193) },
		func(v *View) { v.Choices = nil },
		func(v *View) { v.Choices = append(v.Choices, v.Choices[0]) },
		func(v *View) { v.Choices = make([]Choice, 256) },
	} {
		v := good()
		change(&v)
		if v.Check() == nil {
			t.Errorf("view %d is valid: %+v", i, v)
		}
	}
}

// Homes are a pure function of the view: another build must find the same ones.
func TestHomes(t *testing.T) {
	v := View{Members: []Who{{"a", 1}, {"b", 2}, {"c", 7}, {"d", 900}, {"e", 1 << 40}}}
	var got []int
	for i := range 24 {
		got = append(got, v.Home(fmt.Sprint("orders/", i)))
	}
	if want := []int{0, 0, 0, 3, 3, 0, 3, 0, 1, 4, 3, 2, 3, 3, 4, 3, 1, 2, 0, 2, 4, 3, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("the homes are %#v, want %v", got, want)
	}
	few := v
	few.Members = v.Members[:4]
	share := make([]int, 5)
	for i := range 10_000 {
		name := fmt.Sprint("orders/", i)
		home := v.Home(name)
		share[home]++
		if home < 4 && few.Home(name) != home {
			t.Fatalf("%s moves from %d to %d though its home stays", name, home, few.Home(name))
		}
	}
	for _, n := range share {
		if n < 1800 || n > 2200 {
			t.Errorf("homes are not spread evenly: %v", share)
		}
	}
}

func TestChoose(t *testing.T) {
	v := View{Choices: []Choice{{"", "a", 1}, {"x/", "b", 1}, {"x/y", "c", 1}}}
	for name, want := range map[string]int{"q": 0, "x": 0, "x/": 1, "x/z": 1, "x/yz": 2, "": 0} {
		if got := v.Choose(name); got != want {
			t.Errorf("%q is served by choice %d, want %d", name, got, want)
		}
	}
}

// A table keeps what a map would, whatever the sizes of states.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var tab table
	model := map[string][]byte{}
	var names []string
	for range 40_000 {
		name := fmt.Sprintf("%0*d", 1+r.IntN(MaxName), r.IntN(1_000_000))
		if r.IntN(3) > 0 && len(names) > 0 {
			name = names[r.IntN(len(names))]
		}
		n := find(&tab, name, hashName(name))
		state, known := model[name]
		if known != (n >= 0) {
			t.Fatalf("%s: known %v, found %d", name, known, n)
		}
		if !known {
			n = add(&tab, name, hashName(name))
			names = append(names, name)
		}
		if got := tab.state(n); !bytes.Equal(got, state) || string(tab.name(n)) != name {
			t.Fatalf("%s has state %x, want %x", tab.name(n), got, state)
		}
		state = make([]byte, r.IntN(1+r.IntN(400)))
		for i := range state {
			state[i] = byte(r.Uint32())
		}
		tab.setState(n, state)
		model[name] = state
	}
	for name, state := range model {
		if got := tab.state(find(&tab, name, hashName(name))); !bytes.Equal(got, state) {
			t.Fatalf("%s has state %x, want %x", name, got, state)
		}
	}
}

func TestSchedule(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var a schedule
	var all []*due
	for range 20_000 {
		switch d := (&due{}); r.IntN(4) {
		case 0, 1:
			all = append(all, d)
			a.put(d, Instant(r.Int64N(1000)))
		case 2:
			if len(all) > 0 {
				a.put(all[r.IntN(len(all))], Instant(r.Int64N(1000)))
			}
		default:
			if k := len(all); k > 0 {
				k = r.IntN(k)
				a.remove(all[k])
				a.remove(all[k])
				all = slices.Delete(all, k, k+1)
			}
		}
		want := Never
		for _, d := range all {
			want = min(want, d.at)
		}
		if a.first() != want || len(a.heap) != len(all) {
			t.Fatalf("the first is at %d, want %d", a.first(), want)
		}
	}
}

// frames returns one frame of each kind.
func frames() []frame {
	s := Stamp{1, 2, 3}
	return []frame{
		{kind: algFrame, name: []byte("a"), cleared: true, count: 5, bytes: []byte{1, 2}},
		{kind: touchFrame, name: []byte("a")},
		{kind: reportFrame, held: []holding{{"a", olderHold{token: Token{1, 2}, last: 2}}, {"b", olderHold{token: Token{3, 4}, last: 4}}}, waits: []wanted{{"c", s}}, more: true},
		{kind: releasedFrame, name: []byte("a")},
		{kind: queryFrame, names: []string{"a", "b"}},
		{kind: answerFrame, may: []mayBe{{"a", set{1, 2, 3, 4}}}},
		{kind: lendFrame, name: []byte("a"), count: 7, until: lastStamp()},
		{kind: returnFrame, name: []byte("a"), count: 8, next: s},
		{kind: doneFrame, name: []byte("a")},
		{kind: probeFrame, name: []byte("a"), try: 1 << 40},
		{kind: busyFrame, name: []byte("a"), try: 9, again: true},
		{kind: freeFrame, name: []byte("a"), try: 9},
		{kind: claimFrame, name: []byte("a"), try: 9, token: Token{3, 4}, through: []uint64{5, 6}},
		{kind: claimedFrame, name: []byte("a"), try: 9, verdict: passedOn},
	}
}

func TestFrames(t *testing.T) {
	if len(frames()) != int(wantFrame) {
		t.Fatalf("%d frames for %d kinds", len(frames()), wantFrame)
	}
	for _, f := range append(frames(), keptFrames()...) {
		f.clock = 77
		b := f.append(nil)
		var back frame
		if err := back.parse(b); err != nil || f.kind < wantFrame && len(f.kept) == 0 && fmt.Sprint(back) != fmt.Sprint(f) || string(back.append(nil)) != string(b) {
			t.Errorf("%v comes back as %v, %v", f, back, err)
		}
		for cut := range b {
			if err := back.parse(b[:cut]); err == nil {
				t.Errorf("the first %d of %d bytes of a %v are one", cut, len(b), f.kind)
			}
		}
		if err := back.parse(append(b, 0)); err == nil {
			t.Errorf("a %v with a byte more is one", f.kind)
		}
		f.clock = 1<<62 - 1
		if err := back.parse(f.append(nil)); err != nil {
			t.Errorf("a %v just before the end of time: %v", f.kind, err)
		}
		f.clock = 1 << 62
		if err := back.parse(f.append(nil)); err == nil {
			t.Errorf("a %v from the end of time is one", f.kind)
		}
		if s, err := Look(b); err != nil || s.Kind != f.kind.String() {
			t.Errorf("it looks like a %v, %v", s, err)
		}
	}
	f := frame{kind: claimedFrame, name: []byte("a"), verdict: undecided}
	if err := new(frame).parse(f.append(nil)); err == nil {
		t.Error("an answer to a claim that decides nothing is one")
	}
}

// A node ignores frames of an optional kind that it does not know, and refuses
// those of any other kind with an error that an operator can act on.
func TestUnknownKinds(t *testing.T) {
	f := newFleet(t, "naimi-trehel", 3)
	m := f.members[0]
	for kind := int(frameKinds); kind < 256; kind++ {
		for _, b := range [][]byte{{byte(kind)}, {byte(kind), 200}, {byte(kind), 200, 1, 1, 'a', 7, 255}} {
			clock := m.clock
			err := m.Deliver(0, 2, b)
			if optional := kind&0xc0 == 0x40; (err == nil) != optional {
				t.Errorf("kind %#02x: got %v, optional: %v", kind, err, optional)
			}
			if m.clock != clock || len(m.Out.Frames)+len(m.Out.Events) > 0 || m.epoch.table.len() > 0 {
				t.Fatalf("kind %#02x has an effect", kind)
			}
		}
	}
	if err := m.Deliver(0, 2, []byte{0x1f, 1}); err == nil || !strings.Contains(err.Error(), "0x1f") {
		t.Errorf("the error does not name the kind: %v", err)
	}
	if s, err := Look([]byte{0x53, 1}); err != nil || s.Kind != "0x53" {
		t.Errorf("it looks like %+v, %v", s, err)
	}
}

// Whatever another member sends, a member does not panic: it returns an error or continues,
// and its applications keep their locks.
func FuzzDeliver(f *testing.F) {
	kinds := live()
	for _, m := range KeptMethods() {
		kinds = append(kinds, keptPrefix+m.Name)
	}
	for _, x := range frames() {
		f.Add(x.append(nil), uint8(0))
		f.Add(x.append(nil), uint8(1))
	}
	for i := range uint8(2 * len(KeptMethods())) {
		for _, x := range keptFrames() {
			f.Add(x.append(nil), uint8(2*len(live()))+i)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		fl := newFleet(t, kinds[int(which/2)%len(kinds)], 3)
		for _, name := range []string{"a", "b", "c"} {
			fl.lock(0, name)
		}
		fl.settle()
		m := fl.members[0]
		if which%2 == 1 { // in the middle of a report, of what is held and waited for
			for _, name := range []string{"a", "b", "c"} {
				fl.lock(0, name)
			}
			m.Limits.Part = 1
			if err := m.Install(0, fl.next(3)); err != nil {
				t.Fatal(err)
			}
		}
		m.Deliver(0, 2, b)
		m.More(0, 2)
		m.Deliver(0, 2, b)
		all(m)
		m.Wake(1)
		for _, name := range []string{"a", "b", "c"} {
			if !fl.holds(0, name) {
				t.Errorf("%s is not held any more", name)
			}
		}
	})
}

// The shortest and the longest settings are settings.
func TestSettingsBounds(t *testing.T) {
	for what, x := range map[string]struct {
		s  Settings
		ok bool
	}{
		"shortest":            {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 0, 3600 * Second}, true},
		"longest":             {Settings{3600 * Second, 1200 * Second, 100_000, 33, 1_000_000, 3600 * Second, MaxSpan}, true},
		"shorter lease":       {Settings{10*Millisecond - 1, Millisecond, 0, 1, 1, 0, 3600 * Second}, false},
		"longer lease":        {Settings{3600*Second + 1, 1200 * Second, 0, 1, 1, 0, MaxSpan}, false},
		"shorter renewal":     {Settings{10 * Millisecond, Millisecond - 1, 0, 1, 1, 0, 3600 * Second}, false},
		"longer renewal":      {Settings{3600 * Second, 1200*Second + 1, 0, 1, 1, 0, 3600 * Second}, false},
		"negative drift":      {Settings{10 * Millisecond, Millisecond, -1, 1, 1, 0, 3600 * Second}, false},
		"more drift":          {Settings{10 * Millisecond, Millisecond, 100_001, 1, 1, 0, 3600 * Second}, false},
		"no time to act":      {Settings{10 * Millisecond, Millisecond, 0, 0, 1, 0, 3600 * Second}, false},
		"more time to act":    {Settings{10 * Millisecond, Millisecond, 0, 51, 1, 0, 3600 * Second}, false},
		"most time to act":    {Settings{10 * Millisecond, Millisecond, 0, 50, 1, 0, 3600 * Second}, true},
		"no handover":         {Settings{10 * Millisecond, Millisecond, 0, 1, 0, 0, 3600 * Second}, false},
		"more handovers":      {Settings{10 * Millisecond, Millisecond, 0, 1, 1_000_001, 0, 3600 * Second}, false},
		"negative life":       {Settings{10 * Millisecond, Millisecond, 0, 1, 1, -1, 3600 * Second}, false},
		"longer life":         {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 10*Millisecond + 1, 3600 * Second}, false},
		"as long as a lease":  {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 10 * Millisecond, 3600 * Second}, true},
		"a third of a lease":  {Settings{30 * Millisecond, 10 * Millisecond, 0, 33, 1, 0, 3600 * Second}, true},
		"more than one third": {Settings{30 * Millisecond, 10*Millisecond + 1, 0, 33, 1, 0, 3600 * Second}, false},
		"replaced soon":       {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 0, 10 * Millisecond}, true},
		"replaced sooner":     {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 0, 10*Millisecond - 1}, false},
		"replaced later":      {Settings{10 * Millisecond, Millisecond, 0, 1, 1, 0, MaxSpan + 1}, false},
	} {
		if err := x.s.Check(); (err == nil) != x.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A lease may be renewed at the last moment at which it can still be acted on.
func TestSettingsAtTheBound(t *testing.T) {
	s := Usual()
	s.Lease, s.Act, s.Renew = 1000*Millisecond, 50, 250*Millisecond
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if s.Renew++; s.Check() == nil {
		t.Error("it would end before it is renewed")
	}
}

// A span is written as a number, and read if it is at most a day.
func TestSpanCode(t *testing.T) {
	for d, ok := range map[Span]bool{0: true, 1: true, MaxSpan: true, MaxSpan + 1: false} {
		w := codec.Coder{}
		d.Code(&w)
		if number := binary.AppendUvarint(nil, uint64(d)); ok && !bytes.Equal(w.B, number) {
			t.Errorf("%v is written as % x, want % x", d, w.B, number)
		}
		r := codec.Coder{B: binary.AppendUvarint(nil, uint64(d)), Bad: errFrame}
		var back Span
		if back.Code(&r); (r.End() == nil) != ok || ok && back != d {
			t.Errorf("%v is read as %v, %v", d, back, r.End())
		}
	}
}
