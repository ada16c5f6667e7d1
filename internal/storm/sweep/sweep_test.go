package sweep

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/storm"
)

func config(t *testing.T, first uint64, seeds, workers int) Config {
	t.Helper()
	live, err := Live()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Choice: storm.Choice{Algorithms: live, Nodes: []int{1, 3}, Voters: []int{1, 3}, Faults: storm.AllFaults}, First: first, Seeds: seeds, Parallel: jobs.Parallel{Workers: workers}}
}

// confused has algorithms vouch for every process, whatever it does, which breaks
// exclusion when views change.
func confused(c *storm.Config) {
	c.Spec = func(name string, version int) (algorithm.Spec, error) {
		spec, err := catalog.MakeLive(name, version)
		plan := spec.Plan
		spec.Plan = func(n int) (algorithm.Birth, error) {
			birth, err := plan(n)
			return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return voucher{birth(self, v)} }, err
		}
		return spec, err
	}
}

type voucher struct{ algorithm.Machine }

func (voucher) Alibi(algorithm.ID) bool { return true }

// The results do not depend on the number of concurrent runs, and are those of the seeds
// one by one.
func TestWorkers(t *testing.T) {
	one, many := config(t, 3, 10, 1), config(t, 3, 10, 4)
	one.Change, many.Change = confused, confused
	a, err := Run(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(many)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("one at a time: %+v\nfour: %+v", a, b)
	}
	if a.Failures == 0 || a.Seeds != 10 || a.Runs.Entries == 0 || a.Runs.Views == 0 {
		t.Fatalf("%+v: nothing was broken, or nothing happened", a)
	}
	last := uint64(0)
	for _, f := range a.First {
		r, err := storm.Run(one.Pick(f.Seed))
		if err != nil || r.Violation == nil || *r.Violation != f.Violation || f.Seed <= last {
			t.Errorf("seed %d alone, after %d: %v, %v; in the sweep: %v", f.Seed, last, r, err, f.Violation)
		}
		last = f.Seed
	}
	first, second := config(t, 3, 6, 2), config(t, 9, 4, 2)
	first.Change, second.Change = confused, confused
	x, _ := Run(first)
	y, _ := Run(second)
	if x.Failures+y.Failures != a.Failures || x.Runs.Entries+y.Runs.Entries != a.Runs.Entries || x.Runs.Digest+y.Runs.Digest != a.Runs.Digest {
		t.Errorf("in two parts it is %+v and %+v, in one %+v", x, y, a)
	}
}

// However many fail, only the first are kept.
func TestKept(t *testing.T) {
	var s Sum
	for seed := uint64(1000); seed > 0; seed-- {
		s.add(seed, &storm.Result{Violation: &storm.Violation{}})
	}
	if s.Failures != 1000 || len(s.First) != kept || s.First[0].Seed != 1 || s.First[kept-1].Seed != kept {
		t.Errorf("%d failures, of which are kept %v", s.Failures, s.First)
	}
}

// It stops when its context ends.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := config(t, 1, 50, 1)
	c.Context = ctx
	c.Progress = func(done, _ int) {
		if done == 4 {
			cancel()
		}
	}
	if s, err := Run(c); err != nil || s.Seeds != 4 {
		t.Errorf("ended after 4 runs: %+v, %v", s, err)
	}
}

func TestSeeds(t *testing.T) {
	for _, c := range []Config{config(t, math.MaxUint64, 2, 1), config(t, 1, 0, 1), config(t, 1, -1, 1)} {
		if s, err := Run(c); err == nil {
			t.Errorf("%d seeds from %d: %+v", c.Seeds, c.First, s)
		}
	}
	if s, err := Run(config(t, math.MaxUint64, 1, 1)); err != nil || s.Seeds != 1 {
		t.Errorf("the last seed: %+v, %v", s, err)
	}
}

func TestLive(t *testing.T) {
	if got, err := Live("maekawa", "central"); err != nil || len(got) != 2 || got[0].Algorithm != "maekawa" || got[0].Version == 0 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, name := range []string{"token-ring", "bully", "nothing", ""} {
		if got, err := Live(name); err == nil {
			t.Errorf("%q is not live, but got %v", name, got)
		}
	}
}
