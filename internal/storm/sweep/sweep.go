// Package sweep runs the storms of many seeds on all cores and adds up their results. It
// keeps only sums and the first runs that failed, so a sweep of any number of seeds takes
// no more memory than a small one.
package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/jobs"
	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/process"
	"github.com/stile-lock/stile/internal/storm"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A Config says which storms to run: those of Seeds seeds, starting at First.
type Config struct {
	storm.Choice
	First uint64
	Seeds int
	jobs.Parallel
	// Change, if not nil, may change every run before it is made. It is for negative
	// controls.
	Change func(c *storm.Config)
}

// Live returns the algorithms of these names, as storms choose from them. Without names it
// returns all live algorithms.
func Live(names ...string) ([]member.Choice, error) {
	if len(names) == 0 {
		for _, s := range catalog.Live() {
			names = append(names, s.Name)
		}
	}
	all := catalog.Live()
	var list []member.Choice
	for _, name := range names {
		version := 0 // of none; MakeLive returns why there is none
		for _, s := range all {
			if s.Name == name {
				version = s.Version
			}
		}
		if _, err := catalog.MakeLive(name, version); err != nil {
			return nil, err
		}
		list = append(list, member.Choice{Algorithm: name, Version: version})
	}
	return list, nil
}

// Pick returns the run of a seed.
func (c Config) Pick(seed uint64) storm.Config {
	run := storm.Pick(seed, c.Choice)
	run.Spec, run.Disk, run.Logs = catalog.MakeLive, newDisk, logs
	if c.Change != nil {
		c.Change(&run)
	}
	return run
}

func newDisk() storm.Disk { return raft.NewDrive() }

// logs are those of a live cluster, except for their length: short ones are truncated
// often.
var logs = raft.Logs{Election: process.Election, Heartbeat: process.Heartbeat, MaxLog: 16}

// Last returns the last seed.
func (c Config) Last() uint64 { return c.First + uint64(c.Seeds-1) }

// A Sum is the result of a sweep.
type Sum struct {
	Seeds    int          // seeds that were run
	Runs     storm.Result // sums, and the longest of all waits
	Failures int          // seeds whose runs broke an invariant
	First    []Failure    // the first of them, by seed
}

// A Failure is a run that broke an invariant.
type Failure struct {
	Seed      uint64
	Violation storm.Violation
}

// kept is the number of failures that are kept.
const kept = 5

// Run runs the storms. The result does not depend on how many run at the same time. It ends
// early when its context is done.
func Run(c Config) (*Sum, error) {
	if c.Seeds < 1 || uint64(c.Seeds-1) > math.MaxUint64-c.First {
		return nil, fmt.Errorf("%d seeds starting at %d: seeds overflow", c.Seeds, c.First)
	}
	var mu sync.Mutex
	sum := &Sum{}
	err := c.Do(c.Seeds, func(i int) (bool, error) {
		if c.Over() {
			return false, nil
		}
		seed := c.First + uint64(i)
		r, err := storm.Run(c.Pick(seed))
		if err != nil {
			return false, fmt.Errorf("seed %d: %w", seed, err)
		}
		mu.Lock()
		defer mu.Unlock()
		sum.add(seed, r)
		return true, nil
	})
	return sum, err
}

func (s *Sum) add(seed uint64, r *storm.Result) {
	s.Seeds++
	s.Runs.Add(r)
	if r.Violation == nil {
		return
	}
	s.Failures++
	s.First = append(s.First, Failure{seed, *r.Violation})
	slices.SortFunc(s.First, func(a, b Failure) int { return cmp.Compare(a.Seed, b.Seed) })
	s.First = s.First[:min(len(s.First), kept)]
}
