package script_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/script"
)

const captioned = `algorithm ricart-agrawala
processes 3
say "Two ask: P1 | P2 -> who is first?"
at 0 P1 asks
at 1 say "P2 has "heard" of it."
when P1 enters say "P1 is inside."
when P1 enters 2nd say "again"
`

// Captions are read with their moments, and written so that they are read again.
func TestCaptions(t *testing.T) {
	for _, text := range []string{captioned, "algorithm raymond\nprocesses 2\nschedule steps\nsay \"one\"\nP1 asks\nwhen P1 enters say \"two\"\nsay \"three\"\nexpect P1 inside\n"} {
		s, err := script.Parse("a.stile", text)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(text, "say "); len(s.Captions) != want {
			t.Fatalf("%d captions, want %d", len(s.Captions), want)
		}
		again, err := script.Parse("b.stile", script.Format(s))
		if err != nil {
			t.Fatalf("%v in\n%s", err, script.Format(s))
		}
		for _, x := range []*script.Scenario{s, again} {
			for i := range x.Captions {
				x.Captions[i].Line = 0
			}
		}
		if !reflect.DeepEqual(s.Captions, again.Captions) {
			t.Errorf("captions %+v, written and read %+v", s.Captions, again.Captions)
		}
	}
}

// Deposits are read, written and read again, and refused where they have no meaning.
func TestDeposits(t *testing.T) {
	s, err := script.Parse("a.stile", "algorithm raymond\nprocesses 2\ndeposit P2 500\ndeposit 1 10000\n")
	if err != nil {
		t.Fatal(err)
	}
	again, err := script.Parse("b.stile", script.Format(s))
	if err != nil || len(s.Deposits) != 2 || s.Deposits[1] != (script.Deposit{Proc: 0, Amount: 10000}) || !reflect.DeepEqual(s.Deposits, again.Deposits) {
		t.Errorf("deposits %+v, written and read %+v, %v", s.Deposits, again, err)
	}
	for _, lines := range []string{"deposit P3 5", "deposit P1", "deposit P1 0", "deposit P1 x", "deposit P1 5\ndeposit P1 6", "deposit P1 5\nsite 1 P1 P2 L1", "deposit P1 5\nsection a among 1,2"} {
		if _, err := script.Parse("a.stile", "algorithm raymond\nprocesses 2\n"+lines+"\n"); err == nil {
			t.Errorf("%q is accepted", lines)
		}
	}
}

// A caption without a text in quotes is refused where it stands.
func TestBadCaptions(t *testing.T) {
	for _, line := range []string{`say`, `say words`, `say "`, `say ""`, `say "a # b"`, `at 1 say`, `when P1 enters`, `when P1 leaves say "x"`, `when P9 enters say "x"`} {
		_, err := script.Parse("a.stile", "algorithm raymond\nprocesses 2\n"+line+"\n")
		if e, ok := err.(*script.Error); !ok || e.Line != 3 {
			t.Errorf("%s: %v, want an error in line 3", line, err)
		}
	}
	if _, err := script.Parse("a.stile", "algorithm none\nprocesses 1\nsite 1 P1 L1\nwhen P1 enters say \"x\"\n"); err == nil {
		t.Error("a transaction that enters is accepted")
	}
}
