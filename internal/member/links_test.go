package member

import (
	"errors"
	"slices"
	"testing"
)

// sessionPair returns the sessions of incarnations 1 and 2 in epoch 1,
// connected, at rest at instant 0.
func sessionPair(t testing.TB, limits LinkLimits) (a, b *Links) {
	a, b = NewLinks(1, limits), NewLinks(2, limits)
	for _, s := range []*Links{a, b} {
		if err := s.Install(0, sessionView(1, 1, 2)); err != nil {
			t.Fatal(err)
		}
		s.Up(0, 3-s.me)
	}
	for range 2 {
		sessionCarry(t, 0, a, b)
		sessionCarry(t, 0, b, a)
	}
	if a.Wake() != Never || b.Wake() != Never {
		t.Fatal("want silence")
	}
	return a, b
}

func sessionView(epoch uint64, incs ...uint64) View {
	v := View{Epoch: epoch}
	for _, inc := range incs {
		v.Members = append(v.Members, Who{"m", inc})
	}
	return v
}

// sessionCarry carries all packets from one to another, and returns the frames.
func sessionCarry(t testing.TB, now Instant, from, to *Links) (frames []string) {
	t.Helper()
	for {
		inc, p, ok := from.Next(now, nil)
		if !ok {
			return frames
		}
		if inc != to.me {
			continue
		}
		err := to.Receive(now, p, func(_ uint64, f []byte) error { frames = append(frames, string(f)); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Which members are complained about, and since when.
func TestSessionsComplaints(t *testing.T) {
	limits := LinkLimits{Bytes: 100, Patience: 10, Complain: 100}
	for _, c := range []struct {
		what string
		do   func(a, b *Links)
		want Instant // when a's complaint begins
	}{
		{"at rest", func(a, b *Links) {}, Never},
		{"confirmed", func(a, b *Links) {
			a.Send(2, []byte("x"))
			sessionCarry(t, 10, a, b)
			sessionCarry(t, 20, b, a)
		}, Never},
		{"not confirmed", func(a, b *Links) { a.Send(2, []byte("x")); a.Next(10, nil) }, 110},
		{"no connection", func(a, b *Links) { a.Down(10, 2) }, 110},
		{"no connection, then one that is not answered", func(a, b *Links) { a.Down(10, 2); a.Up(50, 2); a.Next(60, nil) }, 110},
		{"connections that come and go", func(a, b *Links) {
			for i := Instant(10); i < 90; i += 10 {
				a.Down(i, 2)
				a.Up(i+5, 2)
				a.Next(i+5, nil)
			}
		}, 110},
		{"no connection for a while", func(a, b *Links) {
			a.Down(10, 2)
			a.Up(50, 2)
			sessionCarry(t, 60, a, b)
			sessionCarry(t, 60, b, a)
		}, Never},
		{"a new view with which nothing works either", func(a, b *Links) {
			a.Down(10, 2)
			a.Install(50, sessionView(2, 1, 2))
		}, 110},
		{"a new view that is not answered", func(a, b *Links) { a.Install(50, sessionView(2, 1, 2)); a.Next(55, nil) }, 150},
		{"a new view without it", func(a, b *Links) { a.Down(10, 2); a.Install(50, sessionView(2, 1)) }, Never},
		{"it is in a newer view", func(a, b *Links) {
			a.Send(2, []byte("x"))
			a.Next(10, nil)
			b.Install(50, sessionView(2, 1, 2))
			sessionCarry(t, 60, b, a)
		}, 160},
		{"it was no member for a while", func(a, b *Links) {
			a.Send(2, []byte("x"))
			a.Next(10, nil)
			a.Install(50, sessionView(2, 1))
			a.Install(80, sessionView(3, 1, 2))
		}, 180},
		{"no connection, and a late confirmation", func(a, b *Links) {
			a.Send(2, []byte("x"))
			sessionCarry(t, 5, a, b)
			a.Down(10, 2)
			sessionCarry(t, 50, b, a)
		}, 105},
		{"not confirmed, though it sends", func(a, b *Links) {
			a.Send(2, []byte("x"))
			a.Next(10, nil)
			b.Send(1, []byte("y"))
			sessionCarry(t, 50, b, a)
		}, 110},
		{"not confirmed, and it confirms what was never sent", func(a, b *Links) {
			a.Send(2, []byte("x"))
			a.Next(10, nil)
			for _, k := range []linkPacket{{got: 9, first: 1}, {echo: 9, first: 1}, {first: 2 << 32}} {
				var w writer
				for _, x := range []uint64{1, 2, 1, k.got, k.echo, 0, k.first, 0} {
					w.number(x)
				}
				if err := a.Receive(50, w, nil); !errors.Is(err, ErrPacket) {
					t.Errorf("%+v: %v", k, err)
				}
			}
		}, 110},
		{"full", func(a, b *Links) { a.Send(2, make([]byte, 60)); a.Send(2, make([]byte, 60)) }, 0},
		{"it sends rubbish", func(a, b *Links) {
			b.Send(1, []byte("x"))
			_, p, _ := b.Next(10, nil)
			a.Receive(10, p, func(uint64, []byte) error { return errors.New("rubbish") })
		}, 0},
	} {
		a, b := sessionPair(t, limits)
		c.do(a, b)
		if c.want > 0 && len(a.Complaints(min(c.want-1, 1<<40))) > 0 {
			t.Errorf("%s: a complaint before %d", c.what, c.want)
		}
		if got := a.Complaints(min(c.want, 1<<50)); c.want != Never && !slices.Equal(got, []uint64{2}) {
			t.Errorf("%s: at %d the complaints are %v", c.what, c.want, got)
		}
	}
}

// Frames are counted for each peer, in all views, as far as they are accepted.
func TestSessionsSent(t *testing.T) {
	a, _ := sessionPair(t, LinkLimits{Bytes: 100})
	is := func(what string, want uint64) {
		t.Helper()
		if got := a.Sent(2); got != want || a.Sent(3) != 0 {
			t.Errorf("%s: %d frames for 2 and %d for 3, want %d and none", what, got, a.Sent(3), want)
		}
	}
	is("at first", 0)
	a.Send(2, []byte("one"))
	a.Send(2, []byte("two"))
	a.Send(3, []byte("to a stranger"))
	is("after two", 2)
	a.Install(1, sessionView(2, 1, 2))
	a.Send(2, []byte("three"))
	is("in the next view", 3)
	a.Send(2, make([]byte, 1000))
	a.Send(2, []byte("after the end of the link"))
	is("when the link is full", 3)
	a.Install(1, sessionView(3, 1))
	a.Down(1, 2)
	is("when it is no longer a member", 0)
}

// Packets of a newer epoch are kept and handed out after Install, before those
// that come then; beyond the bound they come again.
func TestSessionsEarly(t *testing.T) {
	for _, early := range []int{30, 1000} {
		a, b := sessionPair(t, LinkLimits{Early: early, Patience: 10})
		b.Install(1, sessionView(2, 1, 2))
		for _, f := range []string{"one", "two", "three"} {
			b.Send(1, []byte(f))
			if got := sessionCarry(t, 1, b, a); len(got) > 0 || a.Newer() != 2 || a.Wake() != Never {
				t.Fatalf("%q came, newer is %d, and it wakes at %d: want nothing, 2, and no confirmation", got, a.Newer(), a.Wake())
			}
		}
		if kept := len(a.find(2).early.packets); kept > early {
			t.Errorf("%d bytes are kept", kept)
		}
		a.Install(2, sessionView(2, 1, 2))
		var got []string
		take := func(from uint64, f []byte) error { got = append(got, string(f)); return nil }
		b.Send(1, []byte("four"))
		for _, p, ok := b.Next(2, nil); ok; _, p, ok = b.Next(2, nil) {
			if err := a.Receive(2, p, take); err != nil {
				t.Fatal(err)
			}
		}
		if a.Early(2, take); a.Newer() != 0 {
			t.Fatalf("newer is %d, want 0", a.Newer())
		}
		for now := Instant(2); now < 50; now++ {
			sessionCarry(t, now, a, b)
			got = append(got, sessionCarry(t, now, b, a)...)
		}
		if !slices.Equal(got, []string{"one", "two", "three", "four"}) {
			t.Errorf("with %d bytes, %q came", early, got)
		}
	}
}

// Of a newer epoch only what fits is kept, once; a question is answered as soon
// as there is an answer.
func TestSessionsEarlyOnce(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	b.Install(1, sessionView(2, 1, 2))
	var packets [][]byte
	for range 3 {
		b.Send(1, []byte("x"))
		_, p, _ := b.Next(1, nil)
		packets = append(packets, p)
	}
	for i, c := range []struct{ packet, kept int }{{1, 0}, {0, 1}, {0, 1}, {2, 1}, {1, 2}, {1, 2}, {2, 3}} {
		if err := a.Receive(1, packets[c.packet], nil); err != nil || a.find(2).early.got != uint64(c.kept) || len(a.find(2).early.packets) != c.kept*(1+len(packets[0])) {
			t.Errorf("step %d: %d frames are kept, want %d: %v", i, a.find(2).early.got, c.kept, err)
		}
	}
	a, b = sessionPair(t, LinkLimits{})
	b.Install(1, sessionView(2, 1, 2))
	sessionCarry(t, 1, b, a)
	a.Install(2, sessionView(2, 1, 2))
	a.Early(2, nil)
	if sessionCarry(t, 2, a, b); b.find(1).link.waits() {
		t.Error("a question that came early was not answered")
	}
}

// A process that is not, or no longer, a member is told so; one that lags is not.
func TestSessionsStrangers(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	c := NewLinks(3, LinkLimits{})
	c.Install(0, sessionView(1, 1, 2, 3)) // no other member has agreed
	c.Up(0, 1)
	_, p, _ := c.Next(0, nil)
	none := func(uint64, []byte) error { t.Error("a frame came"); return nil }
	for what, err := range map[string]error{
		"from a stranger": a.Receive(0, p, none),
		"for another":     b.Receive(0, p, none),
		"from itself":     c.Receive(0, p, none),
	} {
		if !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := a.Install(0, sessionView(2, 2, 3)); !errors.Is(err, ErrGone) {
		t.Errorf("installed outside: %v", err)
	}
	b.Send(1, []byte("old"))
	_, old, _ := b.Next(0, nil)
	if err := a.Install(0, sessionView(5, 1, 2)); err != nil || a.Install(0, sessionView(5, 1, 2)) == nil || a.Install(0, sessionView(4, 1, 2)) == nil {
		t.Errorf("%v; want each epoch once, and rising", err)
	}
	if err := a.Receive(0, old, none); err != nil {
		t.Error(err)
	}
	for from := range uint64(1000) { // nor may many of them fill the memory
		var w writer
		for _, x := range []uint64{9, from + 10, 1, 0, 0, 1, 1, 1} {
			w.number(x)
		}
		w.blob(make([]byte, 10))
		if err := a.Receive(0, w, none); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.peers) > 1+maxStrangers || a.Newer() != 9 {
		t.Errorf("%d peers, newer is %d", len(a.peers), a.Newer())
	}
	if a.Install(0, sessionView(7, 1, 2)); a.Newer() != 9 {
		t.Errorf("newer is %d, want 9", a.Newer())
	}
	if err := a.Receive(0, []byte{9, 2, 1, 1, 0, 1, 1, 0}, none); !errors.Is(err, ErrPacket) {
		t.Errorf("%v: want a confirmation of what cannot have been sent refused", err)
	}
	a.Up(0, 5000)
	a.Down(0, 5000)
	if a.find(5000) != nil {
		t.Error("want somebody forgotten with whom there is nothing")
	}
	if a.Install(0, sessionView(9, 1, 2)); len(a.peers) != 1 {
		t.Errorf("%d peers are left", len(a.peers))
	}
}

// A frame that makes the host install a view is the last of its epoch.
func TestSessionsInstallWithin(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	b.Send(1, []byte("one"))
	b.Send(1, []byte("two"))
	_, p, _ := b.Next(0, nil)
	came := 0
	err := a.Receive(0, p, func(uint64, []byte) error { came++; return a.Install(0, sessionView(2, 1, 2)) })
	if err != nil || came != 1 {
		t.Errorf("%d frames came: %v", came, err)
	}
}

// So is one that came early and is handed out with a later packet: that packet is
// of the old epoch by then.
func TestSessionsInstallWithinEarly(t *testing.T) {
	for _, next := range []View{sessionView(3, 1, 2), sessionView(3, 1, 3)} {
		a, b := sessionPair(t, LinkLimits{})
		b.Install(0, sessionView(2, 1, 2))
		b.Send(1, []byte("one"))
		_, early, _ := b.Next(0, nil)
		if err := a.Receive(0, early, nil); err != nil {
			t.Fatal(err)
		}
		a.Install(0, sessionView(2, 1, 2))
		b.Send(1, []byte("two"))
		_, p, _ := b.Next(0, nil)
		came := 0
		err := a.Receive(0, p, func(uint64, []byte) error { came++; return a.Install(0, next) })
		if err != nil || came != 1 || len(a.Ended()) > 0 {
			t.Errorf("%d frames came: %v", came, err)
		}
	}
}

// There is room for bulk frames while less than the window is unconfirmed, and
// small windows are confirmed soon.
func TestSessionsRoom(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{Window: 100, Patience: 1000})
	for i, want := range []bool{true, true, true, false, false} {
		if got := a.Room(2); got != want {
			t.Errorf("room after %d frames: %v", i, got)
		}
		a.Send(2, make([]byte, 40))
	}
	sessionCarry(t, 1, a, b)
	if a.Room(2) {
		t.Error("room before anything is confirmed")
	}
	if sessionCarry(t, 1, b, a); !a.Room(2) {
		t.Error("no room after more than the window has come")
	}
	if a.Room(1) || a.Room(3) {
		t.Error("room for one that is not another member")
	}
	a.Send(2, make([]byte, 200))
	if a.Down(2, 2); a.Room(2) {
		t.Error("room without a connection, with the window full")
	}
	if a.Install(3, sessionView(2, 1, 2)); !a.Room(2) {
		t.Error("no room on a new link")
	}
}

// Ended costs nothing when no link has ended.
func TestSessionsEnded(t *testing.T) {
	a, _ := sessionPair(t, LinkLimits{Bytes: 100})
	if n := testing.AllocsPerRun(100, func() { a.Ended() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	a.Send(2, make([]byte, 200))
	a.Send(2, make([]byte, 200))
	a.Install(1, sessionView(2, 1, 2))
	if got := a.Ended(); len(got) != 1 || got[0].Peer != 2 || !errors.Is(got[0].Why, ErrFull) {
		t.Errorf("got %v, want one full link", got)
	}
	if got := a.Ended(); got != nil {
		t.Errorf("got %v again", got)
	}
}

// Peers take turns, and Wake says that there is more.
func TestSessionsTurns(t *testing.T) {
	s := NewLinks(1, LinkLimits{})
	s.Install(5, sessionView(1, 1, 2, 3, 4))
	for _, p := range []uint64{2, 3, 4} {
		s.Up(5, p)
		for range 4 {
			s.Send(p, make([]byte, maxPacket))
		}
	}
	for i := range uint64(12) {
		if to, _, ok := s.Next(5, nil); s.Wake() > 5 && i < 11 || !ok || to != 2+i%3 {
			t.Fatalf("packet %d goes to %d, want %d; it wakes at %d", i, to, 2+i%3, s.Wake())
		}
	}
	if _, _, ok := s.Next(5, nil); ok || s.Wake() != 5+Instant(200*Millisecond) {
		t.Errorf("it wakes at %d", s.Wake())
	}
}

// FuzzSessionsReceive hands any packets to sessions between two views. They stay
// bounded, send only what can be read, and fall silent but for their questions.
func FuzzSessionsReceive(f *testing.F) {
	f.Add([]byte{1, 2, 1, 0, 0, 1, 1, 1, 1, 7}, []byte{2, 2, 1, 0, 0, 1, 1, 1, 1, 7}, []byte{2, 2, 1, 1, 1, 2, 2, 1, 0})
	f.Add([]byte{2, 3, 1, 0, 0, 9, 1, 2, 0, 0}, []byte{3, 3, 1, 0, 0, 1, 1, 1, 0}, []byte{1, 9, 9})
	f.Fuzz(func(t *testing.T, x, y, z []byte) {
		s := NewLinks(1, LinkLimits{Early: 100, Patience: 10, Complain: 100})
		take := func(from uint64, f []byte) error {
			if from != 2 && from != 3 {
				t.Fatalf("a frame from %d", from)
			}
			s.Send(from, f)
			return nil
		}
		for epoch := range uint64(2) {
			s.Install(Instant(epoch), sessionView(epoch+1, 1, 2, 3))
			s.Up(Instant(epoch), 2)
			s.Early(Instant(epoch), take)
			for _, p := range [][]byte{x, y, z} {
				s.Receive(Instant(epoch), p, take)
				for n := 0; ; n++ {
					_, b, ok := s.Next(Instant(epoch), nil)
					var k linkPacket
					if !ok {
						break
					} else if err := k.parse(b); err != nil || n > 10 {
						t.Fatalf("packet %d: %v", n, err)
					}
				}
			}
			for _, p := range s.peers {
				if len(p.early.packets) > 100 {
					t.Fatalf("%d bytes are kept of %d", len(p.early.packets), p.inc)
				}
			}
		}
	})
}

// BenchmarkSessions is what a frame costs from one member to another.
func BenchmarkSessions(b *testing.B) {
	x, y := sessionPair(b, LinkLimits{Patience: 1})
	frame, buf, came := make([]byte, 48), make([]byte, 0, maxPacket), 0
	take := func(uint64, []byte) error { came++; return nil }
	now, n := Instant(0), 0
	b.ReportAllocs()
	for b.Loop() {
		now++
		for range 8 {
			x.Send(2, frame)
			n++
		}
		for _, p, ok := x.Next(now, buf); ok; _, p, ok = x.Next(now, buf) {
			y.Receive(now, p, take)
		}
		for _, p, ok := y.Next(now, buf); ok; _, p, ok = y.Next(now, buf) {
			x.Receive(now, p, take)
		}
	}
	if came != n {
		b.Fatal("not all came")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
}

// Neither a process itself nor a process without an incarnation is a peer.
func TestSessionsPeers(t *testing.T) {
	s := NewLinks(1, LinkLimits{})
	s.Up(0, 1)
	s.Up(0, 0)
	if s.Up(0, 2); len(s.peers) != 1 || s.peers[0].inc != 2 {
		t.Errorf("%d peers", len(s.peers))
	}
}

// A confirmation is not put off when half a window has come, or a quarter of what a link
// may keep, or two packets.
func TestLinkPrompt(t *testing.T) {
	for limit, want := range map[int]int{1000: 250, 1 << 30: 2 * maxPacket, 8 * maxPacket: 2 * maxPacket, 8*maxPacket - 4: 2*maxPacket - 1} {
		if got := NewLink(1, 1, 2, limit, 1).prompt; got != want {
			t.Errorf("a link of %d bytes: %d, want %d", limit, got, want)
		}
	}
	a, _ := sessionPair(t, LinkLimits{Bytes: 1 << 20, Window: 1000})
	if got := a.find(2).link.prompt; got != 500 {
		t.Errorf("a window of 1000 bytes: %d", got)
	}
}

// A packet of a newer epoch is kept even if its sender is not known here: the view that
// is to be installed may have admitted it.
func TestSessionsStrangerIsKept(t *testing.T) {
	a := NewLinks(1, LinkLimits{})
	b := NewLinks(9, LinkLimits{})
	if err := errors.Join(a.Install(0, sessionView(1, 1)), b.Install(0, sessionView(2, 1, 9))); err != nil {
		t.Fatal(err)
	}
	b.Up(0, 1)
	b.Send(1, []byte("early"))
	if got := sessionCarry(t, 0, b, a); len(got) > 0 || a.Newer() != 2 {
		t.Errorf("%q come, the newer epoch is %d", got, a.Newer())
	}
	if err := a.Install(0, sessionView(2, 1, 9)); err != nil {
		t.Fatal(err)
	}
	var got []string
	a.Early(0, func(from uint64, f []byte) error { got = append(got, string(f)); return nil })
	if !slices.Equal(got, []string{"early"}) {
		t.Errorf("%q come", got)
	}
}
