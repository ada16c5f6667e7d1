package algorithm

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A clerk counts its requests, and has parts that no twin needs.
type clerk struct {
	allMutex
	drawer
	self    ID
	shown   uint8 // in Fields
	scratch []int // changes, but nothing depends on it
	say     func()
	forgets bool
}

type drawer struct{ hidden int }

func (s *clerk) Fields(c *Coder) { c.Uint8("shown", &s.shown, "none", "one", "more") }

func (s *clerk) Request(out *Out[all]) {
	s.scratch = append(s.scratch, len(s.scratch))
	s.shown = min(s.shown+1, 2)
	s.hidden++
	if s.forgets && s.hidden > 1 {
		out.Deny()
	}
}

// A machine that goes by a field which is not in its bytes is found out, and the
// field is named. One that only keeps something besides is not.
func TestTwin(t *testing.T) {
	for _, forgets := range []bool{true, false} {
		birth := func() Machine {
			return NewElection(1, View{N: 3}, &clerk{self: 1, say: func() {}, forgets: forgets})
		}
		m := birth()
		var twin Twin
		var out Output
		var err error
		for range 2 {
			in := Input{Kind: Request}
			if err := twin.Before(m, wrapper{birth()}); err != nil {
				t.Fatal(err)
			}
			if err := m.Step(in, &out); err != nil {
				t.Fatal(err)
			}
			if err = twin.After(1, in, m, &out); err != nil {
				break
			}
		}
		switch {
		case !forgets && err != nil:
			t.Errorf("a clerk that forgets nothing: %v", err)
		case forgets && (!errors.Is(err, ErrAlgorithm) || !strings.Contains(err.Error(), `P2 does not do the same`) || !strings.Contains(err.Error(), `(perhaps "hidden" or "scratch")`)):
			t.Errorf("got %v", err)
		}
	}
}

// A gambler goes by what is no part of it.
type gambler struct {
	allMutex
	next func() bool
}

func (*gambler) Fields(*Coder) {}

func (s *gambler) Request(out *Out[all]) {
	if s.next() {
		out.Enter()
	}
}

// Where no field can be missing it is said that it may be something else.
func TestTwinOfChance(t *testing.T) {
	heads := false
	birth := func() Machine {
		return New(1, View{N: 3}, &gambler{next: func() bool { heads = !heads; return heads }})
	}
	m, in := birth(), Input{Kind: Request}
	var twin Twin
	var out Output
	if err := errors.Join(twin.Before(m, birth()), m.Step(in, &out)); err != nil {
		t.Fatal(err)
	}
	if err := twin.After(1, in, m, &out); !errors.Is(err, ErrAlgorithm) || !strings.Contains(err.Error(), "missing from Fields, or it goes by more than its state") {
		t.Errorf("got %v", err)
	}
}

// Fields that change and are missing from Fields are named: numbers, but not
// what may be room that is used again.
func TestUnwritten(t *testing.T) {
	birth := func() Machine { return NewElection(1, View{N: 3}, &clerk{self: 1, say: func() {}}) }
	m := birth()
	var out Output
	if got := Unwritten(m, birth()); len(got) > 0 {
		t.Errorf("before any step: %v", got)
	}
	if err := m.Step(Input{Kind: Request}, &out); err != nil {
		t.Fatal(err)
	}
	if got := Unwritten(m, wrapper{birth()}); !slices.Equal(got, []string{`"hidden"`}) {
		t.Errorf("got %v, want hidden alone", got)
	}
}
