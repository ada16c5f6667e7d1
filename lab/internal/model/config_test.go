package model

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// What a group may be, up to the last number.
func TestConfigs(t *testing.T) {
	good := func(n int) Config {
		env, err := locks.New(locks.Config{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		return Config{Spec: mutex.Central(0), Seats: n, Env: env, Waiters: []algorithm.ID{0}}
	}
	many := func(n int) (list []algorithm.ID) {
		for p := range algorithm.ID(n) {
			list = append(list, p)
		}
		return list
	}
	for name, c := range map[string]struct {
		seats  int
		change func(c *Config)
		ok     bool
	}{
		"as it is":                  {2, func(*Config) {}, true},
		"most seats":                {64, func(*Config) {}, true},
		"too many seats":            {65, func(*Config) {}, false},
		"last network":              {2, func(c *Config) { c.Network = algorithm.Lossy }, true},
		"no network":                {2, func(c *Config) { c.Network = algorithm.Lossy + 1 }, false},
		"no requester":              {2, func(c *Config) { c.Waiters = nil }, false},
		"most requesters":           {40, func(c *Config) { c.Waiters = many(30) }, true},
		"too many requesters":       {40, func(c *Config) { c.Waiters = many(31) }, false},
		"many that settle":          {40, func(c *Config) { c.Waiters, c.Settles = many(31), true }, true},
		"most crashes":              {2, func(c *Config) { c.Crashes, c.Comebacks = 15, 15 }, true},
		"too many crashes":          {2, func(c *Config) { c.Crashes = 16 }, false},
		"negative crashes":          {2, func(c *Config) { c.Crashes = -1 }, false},
		"too many comebacks":        {2, func(c *Config) { c.Comebacks = 16 }, false},
		"negative comebacks":        {2, func(c *Config) { c.Comebacks = -1 }, false},
		"most losses":               {2, func(c *Config) { c.Losses = 15 }, true},
		"too many losses":           {2, func(c *Config) { c.Losses = 16 }, false},
		"negative losses":           {2, func(c *Config) { c.Losses = -1 }, false},
		"units on fifo":             {2, func(c *Config) { c.Clock = Units }, true},
		"units, unordered":          {2, func(c *Config) { c.Clock, c.Network = Units, algorithm.Unordered }, true},
		"units, lossy":              {2, func(c *Config) { c.Clock, c.Network = Units, algorithm.Lossy }, false},
		"units, duplicating":        {2, func(c *Config) { c.Clock, c.Network = Units, algorithm.Duplicating }, false},
		"a start":                   {2, func(c *Config) { c.Starts = []algorithm.View{{N: 2, Holder: 1}} }, true},
		"a start of others":         {2, func(c *Config) { c.Starts = []algorithm.View{{N: 2}, {N: 3}} }, false},
		"a start that cannot be":    {2, func(c *Config) { c.Starts = []algorithm.View{{N: 2, Holder: 2}} }, false},
		"a group that cannot be":    {0, func(*Config) {}, false},
		"a spec that makes nothing": {2, func(c *Config) { c.Spec.Plan = nil }, false},
	} {
		config := good(max(1, c.seats))
		config.Seats = c.seats
		if c.change(&config); name == "a group that cannot be" {
			config.Seats = 0
		}
		m, err := New(config)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if mortal := config.Crashes > 0; m.mortal != mortal {
			t.Errorf("%s: mortal is %v", name, m.mortal)
		}
		if plain := config.Seats <= 16 && config.Clock != Units; m.plain != plain {
			t.Errorf("%s: plain is %v", name, m.plain)
		}
	}
	for _, change := range []func(c *Config){func(c *Config) { c.Wrong = true }, func(c *Config) { c.Crashes = 1 }} {
		c := good(2)
		change(&c)
		if m, err := New(c); err != nil || !m.mortal {
			t.Errorf("%+v: mortal is %v, %v", c, m.mortal, err)
		}
	}
	c := good(16)
	if m, err := New(c); err != nil || !m.plain {
		t.Errorf("16 seats are not plain, %v", err)
	}
	c.Tagged = true
	if m, err := New(c); err != nil || m.plain {
		t.Errorf("tagged messages are plain, %v", err)
	}
}

// What a model says about what was explored.
func TestSayings(t *testing.T) {
	for _, c := range []struct {
		spec            algorithm.Spec
		tokens, alibis  bool
		vain            bool
		states, longest int
	}{
		{mutex.Central(0), false, false, false, 0, 2},
		{mutex.SuzukiKasami(), true, false, false, 0, 2},
		{mutex.NaimiTrehel(), true, false, false, 0, 2},
		{mutex.RicartAgrawala(), false, false, false, 0, 2},
	} {
		m := mustModel(t, setup{Spec: c.spec, Nodes: 2, Network: c.spec.Network, Requests: 2})
		if m.HasTokens() || m.HasAlibis() || m.Vain() || m.Longest() != 0 {
			t.Errorf("%s: tokens %v, alibis %v, vain %v, %d messages on a link before anything is explored", c.spec.Name, m.HasTokens(), m.HasAlibis(), m.Vain(), m.Longest())
		}
		if _, err := explore.Explore(m, explore.Limits{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		longest := 0
		walk(t, m, func(_ *worker, g *state) {
			on := map[uint16]int{}
			for _, l := range g.messages {
				on[l.link]++
				longest = max(longest, on[l.link])
			}
		})
		if m.HasTokens() != c.tokens || m.Vain() != c.vain || m.Longest() != longest || longest == 0 {
			t.Errorf("%s: tokens %v, alibis %v, vain %v, %d messages on a link, want %d", c.spec.Name, m.HasTokens(), m.HasAlibis(), m.Vain(), m.Longest(), longest)
		}
	}
	m := mustModel(t, setup{Spec: mutex.Central(0), Nodes: 2})
	for i, name := range names() {
		if m.Bit(name) != 1<<i {
			t.Errorf("%s is bit %b", name, m.Bit(name))
		}
	}
	if m.Bit("nothing") != 0 || m.Bit(family.Cycle) != 0 {
		t.Error("there is a bit of what cannot be seen")
	}
}
