package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/nightly"
)

// Every algorithm runs live or says why not, and not both.
func TestLiveOrWhyNot(t *testing.T) {
	if got := Live()[0].Name; got != "naimi-trehel" {
		t.Errorf("the default is %s", got)
	}
	whole := slices.Concat(All(), Elections())
	for _, s := range whole {
		if runs := slices.Contains(live(), s.Name); runs != (NotLive(s) == "") {
			t.Errorf("%s: live is %v, and why not is %q", s.Name, runs, NotLive(s))
		}
		if why := NotLive(s); strings.Contains(why, "not in the catalog") {
			t.Errorf("%s is neither live nor does live.go say why not", s.Name)
		}
	}
	for _, u := range unlively() {
		i := slices.IndexFunc(whole, func(s algorithm.Spec) bool { return s.Name == u.name })
		if i < 0 || !whole[i].Sound() || slices.Contains(live(), u.name) {
			t.Errorf("%s is no sound algorithm of the catalog that is not live", u.name)
		}
	}
	for _, name := range live() {
		if s, err := MakeLive(name, 1); err != nil || s.Name != name || s.Version != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who asks for what is not there is told what to do.
func TestMakeLiveRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		want    []string
	}{
		{"raymnd", 1, []string{`"raymnd"`, "naimi-trehel, central", "did you mean raymond?"}},
		{"", 1, []string{`""`}},
		{"token-ring", 1, []string{"token-ring does not run live", "choose one of naimi-trehel"}},
		{"sanders", 1, []string{"lease"}},
		{"bully", 1, []string{"election"}},
		{"central+bully", 1, []string{"central+bully does not run live"}},
		{"token-ring+hasty", 1, []string{"does not run live"}},
		{"maekawa-naive", 1, []string{"it is wrong"}},
		{"raymond-greedy", 1, []string{"it is weaker than raymond"}},
		{"naimi-trehel", 2, []string{"version 2", "naimi-trehel", "this build has version 1", "all members"}},
		{"naimi-trehel", 0, []string{"version 0", "this build has version 1"}},
	} {
		_, err := MakeLive(c.name, c.version)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s version %d: got %v, want %q", c.name, c.version, err, want)
			}
		}
	}
}

// silent lets nobody ask, all ask while one is inside, and all be served, twice:
// each time messages must end by themselves.
func silent(spec algorithm.Spec, n int, seed uint64) error {
	c, err := newCrew(spec, n, seed)
	if err != nil {
		return err
	}
	if err := c.serve(); err != nil {
		return fmt.Errorf("with nobody asking: %w", err)
	}
	if c, err = newCrew(spec, n, seed); err != nil {
		return err
	}
	for round := range 2 {
		want := slices.Clone(c.entries)
		for self := range algorithm.ID(n) {
			if c.phase[self] != idle {
				continue
			}
			want[self]++
			if err := c.ask(self); err != nil {
				return err
			}
		}
		if err := c.settle(); err != nil {
			return fmt.Errorf("round %d, with one inside and all others waiting: %w", round, err)
		}
		if !slices.Contains(c.phase, inside) {
			return fmt.Errorf("round %d: nobody is inside", round)
		}
		if err := c.serve(); err != nil {
			return fmt.Errorf("round %d, while all are served: %w", round, err)
		}
		if !slices.Equal(c.entries, want) {
			return fmt.Errorf("round %d: entries %v, want %v", round, c.entries, want)
		}
	}
	return nil
}

