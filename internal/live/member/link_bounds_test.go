package member

import (
	"errors"
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
