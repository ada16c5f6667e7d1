package catalog

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// The classes of all algorithms: no algorithm gets one by accident, and none is
// left out.
func TestClasses(t *testing.T) {
	want := map[string]algorithm.Class{}
	for class, names := range map[algorithm.Class][]string{
		algorithm.Central:    {"central", "central-deny", "central-stamped"},
		algorithm.Permission: {"lamport", "ricart-agrawala", "carvalho-roucairol", "sanders", "bakery", "bakery-polling", "ricart-agrawala-1981", "bakery-naive"},
		algorithm.Quorum:     {"majority", "maekawa", "maekawa-reject", "majority-naive", "maekawa-naive", "maekawa-published"},
		algorithm.Token: {"token-ring", "token-ring-lazy", "suzuki-kasami", "ricart-agrawala-token", "raymond", "dijkstra", "naimi-trehel",
			"raymond-greedy", "raymond-printed", "raymond-initialize"},
	} {
		for _, name := range names {
			want[name] = class
		}
	}
	for _, s := range All() {
		if class, known := want[s.Name]; !known || s.Class != class {
			t.Errorf("%s: %q, want %q", s.Name, s.Class, class)
		}
	}
	for _, s := range Elections() {
		if s.Class != algorithm.Unclassed || s.Class.String() != "" {
			t.Errorf("%s: %q, but it is no lock", s.Name, s.Class)
		}
	}
}

// Sanders' algorithm is of the class of its sets, and a lock that survives deaths
// of that of the lock.
func TestClassOfChoices(t *testing.T) {
	for _, test := range []struct {
		name, topology string
		want           algorithm.Class
	}{
		{"sanders", "ricart-agrawala", algorithm.Permission}, {"sanders", "maekawa", algorithm.Quorum}, {"sanders", "central", algorithm.Central},
		{"central+bully", "", algorithm.Central}, {"maekawa+bully", "plane", algorithm.Quorum}, {"token-ring+ring-election", "", algorithm.Token},
	} {
		s, err := Make(test.name, algorithm.Options{Topology: test.topology})
		if err != nil || s.Class != test.want {
			t.Errorf("%s %s: %q, %v; want %q", test.name, test.topology, s.Class, err, test.want)
		}
		if s.Theory.Wait != nil {
			t.Errorf("%s claims a longest wait, but a death makes others wait", test.name)
		}
	}
}
