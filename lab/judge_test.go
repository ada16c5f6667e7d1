package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/family"
)

// TestOnlyWhatWasSeen: a property that nobody watched, or that only the end would
// show, is not said to hold.
func TestOnlyWhatWasSeen(t *testing.T) {
	const (
		passed  = "algorithm token-ring\nprocesses 3\nhold 3\nat 0 P1 asks\nat 0.5 P3 asks\nat 0.6 P3 tells P2\nat 0.7 P2 asks\n"
		waits   = "algorithm central\nprocesses 3\nhold 9\nat 0 P2 asks\nat 0 P3 asks\n"
		elected = "algorithm bully\nprocesses 3\nat 0 crash P3\nat 1 P1 asks\n"
		circles = "algorithm token-ring\nprocesses 3\nat 0 P1 asks\nat 99999 P1 asks\n"
	)
	for _, c := range []struct {
		text, property string
		want           string // holds, broken, or nothing if it is not told
	}{
		{passed, family.Order, ""},
		{passed + "expect violation order\n", family.Order, "broken"},
		{passed + "expect no violation\n", family.LostRequest, "holds"},
		{"algorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\n", family.Order, "holds"},
		{waits, family.LostRequest, "holds"},
		{waits + "until 5\n", family.LostRequest, ""},
		{waits + "until 50\n", family.LostRequest, "holds"},
		{waits + "until 5\n", family.MutualExclusion, "holds"},
		{waits + "at 0.5 drop 3 -> 1 REQUEST\n", family.LostRequest, "broken"},
		{circles, family.LostRequest, ""},
		{elected, family.Agreement, "holds"},
		{elected + "until 2\n", family.Agreement, ""},
		{elected + "until 2\n", family.OneLeader, "holds"},
	} {
		asked := 0
		d := run(c.text, Options{Over: func() bool { asked++; return asked > 2000 }}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text)
		}
		got := ""
		for _, p := range d.Properties {
			if p.Name == c.property {
				got = map[bool]string{true: "holds", false: "broken"}[p.Holds]
			}
		}
		if got != c.want {
			t.Errorf("%s%s: got %q, want %q", c.text, c.property, got, c.want)
		}
	}
}

// TestFalseSuspicion: who is told that one is dead who is not, gets in beside it,
// and a badge says what was done to it.
func TestFalseSuspicion(t *testing.T) {
	const alive = "taken for dead"
	group := "algorithm central+bully\nprocesses 3\nhold 9\n"
	for text, want := range map[string]bool{
		group + "at 0 P2 asks\nat 3 P1 suspects P2\nat 3 P3 suspects P2\nat 4 P1 asks\n":                              true,
		group + "at 3 P1 suspects P2\nat 2 crash P2\n":                                                                false,
		group + "at 2 crash P2\nat 5 restart P2\nat 9 P1 suspects P2\n":                                               true,
		"algorithm central+bully\nprocesses 3\nschedule steps\nP1 suspects P2\ncrash P2\n":                            true,
		"algorithm central+bully\nprocesses 3\nschedule steps\ncrash P2\nP1 suspects P2\n":                            false,
		"algorithm detect-central\nprocesses 2\nschedule steps\nsite 1 P1 L1\nsite 2 P2 L2\nsite 1 suspects site 2\n": true,
	} {
		d := run(text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatal(d.Error.Text, text)
		}
		if got := slices.ContainsFunc(d.Badges, func(s string) bool { return strings.Contains(s, alive) }); got != want {
			t.Errorf("%s: badges %q", text, d.Badges)
		}
	}
}
