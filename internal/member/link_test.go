package member

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// What is sent on a link arrives once and in order, whatever the connections
// lose, double and break; when they are whole again all of it has come.
func TestLink(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		a, b := NewLink(3, 7, 9, 1<<20, 10), NewLink(3, 9, 7, 1<<20, 10)
		var ab, ba [][]byte
		var sentA, sentB, gotA, gotB uint64
		now := Instant(0)
		number := func(n uint64) []byte { return binary.AppendUvarint(make([]byte, 0, 8), n) }
		expect := func(got *uint64) func(f []byte) error {
			return func(f []byte) error {
				v, _ := binary.Uvarint(f)
				if *got++; v != *got {
					t.Fatalf("seed %d: frame %d came as number %d", seed, v, *got)
				}
				return nil
			}
		}
		carry := func(from, to *Link, pipe *[][]byte, got *uint64, lossy bool) {
			if from.Due(now) {
				*pipe = append(*pipe, from.Append(nil, now))
			}
			if len(*pipe) == 0 {
				return
			}
			p := (*pipe)[0]
			switch k := r.IntN(10); {
			case lossy && k == 0: // lost
			case lossy && k == 1: // doubled
				for range 2 {
					if err := to.Receive(p, now, expect(got)); err != nil {
						t.Fatal(err)
					}
				}
			default:
				if err := to.Receive(p, now, expect(got)); err != nil {
					t.Fatal(err)
				}
			}
			*pipe = (*pipe)[1:]
		}
		for i := range 600 {
			now += Instant(r.IntN(4))
			lossy := i < 400
			if i == 400 {
				a.Up()
				b.Up()
			}
			switch k := r.IntN(12); {
			case lossy && k < 3:
				sentA++
				a.Send(number(sentA))
			case lossy && k < 5:
				sentB++
				b.Send(number(sentB))
			case lossy && k == 5:
				a.Down()
				b.Down()
				ab, ba = nil, nil
			case lossy && k == 6:
				a.Up()
				b.Up()
			case k < 9:
				carry(a, b, &ab, &gotB, lossy)
			default:
				carry(b, a, &ba, &gotA, lossy)
			}
		}
		for range 40 {
			now += 20
			carry(a, b, &ab, &gotB, false)
			carry(b, a, &ba, &gotA, false)
		}
		if gotB != sentA || gotA != sentB || a.Due(now) || b.Due(now) || a.bytes+b.bytes != 0 {
			t.Fatalf("seed %d: %d of %d and %d of %d came, %d bytes kept", seed, gotB, sentA, gotA, sentB, a.bytes+b.bytes)
		}
	}
}

// Packets of somebody else, and such as cannot be, are refused; a link that is
// full says so and loses nothing.
func TestLinkRefuses(t *testing.T) {
	l := NewLink(3, 7, 9, 10, 10)
	none := func([]byte) error { t.Error("a frame came"); return nil }
	for _, other := range []*Link{NewLink(4, 9, 7, 9, 9), NewLink(3, 8, 7, 9, 9), NewLink(3, 9, 6, 9, 9)} {
		if err := l.Receive(other.Append(nil, 0), 0, none); err == nil {
			t.Errorf("a packet of %+v was taken", other)
		}
	}
	peer := NewLink(3, 9, 7, 9, 9)
	peer.got = 1
	if err := l.Receive(peer.Append(nil, 0), 0, none); err == nil {
		t.Error("what was never sent was confirmed")
	}
	peer = NewLink(3, 9, 7, 9, 9)
	peer.Send([]byte("x"))
	whole := peer.Append(nil, 0)
	for n := range whole {
		if err := NewLink(3, 7, 9, 10, 10).Receive(whole[:n], 0, func([]byte) error { return nil }); err == nil {
			t.Errorf("%d of %d bytes were taken for a packet", n, len(whole))
		}
	}
	if l.Send(make([]byte, 9)) != nil || l.Send(make([]byte, 2)) == nil || len(l.kept) != 1 {
		t.Error("want the second frame refused, and the first kept")
	}
}
