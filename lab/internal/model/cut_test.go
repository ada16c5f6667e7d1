package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/internal/family"
	"github.com/stile-lock/stile/lab/internal/explore"
)

// A countdown is a context that is done after it was asked some number of times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	if c.asked++; c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// A validation ends when limits say so, in each of its parts, and says in which.
func TestValidationIsCut(t *testing.T) {
	for _, c := range []struct {
		setup
		parts string
	}{
		{setup{Spec: mutex.RicartAgrawala(), Nodes: 2, Requests: 1, Watch: family.OrderOpen}, "numbers clocks alive"},
		{setup{Spec: mutex.SuzukiKasami(), Nodes: 2, Requests: 2, Network: algorithm.Unordered}, "numbers copies alive"},
		{setup{Spec: mutex.SuzukiKasami(), Nodes: 3, Requests: 1, Network: algorithm.Unordered}, "numbers Anchors"},
	} {
		m := mustModel(t, c.setup)
		if e, err := explore.Explore(m, explore.Limits{}); err != nil || e.Unfinished != "" {
			t.Fatal(e, err)
		}
		whole := &countdown{Context: context.Background(), left: 1 << 40}
		if err := m.Validate(explore.Limits{Context: whole}, 100, 1); err != nil {
			t.Fatal(err)
		}
		var met []string
		for left := 0; left < whole.asked; left += 1 + whole.asked/100 {
			var cut Cut
			err := m.Validate(explore.Limits{Context: &countdown{Context: context.Background(), left: left}}, 100, 1)
			if !errors.As(err, &cut) || !strings.HasPrefix(cut.Error(), explore.Interrupted) {
				t.Fatalf("%s, after %d of %d: %v", c.Spec.Name, left, whole.asked, err)
			}
			for part := range strings.FieldsSeq(c.parts) {
				if strings.Contains(err.Error(), part) && !slices.Contains(met, part) {
					met = append(met, part)
				}
			}
		}
		if got := strings.Join(met, " "); got != c.parts {
			t.Errorf("%s: cut in %s, want %s", c.Spec.Name, got, c.parts)
		}
	}
}