// inert demands of a group in any state of a walk that inputs which a live
// member does not give make it do nothing; a clock may be heard.
func inert(spec algorithm.Spec, n int, seed uint64) error {
	c, err := newCrew(spec, n, seed)
	if err != nil {
		return err
	}
	var out host.Output
	for range 20 * n {
		for self, m := range c.ms {
			before := m.AppendState(nil)
			for kind := host.Start; kind <= host.Trust; kind++ {
				if kind == host.Request || kind == host.Release || kind == host.Receive {
					continue
				}
				_ = m.Step(host.Input{Kind: kind, From: algorithm.ID((self + 1) % n), Time: 1000}, &out) // of a refused one nothing is left
				if len(out.Sends)+len(out.Notices) > 0 || out.Entered {
					return fmt.Errorf("%v does something at input %d", algorithm.ID(self), kind)
				}
				if kind != host.Hear && !bytes.Equal(m.AppendState(nil), before) {
					return fmt.Errorf("input %d changes %v", kind, algorithm.ID(self))
				}
				if err := m.LoadState(before); err != nil {
					return err
				}
			}
		}
		list := c.acts()
		if err := list[c.dice.below(len(list))].do(); err != nil {
			return err
		}
	}
	return nil
}

// Live groups of every size fall silent, serve everybody once, and need nothing
// but requests, exits and messages.
func TestLiveFallSilent(t *testing.T) {
	nightly.Only(t)
	for _, spec := range Live() {
		t.Run(spec.Name, func(t *testing.T) {
			for n := 1; n <= 64; n++ {
				seeds := uint64(1)
				if n < 10 {
					seeds = 20
				}
				for seed := range seeds {
					if err := silent(spec, n, seed); err != nil {
						t.Fatalf("among %d, seed %d: %v", n, seed, err)
					}
					if n > 9 {
						continue
					}
					if err := inert(spec, n, seed); err != nil {
						t.Fatalf("among %d, seed %d: %v", n, seed, err)
					}
				}
			}
		})
	}
}

// The same checks catch those that are not live because they never rest.
func TestRestlessAreCaught(t *testing.T) {
	for _, c := range []struct {
		name  string
		check func(spec algorithm.Spec, n int, seed uint64) error
		want  string
	}{
		{"token-ring", silent, "with nobody asking: its messages do not end"},
		{"dijkstra", silent, "with nobody asking: its messages do not end"},
		{"bakery-polling", silent, "with one inside and all others waiting: its messages do not end"},
		{"central-deny", silent, "wants more than messages"},
		{"raymond-printed", silent, "waits forever"},
		{"raymond-initialize", silent, "waits forever"},
		{"dijkstra", inert, "does something at input"},
		{"raymond-initialize", inert, "does something at input 0"},
		{"central+bully", inert, "input 0 changes P1"},
	} {
		spec, err := Make(c.name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		caught := error(nil)
		for seed := uint64(0); seed < 20 && caught == nil; seed++ {
			caught = c.check(spec, 5, seed)
		}
		if caught == nil || !strings.Contains(caught.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, caught, c.want)
		}
	}
}

// vouched returns of how many processes that are not inside somebody else can
// tell that, in percent, over walks.
func vouched(t *testing.T, spec algorithm.Spec, n int) int {
	t.Helper()
	all, given := 0, 0
	for seed := range uint64(20) {
		c, err := newCrew(spec, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 * n {
			for d := range algorithm.ID(n) {
				if c.phase[d] == inside {
					continue
				}
				all++
				if slices.ContainsFunc(c.ms, func(m algorithm.Machine) bool { return m.Alibi(d) }) {
					given++
				}
			}
			list := c.acts()
			if err := list[c.dice.below(len(list))].do(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return 100 * given / all
}

// Live algorithms can often tell that a process is not inside: how fast locks go
// on after a death depends on it. Those that are not live for want of alibis
// are caught by the same measure. That no alibi is false, package check proves.
func TestLiveVouch(t *testing.T) {
	const enough = 20 // percent; lamport has the least of the live ones, about 30
	for _, n := range []int{3, 5, 9} {
		for _, spec := range Live() {
			if got := vouched(t, spec, n); got < enough {
				t.Errorf("%s among %d vouches for %d %% of those who are not inside, want %d %%", spec.Name, n, got, enough)
			}
		}
		for _, name := range []string{"bakery", "majority", "sanders"} {
			spec, err := Make(name, algorithm.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := vouched(t, spec, n); got >= enough {
				t.Errorf("%s among %d vouches for %d %%: it could run live", name, n, got)
			}
		}
	}
}
