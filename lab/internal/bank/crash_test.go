package bank

import (
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/trace"
)

func dying(t *testing.T, lock, crash string, seed uint64) Config {
	t.Helper()
	spec, err := catalog.Make(lock, algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := scene(spec, seed)
	c.Machines, c.Deposits = 3, 2
	if c.Crash, err = ParseCrash(crash); err != nil {
		t.Fatal(err)
	}
	return c
}

const deaths = 60

// Without recovery those who ask wait for ever, with no lock that is not made
// for it having broken a promise; and nothing is lost.
func TestDeathWithoutRecovery(t *testing.T) {
	for _, lock := range []string{"ricart-agrawala", "central", "suzuki-kasami", "token-ring", "raymond", "maekawa"} {
		for seed := range uint64(deaths) {
			r := play(t, dying(t, lock, "2", seed))
			if r.Lost != 0 || len(r.Found) > 0 || r.After > 0 && lock != "central" || len(r.Waiting) == 0 || slices.Contains(r.Waiting, 2) {
				t.Fatalf("%s, seed %d: %+v", lock, seed, *r)
			}
		}
	}
}

// With recovery the others make all their deposits, and what is not there is what
// the dead machine did not deposit: one that was under way, or none.
func TestDeathWithRecovery(t *testing.T) {
	for _, lock := range []string{"ricart-agrawala+bully", "central+bully", "suzuki-kasami+bully", "token-ring+ring-election", "maekawa+bully"} {
		for seed := range uint64(deaths) {
			for crash, own := range map[string]int{"2": 0, "2@write": 1} {
				r := play(t, dying(t, lock, crash, seed))
				if r.Lost != 0 || len(r.Found)+len(r.Waiting)+r.Refused > 0 || r.Entries != 4+own || r.Balance != 1_000+int64(r.Entries)*10_000 {
					t.Fatalf("%s, %s, seed %d: %+v", lock, crash, seed, *r)
				}
			}
		}
	}
}

// A write that comes too late overwrites what others have deposited, whatever the
// lock, and an account with a fence refuses it.
func TestLateWrite(t *testing.T) {
	harm := 0
	for seed := range uint64(deaths) {
		late, fenced := play(t, dying(t, "ricart-agrawala+bully", "2@late", seed)), play(t, dying(t, "ricart-agrawala+bully", "2@fenced", seed))
		if late.Lost > 0 {
			harm++
		}
		if (late.Lost > 0) != (late.After > 0) || fenced.Lost != 0 || (fenced.Refused == 1) != (late.After > 0) || fenced.Balance != 1_000+int64(fenced.Entries)*10_000 {
			t.Fatalf("seed %d: %+v and %+v", seed, *late, *fenced)
		}
	}
	if harm < deaths/2 {
		t.Errorf("only %d of %d late writes do harm", harm, deaths)
	}
}

// Up to the death all is as without it, and the dead do nothing after it.
func TestDeathInEvents(t *testing.T) {
	for _, crash := range []string{"2", "2@write", "2@late"} {
		c := dying(t, "ricart-agrawala+bully", crash, 5)
		c.Record = true
		with := play(t, c).Events
		died := slices.IndexFunc(with, func(e trace.Event) bool { return e.Kind == trace.Crash })
		if died < 0 || with[died].Proc != 1 {
			t.Fatalf("%s: P2 does not die", crash)
		}
		wrote := false
		for i, e := range with {
			if i > died && e.Proc == 1 {
				t.Errorf("%s: P2 is dead, but %+v", crash, e)
			}
			wrote = wrote || i < died && e.Proc == 1 && e.Kind == trace.Send && e.Name == "WRITE"
		}
		if wrote != (crash != "2") {
			t.Errorf("%s: P2 has sent its WRITE before it died: %t", crash, wrote)
		}
		c.Crash.On = false
		without := play(t, c).Events
		for i := range died {
			if with[i].At != without[i].At || with[i].Kind != without[i].Kind || with[i].Proc != without[i].Proc {
				t.Fatalf("%s: event %d is %+v, without a death %+v", crash, i, with[i], without[i])
			}
		}
	}
}

func TestParseCrash(t *testing.T) {
	for _, s := range []string{"2@read", "1@write", "3@late", "9@fenced"} {
		if c, err := ParseCrash(s); err != nil || c.String() != s || !c.On {
			t.Errorf("%s: %v, %v", s, c, err)
		}
	}
	for _, s := range []string{"", "0", "P2", "2@", "2@5", "2@lat", "@late", "-1"} {
		if c, err := ParseCrash(s); err == nil || !strings.HasPrefix(err.Error(), "want ") {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	c := dying(t, "central", "4", 1)
	if _, err := Run(c); err == nil || !strings.Contains(err.Error(), "machines 1 to 3") {
		t.Errorf("a machine that is not there: %v", err)
	}
}
