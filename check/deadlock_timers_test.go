//go:build !race

// This runs in one thread: the race detector has nothing to find here.

package check

import (
	"maps"
	"testing"

	"github.com/stile-lock/stile/check/explore"
	"github.com/stile-lock/stile/deadlock"
)

// Timers that would change nothing do not run. That takes no behaviour away:
// but for those timers, the very same states are reached if they do.
func TestVainTimers(t *testing.T) {
	saved := 0
	for _, c := range []struct {
		mode                           string
		sites, processes, transactions int
		crash                          bool
	}{
		{deadlock.OnDemand, 2, 2, 1, false},
		{deadlock.OnDemand, 2, 2, 1, true},
		{deadlock.OnDemand, 2, 3, 1, false},
		{deadlock.InBatch, 2, 2, 1, true},
		{deadlock.InBatch, 2, 2, 2, false},
		{deadlock.InBatch, 3, 3, 1, false},
	} {
		config := Dinner(deadlock.DetectCentral(), c.mode, c.sites, c.processes, c.transactions)
		config.Crash = c.crash
		few, some := withoutTimers(t, config, false)
		many, all := withoutTimers(t, config, true)
		if !maps.Equal(few, many) {
			t.Errorf("%+v: %d states without their timers, and %d if all run", c, len(few), len(many))
		}
		saved += all - some
	}
	if saved < 1000 {
		t.Errorf("%d states saved: the reduction does nothing", saved)
	}
}

// withoutTimers returns all states without their timers, and how many there are
// with them.
func withoutTimers(t *testing.T, c DeadlockConfig, all bool) (set map[string]bool, states int) {
	t.Helper()
	m, err := newSites(c)
	if err != nil {
		t.Fatal(err)
	}
	m.allTimers = all
	set = map[string]bool{}
	g, err := explore.BuildGraph(timeless{m, set}, explore.GraphLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return set, int(g.States())
}

// timeless is a model that writes down its states without timers.
type timeless struct {
	*sites
	set map[string]bool
}

func (m timeless) Worker() explore.Worker {
	return timelessWorker{m.sites.Worker().(*sitesWorker), m.set}
}

type timelessWorker struct {
	*sitesWorker
	set map[string]bool
}

func (w timelessWorker) Waiting(state []byte) (waiting, calm uint32) {
	w.from.unpack(state, len(w.Programs), w.Layout.Sites)
	w.from.timers = nil
	w.set[string(w.from.pack(nil))] = true
	return 0, 0
}
