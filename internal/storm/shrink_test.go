package storm

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/nightly"
)

// A run that breaks something becomes a short story that breaks the same.
func TestShrink(t *testing.T) {
	nightly.Only(t)
	for seed := range uint64(100) {
		c := pick(seed)
		c.Spec = vouching
		c.Faults &^= Move // with it, the first seed that breaks something makes a long story
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation == nil || len(Draw(c)) < 20 {
			continue
		}
		s, err := Shrink(c, 150)
		if err != nil {
			t.Fatal(err)
		}
		if s.Violation.Invariant != r.Violation.Invariant || len(s.Config.Strikes) > 6 || s.Tries > 150 {
			t.Errorf("%d tries for\n%v", s.Tries, s)
		}
		if lines := strings.Count(s.String(), "\n"); lines > 8 {
			t.Errorf("a story of %d lines:\n%v", lines, s)
		}
		t.Logf("%d tries:\n%v", s.Tries, s)
		again, err := Run(s.Config)
		if err != nil || again.Violation == nil || *again.Violation != *s.Violation {
			t.Errorf("made again, it breaks %v, %v", again.Violation, err)
		}
		return
	}
	t.Error("no run broke anything")
}

// A run without a violation has no story.
func TestShrinkNothing(t *testing.T) {
	c := pick(1)
	c.Strikes = []Strike{}
	if s, err := Shrink(c, 10); s != nil || err != nil {
		t.Errorf("got %v, %v", s, err)
	}
}
