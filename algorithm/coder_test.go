package algorithm

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
)

// An all has every kind of field, some of them only at times.
type all struct {
	Kind    uint8
	Yes     bool
	State   uint8
	Count   int
	Seat    ID
	Maybe   ID
	Seats   []ID
	Members Set
	Time    Time
	Ticket  Time
	Stamp   Stamp
	Times   []Time
	Seq     uint64
	Seqs    []uint64
	Anchors []uint64
	Rest    rest // exists only if Yes
	Last    bool
}

type rest struct {
	Maybe ID
	Seats []ID
	Set   Set
	Stamp Stamp
	Times []Time
	Seq   uint64
}

func (a *all) Fields(c *Coder) {
	c.Kind(&a.Kind, 2)
	c.Bool("yes", &a.Yes)
	c.Uint8("state", &a.State, "one", "two", "three")
	c.Int("count", &a.Count, 1000)
	c.Seat("seat", &a.Seat)
	c.Maybe("maybe", &a.Maybe)
	c.Seats("seats", &a.Seats)
	c.Set("members", &a.Members)
	c.Time("time", &a.Time)
	c.Ticket("ticket", &a.Ticket)
	c.Stamp("stamp", &a.Stamp)
	c.Times("times", &a.Times)
	c.Seq("seq", a.Seat, &a.Seq)
	c.Seqs("seqs", &a.Seqs)
	c.Anchors("anchors", &a.Anchors)
	c.When(a.Yes)
	c.Maybe("rest maybe", &a.Rest.Maybe)
	c.Seats("rest seats", &a.Rest.Seats)
	c.Set("rest set", &a.Rest.Set)
	c.Stamp("rest stamp", &a.Rest.Stamp)
	c.Times("rest times", &a.Rest.Times)
	c.Seq("rest seq", 0, &a.Rest.Seq)
	c.Token()
	c.Always()
	c.Bool("last", &a.Last)
}

func newAll(n int) *all {
	return &all{
		Maybe: None, Times: make([]Time, n), Seqs: make([]uint64, n), Anchors: make([]uint64, n),
		Rest: rest{Maybe: None, Times: make([]Time, n)},
	}
}

// An allMutex is an algorithm whose state and message are an all.
type allMutex struct {
	all
	got all // a copy of the last message, as far as it is needed
}

func (*allMutex) Request(*Out[all]) {}
func (*allMutex) Release(*Out[all]) {}

func (s *allMutex) Receive(_ ID, m *all, _ *Out[all]) {
	s.got = *m
	s.got.Seats = slices.Clone(m.Seats)
	s.got.Times = slices.Clone(m.Times)
}

func allMachine(n int) (*allMutex, Machine) {
	s := &allMutex{all: *newAll(n)}
	return s, NewElection(0, View{N: n}, s)
}

// scramble fills a with random values that are allowed among n seats.
func (a *all) scramble(r *rand.Rand, n int) {
	number := func() uint64 { return r.Uint64N(maxClaim) >> r.IntN(61) }
	time := func() Time { return Time{number()} }
	seats := func() []ID {
		var ids []ID
		for _, i := range r.Perm(n)[:r.IntN(n+1)] {
			ids = append(ids, ID(i))
		}
		return ids
	}
	stamp := func() Stamp {
		if r.IntN(3) == 0 {
			return Stamp{}
		}
		return Stamp{time().Next(), ID(r.IntN(n))}
	}
	*a = *newAll(n)
	a.Kind, a.Yes, a.State, a.Count = uint8(r.IntN(3)), r.IntN(2) == 0, uint8(r.IntN(3)), r.IntN(1001)
	a.Seat, a.Maybe, a.Seats, a.Members = ID(r.IntN(n)), ID(r.IntN(n+1))-1, seats(), SetOf(seats()...)
	a.Time, a.Ticket, a.Stamp, a.Seq = time(), time(), stamp(), number()
	for i := range n {
		a.Times[i], a.Seqs[i], a.Anchors[i] = time(), number(), number()
	}
	a.Last = r.IntN(2) == 0
	if a.Yes {
		a.Rest = rest{ID(r.IntN(n+1)) - 1, seats(), SetOf(seats()...), stamp(), make([]Time, n), number()}
		a.Rest.Times[r.IntN(n)] = time()
	}
}

