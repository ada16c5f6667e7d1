package quorum

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// set returns a set of processes numbered from 1.
func set(processes ...int) algorithm.Set {
	var s algorithm.Set
	for _, p := range processes {
		s.Add(algorithm.ID(p - 1))
	}
	return s
}

// common returns the members of both sets, numbered from 1.
func common(a, b algorithm.Set) []int {
	var both []int
	for id := range a.All() {
		if b.Has(id) {
			both = append(both, int(id)+1)
		}
	}
	return both
}

func TestGridAndMajorityForEveryN(t *testing.T) {
	for n := 1; n <= 130; n++ {
		for _, c := range []struct {
			name  string
			build Builder
		}{{"grid", Grid}, {"majority", Majority}} {
			s, err := c.build(n)
			if err != nil {
				t.Fatalf("%s of %d: %v", c.name, n, err)
			}
			if len(s) != n {
				t.Fatalf("%s of %d has %d sets", c.name, n, len(s))
			}
			if err := s.Check(); err != nil {
				t.Errorf("%s of %d: %v", c.name, n, err)
			}
			if !s.Properties().Own {
				t.Errorf("%s of %d: a process is not in its own set", c.name, n)
			}
		}
	}
}

func TestGridOfSquares(t *testing.T) {
	for root := 1; root <= 12; root++ {
		s, err := Grid(root * root)
		if err != nil {
			t.Fatal(err)
		}
		k := 2*root - 1
		want := Properties{Meet: true, Own: true, Sizes: true, Loads: true, MinSize: k, MaxSize: k, MinLoad: k, MaxLoad: k}
		if got := s.Properties(); got != want {
			t.Errorf("grid of %d: %+v, want %+v", root*root, got, want)
		}
	}
}

