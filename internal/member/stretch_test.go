package member

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// Spans are stretched exactly, and rounded up, up to a day and for every drift.
func TestStretch(t *testing.T) {
	exact := func(d Span, up, down int64) Span {
		n := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(1_000_000+up))
		over := big.NewInt(1_000_000 + down)
		n.Add(n, over).Sub(n, big.NewInt(1))
		return Span(n.Div(n, over).Int64())
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		s := Settings{Lease: 10*Millisecond + Span(r.Int64N(int64(3590*Second))), Drift: r.Int64N(100_001)}
		d := Span(r.Int64N(int64(MaxSpan) + 1))
		if i < 100 {
			d = Span(i)
		}
		if got, want := s.outwait(d), exact(d, s.Drift, 0); got != want {
			t.Fatalf("drift %d: outwait %d is %d, want %d", s.Drift, d, got, want)
		}
		if got, want := s.within(d), max(0, exact(d, -s.Drift, s.Drift)-1); got != want {
			t.Fatalf("drift %d: within %d is %d, want %d", s.Drift, d, got, want)
		}
		if got, want := s.Patience(), exact(s.Lease, s.Drift, -s.Drift); got != want {
			t.Fatalf("drift %d: the patience for %d is %d, want %d", s.Drift, s.Lease, got, want)
		}
	}
}

// Limits that are set stay as they are, down to 1.
func TestLimitsThatAreSet(t *testing.T) {
	one := Limits{Waiters: 1, Names: 1, Idle: 1, Part: 1}
	if got := one.usual(); got != one {
		t.Errorf("%+v becomes %+v", one, got)
	}
	if got, want := (Limits{}).usual(), (Limits{Waiters: 10_000, Names: 100_000, Idle: 1_000_000, Part: 32 << 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