// same compares what people see, which is every field, and its bytes.
func same(t *testing.T, got, want *all, n int) {
	t.Helper()
	a, b := Coder{mode: describe, n: n}, Coder{mode: describe, n: n}
	got.Fields(&a)
	want.Fields(&b)
	if !slices.Equal(a.fields, b.fields) {
		t.Fatalf("among %d:\ngot  %v\nwant %v", n, a.fields, b.fields)
	}
	if got.Kind != want.Kind || !bytes.Equal(encoded(got, n), encoded(want, n)) {
		t.Fatalf("among %d: %v is encoded in two ways", n, a.fields)
	}
}

func encoded(a *all, n int) []byte {
	c := Coder{n: n}
	a.Fields(&c)
	return c.buf
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 64, 65, 130} {
		r := rand.New(rand.NewPCG(2, uint64(n)))
		sent := newAll(n)
		s, m := allMachine(n + 1) // one more, since nobody gets messages from oneself
		state, page := allMachine(n)
		var out host.Output
		for range 200 {
			sent.scramble(r, n)

			if err := page.LoadState(encoded(sent, n)); err != nil {
				t.Fatal(err)
			}
			same(t, &state.all, sent, n)
			if !bytes.Equal(page.AppendState(nil), encoded(sent, n)) {
				t.Fatal("a state is not what it was")
			}

			sent.scramble(r, n+1)
			b := encoded(sent, n+1)
			if err := m.Step(host.Input{Kind: host.Receive, From: ID(n), Bytes: b}, &out); err != nil {
				t.Fatal(err)
			}
			same(t, &s.got, sent, n+1)
			again, err := m.RecodeMessage([]byte("x"), b, nil)
			if err != nil || !bytes.Equal(again[1:], b) {
				t.Fatalf("rewritten as %v, %v, want %v", again[1:], err, b)
			}
		}
	}
}

// After decoding, what does not exist is zero, whatever was there before.
func TestWhenNotThereIsZero(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	full, empty := newAll(70), newAll(70)
	s, m := allMachine(70)
	for range 50 {
		for full.Yes = false; !full.Yes; {
			full.scramble(r, 70)
		}
		for empty.Yes = true; empty.Yes; {
			empty.scramble(r, 70)
		}
		for _, a := range []*all{full, empty} {
			if err := m.LoadState(encoded(a, 70)); err != nil {
				t.Fatal(err)
			}
		}
		if rest := s.Rest; rest.Maybe != None || len(rest.Seats) > 0 || !rest.Set.Empty() || rest.Stamp != (Stamp{}) ||
			rest.Seq != 0 || slices.ContainsFunc(rest.Times, func(t Time) bool { return !t.IsNone() }) || len(rest.Times) != 70 {
			t.Fatalf("left over: %+v", rest)
		}
		if m.Tokens() != 0 {
			t.Fatal("a token that does not exist was counted")
		}
	}
}

// A misplaced When is a mistake of the author, not of a peer.
func TestWhenAndAlwaysPair(t *testing.T) {
	for name, f := range map[string]func(c *Coder){
		"nested":  func(c *Coder) { c.When(true); c.When(true) },
		"unbegun": func(c *Coder) { c.When(false); c.Always(); c.Always() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f(&Coder{})
		}()
	}
}

type one struct {
	field func(c *Coder)
}

func (o *one) Fields(c *Coder) { o.field(c) }

