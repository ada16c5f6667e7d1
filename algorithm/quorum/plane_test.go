package quorum

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// orders are the prime powers up to 32.
var orders = []int{2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32}

func TestPlaneMeetsInExactlyOne(t *testing.T) {
	for _, q := range orders {
		n := q*q + q + 1
		s, err := Plane(n)
		if err != nil {
			t.Fatalf("order %d: %v", q, err)
		}
		// All sets are shifts of the first, so it is enough that the first
		// meets each of the others once.
		for j := 1; j < n; j++ {
			common := 0
			for id := range s[0].All() {
				if s[j].Has(id) {
					common++
				}
			}
			if common != 1 {
				t.Fatalf("order %d: the sets of processes 1 and %d have %d members in common, want 1", q, j+1, common)
			}
		}
		for j := range s {
			for id := range s[0].All() {
				if shifted := algorithm.ID((int(id) + j) % n); !s[j].Has(shifted) {
					t.Fatalf("order %d: the set of process %d is not the first one shifted: it has no %v", q, j+1, shifted)
				}
			}
		}
		want := Properties{Meet: true, Own: true, Sizes: true, Loads: true, MinSize: q + 1, MaxSize: q + 1, MinLoad: q + 1, MaxLoad: q + 1}
		if got := s.Properties(); got != want {
			t.Errorf("order %d: %+v, want %+v", q, got, want)
		}
	}
}

func TestPlaneCheckAgrees(t *testing.T) {
	for _, n := range []int{7, 13, 21, 31, 57, 73, 91} {
		s, err := Plane(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("plane of %d: %v", n, err)
		}
	}
}

// The textbook difference sets, which do not depend on the field.
func TestPlaneKnown(t *testing.T) {
	for _, c := range []struct {
		n    int
		line []algorithm.ID
	}{{7, []algorithm.ID{0, 1, 3}}, {13, []algorithm.ID{0, 1, 3, 9}}} {
		s, err := Plane(c.n)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(s[0].All()); !slices.Equal(got, c.line) {
			t.Errorf("plane of %d: the first line is %v, want %v", c.n, got, c.line)
		}
	}
}

func TestPlaneRefused(t *testing.T) {
	for _, c := range []struct{ n, below, above int }{
		{-5, 7, 13}, {0, 7, 13}, {1, 7, 13}, {2, 7, 13}, {3, 7, 13}, {6, 7, 13}, {8, 7, 13}, {12, 7, 13},
		{14, 13, 21}, {22, 21, 31}, {32, 31, 57},
		{43, 31, 57}, // order 6
		{56, 31, 57}, {100, 91, 133},
		{111, 91, 133},                  // order 10
		{211, 183, 273},                 // order 14
		{1_000_000, 995_007, 1_019_091}, // 997 and 1009
	} {
		_, err := Plane(c.n)
		want := fmt.Sprintf("no plane has %d processes: the nearest sizes are %d and %d", c.n, c.below, c.above)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Plane(math.MaxInt); err == nil {
		t.Error("a plane of more processes than memory was not refused")
	}
}
