package compare

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/draw"
	"github.com/stile-lock/stile/internal/jobs"
)

// methods compares all methods against deadlock.
func methods(t *testing.T, how jobs.Parallel) *DeadlockMap {
	t.Helper()
	m, err := RunDeadlock(DeadlockConfig{Methods: deadlock.Kept(), Processes: []int{2, 5}, Locks: 6, Sites: 3, Transactions: 40, Seed: 1, Parallel: how})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every algorithm is in each chart, and once in the key.
func TestChart(t *testing.T) {
	names := catalogNames()
	picture := mustRun(t, small(t, names...)).SVG()
	for _, name := range names {
		if n := strings.Count(picture, ">"+name+"</text>"); n != 1 {
			t.Errorf("%s is %d times in the key", name, n)
		}
	}
	lines := strings.Count(picture, `<g class="line`)
	if want := len(names) * (4 + 1); lines != want { // four loads, and the key
		t.Errorf("%d lines, want %d", lines, want)
	}
	if strings.Contains(picture, "NaN") {
		t.Error("a value that is missing is drawn")
	}
	picture = methods(t, jobs.Parallel{}).SVG()
	for _, want := range []string{">detect-central, change</text>", ">Throughput, commits per T</text>", ">Messages per transaction, messages</text>"} {
		if strings.Count(picture, want) != 1 {
			t.Errorf("%s is not there once", want)
		}
	}
}

// A chart of a comparison that was interrupted says so; one of a complete comparison
// does not.
func TestChartOfStopped(t *testing.T) {
	c := small(t, "raymond", "ricart-agrawala")
	if strings.Contains(mustRun(t, c).SVG(), "INTERRUPTED") {
		t.Error("the comparison was complete")
	}
	c.Parallel = until(t, 3)
	if !strings.Contains(mustRun(t, c).SVG(), "INTERRUPTED after 3 of 16 runs") {
		t.Error("the chart of algorithms does not say that it was interrupted")
	}
	if !strings.Contains(methods(t, until(t, 4)).SVG(), "INTERRUPTED after 4 of 24 runs") {
		t.Error("the chart of methods does not say that it was interrupted")
	}
}

// No two algorithms look alike, nor do locks that survive crashes look like any other.
func TestLooksAreUnique(t *testing.T) {
	seen := map[draw.Look]string{}
	add := func(name string) {
		if other, ok := seen[lookOf(name)]; ok {
			t.Errorf("%s looks like %s", name, other)
		}
		seen[lookOf(name)] = name
	}
	for _, s := range catalog.All() {
		add(s.Name)
		for _, e := range catalog.Elections() {
			if _, err := catalog.Make(s.Name+"+"+e.Name, algorithm.Options{}); err == nil {
				add(s.Name + "+" + e.Name)
			}
		}
	}
	if len(seen) < len(catalog.All())+30 {
		t.Errorf("only %d looks were tried", len(seen))
	}
	methods := map[draw.Look]bool{}
	rows := 0
	for _, m := range deadlock.Methods() {
		for _, mode := range append([]string{""}, m.Modes...)[min(1, len(m.Modes)):] {
			methods[lookOfMethod(m.Name, mode)] = true
			rows++
		}
	}
	if len(methods) != rows {
		t.Errorf("%d rows of methods have %d looks", rows, len(methods))
	}
}

// An algorithm keeps its look whatever it is compared with.
func TestLooksAreStable(t *testing.T) {
	few, many := mustRun(t, small(t, "raymond")), mustRun(t, small(t, "central", "raymond", "maekawa"))
	if x, y := few.lines(Measures()[0], 0, 0)[0].Look, many.lines(Measures()[0], 0, 0)[1].Look; x != y {
		t.Errorf("raymond alone looks like %+v, beside others like %+v", x, y)
	}
}
