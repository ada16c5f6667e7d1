package mutex_test

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
)

// A process says whether it has a privilege: P1 if its flag equals its left neighbour's, any
// other process if it differs. That follows from the flags, so it cannot be set to the opposite.
func TestPrivilegeShown(t *testing.T) {
	birth, err := mutex.Dijkstra(5).Plan(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		self       algorithm.ID
		flag, left string
		want       string
	}{{0, "2", "2", "yes"}, {0, "2", "3", "no"}, {1, "2", "2", "no"}, {1, "2", "3", "yes"}} {
		m := birth(c.self, algorithm.View{N: 3})
		for _, set := range [][2]string{{"flag", c.flag}, {"left", c.left}} {
			if err := m.Assign(set[0], set[1]); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, f := range m.Describe() {
			if f.Name == "privilege" {
				got = f.Value
			}
		}
		if got != c.want {
			t.Errorf("%v with flag %s and left %s: privilege %q, want %q", c.self, c.flag, c.left, got, c.want)
		}
		if err := m.Assign("privilege", c.want); err != nil {
			t.Errorf("setting the privilege to what it is: %v", err)
		}
		opposite := map[string]string{"yes": "no", "no": "yes"}[c.want]
		if err := m.Assign("privilege", opposite); err == nil || !strings.Contains(err.Error(), "privilege") {
			t.Errorf("setting the privilege to %s: %v, want an error", opposite, err)
		}
	}
}