// TestMalformed decodes single fields among five seats.
func TestMalformed(t *testing.T) {
	var (
		flag  bool
		small uint8
		count int
		id    ID
		ids   []ID
		set   Set
		time  Time
		stamp Stamp
		times []Time
		seq   uint64
		seqs  []uint64
	)
	seats := func(c *Coder) { c.Seats("f", &ids) }
	number := func(c *Coder) { c.Seq("f", 0, &seq) }
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f} // 2^62 - 1
	for _, c := range []struct {
		name  string
		field func(c *Coder)
		bytes []byte
		want  string // in the error; empty if it decodes
	}{
		{"kind", func(c *Coder) { c.Kind(&small, 2) }, []byte{2}, ""},
		{"kind too large", func(c *Coder) { c.Kind(&small, 2) }, []byte{3}, "want 0 to 2"},
		{"kind missing", func(c *Coder) { c.Kind(&small, 2) }, nil, "want 0 to 2"},
		{"bool", func(c *Coder) { c.Bool("f", &flag) }, []byte{1}, ""},
		{"bool of 2", func(c *Coder) { c.Bool("f", &flag) }, []byte{2}, "want 0 or 1"},
		{"bool missing", func(c *Coder) { c.Bool("f", &flag) }, nil, "want 0 or 1"},
		{"state without name", func(c *Coder) { c.Uint8("f", &small, "a", "b") }, []byte{2}, "want 0 to 1"},
		{"int", func(c *Coder) { c.Int("f", &count, 300) }, []byte{0xac, 2}, ""},
		{"int too large", func(c *Coder) { c.Int("f", &count, 300) }, []byte{0xad, 2}, "301 is not below 301"},
		{"seat", func(c *Coder) { c.Seat("f", &id) }, []byte{4}, ""},
		{"seat not there", func(c *Coder) { c.Seat("f", &id) }, []byte{5}, "5 is not below 5"},
		{"maybe", func(c *Coder) { c.Maybe("f", &id) }, []byte{5}, ""},
		{"maybe not there", func(c *Coder) { c.Maybe("f", &id) }, []byte{6}, "6 is not below 6"},
		{"seats", seats, []byte{2, 4, 0}, ""},
		{"seats twice", seats, []byte{2, 4, 4}, "P5 is listed twice"},
		{"seats too many", seats, []byte{6, 0, 1, 2, 3, 4, 0}, "6 is not below 6"},
		{"seats not there", seats, []byte{1, 5}, "5 is not below 5"},
		{"seats cut", seats, []byte{2, 4}, "unexpected end"},
		{"set", func(c *Coder) { c.Set("f", &set) }, []byte{0x1f}, ""},
		{"set with a stranger", func(c *Coder) { c.Set("f", &set) }, []byte{0x20}, "P6 is not in the view"},
		{"set missing", func(c *Coder) { c.Set("f", &set) }, nil, "unexpected end"},
		{"time", func(c *Coder) { c.Time("f", &time) }, huge, ""},
		{"time too large", func(c *Coder) { c.Time("f", &time) }, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40}, "is not below"},
		{"stamp", func(c *Coder) { c.Stamp("f", &stamp) }, []byte{7, 4}, ""},
		{"no stamp", func(c *Coder) { c.Stamp("f", &stamp) }, []byte{0}, ""},
		{"no stamp with a seat", func(c *Coder) { c.Stamp("f", &stamp) }, []byte{0, 1}, "1 unexpected bytes"},
		{"stamp of a stranger", func(c *Coder) { c.Stamp("f", &stamp) }, []byte{7, 5}, "5 is not below 5"},
		{"times", func(c *Coder) { c.Times("f", &times) }, []byte{1, 2, 3, 4, 5}, ""},
		{"times cut", func(c *Coder) { c.Times("f", &times) }, []byte{1, 2, 3, 4}, "unexpected end"},
		{"seqs cut", func(c *Coder) { c.Seqs("f", &seqs) }, []byte{1, 2, 3, 4}, "unexpected end"},
		{"number", number, []byte{0xff, 1}, ""},
		{"number not minimal", number, []byte{0x81, 0}, "shortest form"},
		{"number of 9 bytes", number, append(bytes.Repeat([]byte{0x80}, 8), 1), ""},
		{"long number not minimal", number, []byte{0x81, 0x80, 0x80, 0}, "shortest form"},
		{"number of three bytes", number, []byte{0x80, 0x80, 1}, ""},
		{"zero not minimal", number, []byte{0x80, 0x80, 0}, "shortest form"},
		{"number cut", number, []byte{0x81}, "unexpected end"},
		{"number too long", number, bytes.Repeat([]byte{0x80}, 11), "too long"},
		{"number of 65 bits", number, append(bytes.Repeat([]byte{0xff}, 9), 2), "too long"},
		{"number of 64 bits", number, append(bytes.Repeat([]byte{0xff}, 9), 1), "too long"},
		{"number below 0", number, (&Codec{}).Append(nil, 5, &one{func(c *Coder) { v := -1; c.Int("f", &v, 9) }}), "negative"},
		{"trailing byte", number, []byte{1, 0}, "1 unexpected bytes"},
	} {
		m := NewElection(0, View{N: 5}, &oneMutex{one{c.field}})
		err := m.LoadState(c.bytes)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if got := m.AppendState(nil); !bytes.Equal(got, c.bytes) {
				t.Errorf("%s: %v was encoded as %v", c.name, c.bytes, got)
			}
		} else if err == nil || !errors.Is(err, host.ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

type oneMutex struct{ one }

func (*oneMutex) Request(*Out[all])           {}
func (*oneMutex) Release(*Out[all])           {}
func (*oneMutex) Receive(ID, *all, *Out[all]) {}

// shift moves all live times up and remembers whose counters it saw.
type shift struct {
	by      uint64
	seqs    []ID
	anchors []ID
}

func (s *shift) Time(t *uint64) {
	if *t != 0 {
		*t += s.by
	}
}
func (s *shift) Ticket(t *uint64)            { *t += s.by }
func (s *shift) Seq(column ID, _ *uint64)    { s.seqs = append(s.seqs, column) }
func (s *shift) Anchor(column ID, v *uint64) { s.anchors = append(s.anchors, column); *v = 9 }

func TestVisitTimes(t *testing.T) {
	s, m := allMachine(3)
	s.Seat, s.Time, s.Stamp, s.Times[1], s.Rest.Seq = 2, Time{5}, Stamp{Time{7}, 1}, Time{9}, 3
	v := &shift{by: 100}
	m.VisitTimes(v)
	if s.Time.v != 105 || s.Ticket.v != 100 || s.Stamp != (Stamp{Time{107}, 1}) || !slices.Equal(s.Times, []Time{{}, {109}, {}}) || !slices.Equal(s.Anchors, []uint64{9, 9, 9}) {
		t.Errorf("after the shift: %v", m.Describe())
	}
	if want := []ID{2, 0, 1, 2}; !slices.Equal(v.seqs, want) {
		t.Errorf("counters of %v, want %v: that of the seat, and one for each", v.seqs, want)
	}
	if want := []ID{0, 1, 2}; !slices.Equal(v.anchors, want) {
		t.Errorf("anchors of %v, want %v", v.anchors, want)
	}
	s.Yes = true
	v.seqs = nil
	m.VisitTimes(v)
	if want := []ID{2, 0, 1, 2, 0}; !slices.Equal(v.seqs, want) {
		t.Errorf("with the rest, counters of %v, want %v", v.seqs, want)
	}
}

func TestRecodeMessage(t *testing.T) {
	_, m := allMachine(3)
	sent := newAll(3)
	sent.Time, sent.Stamp, sent.Last = Time{5}, Stamp{Time{7}, 1}, true
	b, err := m.RecodeMessage(nil, encoded(sent, 3), &shift{by: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := newAll(3)
	want.Time, want.Ticket, want.Stamp, want.Anchors, want.Last = Time{105}, Time{100}, Stamp{Time{107}, 1}, []uint64{9, 9, 9}, true
	if !reflect.DeepEqual(b, encoded(want, 3)) {
		t.Errorf("got %v, want %v", b, encoded(want, 3))
	}
	if _, err := m.RecodeMessage(nil, b[1:], nil); !errors.Is(err, host.ErrMalformed) {
		t.Errorf("half a message: %v", err)
	}
}
