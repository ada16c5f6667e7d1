package sim

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/script"
	"github.com/stile-lock/stile/lab/scenario"
)

// Theory is told of runs that are as it wants them, and of no others.
func TestTheoryHasConditions(t *testing.T) {
	mortal, err := catalog.Make("central+bully", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change         func(c *Config)
		counts, delays bool
	}{
		"as it is":         {func(*Config) {}, true, true},
		"slow":             {func(c *Config) { c.Latency = scenario.Always(2 * scenario.T) }, true, false},
		"one slow link":    {func(c *Config) { c.Links = []script.Link{{From: 1, To: 0, Latency: scenario.Always(5 * scenario.T)}} }, true, false},
		"unordered":        {func(c *Config) { c.Network = algorithm.Unordered }, true, false},
		"not made for it":  {func(c *Config) { c.Spec, c.Network = mutex.Lamport(), algorithm.Unordered }, false, false},
		"copies":           {func(c *Config) { c.Network = algorithm.Duplicating }, false, false},
		"losses":           {func(c *Config) { c.Network = algorithm.Lossy }, false, false},
		"survives, calm":   {func(c *Config) { c.Spec = mortal }, true, true},
		"survives a death": {func(c *Config) { c.Spec, c.Crashes = mortal, []Outage{{Proc: 2, At: 20 * scenario.T}} }, false, false},
		"stopped":          {func(c *Config) { c.Entries, c.Watch = 100_000, func(Progress) bool { return false } }, false, true},
		"busy at first":    {func(c *Config) { c.Spec, c.Busy = mutex.SuzukiKasami(), true }, false, true},
	} {
		conf := constant(mutex.Central(0), 3, 30)
		c.change(&conf)
		r, err := Run(conf)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Theory; (got.Messages != nil) != c.counts || (got.Multicasts != nil) != c.counts {
			t.Errorf("%s: of messages theory says %v; %q", name, got.Messages, got.IfCounts)
		}
		if got := r.Theory; (got.Client != nil) != c.delays || (got.Sync != nil) != c.delays {
			t.Errorf("%s: of delays theory says %v and %v; %q", name, got.Client, got.Sync, got.IfDelays)
		}
	}
}
