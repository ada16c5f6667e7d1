// Package scenarios_test runs every scenario of this folder, and examines every graph of
// resources.
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
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
)

// read returns the scenarios of this folder, and the graphs of resources.
func read(t *testing.T) (all []*scenario.Scenario, graphs []*scenario.Graph) {
	t.Helper()
	files, err := filepath.Glob("*.stile")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if scenario.IsGraph(string(text)) {
			g, err := scenario.ParseGraph(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			graphs = append(graphs, g)
			continue
		}
		sc, err := scenario.Parse(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sc)
	}
	return all, graphs
}

func spec(t *testing.T, sc *scenario.Scenario) algorithm.Spec {
	t.Helper()
	s, err := catalog.Make(sc.Algorithm, sc.Options)
	if err != nil {
		t.Fatalf("%s: %v", sc.File, err)
	}
	return s
}

// Every scenario ends as it expects, also when every machine is rebuilt from
// its bytes before every step.
func TestScenarios(t *testing.T) {
	all, _ := read(t)
	for _, sc := range all {
		t.Run(strings.TrimSuffix(sc.File, ".stile"), func(t *testing.T) {
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
					t.Errorf("%s: %v", sc.File, d)
				}
			}
		})
	}
}

// The canonical form of a scenario is the same scenario.
func TestCanonicalForm(t *testing.T) {
	all, _ := read(t)
	for _, sc := range all {
		again, err := scenario.Parse(sc.File, scenario.Format(sc))
		if err != nil {
			t.Fatal(err)
		}
		if sc.Transacts() {
			if one, two := replaySites(t, sc), replaySites(t, again); !reflect.DeepEqual(one.Events, two.Events) {
				t.Errorf("%s and its canonical form differ:\n%s", sc.File, scenario.Format(sc))
			}
			continue
		}
		one, err1 := sim.Replay(spec(t, sc), sc, sim.ReplayOptions{})
		two, err2 := sim.Replay(spec(t, again), again, sim.ReplayOptions{})
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !reflect.DeepEqual(one.Events, two.Events) || len(two.Differences) > 0 {
			t.Errorf("%s and its canonical form differ: %v\n%s", sc.File, two.Differences, scenario.Format(sc))
		}
	}
}

// Every algorithm has a scenario, and every wrong one a scenario in which it
// goes wrong.
func TestEveryAlgorithmHasAScenario(t *testing.T) {
	seen, fails := map[string]bool{}, map[string]bool{}
	all, _ := read(t)
	for _, sc := range all {
		if !strings.HasPrefix(sc.File, sc.Algorithm+"-") && sc.File != sc.Algorithm+".stile" {
			t.Errorf("%s is about %s: want its name to begin with that", sc.File, sc.Algorithm)
		}
		if sc.Title == "" {
			t.Errorf("%s has no title", sc.File)
		}
		seen[sc.Algorithm] = true
		for _, e := range sc.Expect {
			if e.Kind == script.Violated || e.Kind == script.Deadlock {
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
		file, isReplay := strings.CutPrefix(m.Shown, "stile-lab replay lab/scenarios/")
		if !isReplay || !slices.ContainsFunc(all, func(sc *scenario.Scenario) bool { return sc.File == file && sc.Algorithm == m.Name }) {
			t.Errorf("%s is shown by %q", m.Name, m.Shown)
		}
	}
}
