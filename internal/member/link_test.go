package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

// linkPair returns both ends of a link, connected, after their first questions.
func linkPair(t testing.TB, limit int, patience Span) (a, b *Link) {
	a, b = NewLink(3, 7, 9, limit, patience), NewLink(3, 9, 7, limit, patience)
	a.Up()
	b.Up()
	linkCarry(t, 0, a, b)
	linkCarry(t, 0, b, a)
	linkCarry(t, 0, a, b)
	if a.waits() || b.waits() || a.Wake() != Never || b.Wake() != Never {
		t.Fatal("want silence after three packets")
	}
	return a, b
}

// linkCarry carries all that is due from one end to the other. It returns how
// many packets that was, and the frames.
func linkCarry(t testing.TB, now Instant, from, to *Link) (packets int, frames []string) {
	t.Helper()
	for ; from.Due(now); packets++ {
		err := to.Receive(from.Append(nil, now), now, func(f []byte) error { frames = append(frames, string(f)); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	return packets, frames
}

func linkSend(t testing.TB, l *Link, frames ...string) {
	t.Helper()
	for _, f := range frames {
		if err := l.Send([]byte(f)); err != nil {
			t.Fatal(err)
		}
	}
}

// Send copies: the caller's bytes are its own again.
func TestLinkCopies(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	f := []byte("frame")
	if err := a.Send(f); err != nil {
		t.Fatal(err)
	}
	copy(f, "wrong")
	if _, got := linkCarry(t, 0, a, b); len(got) != 1 || got[0] != "frame" {
		t.Errorf("got %q", got)
	}
}

// Requests and responses confirm each other. The last response is confirmed separately,
// after a quarter of the patience; then there is silence.
func TestLinkPiggyback(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	now := Instant(0)
	for range 50 {
		now += 10
		linkSend(t, a, "request")
		n, _ := linkCarry(t, now, a, b)
		linkSend(t, b, "response")
		m, _ := linkCarry(t, now+5, b, a)
		if n != 1 || m != 1 {
			t.Fatalf("%d and %d packets for a request and its response", n, m)
		}
	}
	if a.Wake() != now+5+25 || a.Due(now+29) || !a.Due(now+30) {
		t.Errorf("want the confirmation at %d, it is to be at %d", now+30, a.Wake())
	}
	if n, _ := linkCarry(t, now+30, a, b); n != 1 || a.Wake() != Never || b.Wake() != Never || b.waits() {
		t.Errorf("%d packets; want one confirmation, and silence", n)
	}
}

// Many bytes are confirmed before the delay has passed, so that a stream does not fill the
// link.
func TestLinkConfirmsBytes(t *testing.T) {
	a, b := linkPair(t, 4000, 1_000_000)
	for i := range 1000 {
		linkSend(t, a, string(make([]byte, 100)))
		linkCarry(t, 1, a, b)
		if n, _ := linkCarry(t, 1, b, a); n > 0 && i%10 != 9 {
			t.Fatalf("a confirmation after frame %d, want one in ten", i)
		}
	}
}

// Bytes that were confirmed do not count for the next confirmation.
func TestLinkCountsBytes(t *testing.T) {
	a, b := linkPair(t, 4000, 1_000_000)
	for i := range 40 {
		linkSend(t, a, string(make([]byte, 333))) // three of them are one byte short of a quarter
		linkCarry(t, 1, a, b)
		if n, _ := linkCarry(t, 1, b, a); (n == 1) != (i%4 == 3) {
			t.Fatalf("%d confirmations after frame %d, want one in four", n, i)
		}
	}
}

// Idle links never have anything due; frames that are lost are sent again after
// the patience, which doubles up to a bound, with one packet and not all.
func TestLinkPatience(t *testing.T) {
	a, b := linkPair(t, 1<<20, 100)
	if a.Due(1<<40) || a.Wake() != Never {
		t.Fatal("an idle link wants to send")
	}
	for range 10 {
		linkSend(t, a, string(make([]byte, maxPacket/2)))
	}
	now := Instant(1 << 40)
	for range 10 {
		if !a.Due(now) {
			break
		}
		a.Append(nil, now) // and it is lost
	}
	for _, wait := range []Instant{100, 200, 400, 800, 1600, 1600, 1600} {
		if a.Due(now+wait-1) || a.Wake() != now+wait || !a.Due(now+wait) {
			t.Fatalf("want it to send again after %d, it wakes after %d", wait, a.Wake()-now)
		}
		now += wait
		a.Append(nil, now)
		if a.Due(now) {
			t.Fatal("want one packet before the answer")
		}
	}
	a.Up()
	a.Append(nil, now)
	if a.Wake() != now+100 {
		t.Errorf("it wakes after %d: want a new connection to begin with the first patience", a.Wake()-now)
	}
	now += 100
	if _, got := linkCarry(t, now, a, b); len(got) != 1 {
		t.Fatalf("%d frames came, want the first packet's", len(got))
	}
	linkCarry(t, now, b, a)
	if _, got := linkCarry(t, now, a, b); len(got) != 9 || a.Wake() != now+100 {
		t.Errorf("%d frames came after the answer, and it wakes after %d: want the other nine, and the first patience", len(got), a.Wake()-now)
	}
	a, _ = linkPair(t, 1000, 100)
	a.Up()
	if a.Append(nil, 0); a.Wake() != 100 || !a.Due(100) {
		t.Error("want a question that was lost to be asked again")
	}
}

// A new connection sends again what was lost, and only that.
func TestLinkReconnect(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	linkSend(t, a, "1", "2")
	linkCarry(t, 0, a, b)
	linkSend(t, a, "3")
	a.Append(nil, 0) // it is lost
	late := b.Append(nil, 0)
	a.Down()
	linkSend(t, a, "4")
	if a.Due(1000) {
		t.Fatal("it sends without a connection")
	}
	a.Up()
	if !a.Due(1) {
		t.Fatal("no question on a new connection")
	}
	var p linkPacket
	q := a.Append(nil, 1)
	if err := p.parse(q); err != nil || p.n != 0 || a.Due(1) {
		t.Fatalf("a question with %d frames, and more is due: want it to ask first (%v)", p.n, err)
	}
	if err := a.Receive(late, 1, nil); err != nil || a.Due(1) {
		t.Fatalf("want it to wait for the answer to this question, not to an older one: %v", err)
	}
	if err := b.Receive(q, 1, nil); err != nil { // b has not noticed
		t.Fatal(err)
	}
	linkCarry(t, 1, b, a)
	if err := p.parse(a.Append(nil, 1)); err != nil || p.first != 3 || p.n != 2 {
		t.Errorf("frames from %d on, %d of them: want 3 and 4 (%v)", p.first, p.n, err)
	}
}

// A full link ends with an error that says what to do: frames after a lost one must not
// arrive.
func TestLinkFull(t *testing.T) {
	a, b := linkPair(t, 60, 100)
	linkSend(t, a, string(make([]byte, 40)))
	err := a.Send(make([]byte, 40))
	if !errors.Is(err, ErrFull) || !errors.Is(a.Send(nil), ErrFull) {
		t.Fatalf("%v; want it to be full, and to stay so", err)
	}
	if n, _ := linkCarry(t, 0, a, b); n != 0 || a.Wake() != Never {
		t.Error("it goes on")
	}
	a, b = linkPair(t, 60, 100)
	linkSend(t, a, string(make([]byte, 6000)))
	if _, got := linkCarry(t, 0, a, b); len(got) != 1 {
		t.Error("want one frame of any size taken, if there is no other")
	}
}

// What a link has allocated is about what it keeps, however long it lives, and
// whether or not it is ever empty.
func TestLinkArena(t *testing.T) {
	a, b := linkPair(t, 1<<20, 1)
	for i := range Instant(20_000) {
		linkSend(t, a, string(make([]byte, i%1000)))
		p := a.Append(nil, i)
		linkSend(t, a, "more")
		if err := b.Receive(p, i, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		linkCarry(t, i, b, a)
	}
	if cap(a.kept) > 16<<10 || len(a.kept) == a.head {
		t.Errorf("%d bytes for two frames of at most 1000", cap(a.kept))
	}
	for range 100 {
		linkSend(t, a, string(make([]byte, 5000)))
	}
	linkCarry(t, 20_000, a, b)
	linkCarry(t, 20_000, b, a)
	if cap(a.kept) > idleArena || a.waits() {
		t.Errorf("%d bytes for nothing", cap(a.kept))
	}
}

// A link that once kept a lot frees the memory, even if it is never empty again.
func TestLinkShrinks(t *testing.T) {
	a, b := linkPair(t, 64<<20, 1)
	for range 400 {
		linkSend(t, a, string(make([]byte, 20_000)))
	}
	for now := Instant(1); now < 1000; now++ {
		linkSend(t, a, "more")
		if a.Due(now) {
			p := a.Append(nil, now)
			linkSend(t, a, "more")
			if err := b.Receive(p, now, func([]byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		linkCarry(t, now, b, a)
	}
	if a.unconfirmed() == 0 || cap(a.kept) > idleArena {
		t.Errorf("%d bytes are allocated for %d", cap(a.kept), a.unconfirmed())
	}
}

// Packets that no peer can have sent are refused as such, those of other links
// as such, and neither changes anything.
func TestLinkRefuses(t *testing.T) {
	packet := func(numbers ...uint64) []byte {
		var w writer
		for _, x := range numbers {
			w.number(x)
		}
		return w
	}
	const much = 1<<64 - 1
	for _, c := range []struct {
		what string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrPacket},
		{"another epoch", packet(4, 9, 7, 0, 0, 0, 1, 0), ErrStranger},
		{"another sender", packet(3, 8, 7, 0, 0, 0, 1, 0), ErrStranger},
		{"another receiver", packet(3, 9, 6, 0, 0, 0, 1, 0), ErrStranger},
		{"epoch 0", packet(0, 9, 7, 0, 0, 0, 1, 0), ErrPacket},
		{"confirms what was never sent", packet(3, 9, 7, 3, 0, 0, 1, 0), ErrPacket},
		{"confirms very much", packet(3, 9, 7, much, 0, 0, 1, 0), ErrPacket},
		{"answers what was never asked", packet(3, 9, 7, 0, 2, 0, 1, 0), ErrPacket},
		{"frame 0", packet(3, 9, 7, 0, 0, 0, 0, 1, 0), ErrPacket},
		{"a frame that is far ahead", packet(3, 9, 7, 0, 0, 0, 1<<33, 1, 0), ErrPacket},
		{"the last frame of all", packet(3, 9, 7, 0, 0, 0, much, 1, 0), ErrPacket},
		{"more frames than bytes", packet(3, 9, 7, 0, 0, 0, 1, 2, 0), ErrPacket},
		{"very many frames", packet(3, 9, 7, 0, 0, 0, 1, much, 0), ErrPacket},
		{"a frame that is longer than the packet", packet(3, 9, 7, 0, 0, 0, 1, 1, 1), ErrPacket},
		{"a very long frame", packet(3, 9, 7, 0, 0, 0, 1, 1, much), ErrPacket},
		{"more than it says", packet(3, 9, 7, 0, 0, 0, 1, 0, 0), ErrPacket},
	} {
		l := NewLink(3, 7, 9, 1000, 100)
		l.Up()
		linkSend(t, l, "x", "y")
		l.Append(nil, 0) // two frames and question 1
		linkSend(t, l, "z")
		before := fmt.Sprintf("%+v", *l)
		err := l.Receive(c.b, 1, func([]byte) error { t.Errorf("%s: a frame came", c.what); return nil })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", c.what, err, c.want)
		}
		if after := fmt.Sprintf("%+v", *l); after != before {
			t.Errorf("%s: it has changed from %s to %s", c.what, before, after)
		}
	}
	peer := NewLink(3, 9, 7, 1000, 100)
	linkSend(t, peer, "x", "y")
	whole := peer.Append(nil, 0)
	for n := range whole {
		if err := NewLink(3, 7, 9, 10, 10).Receive(whole[:n], 0, nil); !errors.Is(err, ErrPacket) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// When a frame is refused, the link ends: it accepts nothing more.
func TestLinkBroken(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	linkSend(t, a, "1", "2")
	wrong, came := errors.New("wrong"), 0
	refuse := func([]byte) error { came++; return wrong }
	p := a.Append(nil, 0)
	if err := b.Receive(p, 0, refuse); !errors.Is(err, wrong) || came != 1 {
		t.Errorf("%v after %d frames", err, came)
	}
	if err := b.Receive(p, 0, refuse); err != nil || came != 1 || !errors.Is(b.Send(nil), wrong) || b.Due(1000) {
		t.Error("it goes on")
	}
}

// FuzzLinkReceive hands anything to a link in the middle of its life. It must
// refuse it or take it, and still be what it was: bounded, and able to send.
func FuzzLinkReceive(f *testing.F) {
	a, b := linkPair(f, 1000, 100)
	linkSend(f, b, "one", "two")
	f.Add(a.Append(nil, 0), b.Append(nil, 0))
	f.Add([]byte{3, 9, 7, 0, 1, 2, 1, 1, 0}, []byte{3, 9, 7, 2, 1, 255, 1, 2, 0, 0, 0})
	f.Fuzz(func(t *testing.T, x, y []byte) {
		l := NewLink(3, 7, 9, 1000, 100)
		l.Up()
		linkSend(t, l, "one", "two", "three")
		for i, p := range [][]byte{x, y, x} {
			if l.Due(Instant(i)) {
				l.Append(nil, Instant(i))
			}
			got, size := l.got, 0
			err := l.Receive(p, Instant(i), func(f []byte) error { size += len(f); return nil })
			if err != nil && (l.got != got || size > 0) {
				t.Fatalf("it takes part of a packet that it refuses: %v", err)
			}
			if size > len(p) || l.acked > l.sent || l.sent > l.last || l.at < l.head || l.at > len(l.kept) || l.next != l.acked+1 && l.at == l.head {
				t.Fatalf("broken by %x: %+v", p, *l)
			}
		}
		for n := 0; l.Due(1000); n++ {
			if n > 2 {
				t.Fatal("it goes on sending")
			}
			var p linkPacket
			if err := p.parse(l.Append(nil, 1000)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// BenchmarkLink is what a frame costs at both ends together: send, packet,
// receive, confirm.
func BenchmarkLink(b *testing.B) {
	for _, batch := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			x, y := linkPair(b, 1<<20, 1)
			frame, buf, came := bytes.Repeat([]byte("f"), 48), make([]byte, 0, maxPacket), 0
			take := func([]byte) error { came++; return nil }
			b.ReportAllocs()
			now, n := Instant(0), 0
			for b.Loop() {
				now++
				for range batch {
					x.Send(frame)
				}
				n += batch
				for x.Due(now) {
					y.Receive(x.Append(buf, now), now, take)
				}
				for y.Due(now) {
					x.Receive(y.Append(buf, now), now, take)
				}
			}
			if came != n || x.waits() {
				b.Fatal("not all came")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/frame")
		})
	}
}

// If some of what was sent is confirmed, the rest is asked about after the patience.
func TestLinkPartlyConfirmed(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	linkSend(t, a, "1")
	linkCarry(t, 1, a, b)
	linkSend(t, a, "2")
	a.Append(nil, 2)       // it is lost
	linkCarry(t, 50, b, a) // which confirms the first
	if a.Wake() != 150 || a.Due(149) || !a.Due(150) {
		t.Fatalf("it wakes at %d, want 150", a.Wake())
	}
	if _, got := linkCarry(t, 150, a, b); len(got) != 1 || got[0] != "2" {
		t.Errorf("%q come", got)
	}
}

// A new connection over which nothing is owed has room for any number of packets, also
// if the one before had room for one.
func TestLinkRoomAgain(t *testing.T) {
	a, b := linkPair(t, 1<<20, 100)
	linkSend(t, a, "1")
	a.Append(nil, 0) // it is lost
	if !a.Due(100) || a.room != 1 {
		t.Fatal("it does not ask again")
	}
	p := a.Append(nil, 100)
	if err := b.Receive(p, 100, func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var k linkPacket
	if err := k.parse(b.Append(nil, 100)); err != nil {
		t.Fatal(err)
	}
	a.confirm(100, k.got, 0) // the answer to the question is lost
	a.Up()
	for range 4 {
		linkSend(t, a, string(make([]byte, maxPacket)))
	}
	if n, got := linkCarry(t, 101, a, b); n != 4 || len(got) != 4 {
		t.Errorf("%d packets with %d frames: want four of each", n, len(got))
	}
}

// A link that has ended keeps nothing, and the first reason counts.
func TestLinkFrees(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	linkSend(t, a, "1")
	linkCarry(t, 0, a, b)
	linkSend(t, a, "2")
	a.Append(nil, 0)
	linkCarry(t, 25, b, a) // which confirms the first
	if a.head == 0 || a.at == 0 {
		t.Fatal("want one of two frames confirmed")
	}
	first := errors.New("first")
	a.end(first)
	a.end(errors.New("second"))
	if a.kept != nil || a.unconfirmed() != 0 || a.over != first || a.at != 0 {
		t.Errorf("it keeps %d bytes, and has ended because of %v", len(a.kept), a.over)
	}
}

// A link that keeps much does not copy all of it for each confirmation.
func TestLinkKeepsItsArena(t *testing.T) {
	a, b := linkPair(t, 64<<20, 1000)
	for range 100 {
		linkSend(t, a, string(make([]byte, 10_000)))
	}
	size := cap(a.kept)
	for range 10 {
		p := a.Append(nil, 1)
		if err := b.Receive(p, 1, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		linkCarry(t, 1, b, a)
		if a.unconfirmed() == 0 || cap(a.kept) != size {
			t.Fatalf("%d of %d bytes are allocated for %d", cap(a.kept), size, a.unconfirmed())
		}
	}
	a, b = linkPair(t, 1000, 100)
	linkSend(t, a, string(make([]byte, 500)))
	linkCarry(t, 1, a, b)
	linkSend(t, a, "more")
	size = cap(a.kept)
	if linkCarry(t, 26, b, a); a.unconfirmed() != 5 || cap(a.kept) != size {
		t.Errorf("%d of %d bytes are allocated for %d", cap(a.kept), size, a.unconfirmed())
	}
	linkCarry(t, 26, a, b)
	if linkCarry(t, 51, b, a); len(a.kept)+a.head+a.at != 0 || cap(a.kept) != size {
		t.Errorf("all is confirmed, and the next frame is put at %d", len(a.kept))
	}
}

// A packet has an epoch, two ends and a first frame, all above 0, and frames that fit.
func TestPacketsAreRefused(t *testing.T) {
	packet := func(numbers []uint64, rest string) []byte {
		var w writer
		for _, x := range numbers {
			w.number(x)
		}
		return append(w, rest...)
	}
	good := []uint64{3, 9, 7, 0, 0, 0, 1, 2} // epoch, from, to, got, echo, ask, first, frames
	var p linkPacket
	if err := p.parse(packet(good, "\x01a\x00")); err != nil || p.last() != 2 {
		t.Fatalf("%v, the last is %d", err, p.last())
	}
	for i, x := range map[int]uint64{0: 0, 1: 0, 2: 0, 6: 0, 7: 4} {
		bad := append([]uint64{}, good...)
		bad[i] = x
		if err := p.parse(packet(bad, "\x01a\x00")); !errors.Is(err, ErrPacket) {
			t.Errorf("number %d is %d: %v", i, x, err)
		}
	}
	over := append([]uint64{}, good...)
	over[6] = 1<<64 - 1
	for _, b := range [][]byte{packet(good, "\x01a"), packet(good, "\x01a\x00\x00"), packet(good, "\x05a\x00"), packet(good[:7], ""), packet(over, "\x01a\x00")} {
		if err := p.parse(b); !errors.Is(err, ErrPacket) {
			t.Errorf("% x: %v", b, err)
		}
	}
	if epoch, from, to, err := PacketEnds(packet(good[:3], "")); epoch != 3 || from != 9 || to != 7 || err != nil {
		t.Errorf("epoch %d from %d to %d, %v", epoch, from, to, err)
	}
	if _, _, _, err := PacketEnds(packet(good[:2], "")); !errors.Is(err, ErrPacket) {
		t.Errorf("without a receiver: %v", err)
	}
}

// When most of what a link has allocated is confirmed, that is used again before more is
// allocated.
func TestLinkUsesRoomAgain(t *testing.T) {
	a, b := linkPair(t, 1<<20, 100)
	a.kept = make([]byte, 0, 600)
	for range 4 {
		linkSend(t, a, string(make([]byte, 100)))
	}
	linkCarry(t, 1, a, b)
	for len(a.kept)+binary.MaxVarintLen64+50 <= cap(a.kept) {
		linkSend(t, a, string(make([]byte, 50)))
	}
	size := cap(a.kept)
	linkCarry(t, 26, b, a) // which confirms the first four
	if a.head < len(a.kept)/2 || a.unconfirmed() == 0 {
		t.Fatalf("%d of %d bytes are confirmed: want more than half, and not all", a.head, len(a.kept))
	}
	if linkSend(t, a, string(make([]byte, 50))); cap(a.kept) != size || a.head != 0 {
		t.Errorf("%d bytes are allocated, %d before", cap(a.kept), size)
	}
	if _, got := linkCarry(t, 27, a, b); len(got) == 0 || len(got[0]) != 50 {
		t.Errorf("%d frames come", len(got))
	}
}

// A frame may be so far ahead that it cannot be taken yet, and no farther.
func TestLinkFarAhead(t *testing.T) {
	_, b := linkPair(t, 1000, 100)
	for first, ok := range map[uint64]bool{1: true, maxAhead: true, maxAhead + 1: false} {
		var w writer
		for _, x := range []uint64{3, 7, 9, 0, 0, 0, first, 0} {
			w.number(x)
		}
		if err := b.Receive(w, 0, nil); (err == nil) != ok || err != nil && !errors.Is(err, ErrPacket) {
			t.Errorf("frame %d: %v", first, err)
		}
	}
}

// An answer to a question of the connection before is none to that of this one.
func TestLinkOldAnswer(t *testing.T) {
	a, b := linkPair(t, 1000, 100)
	a.Up()
	if err := b.Receive(a.Append(nil, 1), 1, nil); err != nil {
		t.Fatal(err)
	}
	late := b.Append(nil, 1)
	a.Up()
	a.Append(nil, 2)
	if err := a.Receive(late, 3, nil); err != nil || !a.asking {
		t.Errorf("it still asks: %v, %v", a.asking, err)
	}
}
