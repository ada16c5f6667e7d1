package ring

import (
	"testing"

	"github.com/stile-lock/stile/check/explore"
)

// The exact bounds: N-1 values for one mover (2 at least), N for several. With
// messages a copy of a flag, and a message that was there before, count like
// processes of their own.
func TestRingBounds(t *testing.T) {
	got, err := Bounds()
	if err != nil {
		t.Fatal(err)
	}
	want := map[Mover][]int{ // from N=2
		OneMoves:      {2, 2, 3, 4, 5},
		SeveralMove:   {2, 3, 4, 5, 6},
		AllMove:       {2, 3, 4, 5, 6},
		EmptyLinks:    {4, 6},
		LitteredLinks: {6},
	}
	n := 0
	for _, b := range got {
		if b.K != want[b.Mover][b.N-2] {
			t.Errorf("%v, N=%d: smallest K is %d, want %d", b.Mover, b.N, b.K, want[b.Mover][b.N-2])
		}
		n++
	}
	if n != 18 {
		t.Errorf("%d bounds, want 18", n)
	}
}

// More values never hurt, as far as looked.
func TestRingMoreValues(t *testing.T) {
	for _, m := range []Mover{OneMoves, SeveralMove, AllMove} {
		for n := 2; n <= 4; n++ {
			least, err := smallestK(n, m)
			if err != nil {
				t.Fatal(err)
			}
			for k := least.K; k <= n+2; k++ {
				if ok, _, err := (Ring{N: n, K: k, Mover: m}).Converges(); err != nil || !ok {
					t.Errorf("%v N=%d K=%d: converges is %v (%v), but %d values are enough", m, n, k, ok, err, least.K)
				}
			}
		}
	}
}

// The reductions of the ring with messages change no verdict.
func TestRingReductions(t *testing.T) {
	for _, c := range []struct {
		n, most int
		m       Mover
	}{{2, 5, EmptyLinks}, {2, 4, LitteredLinks}, {3, 2, EmptyLinks}} {
		for k := 2; k <= c.most; k++ {
			reduced, few, err := (Ring{N: c.n, K: k, Mover: c.m}).Converges()
			if err != nil {
				t.Fatal(err)
			}
			plain, many, err := (Ring{N: c.n, K: k, Mover: c.m, plain: true}).Converges()
			if err != nil {
				t.Fatal(err)
			}
			if reduced != plain || few >= many {
				t.Errorf("%v N=%d K=%d: converges is %v in %d reduced states, %v in all %d", c.m, c.n, k, reduced, few, plain, many)
			}
		}
	}
}

// Two values, all moving at once from 0101: three privileges for ever, with a
// period of eight.
func TestRingPeriod(t *testing.T) {
	r := Ring{N: 4, K: 2, Mover: AllMove}
	w := r.Worker()
	state, start := []byte{0, 1, 0, 1}, []byte{0, 1, 0, 1}
	for round := 1; ; round++ {
		var next []byte
		if _, err := w.Next(state, func(_ explore.Step, b []byte) { next = append([]byte{}, b...) }); err != nil {
			t.Fatal(err)
		}
		state = next
		if string(state) == string(start) {
			if round != 8 {
				t.Errorf("the period is %d, want 8", round)
			}
			return
		}
		if p := r.privileged(state); p == 0 || p&(p-1) == 0 || round > 8 {
			t.Fatalf("round %d: %v has the privileges %b", round, state, p)
		}
	}
}
