package member

import (
	"errors"
	"slices"
	"testing"
)

// A link keeps as many bytes as its limit says, and ends with the first frame that would
// exceed it; a single frame may be larger. A frame counts with the longest possible length
// before it.
func TestLinkLimit(t *testing.T) {
	const length = 10 // bytes of the longest length
	for _, x := range []struct {
		first, second int // bytes of two frames
		limit         int
		ok            bool
	}{
		{10, 10, 11 + 10 + length, true},
		{10, 10, 11 + 10 + length - 1, false},
		{0, 10, 1 + 10 + length, true},
		{0, 10, 1 + 10 + length - 1, false},
	} {
		l := NewLink(1, 2, 3, x.limit, 100)
		if err := l.Send(make([]byte, x.first)); err != nil {
			t.Fatal(err)
		}
		if err := l.Send(make([]byte, x.second)); (err == nil) != x.ok || err != nil && !errors.Is(err, ErrFull) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if err := NewLink(1, 2, 3, 10, 100).Send(make([]byte, 1000)); err != nil {
		t.Errorf("a single large frame: %v", err)
	}
}

// The patience of a link is at least a moment and at most an hour, so that a link neither asks
// without pause nor never.
func TestLinkPatienceBounds(t *testing.T) {
	for patience, want := range map[Span]Instant{-5: 101, 0: 101, 1: 101, 7: 107, 3600 * Second: 100 + 3600*Instant(Second), 3601 * Second: 100 + 3600*Instant(Second)} {
		l := NewLink(1, 2, 3, 1000, patience)
		l.Up()
		if !l.Due(100) {
			t.Fatal("it does not ask")
		}
		l.Append(nil, 100)
		if l.Due(100) || l.Wake() != want {
			t.Errorf("patience %d: due at once %v, asks again at %d, want %d", patience, l.Due(100), l.Wake(), want)
		}
	}
}

// Without a connection there is nothing to send and no reason to wake, however much is kept
// for the peer.
func TestLinksWithoutConnection(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	a.Send(2, []byte("is not confirmed"))
	if _, _, ok := a.Next(0, nil); !ok {
		t.Fatal("it is not sent")
	}
	b.Send(1, []byte("must be confirmed"))
	sessionCarry(t, 0, b, a)
	if a.Wake() == Never {
		t.Fatal("nothing is due")
	}
	a.Down(0, 2)
	a.Send(2, []byte("cannot be sent"))
	for _, now := range []Instant{0, 1000 * Instant(Second)} {
		if _, _, ok := a.Next(now, nil); ok || a.Wake() != Never {
			t.Errorf("at %d a packet is due: %v; it is woken at %d", now, ok, a.Wake())
		}
	}
	a.Up(0, 2)
	if _, _, ok := a.Next(0, nil); !ok {
		t.Error("nothing is due after the connection is back")
	}
}

// A question that is answered before it was asked again is not asked again.
func TestLinkAnsweredMeanwhile(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	a.Up()
	question := a.Append(nil, 0)
	none := func([]byte) error { t.Error("a frame arrives"); return nil }
	if err := b.Receive(question, 0, none); err != nil {
		t.Fatal(err)
	}
	answer := b.Append(nil, 0)
	if !a.Due(100) {
		t.Fatal("it does not ask again")
	}
	if err := a.Receive(answer, 100, none); err != nil {
		t.Fatal(err)
	}
	if a.Due(100) || a.Wake() != Never {
		t.Errorf("after the answer: due %v, woken at %d", a.Due(100), a.Wake())
	}
}

// A packet has as many frames as fit into it, and at least one.
func TestLinkFillsPackets(t *testing.T) {
	const quarter = maxPacket / 4
	for _, x := range []struct {
		sizes []int // of frames, with their lengths
		want  []int // frames in each packet
	}{
		{[]int{quarter, quarter, quarter, quarter}, []int{4}},
		{[]int{quarter, quarter, quarter, quarter, quarter, quarter, quarter, quarter, quarter}, []int{4, 4, 1}},
		{[]int{quarter + 1, quarter, quarter, quarter}, []int{3, 1}},
		{[]int{quarter + 1, quarter, quarter, quarter, quarter}, []int{3, 2}},
		{[]int{2 * maxPacket, quarter, quarter}, []int{1, 2}},
		{[]int{quarter, 2 * maxPacket}, []int{1, 1}},
	} {
		a, _ := linkPair(t, 1<<20, 100)
		for _, size := range x.sizes {
			length := 2
			if size > 1<<14 {
				length = 3
			}
			linkSend(t, a, string(make([]byte, size-length)))
		}
		var got []int
		for a.Due(0) {
			var p linkPacket
			if err := p.parse(a.Append(nil, 0)); err != nil {
				t.Fatal(err)
			}
			got = append(got, int(p.n))
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("frames of %v bytes: %v in each packet, want %v", x.sizes, got, x.want)
		}
	}
}

// The patience begins with the first packet that is not answered: what is sent later does
// not postpone the question.
func TestLinkPatienceIsNotPostponed(t *testing.T) {
	a, _ := linkPair(t, 1000, 100)
	for _, now := range []Instant{0, 50, 99} {
		linkSend(t, a, "x")
		if a.Append(nil, now); a.Wake() != 100 {
			t.Errorf("after a packet at %d it asks again at %d, want 100", now, a.Wake())
		}
	}
}

// A link that has received very many frames goes on.
func TestLinkAfterManyFrames(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	const many = 1 << 40
	a.acked, a.sent, a.last, a.next, b.got = many, many, many, many+1, many
	linkSend(t, a, "one more")
	if _, got := linkCarry(t, 0, a, b); !slices.Equal(got, []string{"one more"}) {
		t.Errorf("got %q", got)
	}
}

// A packet that claims more frames than it has bytes is refused before they are read.
func TestLinkEndlessPacket(t *testing.T) {
	var p linkPacket
	if err := p.parse(packetOf(1, 2, 3, 0, 0, 0, 1, 1<<60)); !errors.Is(err, ErrPacket) {
		t.Errorf("%v", err)
	}
}

// packetOf returns a packet of these numbers: epoch, from, to, got, echo, ask, first and the
// number of frames.
func packetOf(numbers ...uint64) []byte {
	var w writer
	for _, x := range numbers {
		w.number(x)
	}
	return w
}

// Links refuse packets that are not for them: to another incarnation, from themselves, or
// from a process that is connected but not a member. They keep nothing of them.
func TestLinksRefuseStrangers(t *testing.T) {
	none := func(uint64, []byte) error { t.Error("a frame arrives"); return nil }
	a, _ := sessionPair(t, LinkLimits{})
	a.Up(0, 5)
	for what, packet := range map[string][]byte{
		"to another":              packetOf(1, 2, 9, 0, 0, 9, 1, 0),
		"to another, later":       packetOf(8, 2, 9, 0, 0, 9, 1, 0),
		"from itself":             packetOf(1, 1, 1, 0, 0, 9, 1, 0),
		"from itself, later":      packetOf(8, 1, 1, 0, 0, 9, 1, 0),
		"connected, not a member": packetOf(1, 5, 1, 0, 0, 9, 1, 0),
		"neither of them":         packetOf(1, 6, 1, 0, 0, 9, 1, 0),
	} {
		if err := a.Receive(0, packet, none); !errors.Is(err, ErrStranger) || a.Newer() != 0 || len(a.peers) != 2 {
			t.Errorf("%s: %v; newer is %d, %d peers", what, err, a.Newer(), len(a.peers))
		}
	}
	for what, packet := range map[string][]byte{"confirms": packetOf(8, 2, 1, 1, 0, 9, 1, 0), "answers": packetOf(8, 2, 1, 0, 1, 9, 1, 0)} {
		if err := a.Receive(0, packet, none); !errors.Is(err, ErrPacket) || a.Newer() != 0 {
			t.Errorf("%s what was not sent in a newer epoch: %v; newer is %d", what, err, a.Newer())
		}
	}
}

// There is room for bulk frames until the bytes that are not confirmed fill the window.
func TestLinksRoomEndsAtTheWindow(t *testing.T) {
	for size, want := range map[int]bool{8: true, 9: false, 10: false} {
		a, _ := sessionPair(t, LinkLimits{Window: 10})
		a.Send(2, make([]byte, size)) // with a byte for its length
		if a.Room(2) != want {
			t.Errorf("room after %d bytes: %v", size+1, !want)
		}
	}
}

// Neither packets on a link that has ended nor the next view end a complaint.
func TestComplaintsOutliveALink(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{Patience: 10, Complain: 100})
	a.Send(2, []byte("is lost"))
	a.Next(10, nil) // a waits from now on
	for _, now := range []Instant{30, 50} {
		b.Send(1, []byte("refused"))
		_, p, ok := b.Next(now, nil)
		if !ok {
			t.Fatal("nothing is sent")
		}
		if err := a.Receive(now, p, func(uint64, []byte) error { return errors.New("refused") }); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.Ended()) != 1 {
		t.Fatal("the link has not ended")
	}
	if err := a.Install(60, sessionView(2, 1, 2)); err != nil {
		t.Fatal(err)
	}
	if got := a.Complaints(109); len(got) > 0 {
		t.Errorf("it complains about %v too early", got)
	}
	if got := a.Complaints(110); !slices.Equal(got, []uint64{2}) {
		t.Errorf("it complains about %v, want 2", got)
	}
}

