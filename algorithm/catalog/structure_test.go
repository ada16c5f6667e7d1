package catalog

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

func TestSandersOptions(t *testing.T) {
	for _, c := range []struct {
		o   algorithm.Options
		n   int
		why string // part of the error, or empty
	}{
		{algorithm.Options{}, 5, ""},
		{algorithm.Options{Topology: "ricart-agrawala"}, 5, ""},
		{algorithm.Options{Topology: "maekawa"}, 7, ""},
		{algorithm.Options{Topology: "central"}, 7, ""},
		{algorithm.Options{Topology: "ring"}, 7, "want ricart-agrawala, maekawa or central"},
		{algorithm.Options{Sets: "1:1,2;2:1,2;3:1-3", Inform: "1:1;2:1,2;3:1,3"}, 3, ""},
		{algorithm.Options{Sets: "1:1,2;2:1,2"}, 2, ""},
		{algorithm.Options{Sets: "1:1,2;2:1,2"}, 3, "for 3 processes"},
		{algorithm.Options{Sets: "1:1;2:2"}, 2, "processes 1 and 2 could both be inside"},
		{algorithm.Options{Sets: "1:1;2:2", Experiment: true}, 2, ""},
		{algorithm.Options{Sets: "1:1;2:2,9", Experiment: true}, 2, "names process 9"},
		{algorithm.Options{Inform: "1:1;2:2"}, 2, "without request sets"},
		{algorithm.Options{Sets: "1:1;2:2", Inform: "nobody"}, 2, "inform"},
		{algorithm.Options{Sets: "1:1;2:2", Topology: "central"}, 2, "not both"},
		{algorithm.Options{K: 3}, 2, "sanders has no option k"},
	} {
		spec, err := Make("sanders", c.o)
		if err == nil {
			err = spec.Accepts(c.n)
		}
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%+v among %d: got %v, want %q", c.o, c.n, err, c.why)
		}
	}
}

func TestDijkstraOptions(t *testing.T) {
	for k, ok := range map[int]bool{0: true, 1: false, 2: true, 9: true} {
		spec, err := Make("dijkstra", algorithm.Options{K: k})
		if err == nil {
			err = spec.Accepts(4)
		}
		if (err == nil) != ok {
			t.Errorf("k=%d: %v", k, err)
		}
	}
}

// Every wrong one names the sound one that mends it.
func TestWrongOnesNameTheSound(t *testing.T) {
	sound := map[string]bool{}
	for _, s := range Sound() {
		sound[s.Name] = true
	}
	for _, s := range All() {
		if !s.Sound() && !sound[s.Fixed] {
			t.Errorf("%s is mended by %q, which is no sound algorithm", s.Name, s.Fixed)
		}
		if s.Sound() && s.Fixed+s.Shown != "" {
			t.Errorf("%s is sound but names %s", s.Name, s.Fixed)
		}
	}
}

// Every entry is found by the name of the algorithm that it makes.
func TestNames(t *testing.T) {
	for _, e := range every() {
		if s, err := e.make(algorithm.Options{}); err != nil || s.Name != e.name {
			t.Errorf("entry %q makes %q, %v", e.name, s.Name, err)
		}
	}
}
