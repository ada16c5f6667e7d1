package algorithm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm/host"
)

func even(n int) (Birth, error) {
	if n%2 == 1 {
		return nil, fmt.Errorf("%d is odd", n)
	}
	return func(self ID, v View) Machine { return New(self, v, &allMutex{all: *newAll(v.N)}) }, nil
}

func TestSpec(t *testing.T) {
	s := Spec{Name: "even", Kinds: []string{"A", "B", "C"}, Plan: even}
	for n, want := range map[int]string{-1: "at least 1", 0: "at least 1", 1: "1 is odd", 2: "", 3: "3 is odd"} {
		err := s.Accepts(n)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("among %d: got %v, want %q", n, err, want)
		}
	}
	for _, v := range []View{{}, {N: -2}, {N: 2, Holder: 2}, {N: 2, Holder: None}, {N: 3}} {
		if _, err := s.New(0, v); err == nil {
			t.Errorf("New took %+v", v)
		}
		if _, err := s.Group(v); err == nil {
			t.Errorf("Group took %+v", v)
		}
	}
	for _, self := range []ID{None, 2, 100} {
		if _, err := s.New(self, View{N: 2}); err == nil {
			t.Errorf("New took seat %d of 2", self)
		}
	}
	if ms, err := s.Group(View{N: 4, Holder: 3}); err != nil || len(ms) != 4 {
		t.Errorf("Group made %d machines, %v", len(ms), err)
	}
}

// A Spec that cannot work is refused in words for its author, wherever it is
// used first.
func TestSpecWithMistakes(t *testing.T) {
	kinds := []string{"A", "B", "C"}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "x", Kinds: kinds}, `"x" has no Plan`},
		{Spec{Name: "x", Kinds: kinds, Plan: Always(nil)}, "neither a Birth nor an error"},
		{Spec{Name: "x", Kinds: kinds, Plan: Always(func(ID, View) Machine { return nil })}, "no machine for P1"},
		{Spec{Name: "x", Kinds: kinds[:2], Plan: even}, "kinds 0 to 2, but the Spec names 2 kinds"},
		{Spec{Name: "x", Plan: even}, "names 0 kinds"},
		{Spec{Name: "x", Kinds: kinds[:2], Plan: wrapped}, "names 2 kinds"},
		{Spec{Kinds: kinds, Plan: even}, "a Spec has no Name: give it one"},
		{Spec{Name: "x", Kinds: []string{"A", "", "C"}, Plan: even}, `"x" has no name for messages of kind 1`},
		{Spec{Name: "x", Kinds: []string{"A", "B", "A"}, Plan: even}, `"x" calls messages of kinds 0 and 2 both A`},
		{Spec{Name: "x", Family: Election, Kinds: kinds, Plan: even}, "algorithm.NewElection"},
		{Spec{Name: "x", Family: Transactions, Kinds: kinds, Plan: wrapped}, "algorithm.NewSite"},
	} {
		_, one := c.spec.New(0, View{N: 2})
		_, all := c.spec.Group(View{N: 2})
		_, birth := c.spec.Birth(2)
		for _, err := range []error{c.spec.Accepts(2), one, all, birth} {
			if !errors.Is(err, host.ErrAlgorithm) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
	}
}

// A wrapper is a machine around another.
type wrapper struct{ Machine }

func (w wrapper) Unwrap() Machine { return w.Machine }

func wrapped(n int) (Birth, error) {
	birth, err := even(n)
	return func(self ID, v View) Machine { return wrapper{birth(self, v)} }, err
}

func TestNetworkNames(t *testing.T) {
	for n := FIFO; n <= Lossy; n++ {
		if got, err := ParseNetwork(n.String()); err != nil || got != n {
			t.Errorf("%v: %v, %v", n, got, err)
		}
	}
	if _, err := ParseNetwork("fi fo"); err == nil || !strings.Contains(err.Error(), "want fifo, unordered, duplicating or lossy") {
		t.Errorf("got %v", err)
	}
}

func TestCost(t *testing.T) {
	of := func(v float64) func(int) Range { return func(n int) Range { return Exact(v * float64(n)) } }
	for _, c := range []struct {
		cost Cost
		load Load
		want float64 // -1 if theory says nothing
	}{
		{Cost{}, Light, -1},
		{Cost{Any: of(1)}, Light, 3},
		{Cost{Any: of(1), Light: of(2), Saturated: of(4)}, AnyLoad, 3},
		{Cost{Any: of(1), Light: of(2), Saturated: of(4)}, Light, 6},
		{Cost{Any: of(1), Light: of(2), Saturated: of(4)}, Saturated, 12},
		{Cost{Light: of(2)}, Saturated, -1},
	} {
		r, ok := c.cost.At(3, c.load)
		if ok != (c.want >= 0) || ok && r != Exact(c.want) {
			t.Errorf("load %d: %v, %v, want %v", c.load, r, ok, c.want)
		}
	}
}

func TestStampOrder(t *testing.T) {
	sorted := []Stamp{{Time{1}, 0}, {Time{1}, 2}, {Time{2}, 0}, {Time{2}, 1}, {Time{10}, 0}}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := a.Less(b); got != (i < j) {
				t.Errorf("%v before %v: %v", a, b, got)
			}
		}
	}
	if got := (Stamp{Time{42}, 2}).text() + " " + (Stamp{}).text() + " " + ID(0).String() + " " + None.String(); got != "<42,3> none P1 none" {
		t.Errorf("shown as %s", got)
	}
	if _, ok := any(Stamp{}).(fmt.Stringer); ok {
		t.Error("an algorithm can have a stamp as text, and the number of its time in it")
	}
}
