package model

import (
	"errors"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// followable returns a lock that can be followed. Its first seat is inside.
func followable(t *testing.T) Config {
	t.Helper()
	spec, err := catalog.MakeLive("lamport", 1)
	if err != nil {
		t.Fatal(err)
	}
	env, err := locks.Family().Env(family.Options{Nodes: 2, Requests: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Config{Spec: spec, Seats: 2, Env: env, Waiters: []algorithm.ID{0}, Copies: true, Starts: []algorithm.View{{N: 2, Busy: true}}}
}

// Only a lock with real numbers, on links that keep the order of sending, can be followed.
func TestFollowed(t *testing.T) {
	t.Parallel()
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
		config := followable(t)
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

// A description of a step distinguishes messages by their fields, also those that no
// machine can read, and a deviation lists every step that the model has.
func TestDescribedSteps(t *testing.T) {
	t.Parallel()
	m, err := New(followable(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Follow([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	if _, err := f.Next(f.at, func(explore.Step, []byte) { steps++ }); err != nil {
		t.Fatal(err)
	}
	var d Deviation
	if err := f.Deviates("for a test"); !errors.As(err, &d) || len(d.Allowed) != steps || steps < 2 {
		t.Errorf("%d steps are possible, but the deviation is %v", steps, err)
	}
	texts := map[string][]byte{}
	for _, b := range [][]byte{nil, {0}, {0, 1}, {0, 2}, {byte(len(f.Spec.Kinds))}, {255, 1}} {
		text := f.Describe(&Observed{In: host.Input{Kind: host.Receive, Bytes: b}})
		if other, ok := texts[text]; ok {
			t.Errorf("the messages % x and % x are both described as %q", other, b, text)
		}
		texts[text] = b
	}
}