// A new connection on which nothing is answered is complained about from when it began.
func TestComplaintAboutNewConnection(t *testing.T) {
	a, _ := sessionPair(t, LinkLimits{Patience: 10, Complain: 100})
	a.Up(10, 2)
	a.Next(60, nil)
	if got := a.Complaints(110); !slices.Equal(got, []uint64{2}) {
		t.Errorf("it complains about %v, want 2", got)
	}
}

// Early packets of a process that is not a member yet are kept over the views before its
// own, up to the bound, whether or not it is connected.
func TestEarlyPacketsOutliveAView(t *testing.T) {
	c := NewLinks(3, LinkLimits{})
	if err := c.Install(0, sessionView(3, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	c.Up(0, 1)
	c.Send(1, []byte("early"))
	_, p, ok := c.Next(0, nil)
	if !ok {
		t.Fatal("nothing is sent")
	}
	kept := len(p) + 10 // with the longest length
	for _, x := range []struct {
		early int
		up    bool
		want  int
	}{{kept, false, 1}, {kept, true, 1}, {kept - 1, false, 0}, {kept - 1, true, 0}} {
		a, _ := sessionPair(t, LinkLimits{Early: x.early})
		if x.up {
			a.Up(0, 3)
		}
		if err := a.Receive(0, p, nil); err != nil {
			t.Fatal(err)
		}
		for _, v := range []View{sessionView(2, 1, 2), sessionView(3, 1, 2, 3)} {
			if err := a.Install(0, v); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		a.Early(0, func(from uint64, frame []byte) error { got++; return nil })
		if got != x.want {
			t.Errorf("%+v: %d frames arrive", x, got)
		}
	}
}

// A view that is installed while early frames are handed out ends them, including those in other
// packets.
func TestInstallEndsEarlyPackets(t *testing.T) {
	a, b := sessionPair(t, LinkLimits{})
	if err := b.Install(0, sessionView(2, 1, 2)); err != nil {
		t.Fatal(err)
	}
	for i, frame := range []string{"one", "two"} { // the first comes again with the second
		b.Send(1, []byte(frame))
		sessionCarry(t, Instant(i)*Instant(Second), b, a)
	}
	if err := a.Install(0, sessionView(2, 1, 2)); err != nil {
		t.Fatal(err)
	}
	got := 0
	a.Early(0, func(uint64, []byte) error { got++; return a.Install(0, sessionView(3, 1, 2)) })
	if got != 1 || len(a.Ended()) > 0 {
		t.Errorf("%d frames arrive", got)
	}
}

// Only processes that are neither members nor connected count as strangers.
func TestStrangersAreCounted(t *testing.T) {
	newer := func(from uint64) []byte { return append(packetOf(9, from, 1, 0, 0, 1, 1, 1), 1, 'x') }
	var members []uint64
	for inc := range uint64(MaxMembers) {
		members = append(members, inc+1)
	}
	a := NewLinks(1, LinkLimits{})
	if err := a.Install(0, sessionView(1, members...)); err != nil {
		t.Fatal(err)
	}
	for inc := range uint64(maxStrangers) {
		a.Up(0, 1000+inc)
	}
	for inc := range uint64(maxStrangers) {
		if err := a.Receive(0, newer(2000+inc), nil); err != nil || a.find(2000+inc) == nil {
			t.Fatalf("stranger %d is not kept (%v)", inc, err)
		}
	}
	if err := a.Receive(0, newer(3000), nil); err != nil || a.find(3000) != nil {
		t.Errorf("one stranger too many is kept (%v)", err)
	}
}

// Before its first view a member has no early frames, even if a peer is connected.
func TestNothingEarlyBeforeTheFirstView(t *testing.T) {
	a := NewLinks(1, LinkLimits{})
	a.Up(0, 2)
	a.Early(0, func(uint64, []byte) error { t.Error("a frame arrives"); return nil })
	if _, _, ok := a.Next(0, nil); ok || a.Wake() != Never {
		t.Error("a packet is due")
	}
}
