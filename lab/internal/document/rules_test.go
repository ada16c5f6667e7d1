package document

import (
	"slices"
	"testing"
)

// TestRules shows the rules of an algorithm in order, and that every event after which a
// process decides names those that it follows.
func TestRules(t *testing.T) {
	d := Run("title a\nalgorithm carvalho-roucairol\nprocesses 3\nat 1 P2 asks\nat 1 P3 asks\n", Options{})
	if d.Error != nil {
		t.Fatal(d.Error)
	}
	var ids []string
	for _, r := range d.Algorithm.Rules {
		ids = append(ids, r[0])
	}
	if want := []string{"1a", "1b", "2a", "2b", "2c", "2d", "2e", "3a", "3b", "4", "void"}; !slices.Equal(ids, want) {
		t.Errorf("rules %v, want %v", ids, want)
	}
	for i, e := range d.Events {
		decides := e.Kind == "ask" || e.Kind == "exit" || e.Kind == "receive"
		if decides != (len(e.Why) > 0) {
			t.Errorf("event %d, %s: %v", i, e.Text, e.Why)
		}
		for _, y := range e.Why {
			if !slices.Contains(ids, y[0]) || y[1] == "" {
				t.Errorf("event %d: %v", i, y)
			}
		}
	}
}