// The 6x6 grid, numbered by rows.
func TestGridOf36(t *testing.T) {
	s, err := Grid(36)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b int
		want []int
	}{{14, 6, []int{2, 18}}, {3, 23, []int{5, 21}}} {
		if got := common(s[c.a-1], s[c.b-1]); !slices.Equal(got, c.want) {
			t.Errorf("the sets of %d and %d meet in %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestMajoritySize(t *testing.T) {
	for _, c := range []struct{ n, k int }{{1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 3}, {6, 4}, {100, 51}} {
		s, err := Majority(c.n)
		if err != nil {
			t.Fatal(err)
		}
		want := Properties{Meet: true, Own: true, Sizes: true, Loads: true, MinSize: c.k, MaxSize: c.k, MinLoad: c.k, MaxLoad: c.k}
		if got := s.Properties(); got != want {
			t.Errorf("majority of %d: %+v, want %+v", c.n, got, want)
		}
	}
}

func TestNobodyIsRefused(t *testing.T) {
	for _, build := range []Builder{Grid, Majority, Plane} {
		for _, n := range []int{0, -1, -1000} {
			if s, err := build(n); err == nil {
				t.Errorf("a system of %d processes has %d sets, want an error", n, len(s))
			}
		}
	}
}

func TestGiven(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		sets System
		want string // in the error; empty if there is none
	}{
		{"good", 3, System{set(1, 2), set(1, 2, 3), set(1, 3)}, ""},
		{"without oneself", 3, System{set(2, 3), set(2, 3), set(3)}, ""},
		{"a pair that does not meet", 4, System{set(1, 2), set(2, 3), set(2, 3, 4), set(3, 4)}, "processes 1 and 4 do not intersect"},
		{"another pair", 3, System{set(1, 2, 3), set(2), set(3)}, "processes 2 and 3 do not intersect"},
		{"an empty set", 2, System{set(1), set()}, "the set of process 2 is empty"},
		{"a stranger", 2, System{set(1, 2), set(2, 3)}, "the set of process 2 names process 3, but there are only 2"},
		{"too few", 3, System{set(1, 2), set(1, 2)}, "2 sets for 3 processes"},
		{"too many", 1, System{set(1), set(1)}, "2 sets for 1 processes"},
	} {
		s, err := Given(c.sets)(c.n)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "" && len(s) != c.n:
			t.Errorf("%s: %d sets, want %d", c.name, len(s), c.n)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestAgainstDumb compares Check and Properties with versions that follow the
// definitions word by word, over systems of all sorts.
func TestAgainstDumb(t *testing.T) {
	seed := uint64(1)
	draw := func(below int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % below
	}
	good, bad := 0, 0
	for range 2000 {
		n := 1 + draw(9)
		s := make(System, n)
		for i := range s {
			for range 1 + draw(n+2) {
				s[i].Add(algorithm.ID(draw(n)))
			}
		}
		if (s.Check() == nil) != dumbIntersects(s) {
			t.Fatalf("%v: Check says %v, the definition %v", s, s.Check(), dumbIntersects(s))
		}
		if s.Check() == nil {
			good++
		} else {
			bad++
		}
		if got, want := s.Properties(), dumbProperties(s); got != want {
			t.Fatalf("%v: %+v, want %+v", s, got, want)
		}
	}
	if good < 100 || bad < 100 {
		t.Fatalf("%d good and %d bad systems: the draw does not test much", good, bad)
	}
}

// Each property can fail on its own, and the words say which.
func TestPropertiesInWords(t *testing.T) {
	for _, test := range []struct {
		sets System
		want string
	}{
		{System{algorithm.SetOf(0, 1), algorithm.SetOf(1, 2), algorithm.SetOf(2, 0)}, "M1 any two meet: yes; M2 each has its owner: yes; M3 equal sizes: yes, K=2; M4 equal loads: yes, D=2"},
		{System{algorithm.SetOf(0), algorithm.SetOf(1)}, "M1 any two meet: no; M2 each has its owner: yes; M3 equal sizes: yes, K=1; M4 equal loads: yes, D=1"},
		{System{algorithm.SetOf(1, 2), algorithm.SetOf(2, 0), algorithm.SetOf(0, 1)}, "M1 any two meet: yes; M2 each has its owner: no; M3 equal sizes: yes, K=2; M4 equal loads: yes, D=2"},
		{System{algorithm.SetOf(0, 1), algorithm.SetOf(0, 1), algorithm.SetOf(0, 2)}, "M1 any two meet: yes; M2 each has its owner: yes; M3 equal sizes: yes, K=2; M4 equal loads: no, D=1..3"},
		{System{algorithm.SetOf(0, 1, 2), algorithm.SetOf(2, 1), algorithm.SetOf(2)}, "M1 any two meet: yes; M2 each has its owner: yes; M3 equal sizes: no, K=1..3; M4 equal loads: no, D=1..3"},
	} {
		if got := test.sets.Properties().String(); got != test.want {
			t.Errorf("%v:\ngot  %s\nwant %s", test.sets, got, test.want)
		}
	}
}

func dumbIntersects(s System) bool {
	for i := range s {
		for j := range s {
			if len(common(s[i], s[j])) == 0 {
				return false
			}
		}
	}
	return true
}

func dumbProperties(s System) Properties {
	n := len(s)
	var sizes, loads []int
	p := Properties{Meet: dumbIntersects(s), Own: true}
	for i := range s {
		size, load := 0, 0
		for j := range n {
			if s[i].Has(algorithm.ID(j)) {
				size++
			}
			if s[j].Has(algorithm.ID(i)) {
				load++
			}
		}
		if !s[i].Has(algorithm.ID(i)) {
			p.Own = false
		}
		sizes, loads = append(sizes, size), append(loads, load)
	}
	p.MinSize, p.MaxSize = slices.Min(sizes), slices.Max(sizes)
	p.MinLoad, p.MaxLoad = slices.Min(loads), slices.Max(loads)
	p.Sizes = len(slices.Compact(sizes)) == 1
	p.Loads = len(slices.Compact(loads)) == 1
	return p
}
