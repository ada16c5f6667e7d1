package model

import (
	"errors"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/internal/world/explore"
	"github.com/stile-lock/stile/internal/world/family/transactions"
)

// A skewed site does with its clock what must not be done.
type skewed struct {
	algorithm.Machine
	bug string
}

func (s skewed) Step(in host.Input, out *host.Output) error {
	clock := s.Clock()
	if s.bug == "parity" && in.Kind == host.Request && clock%2 == 0 {
		out.Reset()
		return nil // it has not heard
	}
	if err := s.Machine.Step(in, out); err != nil || s.bug != "leap" || in.Kind != host.Request {
		return err
	}
	var none host.Output
	return s.Machine.Step(host.Input{Kind: host.Hear, From: algorithm.None, Time: s.Clock() + 3}, &none)
}

// Sites that do more with clocks than compare, copy and count by one are told
// so: nothing is proved by numbering their states anew.
func TestLiftOfSites(t *testing.T) {
	for _, c := range []struct{ bug, want string }{
		{"", ""},
		{"parity", "changes when logical times are shifted"},
		{"leap", "by more than one"},
	} {
		m, err := New(transacts(t, transactions.Dinner(deadlock.None(), "", 2, 2), 0))
		if err != nil {
			t.Fatal(err)
		}
		birth := m.birth
		m.birth = func(self algorithm.ID, v algorithm.View) algorithm.Machine { return skewed{birth(self, v), c.bug} }
		_, err = explore.BuildGraph(m, explore.GraphLimits{})
		var lift LiftError
		if errors.As(err, &lift) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.bug, err, c.want)
		}
	}
}
