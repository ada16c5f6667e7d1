package mistake

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
)

type message struct{}

func (*message) Fields(c *algorithm.Coder) {
	var kind uint8
	c.Kind(&kind, 0)
}

// silent is the rest of an algorithm.
type silent struct{}

func (silent) Release(*algorithm.Out[message])                         {}
func (silent) Receive(algorithm.ID, *message, *algorithm.Out[message]) {}

// A wrapper is a machine around another.
type wrapper struct{ host.Machine }

func (w wrapper) Unwrap() host.Machine { return w.Machine }

// A counter counts its requests, and has parts that no twin needs.
type counter struct {
	silent
	drawer
	self    algorithm.ID
	shown   uint8 // in Fields
	scratch []int // changes, but nothing depends on it
	say     func()
	forgets bool
}

type drawer struct{ hidden int }

func (s *counter) Fields(c *algorithm.Coder) { c.Uint8("shown", &s.shown, "none", "one", "more") }

func (s *counter) Request(out *algorithm.Out[message]) {
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
		birth := func() algorithm.Machine {
			return algorithm.NewElection[message](1, algorithm.View{N: 3}, &counter{self: 1, say: func() {}, forgets: forgets})
		}
		m := birth()
		var twin Twin
		var out host.Output
		var err error
		for range 2 {
			in := host.Input{Kind: host.Request}
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
			t.Errorf("an algorithm that forgets nothing: %v", err)
		case forgets && (!errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), `P2 behaves differently`) || !strings.Contains(err.Error(), `(perhaps "hidden" or "scratch")`)):
			t.Errorf("got %v", err)
		}
	}
}

// A gambler goes by what is no part of it.
type gambler struct {
	silent
	next func() bool
}

func (*gambler) Fields(*algorithm.Coder) {}

func (s *gambler) Request(out *algorithm.Out[message]) {
	if s.next() {
		out.Enter()
	}
}

// Where no field can be missing it is said that it may be something else.
func TestTwinOfChance(t *testing.T) {
	heads := false
	birth := func() algorithm.Machine {
		return algorithm.New[message](1, algorithm.View{N: 3}, &gambler{next: func() bool { heads = !heads; return heads }})
	}
	m, in := birth(), host.Input{Kind: host.Request}
	var twin Twin
	var out host.Output
	if err := errors.Join(twin.Before(m, birth()), m.Step(in, &out)); err != nil {
		t.Fatal(err)
	}
	if err := twin.After(1, in, m, &out); !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), "missing from Fields, or ") {
		t.Errorf("got %v", err)
	}
}

// Fields that change and are missing from Fields are named: numbers, but not
// what may be room that is used again.
func TestUnwritten(t *testing.T) {
	birth := func() algorithm.Machine {
		return algorithm.NewElection[message](1, algorithm.View{N: 3}, &counter{self: 1, say: func() {}})
	}
	m := birth()
	var out host.Output
	if got := Unwritten(m, birth()); len(got) > 0 {
		t.Errorf("before any step: %v", got)
	}
	if err := m.Step(host.Input{Kind: host.Request}, &out); err != nil {
		t.Fatal(err)
	}
	if got := Unwritten(m, wrapper{birth()}); !slices.Equal(got, []string{`"hidden"`}) {
		t.Errorf("got %v, want hidden alone", got)
	}
}
