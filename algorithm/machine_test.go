package algorithm

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
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
	switch {
	case m.Kind == 1 && len(m.List) == 1: // pass it on, for ever
		out.Send(m.List[0], *m)
	case m.Kind == 1: // pass it on
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
	var out host.Output
	if err := m.Step(host.Input{Kind: host.Request}, &out); err != nil {
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
	var out host.Output
	if err := m.Step(host.Input{Kind: host.Request}, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Sends) != 0 || s.clock.v != 3 {
		t.Errorf("%d sent, clock %d, want none and 3", len(out.Sends), s.clock.v)
	}
}

func TestEffects(t *testing.T) {
	_, m := newChat(0, 3, func(out *Out[note]) {
		out.Enter()
		out.Lead(2)
		out.Lead(None)
		out.SetTimer(5, 10)
		out.StopTimer(host.MaxTimer)
	})
	var out host.Output
	if err := m.Step(host.Input{Kind: host.Request}, &out); err != nil {
		t.Fatal(err)
	}
	want := []host.Notice{
		{Kind: host.Leader, Who: 2}, {Kind: host.Leader, Who: None}, {Kind: host.SetTimer, Timer: 5, After: 10}, {Kind: host.SetTimer, Timer: host.MaxTimer},
	}
	if !out.Entered || !reflect.DeepEqual(out.Notices, want) {
		t.Errorf("got %+v", out)
	}
	if err := m.Step(host.Input{Kind: host.Release}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Entered || len(out.Notices)+len(out.Sends) != 0 {
		t.Errorf("the next step still says %+v", out)
	}
}

func TestOptionalInputs(t *testing.T) {
	s, m := newChat(0, 3, nil)
	var out host.Output
	for _, in := range []host.Input{
		{Kind: host.Start}, {Kind: host.Suspect, From: 2}, {Kind: host.Suspect, From: 3}, {Kind: host.Suspect, From: None},
		{Kind: host.Expire, Timer: 4}, {Kind: host.InputKind(99)},
	} {
		if err := m.Step(in, &out); err != nil {
			t.Errorf("%+v: %v", in, err)
		}
		if in.Kind == host.Expire && !reflect.DeepEqual(out.Notices, []host.Notice{{Kind: host.SetTimer, Timer: 5, After: 8}}) {
			t.Errorf("notices %v", out.Notices)
		}
	}
	if want := []string{"start", "suspect P3", "expire"}; !slices.Equal(s.heard, want) {
		t.Errorf("got %v, want %v", s.heard, want)
	}
	// An algorithm without these verbs is not disturbed by them.
	_, plain := allMachine(3)
	for _, kind := range []host.InputKind{host.Start, host.Suspect, host.Expire} {
		if err := plain.Step(host.Input{Kind: kind}, &out); err != nil {
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

// What an algorithm sends astray is its own mistake, and nothing of that step is
// sent.
func TestSentAstray(t *testing.T) {
	strangers := SetOf(0, 4)
	for _, c := range []struct {
		script func(out *Out[note])
		want   string
	}{
		{func(out *Out[note]) { out.Send(4, note{Kind: 1}) }, "P2 sent WORD to seat 5 of 3"},
		{func(out *Out[note]) { out.Send(None, note{}) }, "P2 sent NOTE to algorithm.None"},
		{func(out *Out[note]) { out.Multicast(&strangers, note{}) }, "P2 sent NOTE to seat 5 of 3"},
		{func(out *Out[note]) { out.Send(0, note{Kind: 2}) }, "P2 sent a message of kind 2"},
		{func(out *Out[note]) { out.Send(1, note{Kind: 2}) }, "P2 sent itself a message"},
	} {
		_, m := newChat(1, 3, c.script)
		if err := m.(adopter).adopt(Spec{Kinds: []string{"NOTE", "WORD"}}); err != nil {
			t.Fatal(err)
		}
		var out host.Output
		err := m.Step(host.Input{Kind: host.Request}, &out)
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) || len(out.Sends) != 0 {
			t.Errorf("got %v with %d sent, want %q", err, len(out.Sends), c.want)
		}
	}
}

// What an algorithm tells of seats, transactions and timers that do not exist is
// its own mistake too, and so is what its Spec does not say that it does.
func TestToldAstray(t *testing.T) {
	for _, c := range []struct {
		script func(out *Out[note])
		want   string
	}{
		{func(out *Out[note]) { out.Lead(3) }, "P2 reported seat 4 of 3"},
		{func(out *Out[note]) { out.Lead(-5) }, "P2 reported seat -4 of 3"},
		{func(out *Out[note]) { out.Grant(0) }, "only a Site has any"},
		{func(out *Out[note]) { out.Refuse(0) }, "only a Site has any"},
		{func(out *Out[note]) { out.Abort(0, nil) }, "only a Site has any"},
		{func(out *Out[note]) { out.Hear(0, 1) }, "only a Site has any"},
		{func(out *Out[note]) { out.Doom(0, 1) }, "only a Site has any"},
		{func(out *Out[note]) { out.SetTimer(-1, 1) }, "P2 set timer -1: want 0 to 65536"},
		{func(out *Out[note]) { out.SetTimer(host.MaxTimer+1, 1) }, "P2 set timer 65537: want 0 to 65536"},
		{func(out *Out[note]) { out.StopTimer(1 << 24) }, "P2 set timer 16777216: want 0 to 65536"},
		{func(out *Out[note]) { out.SetTimer(1, -1) }, "P2 set timer 1 for -1 units"},
		{func(out *Out[note]) { out.SetTimer(1, 1<<40) }, "P2 set timer 1 for 1099511627776 units"},
		{func(out *Out[note]) { out.Send(1, note{Kind: 1, List: []ID{1}}) }, "P2 keeps sending to itself: 100000 messages"},
		{func(out *Out[note]) { out.Deny() }, "set TryLock"},
	} {
		_, m := newChat(1, 3, c.script)
		if err := m.(adopter).adopt(Spec{Kinds: []string{"NOTE", "WORD"}}); err != nil {
			t.Fatal(err)
		}
		var out host.Output
		err := m.Step(host.Input{Kind: host.Request}, &out)
		if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) || len(out.Notices) != 0 {
			t.Errorf("got %v with %d told, want %q", err, len(out.Notices), c.want)
		}
	}
}

// Only a request that waits can be denied, and only once: a host would take another
// one for that of its next request.
func TestDeniedAstray(t *testing.T) {
	deny := func(out *Out[note]) { out.Deny() }
	for _, c := range []struct {
		script func(out *Out[note])
		kinds  []host.InputKind
		want   string // of the last one
	}{
		{deny, []host.InputKind{host.Request, host.Request}, ""},
		{deny, []host.InputKind{host.Request, host.Expire}, "P2 denied a request, but has none: it is idle"},
		{func(out *Out[note]) { out.Deny(); out.Deny() }, []host.InputKind{host.Request}, "P2 denied a request, but has none: it is idle"},
		{func(out *Out[note]) { out.Enter() }, []host.InputKind{host.Request, host.Expire}, "P2 denied a request, but has none: it is inside"},
		{func(out *Out[note]) { out.Enter(); out.Deny() }, []host.InputKind{host.Request}, "P2 denied and granted a request"},
	} {
		m := New(1, View{N: 3}, &denies{chat{script: c.script}})
		var out host.Output
		var err error
		for _, kind := range c.kinds {
			if err != nil {
				t.Fatal(err)
			}
			err = m.Step(host.Input{Kind: kind}, &out)
		}
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) || len(out.Notices) != 0) {
			t.Errorf("got %v with %d told, want %q", err, len(out.Notices), c.want)
		}
	}
}

// Where there is no lock nobody is let in.
func TestEnteredNothing(t *testing.T) {
	var out host.Output
	m := NewElection(1, View{N: 3}, &chat{script: func(out *Out[note]) { out.Enter() }})
	if err := m.Step(host.Input{Kind: host.Request}, &out); !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "P2 entered") || out.Entered {
		t.Errorf("got %v", err)
	}
}

