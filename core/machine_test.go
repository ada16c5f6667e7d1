package core

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// A chat does on request what its script says, and notes what it hears.
type chat struct {
	script func(out *Out[note])
	heard  []string
	clock  Time
}

type note struct {
	Kind uint8
	Time Time
	List []ID
}

func (w *note) Fields(c *Coder) {
	c.Kind(&w.Kind, 1)
	c.Time("time", &w.Time)
	c.Seats("list", &w.List)
	if w.Kind == 1 {
		c.Token()
		c.Idempotent()
	}
}

func (s *chat) Fields(c *Coder)             { c.Time("clock", &s.clock) }
func (s *chat) Request(out *Out[note])      { s.script(out) }
func (s *chat) Release(*Out[note])          { s.clock.Tick() }
func (s *chat) Start(*Out[note])            { s.heard = append(s.heard, "start") }
func (s *chat) Alibi(d ID) bool             { return true }
func (s *chat) Suspect(id ID, _ *Out[note]) { s.heard = append(s.heard, "suspect "+id.String()) }

func (s *chat) Expire(timer int, out *Out[note]) {
	s.heard = append(s.heard, "expire")
	out.SetTimer(timer+1, 2*timer)
}

func (s *chat) Receive(from ID, m *note, out *Out[note]) {
	s.clock.See(m.Time)
	s.heard = append(s.heard, from.String())
	if m.Kind == 1 { // pass it on
		out.Send(m.List[0], note{List: m.List[1:]})
	}
}

func newChat(self ID, n int, script func(out *Out[note])) (*chat, Machine) {
	s := &chat{script: script}
	return s, New(self, View{N: n}, s)
}

