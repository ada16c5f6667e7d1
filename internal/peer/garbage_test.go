package peer

import (
	"bytes"
	"testing"

	"github.com/stile-lock/stile/internal/engine"
)

// Garbage, and what is for others, is refused and harms nothing.
func TestGarbage(t *testing.T) {
	w := village(t, 1, "a", "b")
	for _, h := range w.houses {
		inc, epoch := h.Inc(), h.Record().Epoch
		for _, b := range [][]byte{
			nil, {}, {3}, {255, 1, 2}, {Packet}, {Packet, 255}, {Service}, {Service, 255}, {Service, byte(engine.Renew)},
			{Service, byte(engine.View), 9, 1, 1}, {Service, byte(engine.State), 9, 0, 0},
			bytes.Repeat([]byte{255}, 100), append([]byte{Packet}, bytes.Repeat([]byte{255}, 100)...),
		} {
			if err := h.Receive(w.now, "x", b); err == nil {
				t.Errorf("%s takes % x", h.name, b)
			}
		}
		if err := h.Receive(w.now, "x", []byte{Post, 255}); (err == nil) == (h.Clerk() != nil) {
			t.Errorf("%s, a letter to a voter: %v", h.name, err)
		}
		if h.Err != nil || h.Inc() != inc || h.Record().Epoch != epoch {
			t.Errorf("%s is harmed: %v", h.name, h.Err)
		}
	}
	a, b := w.houses[0], w.houses[1]
	a.lock("x")
	b.lock("y")
	c := w.build("c")
	for kind := range byte(Post + 1) {
		if err := c.Receive(w.now, "a", []byte{kind, 1, 2, 3}); c.sent > 0 || c.Err != nil {
			t.Errorf("one that has not joined answers: %v", err)
		}
	}
}

// crossroads is a town of three voters, and one that wants to join. It shows what
// is sent meanwhile.
func crossroads(t *testing.T, seen func(b []byte)) *town {
	w := newTown(t)
	w.seen = func(p parcel) { seen(p.bytes) }
	for _, name := range []string{"a", "b", "c", "d"} {
		w.build(name)
	}
	for i, h := range w.houses[:3] {
		h.open()
		if i == 0 {
			h.found(3, 1, 100)
		} else {
			h.must(h.Join(w.now, uint64(100+i)))
		}
	}
	w.until("c is a voter", func() bool { return w.houses[2].Clerk() != nil && len(w.houses[2].Clerk().Lead().Voters) == 3 })
	w.houses[3].must(w.houses[3].Join(w.now, 400))
	for range 2 {
		w.step()
	}
	return w
}

// FuzzReceive hands any bytes to processes that are members, voters, or want to
// be. Whatever they are, nothing panics; what is refused changes nothing; and if
// something makes a process end, it sends nothing more.
func FuzzReceive(f *testing.F) {
	t := new(testing.T)
	w := crossroads(t, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		changed := false
		for _, h := range w.houses {
			inc, epoch, sent := h.Inc(), h.Record().Epoch, h.sent
			err := h.Receive(w.now, "b", b)
			other := h.Inc() != inc || h.Record().Epoch != epoch
			changed = changed || other || h.Err != nil || len(h.ends) > 0
			if err != nil && h.Err == nil && other {
				t.Errorf("%s refuses % x, and is another since: %v", h.name, b, err)
			}
			if h.Err != nil && h.sent != sent {
				t.Errorf("%s must end, and says something", h.name)
			}
			w.post, h.events, h.told = w.post[:0], h.events[:0], h.told[:0]
		}
		if changed {
			w = crossroads(t, func([]byte) {})
		}
	})
}
