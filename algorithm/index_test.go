package algorithm_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

type shelf struct {
	one  int
	many []int
}

func (s *shelf) Fields(c *algorithm.Coder) {
	c.Index("one", &s.one, 3)
	c.Indexes("many", &s.many, 3)
}
func (s *shelf) Claim(algorithm.ID, int) {}
func (s *shelf) Acquire(tx algorithm.ID, lock int, o *algorithm.Out[shelf]) {
	s.one = lock
	o.Grant(tx)
}
func (s *shelf) Finish(algorithm.ID, *algorithm.Out[shelf])          { s.one = -1 }
func (s *shelf) Abort(algorithm.ID, *algorithm.Out[shelf])           { s.many = nil }
func (s *shelf) Receive(algorithm.ID, *shelf, *algorithm.Out[shelf]) {}

// TestSite: a site gets which transaction and which lock, and things that are
// no seats are coded, described and set as seats are.
func TestSite(t *testing.T) {
	s := &shelf{one: -1, many: []int{2, 0}}
	m := algorithm.NewSite[shelf](0, algorithm.View{N: 1}, s, 8)
	var out host.Output
	if err := m.Step(host.Input{Kind: host.Request, From: 7, Arg: 1}, &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Notices) != 1 || out.Notices[0].Kind != host.Granted || out.Notices[0].Who != 7 {
		t.Errorf("notices %v, want lock granted to transaction 7", out.Notices)
	}
	for _, tx := range []algorithm.ID{8, algorithm.None} {
		if err := m.Step(host.Input{Kind: host.Request, From: tx}, &out); !errors.Is(err, host.ErrAlgorithm) {
			t.Errorf("a grant to transaction %d of 8: %v", tx+1, err)
		}
	}
	if err := m.Step(host.Input{Kind: host.Request, From: 7, Arg: 1}, &out); err != nil {
		t.Fatal(err)
	}
	b := m.AppendState(nil)
	other := &shelf{}
	if err := algorithm.NewSite[shelf](0, algorithm.View{N: 1}, other, 8).LoadState(b); err != nil {
		t.Fatal(err)
	}
	if other.one != 1 || !slices.Equal(other.many, []int{2, 0}) {
		t.Errorf("decoded %v, want one 1 and many 2, 0", other)
	}
	if got := m.Describe(); got[0].Value != "2" || got[1].Value != "3 1" {
		t.Errorf("described as %v, want 2 and 3 1", got)
	}
	for _, bad := range [][]byte{{4, 0}, {0, 1, 3}, {0, 2, 1, 1}, {0, 4, 0, 1, 2, 0}, {0, 2, 1}} {
		if err := algorithm.NewSite[shelf](0, algorithm.View{N: 1}, &shelf{}, 8).LoadState(bad); err == nil {
			t.Errorf("bytes %v decode, want an error", bad)
		}
	}
	for _, set := range []struct {
		name, text string
		ok         bool
	}{{"one", "none", true}, {"one", "3", true}, {"one", "4", false}, {"many", "2 3", true}, {"many", "2 2", false}, {"many", "x", false}} {
		if err := m.Assign(set.name, set.text); (err == nil) != set.ok {
			t.Errorf("setting %s to %q: %v", set.name, set.text, err)
		}
	}
}
