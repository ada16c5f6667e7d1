package catalog

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// TestQuorumTopologies makes maekawa over each topology that has quorums.
func TestQuorumTopologies(t *testing.T) {
	for _, c := range []struct {
		options algorithm.Options
		n       int
		want    string // in the error; empty if n is accepted
	}{
		{algorithm.Options{}, 12, ""},
		{algorithm.Options{Topology: "grid"}, 12, ""},
		{algorithm.Options{Topology: "majority"}, 12, ""},
		{algorithm.Options{Topology: "plane"}, 13, ""},
		{algorithm.Options{Topology: "plane"}, 21, ""},
		{algorithm.Options{Topology: "plane"}, 12, "7 and 13"},
		{algorithm.Options{Sets: "1:1,2;2:1,2,3;3:1,3"}, 3, ""},
		{algorithm.Options{Sets: "1:1,2;2:1,2,3;3:1,3"}, 4, "3 sets for 4 processes"},
		{algorithm.Options{Sets: "1:1;2:1,2;3:2-3"}, 3, "the sets of processes 1 and 3 do not intersect"},
	} {
		spec, err := Make("maekawa", c.options)
		if err != nil {
			t.Errorf("%+v: %v", c.options, err)
			continue
		}
		err = spec.Accepts(c.n)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v among %d: got %v, want %q", c.options, c.n, err, c.want)
		}
	}
	for _, o := range []algorithm.Options{
		{Topology: "circle"}, {Topology: "plane", Sets: "1:1"}, {Sets: "1:1;1:1"}, {Sets: "1"}, {Sets: "1:0"}, {Sets: "3:1;1:1"},
	} {
		if _, err := Make("maekawa", o); err == nil {
			t.Errorf("%+v was not refused", o)
		}
	}
}

// The topologies of an algorithm are those of which it can have a group.
func TestTopologies(t *testing.T) {
	for name, want := range map[string]string{
		"maekawa":       "grid plane majority",
		"maekawa+bully": "grid majority", // among those who are left after a death there is no plane
		"raymond":       "tree:2 star line",
		"sanders":       "ricart-agrawala maekawa central",
		"chang-roberts": "up down",
		"lamport":       "",
	} {
		if got := strings.Join(Topologies(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
