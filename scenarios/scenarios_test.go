// Package scenarios_test runs every scenario of this folder.
package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
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

func spec(t *testing.T, sc *scenario.Scenario) core.Spec {
	t.Helper()
	s, err := catalog.Make(sc.Algorithm, catalog.Options{
		Topology: sc.Topology, Sets: sc.Sets, Inform: sc.Inform, K: sc.K, Coordinator: sc.Coordinator,
	})
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
