package compare

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/scenario"
)

func small(t *testing.T, names ...string) Config {
	t.Helper()
	c := Config{
		Nodes: []int{3, 7}, Entries: 60, Seed: 1,
		Think: []scenario.Dist{scenario.Exponential(5000 * scenario.T), scenario.Always(0)},
		Hold:  []scenario.Dist{scenario.Always(scenario.T), scenario.Always(10 * scenario.T)},
	}
	for _, name := range names {
		spec, err := catalog.Make(name, algorithm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.Specs = append(c.Specs, spec)
	}
	return c
}

func mustRun(t *testing.T, c Config) *Map {
	t.Helper()
	m, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFindAndPlacesAgree(t *testing.T) {
	m := mustRun(t, small(t, "ricart-agrawala", "raymond", "maekawa"))
	for h, hold := range m.Hold {
		for th, think := range m.Think {
			for n, nodes := range m.Nodes {
				for s, spec := range m.Specs {
					c := m.Find(s, n, th, h)
					if c.Spec.Name != spec.Name || c.Place != (Place{nodes, think, hold}) {
						t.Fatalf("Find(%d, %d, %d, %d) is %s at %v", s, n, th, h, c.Spec.Name, c.Place)
					}
				}
			}
		}
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	one, four := small(t, "ricart-agrawala", "raymond"), small(t, "ricart-agrawala", "raymond")
	one.Workers, four.Workers = 1, 4
	a, b := mustRun(t, one), mustRun(t, four)
	if !reflect.DeepEqual(a.Report(), b.Report()) {
		t.Error("one and four workers give different reports")
	}
}

func TestProgressCountsEveryRun(t *testing.T) {
	c := small(t, "raymond")
	var seen []int
	c.Progress = func(done, total int) {
		if total != 8 {
			t.Errorf("%d runs in all, want 8", total)
		}
		seen = append(seen, done)
	}
	mustRun(t, c)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}; !reflect.DeepEqual(seen, want) {
		t.Errorf("progress %v, want %v", seen, want)
	}
}

func TestImpossibleSizesAreSkipped(t *testing.T) {
	c := small(t)
	plane, err := catalog.Make("maekawa", algorithm.Options{Topology: "plane"})
	if err != nil {
		t.Fatal(err)
	}
	c.Specs, c.Nodes = []algorithm.Spec{plane}, []int{7, 12}
	m := mustRun(t, c)
	if c := m.Find(0, 0, 0, 0); c.Result == nil || c.Skipped != "" {
		t.Errorf("a plane of 7 was skipped: %q", c.Skipped)
	}
	if c := m.Find(0, 1, 0, 0); c.Result != nil || !strings.Contains(c.Skipped, "13") {
		t.Errorf("a plane of 12 was not skipped, or not with a reason: %q", c.Skipped)
	}
}

func TestNothingToCompare(t *testing.T) {
	if _, err := Run(small(t)); err == nil {
		t.Error("no algorithm: want an error")
	}
}

// The measures must rank two algorithms of which everybody knows the ranks.
func TestBestKnowsWhoIsBetter(t *testing.T) {
	c := small(t, "ricart-agrawala", "raymond")
	c.Nodes, c.Entries = []int{16}, 300
	m := mustRun(t, c)
	saturated := 1 // think 0, hold 1
	for key, want := range map[string]string{
		"messages_per_entry": "raymond",         // about 4, against 30
		"sync_delay":         "ricart-agrawala", // T, against the tree
		"throughput":         "ricart-agrawala",
		"response_time":      "ricart-agrawala",
	} {
		for _, by := range Measures() {
			if by.Key != key {
				continue
			}
			best := m.Best(by, saturated)
			if len(best.Specs) != 1 || m.Specs[best.Specs[0]].Name != want {
				t.Errorf("best by %s: %v, want %s alone", key, best, want)
			}
		}
	}
}

func TestTiesShareThePlace(t *testing.T) {
	c := small(t, "ricart-agrawala", "suzuki-kasami", "raymond")
	c.Nodes, c.Entries = []int{9}, 300
	m := mustRun(t, c)
	best := m.Best(Measures()[1], 1) // T for both of the first two when saturated
	if !reflect.DeepEqual(best.Specs, []int{0, 1}) || best.All || best.Value != 1 {
		t.Errorf("shortest synchronisation delay: %+v, want a delay of 1 shared by 0 and 1", best)
	}
	if best := m.Best(Measures()[2], 0); !best.All {
		t.Errorf("highest throughput at light load: %+v, want all alike", best)
	}
}

func TestLoads(t *testing.T) {
	exp := func(mean int64) scenario.Dist {
		return scenario.Exponential(mean * scenario.T)
	}
	one := scenario.Always(scenario.T)
	for _, test := range []struct {
		place Place
		want  algorithm.Load
	}{
		{Place{5, scenario.Always(0), one}, algorithm.Saturated},
		{Place{1, scenario.Always(0), one}, algorithm.AnyLoad},
		{Place{5, exp(50), one}, algorithm.AnyLoad},
		{Place{5, exp(5000), one}, algorithm.Light},
	} {
		if got := test.place.Load(); got != test.want {
			t.Errorf("%v: load %d, want %d", test.place, got, test.want)
		}
	}
}

// Every run must lie within what theory says, as far as theory is exact.
func TestMeasuredBesideTheory(t *testing.T) {
	m := mustRun(t, small(t, "ricart-agrawala", "suzuki-kasami", "raymond", "maekawa"))
	checked := 0
	for i := range m.Cells {
		c := &m.Cells[i]
		for _, by := range Measures() {
			x := by.Value(c)
			r, says := by.Range(c)
			if math.IsNaN(x) || !says || c.Load() != algorithm.Saturated {
				continue
			}
			checked++
			if !keeps(x, r) {
				t.Errorf("%s, N=%d, hold %v: %s is %v, theory says %v", c.Spec.Name, c.Nodes, c.Hold, by.Key, x, r)
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d values could be compared", checked)
	}
}

// keeps reports whether x agrees with theory, apart from rounding and from the first and
// last entries of a run, which are not like the rest.
func keeps(x float64, r algorithm.Range) bool {
	slack := 0.02*math.Abs(x) + 1e-9
	return x >= r.Lo-slack && x <= r.Hi+slack
}

func TestReportIsJSON(t *testing.T) {
	m := mustRun(t, small(t, catalogNames()...))
	if _, err := json.Marshal(m.Report()); err != nil {
		t.Error(err)
	}
}

func catalogNames() []string {
	var names []string
	for _, s := range catalog.Sound() {
		names = append(names, s.Name)
	}
	return names
}
