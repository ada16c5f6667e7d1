package quorum

import (
	"slices"
	"testing"
)

func TestFirstPrimitivePolynomial(t *testing.T) {
	for _, c := range []struct {
		p, d int
		want element // below x^d
	}{
		{2, 3, element{1, 1, 0}},                             // x^3 + x + 1
		{2, 6, element{1, 1, 0, 0, 0, 0}},                    // x^6 + x + 1
		{2, 9, element{1, 0, 0, 0, 1, 0, 0, 0, 0}},           // x^9 + x^4 + 1
		{2, 12, element{1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}}, // x^12 + x^6 + x^4 + x + 1
		{3, 3, element{1, 2, 0}},                             // x^3 + 2x + 1
		{5, 3, element{2, 3, 0}},                             // x^3 + 3x + 2
	} {
		if got := newField(c.p, c.d).modulus; !slices.Equal(got, c.want) {
			t.Errorf("GF(%d^%d): modulus %v, want %v", c.p, c.d, got, c.want)
		}
	}
}

// A field is one: the powers of x are all elements but 0, and multiplying
// distributes over adding.
func TestFieldLaws(t *testing.T) {
	for _, c := range []struct{ p, d, size int }{{2, 6, 64}, {3, 3, 27}, {5, 3, 125}, {7, 3, 343}} {
		f := newField(c.p, c.d)
		powers := []element{f.one()}
		for len(powers) < c.size-1 {
			powers = append(powers, f.times(powers[len(powers)-1], f.generator()))
		}
		if last := f.times(powers[len(powers)-1], f.generator()); !f.isOne(last) {
			t.Errorf("GF(%d^%d): x to the %d is %v, want 1", c.p, c.d, c.size-1, last)
		}
		sorted := slices.Clone(powers)
		slices.SortFunc(sorted, func(a, b element) int { return slices.Compare(a, b) })
		if distinct := slices.CompactFunc(sorted, func(a, b element) bool { return slices.Equal(a, b) }); len(distinct) != c.size-1 {
			t.Errorf("GF(%d^%d): x has %d powers, want %d", c.p, c.d, len(distinct), c.size-1)
		}
		for i, a := range powers {
			b, e := powers[(3*i+1)%len(powers)], powers[(7*i+2)%len(powers)]
			sum, want := make(element, c.d), f.times(a, b)
			for k, x := range f.times(a, e) {
				sum[k] = (b[k] + e[k]) % c.p
				want[k] = (want[k] + x) % c.p
			}
			if got := f.times(a, sum); !slices.Equal(got, want) {
				t.Fatalf("GF(%d^%d): %v times (%v + %v) is %v, want %v", c.p, c.d, a, b, e, got, want)
			}
			if got, want := f.power(a, 5), f.times(a, f.times(f.times(a, a), f.times(a, a))); !slices.Equal(got, want) {
				t.Fatalf("GF(%d^%d): %v to the 5 is %v, want %v", c.p, c.d, a, got, want)
			}
		}
	}
}