// denies denies when a timer runs out, whether anybody waits or not.
type denies struct{ chat }

func (*denies) Expire(_ int, out *Out[note]) { out.Deny() }

// What does not decode is refused, and nothing has changed.
func TestRefused(t *testing.T) {
	s, m := newChat(1, 3, nil)
	s.clock = Time{42}
	before := m.AppendState(nil)
	var out host.Output
	for _, in := range []host.Input{
		{From: 1, Bytes: []byte{0, 7, 0}}, // from oneself
		{From: 3, Bytes: []byte{0, 7, 0}}, // from a stranger
		{From: None, Bytes: []byte{0, 7, 0}},
		{From: 0},
		{From: 0, Bytes: []byte{0, 99}},
		{From: 0, Bytes: []byte{0, 99, 0, 0}},
		{From: 0, Bytes: []byte{0, 99, 2, 1, 1}},
		{From: 0, Bytes: []byte{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0}}, // 2^48
	} {
		in.Kind = host.Receive
		if err := m.Step(in, &out); !errors.Is(err, host.ErrMalformed) {
			t.Errorf("%+v: got %v, want it refused", in, err)
		}
		if !bytes.Equal(m.AppendState(nil), before) || s.heard != nil {
			t.Errorf("%+v changed the state", in)
		}
	}
}

