package model

import (
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/internal/family/locks"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A setup is a group of locks, for tests.
type setup struct {
	Spec     algorithm.Spec
	Nodes    int
	Requests int
	Network  algorithm.Network
	Watch    string
	Env      func(e *locks.Env) family.Env // changes it
}

func names() []string {
	return []string{family.MutualExclusion, family.Deadlock, family.Order, family.Fence, family.Token, family.Alibi, family.Channels}
}

// bit returns the bit of a property in these models.
func bit(property string) explore.Broken { return 1 << slices.Index(names(), property) }

// config returns the same for New.
func (s setup) config(t testing.TB) Config {
	t.Helper()
	env, err := locks.New(locks.Config{
		Nodes: s.Nodes, Requests: s.Requests, Fence: s.Watch == family.Fence,
		Order: s.Watch == family.Order || s.Watch == family.OrderOpen, Talk: s.Watch == family.OrderOpen,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Spec: s.Spec, Seats: s.Nodes, Env: env, Tagged: s.Watch != "", Names: names(), Network: s.Network,
		Form: Form{Shifted, Measured},
	}
	if s.Env != nil {
		c.Env = s.Env(env)
	}
	if s.Requests == 0 && s.Spec.Spreads {
		c.Form.Times = Spread
	}
	for p := range algorithm.ID(s.Nodes) {
		c.Waiters = append(c.Waiters, p)
	}
	return c
}

func mustModel(t testing.TB, s setup) *Model {
	t.Helper()
	m, err := New(s.config(t))
	if err != nil {
		t.Fatalf("%s, N=%d: %v", s.Spec.Name, s.Nodes, err)
	}
	return m
}
