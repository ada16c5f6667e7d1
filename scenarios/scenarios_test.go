// Package scenarios_test runs every scenario of this folder.
package scenarios_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/scenario"
	"github.com/stile-lock/stile/sim"
)

func read(t *testing.T, file string) *scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scenario.Parse(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func spec(t *testing.T, sc *scenario.Scenario) algorithm.Spec {
	t.Helper()
	s, err := catalog.Make(sc.Algorithm, sc.Options)
	if err != nil {
		t.Fatalf("%s: %v", sc.File, err)
	}
	return s
}

func files(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.stile")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return files
}

// Every scenario ends as it expects, also when every machine is rebuilt from
// its bytes before every step.
func TestScenarios(t *testing.T) {
	for _, file := range files(t) {
		t.Run(strings.TrimSuffix(file, ".stile"), func(t *testing.T) {
			sc := read(t, file)
			if sc.IsGraph() {
				reduced(t, sc)
				return
			}
			if sc.Transacts() {
				replaySites(t, sc)
				return
			}
			for _, paged := range []bool{false, true} {
				back, err := sim.Replay(spec(t, sc), sc, sim.ReplayOptions{Paged: paged})
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range back.Differences {
					t.Errorf("%s: %v", file, d)
				}
			}
		})
	}
}

// The canonical form of a scenario is the same scenario.
func TestCanonicalForm(t *testing.T) {
	for _, file := range files(t) {
		sc := read(t, file)
		again, err := scenario.Parse(file, scenario.Format(sc))
		if err != nil {
			t.Fatal(err)
		}
		if sc.IsGraph() {
			if one, two := reduced(t, sc), reduced(t, again); !reflect.DeepEqual(one, two) {
				t.Errorf("%s and its canonical form differ:\n%s", file, scenario.Format(sc))
			}
			continue
		}
		if sc.Transacts() {
			if one, two := replaySites(t, sc), replaySites(t, again); !reflect.DeepEqual(one.Events, two.Events) {
				t.Errorf("%s and its canonical form differ:\n%s", file, scenario.Format(sc))
			}
			continue
		}
		one, err1 := sim.Replay(spec(t, sc), sc, sim.ReplayOptions{})
		two, err2 := sim.Replay(spec(t, again), again, sim.ReplayOptions{})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !reflect.DeepEqual(one.Events, two.Events) || len(two.Differences) > 0 {
			t.Errorf("%s and its canonical form differ: %v\n%s", file, two.Differences, scenario.Format(sc))
		}
	}
}

// Every algorithm has a scenario, and every wrong one a scenario in which it
// goes wrong.
func TestEveryAlgorithmHasAScenario(t *testing.T) {
	seen, fails := map[string]bool{}, map[string]bool{}
	for _, file := range files(t) {
		sc := read(t, file)
		about := sc.Algorithm
		if sc.IsGraph() {
			about = "graph"
		}
		if !strings.HasPrefix(file, about+"-") && file != about+".stile" {
			t.Errorf("%s is about %s: want its name to begin with that", file, about)
		}
		if sc.Title == "" {
			t.Errorf("%s has no title", file)
		}
		seen[sc.Algorithm] = true
		for _, e := range sc.Expect {
			if e.Kind == scenario.Violated || e.Kind == scenario.Deadlock {
				fails[sc.Algorithm] = true
			}
		}
	}
	for _, s := range slices.Concat(catalog.All(), catalog.Elections()) {
		if !seen[s.Name] {
			t.Errorf("%s has no scenario", s.Name)
		}
		if s.Wrong != "" && !fails[s.Name] {
			t.Errorf("%s has no scenario in which it fails", s.Name)
		}
	}
	for _, m := range deadlock.Methods() {
		if !seen[m.Name] {
			t.Errorf("%s has no scenario", m.Name)
		}
		if m.Wrong+m.Weaker == "" {
			continue
		}
		if _, err := deadlock.Find(m.Fixed); err != nil {
			t.Errorf("%s: the sound one: %v", m.Name, err)
		}
		file, isReplay := strings.CutPrefix(m.Shown, "stile replay scenarios/")
		if sc := read(t, file); !isReplay || sc.Algorithm != m.Name {
			t.Errorf("%s is shown by %q", m.Name, m.Shown)
		}
	}
}
