package model

import (
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/world/family"
	"github.com/stile-lock/stile/internal/world/family/locks"
)

// Only a lock with real numbers, on links that keep the order of sending, can be followed.
func TestFollowed(t *testing.T) {
	t.Parallel()
	spec, err := catalog.MakeLive("lamport", 1)
	if err != nil {
		t.Fatal(err)
	}
	env, err := locks.Family().Env(family.Options{Nodes: 2, Requests: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(c *Config)
		ok     bool
	}{
		{"as it is", func(*Config) {}, true},
		{"messages merged", func(c *Config) { c.Copies = false }, false},
		{"times renumbered", func(c *Config) { c.Form.Times = Shifted }, false},
		{"tags", func(c *Config) { c.Tagged = true }, false},
		{"crashes", func(c *Config) { c.Crashes = 1 }, false},
		{"time", func(c *Config) { c.Clock = Units }, false},
		{"no order", func(c *Config) { c.Network = algorithm.Unordered }, false},
		{"two starts", func(c *Config) { c.Starts = append(c.Starts, algorithm.View{N: 2}) }, false},
	} {
		config := Config{Spec: spec, Seats: 2, Env: env, Waiters: []algorithm.ID{0}, Copies: true, Starts: []algorithm.View{{N: 2, Busy: true}}}
		c.change(&config)
		m, err := New(config)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if _, err := m.Follow([]string{"a", "b"}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
