package model

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// What a model and its workers keep is counted, entry by entry.
func TestBytes(t *testing.T) {
	m := mustModel(t, setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Network: algorithm.Unordered})
	if m.Bytes() != 0 {
		t.Errorf("%d bytes at the beginning", m.Bytes())
	}
	w := m.worker()
	if w.Bytes() != 0 {
		t.Errorf("%d bytes of a worker at the beginning", w.Bytes())
	}
	for _, c := range []counter{{algorithm.None, 10}, {0, 3}, {1, 0}} {
		k := key(nil, c.column, make([]byte, c.value))
		if b, err := m.blobs.number(k, func(*blob) error { return nil }); err != nil || b.seat != c.column || len(b.bytes) != int(c.value) {
			t.Fatalf("%+v, %v", b, err)
		}
	}
	if want := int64(3*perBlob + 2*(11+4+1)); m.Bytes() != want {
		t.Errorf("%d bytes, want %d", m.Bytes(), want)
	}
	w.ids["a"], w.ids["b"] = nil, nil
	known := int64(2 * (perKnown + 16/3))
	for _, step := range []struct {
		add  func()
		more int64
	}{
		{func() {}, 0},
		{func() { w.effects = make([]effect, 3) }, 3 * perEffect},
		{func() { w.maps[1], w.maps[2] = 0, 0 }, 2 * perRenamed},
		{func() { w.rules[rule{}] = nil }, perRule},
		{func() { w.shifts[5] = nil }, perRule},
		{func() { w.classes[class{}] = 0 }, perClass},
	} {
		step.add()
		if known += step.more; w.Bytes() != known {
			t.Errorf("%d bytes of a worker, want %d", w.Bytes(), known)
		}
	}
}

// There may be so many blobs, and no more.
func TestManyBlobs(t *testing.T) {
	all := &blobs{ids: map[string]uint32{}, infos: make([]*blob, maxBlobs-1)}
	describe := func(*blob) error { return nil }
	if b, err := all.number([]byte{0, 1}, describe); err != nil || b.id != maxBlobs-1 {
		t.Fatalf("the last blob: %+v, %v", b, err)
	}
	if _, err := all.number([]byte{0, 2}, describe); !errors.As(err, new(TooMuch)) {
		t.Errorf("one too many: %v", err)
	}
	if b, err := all.number([]byte{0, 1}, describe); err != nil || b.id != maxBlobs-1 {
		t.Errorf("the last blob again: %+v, %v", b, err)
	}
	if all.anchors.Load() {
		t.Error("there are anchors")
	}
	wrong := errors.New("unreadable")
	few := &blobs{ids: map[string]uint32{}}
	if _, err := few.number([]byte{0, 1}, func(*blob) error { return wrong }); err != wrong || len(few.infos) != 0 {
		t.Errorf("a blob that cannot be described: %v, %d kept", err, len(few.infos))
	}
	if _, err := few.number([]byte{0, 1}, func(b *blob) error { b.anchor = []uint64{0}; return nil }); err != nil || !few.anchors.Load() {
		t.Errorf("a blob with an anchor: %v, anchors %v", err, few.anchors.Load())
	}
}

// A step is tried once, by one of the workers, and never if nothing is tried.
func TestTriedOnce(t *testing.T) {
	all := &tried{steps: map[uint64]struct{}{}}
	for _, k := range []uint64{1, 2} {
		if !all.first(k) || all.first(k) {
			t.Errorf("step %d is not tried exactly once", k)
		}
	}
	if (*tried)(nil).first(1) {
		t.Error("a step is tried though none is")
	}
}

// Who waits, one bit for each of those that may, and who waits with nothing in flight.
func TestWaiting(t *testing.T) {
	c := setup{Spec: mutex.Central(0), Nodes: 3}.config(t)
	c.Waiters = []algorithm.ID{2, 1}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	settles := c
	settles.Settles = true
	s, err := New(settles)
	if err != nil {
		t.Fatal(err)
	}
	w, v := m.worker(), s.worker()
	some := map[uint32]bool{}
	g, err := explore.BuildGraph(shown{m, func(g *state) {
		var waiting, calm uint32
		for i, p := range c.Waiters {
			if !g.env.Waits(p) {
				continue
			}
			waiting |= 1 << i
			calm |= 1 << i
			for _, l := range g.messages {
				if from := algorithm.ID(int(l.link) / 3); from == p {
					calm &^= 1 << i
				}
			}
		}
		packed := m.pack(nil, g)
		if got, quiet := w.Waiting(packed); got != waiting || quiet != calm {
			t.Fatalf("%s: %b wait, %b calmly; want %b, %b", contents(g), got, quiet, waiting, calm)
		}
		unsettled := uint32(1 << Always)
		if waiting != 0 {
			unsettled |= 1 << Unsettled
		}
		if got, quiet := v.Waiting(packed); got != unsettled || quiet != 0 {
			t.Fatalf("%s: unsettled %b, %b", contents(g), got, quiet)
		}
		some[waiting] = true
	}}, explore.GraphLimits{})
	if err != nil || g.States() < 10 || len(some) != 4 {
		t.Errorf("%d states, %v wait, %v", g.States(), some, err)
	}
}
