package deadlock

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

func graphOf(edges ...[2]int) *Graph {
	g := &Graph{}
	for _, e := range edges {
		g.Add(algorithm.ID(e[0]-1), algorithm.ID(e[1]-1), "")
	}
	return g
}

func ids(numbers ...int) []algorithm.ID {
	var all []algorithm.ID
	for _, n := range numbers {
		all = append(all, algorithm.ID(n-1))
	}
	return all
}

// TestCycles: the cycle P2, P3, P4 with P1 outside, and others.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name   string
		graph  *Graph
		cycles [][]algorithm.ID
		knots  [][]algorithm.ID
	}{
		{"P1 outside", graphOf([2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 2}), [][]algorithm.ID{ids(2, 3, 4)}, [][]algorithm.ID{ids(2, 3, 4)}},
		{"a chain", graphOf([2]int{1, 2}, [2]int{2, 3}), nil, nil},
		{"two rings", graphOf([2]int{4, 3}, [2]int{3, 4}, [2]int{1, 2}, [2]int{2, 1}), [][]algorithm.ID{ids(1, 2), ids(3, 4)}, [][]algorithm.ID{ids(1, 2), ids(3, 4)}},
		{"a way out", graphOf([2]int{1, 2}, [2]int{2, 1}, [2]int{2, 3}), [][]algorithm.ID{ids(1, 2)}, nil},
		{"itself", graphOf([2]int{5, 5}), [][]algorithm.ID{ids(5)}, [][]algorithm.ID{ids(5)}},
		{"short within long", graphOf([2]int{1, 2}, [2]int{2, 3}, [2]int{3, 1}, [2]int{3, 2}), [][]algorithm.ID{ids(2, 3)}, [][]algorithm.ID{ids(1, 2, 3)}},
		{"empty", graphOf(), nil, nil},
	} {
		if got := c.graph.Cycles(); !reflect.DeepEqual(got, c.cycles) {
			t.Errorf("%s: cycles %v, want %v", c.name, got, c.cycles)
		}
		if got := c.graph.Knots(); !reflect.DeepEqual(got, c.knots) {
			t.Errorf("%s: knots %v, want %v", c.name, got, c.knots)
		}
	}
}

// TestUnion: no local graph has a cycle, their union has.
func TestUnion(t *testing.T) {
	one, two := graphOf([2]int{2, 1}), graphOf([2]int{1, 5}, [2]int{5, 2})
	if len(one.Cycles())+len(two.Cycles()) != 0 {
		t.Error("a local graph has a cycle")
	}
	one.Union(two)
	if got := one.Cycles(); !reflect.DeepEqual(got, [][]algorithm.ID{ids(1, 5, 2)}) {
		t.Errorf("cycles %v of the union, want P1 P5 P2", got)
	}
	one.Drop(4)
	if len(one.Cycles()) != 0 || one.Has(0, 4) {
		t.Error("P5 is gone, its edges are not")
	}
	one.Remove(1, 0)
	if len(one.Edges()) != 0 {
		t.Errorf("edges %v left", one.Edges())
	}
}

// TestAllocation: with several instances a cycle is no deadlock as long as
// a process outside can release one.
func TestAllocation(t *testing.T) {
	a := NewAllocation(4, 2, 2) // L1 and L2, two instances each
	for _, x := range [][2]int{{0, 0}, {1, 0}, {2, 1}, {3, 1}} {
		if err := a.Assign(algorithm.ID(x[0]), x[1]); err != nil {
			t.Fatal(err)
		}
	}
	a.Request(0, 1)
	a.Request(2, 0)
	if len(a.WaitFor().Cycles()) == 0 {
		t.Error("no cycle, want one: P1 and P3 wait for each other's resource")
	}
	if got := a.Deadlocked(); len(got) != 0 {
		t.Errorf("%v deadlocked, want none: P2 and P4 can end", got)
	}
	if err := a.Assign(1, 0); err == nil {
		t.Error("a third instance of two was given")
	}
	a.Request(1, 1)
	a.Request(3, 0)
	if got := a.Deadlocked(); !slices.Equal(got, ids(1, 2, 3, 4)) {
		t.Errorf("%v deadlocked, want all", got)
	}
	a.Release(3, 1)
	if got := a.Deadlocked(); slices.Contains(got, 0) {
		t.Errorf("%v deadlocked: an instance of L2 is free", got)
	}
}

// TestSafe is the banker with several instances: the example of the textbooks,
// and the request that would make it unsafe.
func TestSafe(t *testing.T) {
	units := []int{10, 5, 7}
	claims := [][]int{{7, 5, 3}, {3, 2, 2}, {9, 0, 2}, {2, 2, 2}, {4, 3, 3}}
	have := [][]int{{0, 1, 0}, {2, 0, 0}, {3, 0, 2}, {2, 1, 1}, {0, 0, 2}}
	if !Safe(units, claims, have) {
		t.Error("unsafe, want safe")
	}
	have[1] = []int{3, 0, 2}
	if !Safe(units, claims, have) {
		t.Error("unsafe after P2 got (1,0,2), want safe")
	}
	have[0] = []int{0, 3, 0}
	if Safe(units, claims, have) {
		t.Error("safe after P1 got (0,2,0), want unsafe")
	}
	have[0] = []int{0, 9, 0}
	if Safe(units, claims, have) {
		t.Error("more is held than there is, and that is safe")
	}
}