func TestSends(t *testing.T) {
	all := SetOf(0, 1, 3)
	s, m := newChat(1, 4, func(out *Out[note]) {
		out.Send(3, note{Time: Time{7}})
		out.Broadcast(note{Kind: 1, List: []ID{2, 0}})
		out.Multicast(&all, note{Time: Time{9}})
		out.Send(1, note{Kind: 1, List: []ID{1, 2}})
	})
	var out Output
	if err := m.Step(Input{Kind: Request}, &out); err != nil {
		t.Fatal(err)
	}
	type send struct {
		to    ID
		kind  uint8
		group int32
		bytes string
	}
	want := []send{
		{3, 0, 0, "\x00\x07\x00"},
		{0, 1, 1, "\x01\x00\x02\x02\x00"}, {2, 1, 1, "\x01\x00\x02\x02\x00"}, {3, 1, 1, "\x01\x00\x02\x02\x00"},
		{0, 0, 2, "\x00\x09\x00"}, {3, 0, 2, "\x00\x09\x00"},
	}
	var got []send
	for i, s := range out.Sends {
		got = append(got, send{s.To, s.Kind, s.Group, string(out.Bytes(i))})
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	// Of the multicast, of Send to self, and of what that passed on to self.
	if want := []string{"P2", "P2", "P2"}; !slices.Equal(s.heard, want) {
		t.Errorf("heard from %v, want %v", s.heard, want)
	}
	if s.clock.v != 9 {
		t.Errorf("clock %d, want 9: a message to self was not received", s.clock.v)
	}
}

func TestAloneNothingIsSent(t *testing.T) {
	self := SetOf(0)
	s, m := newChat(0, 1, func(out *Out[note]) {
		out.Broadcast(note{})
		out.Multicast(&self, note{Time: Time{3}})
		out.Multicast(&Set{}, note{Time: Time{4}})
	})
	var out Output
	if err := m.Step(Input{Kind: Request}, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Sends) != 0 || s.clock.v != 3 {
		t.Errorf("%d sent, clock %d, want none and 3", len(out.Sends), s.clock.v)
	}
}

func TestEffects(t *testing.T) {
	_, m := newChat(0, 3, func(out *Out[note]) {
		out.Enter()
		out.Deny()
		out.Lead(2)
		out.Abort(1, []ID{1, 0})
		out.SetTimer(5, 10)
	})
	var out Output
	if err := m.Step(Input{Kind: Request}, &out); err != nil {
		t.Fatal(err)
	}
	want := []Notice{
		{Kind: Denied}, {Kind: Leader, Who: 2}, {Kind: Victim, Who: 1, Cycle: []ID{1, 0}}, {Kind: SetTimer, Timer: 5, After: 10},
	}
	if !out.Entered || !reflect.DeepEqual(out.Notices, want) {
		t.Errorf("got %+v", out)
	}
	if err := m.Step(Input{Kind: Release}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Entered || len(out.Notices)+len(out.Sends) != 0 {
		t.Errorf("the next step still says %+v", out)
	}
}

func TestOptionalInputs(t *testing.T) {
	s, m := newChat(0, 3, nil)
	var out Output
	for _, in := range []Input{
		{Kind: Start}, {Kind: Suspect, From: 2}, {Kind: Suspect, From: 3}, {Kind: Suspect, From: None},
		{Kind: Expire, Timer: 4}, {Kind: InputKind(99)},
	} {
		if err := m.Step(in, &out); err != nil {
			t.Errorf("%+v: %v", in, err)
		}
		if in.Kind == Expire && !reflect.DeepEqual(out.Notices, []Notice{{Kind: SetTimer, Timer: 5, After: 8}}) {
			t.Errorf("notices %v", out.Notices)
		}
	}
	if want := []string{"start", "suspect P3", "expire"}; !slices.Equal(s.heard, want) {
		t.Errorf("got %v, want %v", s.heard, want)
	}
	// An algorithm without these verbs is not disturbed by them.
	_, plain := allMachine(3)
	for _, kind := range []InputKind{Start, Suspect, Expire} {
		if err := plain.Step(Input{Kind: kind}, &out); err != nil {
			t.Error(err)
		}
	}
	if plain.Alibi(1) {
		t.Error("an algorithm without alibis gave one")
	}
	for d, want := range map[ID]bool{None: false, 0: false, 1: true, 2: true, 3: false} {
		if got := m.Alibi(d); got != want {
			t.Errorf("alibi of seat %d: %v, want %v", d, got, want)
		}
	}
}

// What does not decode is refused, and nothing has changed.
func TestRefused(t *testing.T) {
	s, m := newChat(1, 3, nil)
	s.clock = Time{42}
	before := m.AppendState(nil)
	var out Output
	for _, in := range []Input{
		{From: 1, Bytes: []byte{0, 7, 0}}, // from oneself
		{From: 3, Bytes: []byte{0, 7, 0}}, // from a stranger
		{From: None, Bytes: []byte{0, 7, 0}},
		{From: 0},
		{From: 0, Bytes: []byte{0, 99}},
		{From: 0, Bytes: []byte{0, 99, 0, 0}},
		{From: 0, Bytes: []byte{0, 99, 2, 1, 1}},
		{From: 0, Bytes: []byte{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0}}, // 2^61
	} {
		in.Kind = Receive
		if err := m.Step(in, &out); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: got %v, want it refused", in, err)
		}
		if !bytes.Equal(m.AppendState(nil), before) || s.heard != nil {
			t.Errorf("%+v changed the state", in)
		}
	}
}

// The largest time that a peer may claim leaves room: what follows from it can
// be sent to oneself and kept in a state.
func TestLargestClaim(t *testing.T) {
	var s *chat
	s, m := newChat(1, 3, func(out *Out[note]) {
		s.clock.Tick()
		out.Send(1, note{Time: s.clock})
	})
	var out Output
	claim := []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0} // 2^61 - 1
	for _, in := range []Input{{Kind: Receive, From: 0, Bytes: claim}, {Kind: Request}} {
		if err := m.Step(in, &out); err != nil {
			t.Fatal(err)
		}
	}
	if s.clock.v != maxClaim {
		t.Errorf("clock %d, want %d", s.clock.v, uint64(maxClaim))
	}
	if err := m.LoadState(m.AppendState(nil)); err != nil {
		t.Error(err)
	}
}

func TestMarks(t *testing.T) {
	_, m := newChat(1, 3, nil)
	for _, c := range []struct {
		b    []byte
		want Mark
	}{{[]byte{0, 7, 0}, Mark{}}, {[]byte{1, 7, 0}, Mark{Tokens: 1, Idempotent: true}}} {
		if got, err := MarkOf(m, 3, c.b); err != nil || got != c.want {
			t.Errorf("%v: %+v, %v, want %+v", c.b, got, err, c.want)
		}
	}
	if _, err := MarkOf(m, 3, []byte{2}); !errors.Is(err, ErrMalformed) {
		t.Errorf("a mark of nonsense: %v", err)
	}
	s, state := allMachine(3)
	s.Yes = true
	if got := Tokens(state, 3); got != 1 {
		t.Errorf("%d tokens, want 1", got)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	_, m := newChat(1, 100, nil)
	var out Output
	b := []byte{1, 7, 4, 0, 2, 9, 3} // P1 3 10 4: pass it on to P1
	s := m.(*machine[note, *note]).s.(*chat)
	if n := testing.AllocsPerRun(100, func() {
		s.heard = s.heard[:0]
		if err := m.Step(Input{Kind: Receive, From: 7, Bytes: b}, &out); err != nil {
			t.Fatal(err)
		}
	}); n > 1 { // the name of the sender, in heard
		t.Errorf("%v allocations for a step, want none", n)
	}
	if len(out.Sends) != 1 {
		t.Errorf("%d sent, want 1", len(out.Sends))
	}
}