// claim is the message of a peer that claims a time.
func claim(t Time) []byte { return encodedNote(note{Time: t}) }

func encodedNote(n note) []byte {
	c := Coder{n: 3}
	n.Fields(&c)
	return c.buf
}

// No peer can put a clock where nobody follows: a claim that no honest clock
// could make is refused and changes nothing, and what is sent next is accepted.
func TestClaims(t *testing.T) {
	var s *chat
	s, m := newChat(1, 3, func(out *Out[note]) { out.Send(2, note{Time: s.clock.Tick()}) })
	other, peer := newChat(2, 3, nil)
	var out host.Output
	before := m.AppendState(nil)
	for _, huge := range []uint64{1 << 48, 1<<61 - 1, 1 << 61} {
		if err := m.Step(host.Input{Kind: host.Receive, From: 0, Bytes: claim(Time{huge})}, &out); !errors.Is(err, host.ErrMalformed) {
			t.Errorf("a claim of %d: %v", huge, err)
		}
		if err := m.Step(host.Input{Kind: host.Hear, From: None, Time: huge}, &out); !errors.Is(err, host.ErrMalformed) {
			t.Errorf("a clock of %d: %v", huge, err)
		}
		if !bytes.Equal(m.AppendState(nil), before) {
			t.Errorf("a claim of %d has changed the state", huge)
		}
	}
	largest := Time{1<<48 - 2}
	for _, in := range []host.Input{{Kind: host.Receive, From: 0, Bytes: claim(largest)}, {Kind: host.Request}} {
		if err := m.Step(in, &out); err != nil {
			t.Fatal(err)
		}
	}
	if err := peer.Step(host.Input{Kind: host.Receive, From: 1, Bytes: out.Bytes(0)}, &out); err != nil || other.clock != largest {
		t.Errorf("the next message is not accepted: %v", err)
	}
	if err := m.LoadState(m.AppendState(nil)); err != nil {
		t.Error(err)
	}
}

// A restless lock lets its process in again when it leaves, without being asked.
type restless struct{ chat }

func (*restless) Request(out *Out[note]) { out.Enter() }
func (*restless) Release(out *Out[note]) { out.Enter() }

