package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/elections"
)

// TestOnlyWhatWasSeen: a property that nobody watched, or that only the end would
// show, is not said to hold.
func TestOnlyWhatWasSeen(t *testing.T) {
	const (
		passed  = "algorithm token-ring\nprocesses 3\nhold 3\nat 0 P1 asks\nat 0.5 P3 asks\nat 0.6 P3 tells P2\nat 0.7 P2 asks\n"
		waits   = "algorithm central\nprocesses 3\nhold 9\nat 0 P2 asks\nat 0 P3 asks\n"
		elected = "algorithm bully\nprocesses 3\nat 0 crash P3\nat 1 P1 asks\n"
		locks   = "algorithm none\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\n"
		inSteps = "algorithm none\nprocesses 4\nsite 1 P1 P2 P3 P4 L1 L2 L3\nschedule steps\n"
		ring    = "P1 takes L1 L2\nP2 takes L2 L1\nP1 goes on\nP2 goes on\n"
		rooms   = "algorithm ricart-agrawala\nprocesses 2\nsection seats among 1,2\nsection films among 1,2\nhold manual\nat 0 P1 asks seats\nat 3 P2 asks films\n"
	)
	for _, c := range []struct {
		text, property string
		want           string // holds, broken, or nothing if it is not told
	}{
		{locks + "at 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\n", family.NoDeadlock, "broken"},
		{locks + "at 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\nuntil 0.1\n", family.NoDeadlock, ""},
		{locks + "at 0 P1 takes L1 L2\nat 9 P2 takes L2 L1\n", family.NoDeadlock, "holds"},
		{locks, family.NoDeadlock, ""},
		{inSteps + "P1 takes L1\nP2 takes L1\n", family.NoDeadlock, ""},
		{inSteps + "P1 takes L1\nP2 takes L1\nP1 goes on\n", family.NoDeadlock, "holds"},
		{inSteps + ring + "P3 takes L3\n", family.NoDeadlock, "broken"},
		{inSteps + ring + "P3 takes L3\nP4 takes L3\n", family.NoDeadlock, "broken"},
		{rooms + "at 6 P1 asks films\nat 6 P2 asks seats\n", family.LostRequest, "broken"},
		{rooms + "at 6 P1 asks films\n", family.LostRequest, ""},
		{rooms + "at 6 P1 asks films\nat 9 P2 leaves films\n", family.LostRequest, "holds"},
		{rooms + "at 6 P1 asks films\nat 9 P2 leaves films\nat 9.5 drop 2 -> 1\n", family.LostRequest, "broken"},
		{"algorithm central\nprocesses 3\nat 0 crash P2\n", family.LostRequest, ""},
		{passed, family.Order, ""},
		{passed + "expect violation order\n", family.Order, "broken"},
		{passed + "expect no violation\n", family.LostRequest, "holds"},
		{"algorithm ricart-agrawala\nprocesses 3\nat 0 P1 asks\n", family.Order, "holds"},
		{waits, family.LostRequest, "holds"},
		{waits + "until 5\n", family.LostRequest, ""},
		{waits + "until 50\n", family.LostRequest, "holds"},
		{waits + "until 5\n", family.MutualExclusion, "holds"},
		{waits + "at 0.5 drop 3 -> 1 REQUEST\n", family.LostRequest, "broken"},
		{busy("lamport", 2), family.LostRequest, ""}, // it is cut
		{elected, elections.Agreement, "holds"},
		{elected + "until 2\n", elections.Agreement, ""},
		{elected + "until 2\n", elections.OneLeader, "holds"},
	} {
		d := run(c.text, Options{}, undrawn)
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

// lostRequest returns what a run says of requests.
func lostRequest(t *testing.T, text string, o Options) Property {
	t.Helper()
	d := run(text, o, undrawn)
	if d.Error != nil {
		t.Fatalf("%s in\n%s", d.Error.Text, text)
	}
	i := slices.IndexFunc(d.Properties, func(p Property) bool { return p.Name == family.LostRequest })
	if i < 0 {
		return Property{Event: -1}
	}
	return d.Properties[i]
}

// A sealed machine does not learn what its Spec says, so that it cannot be told
// that it must not deny.
type sealed struct{ algorithm.Machine }

// TestDenials: nobody who was denied, or who died, is said to have got in, by any
// algorithm; and one that does not say that it denies is refused, or breaks its
// promise.
func TestDenials(t *testing.T) {
	denies := func(name string) algorithm.Spec {
		s := mutex.CentralDeny(0)
		s.Name, s.TryLock = name, name == "says-so"
		if plan := s.Plan; name == "silent" {
			s.Plan = func(n int) (algorithm.Birth, error) {
				birth, err := plan(n)
				return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return sealed{birth(self, v)} }, err
			}
		}
		return s
	}
	own := Options{Specs: func(name string, _ algorithm.Options) (algorithm.Spec, error) { return denies(name), nil }}
	const two = "\nprocesses 3\nhold 9\nat 0 P1 asks\nat 1 P2 asks\n"
	for _, c := range []struct {
		text string
		o    Options
		want Property
	}{
		{"algorithm central-deny" + two, Options{}, Property{Holds: true, Event: 7, Text: "every process that asks enters or is denied, as P2 is"}},
		{"algorithm central-deny\nprocesses 3\nat 0 P1 asks\n", Options{}, Property{Holds: true, Event: -1, Text: "every process that asks enters or is denied"}},
		{"algorithm says-so" + two, own, Property{Holds: true, Event: 7, Text: "every process that asks enters or is denied, as P2 is"}},
		{"algorithm silent" + two, own, Property{Event: 7, Text: "P2 asked and was denied, but silent does not claim to deny requests"}},
		{"algorithm central+bully" + two, Options{}, Property{Holds: true, Event: -1, Text: "every process that asks enters"}},
		{"algorithm central+bully" + two + "at 5 crash P2\n", Options{}, Property{Holds: true, Event: -1, Text: "every process that asks and does not crash enters"}},
		{"algorithm central+bully" + two + "at 5 crash P1\n", Options{}, Property{Holds: true, Event: -1, Text: "every process that asks enters"}},
	} {
		c.want.Name = family.LostRequest
		if got := lostRequest(t, c.text, c.o); got != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
	d := run("algorithm forgot"+two, own, undrawn)
	if want := "P2 denied a request"; d.Error == nil || !strings.Contains(d.Error.Text, want) {
		t.Errorf("a lock that forgot to say that it denies: %+v, want %s", d.Error, want)
	}
	denied := 0
	every(func(name string, _ algorithm.Spec) {
		text := bare(name, false) + "at 0 P1 asks for 30\nat 5 P2 asks for 1\nat 5.1 P3 asks for 1\n"
		if _, err := deadlock.Find(name); err == nil {
			text = bare(name, false) + "at 0 P1 takes L1 L2 for 3\nat 0.1 P2 takes L2 L1 for 3\nat 0.2 P3 takes L1 for 1\n"
		}
		text = strings.Replace(text, "until 10", "until 100", 1)
		d := run(text, Options{}, undrawn)
		if d.Error != nil {
			t.Fatalf("%s in\n%s", d.Error.Text, text)
		}
		if !slices.ContainsFunc(d.Events, func(e Event) bool { return e.Kind == "deny" }) {
			return
		}
		denied++
		for _, p := range d.Properties {
			if p.Holds && strings.HasSuffix(p.Text, "enters") {
				t.Errorf("%s denies, and %s is said to hold: %s", name, p.Name, p.Text)
			}
		}
	})
	if denied < 5 {
		t.Errorf("only %d algorithms deny: this shows little", denied)
	}
}

// TestFalseSuspicion: who is told that one is dead who is not, gets in beside it,
// and a badge says what was done to it.
func TestFalseSuspicion(t *testing.T) {
	const alive = "is suspected"
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