// What a host must not do is refused, in words for the host, and changes
// nothing; a machine that was loaded knows what its application does.
func TestHostsMistakes(t *testing.T) {
	_, m := newChat(1, 3, func(out *Out[note]) {})
	_, enters := newChat(1, 3, func(out *Out[note]) { out.Enter() })
	_, denies := newChat(1, 3, func(out *Out[note]) { out.Deny() })
	busy := New(1, View{N: 3, Holder: 1, Busy: true}, &chat{})
	again := New(1, View{N: 3}, &restless{})
	for _, c := range []struct {
		m     Machine
		kinds []host.InputKind
		want  string // of the last one
	}{
		{m, []host.InputKind{host.Release}, "Release for P2, which is idle"},
		{m, []host.InputKind{host.Request, host.Request}, "Request for P2, which is waiting"},
		{m, []host.InputKind{host.Release}, "Release for P2, which is waiting"},
		{enters, []host.InputKind{host.Request, host.Request}, "Request for P2, which is inside"},
		{enters, []host.InputKind{host.Release, host.Release}, "Release for P2, which is idle"},
		{denies, []host.InputKind{host.Request, host.Request, host.Release}, "Release for P2, which is idle"},
		{busy, []host.InputKind{host.Request}, "which is inside"},
		{busy, []host.InputKind{host.Release, host.Release}, "which is idle"},
		{again, []host.InputKind{host.Request, host.Release, host.Request, host.Release, host.Release, host.Release, host.Request, host.Request}, "which is inside; it must be idle"},
	} {
		var out host.Output
		for i, kind := range c.kinds {
			state := c.m.AppendState(nil)
			if err := c.m.LoadState(state); err != nil {
				t.Fatal(err)
			}
			err := c.m.Step(host.Input{Kind: kind}, &out)
			if i < len(c.kinds)-1 {
				if err != nil {
					t.Errorf("%v: %v", c.kinds, err)
				}
				continue
			}
			if !errors.Is(err, host.ErrHost) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: got %v, want %q", c.kinds, err, c.want)
			}
			if !bytes.Equal(c.m.AppendState(nil), state) {
				t.Errorf("%v: the state has changed", c.kinds)
			}
		}
	}
	if err := m.LoadState([]byte{4, 0}); !errors.Is(err, host.ErrMalformed) {
		t.Errorf("a phase that there is not: %v", err)
	}
	for _, f := range m.Describe() {
		if f.Name == "phase" {
			t.Error("the phase is shown")
		}
	}
}

func TestMarks(t *testing.T) {
	_, m := newChat(1, 3, nil)
	for _, c := range []struct {
		b    []byte
		want host.Mark
	}{{[]byte{0, 7, 0}, host.Mark{}}, {[]byte{1, 7, 0}, host.Mark{Tokens: 1, Idempotent: true}}} {
		if got, err := m.Mark(c.b); err != nil || got != c.want {
			t.Errorf("%v: %+v, %v, want %+v", c.b, got, err, c.want)
		}
	}
	if _, err := m.Mark([]byte{2}); !errors.Is(err, host.ErrMalformed) {
		t.Errorf("a mark of nonsense: %v", err)
	}
	s, state := allMachine(3)
	s.Yes = true
	if got := state.Tokens(); got != 1 {
		t.Errorf("%d tokens, want 1", got)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	_, m := newChat(1, 100, nil)
	var out host.Output
	b := []byte{1, 7, 4, 0, 2, 9, 3} // P1 3 10 4: pass it on to P1
	s := m.(*machine).s.(*chat)
	if n := testing.AllocsPerRun(100, func() {
		s.heard = s.heard[:0]
		if err := m.Step(host.Input{Kind: host.Receive, From: 7, Bytes: b}, &out); err != nil {
			t.Fatal(err)
		}
	}); n > 1 { // the name of the sender, in heard
		t.Errorf("%v allocations for a step, want none", n)
	}
	if len(out.Sends) != 1 {
		t.Errorf("%d sent, want 1", len(out.Sends))
	}
}
