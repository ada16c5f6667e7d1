package deadlock

import (
	"errors"
	"slices"
	"testing"

	"github.com/stile-lock/stile/algorithm"
)

// textbook is the example of A. Silberschatz, P. B. Galvin, G. Gagne:
// Operating System Concepts, section on the banker's algorithm; its P0 is P1
// here.
func textbook(t *testing.T) *Bank {
	b, err := NewBank([]int{10, 5, 7}, []int{7, 5, 3}, []int{3, 2, 2}, []int{9, 0, 2}, []int{2, 2, 2}, []int{4, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	for tx, has := range [][]int{{0, 1, 0}, {2, 0, 0}, {3, 0, 2}, {2, 1, 1}, {0, 0, 2}} {
		if err := b.Request(algorithm.ID(tx), has...); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestBank follows the textbook step by step.
func TestBank(t *testing.T) {
	b := textbook(t)
	if got := b.Available(); !slices.Equal(got, []int{3, 3, 2}) {
		t.Errorf("available %v, want [3 3 2]", got)
	}
	for tx, want := range [][]int{{7, 4, 3}, {1, 2, 2}, {6, 0, 0}, {0, 1, 1}, {4, 3, 1}} {
		if got := b.Need(algorithm.ID(tx)); !slices.Equal(got, want) {
			t.Errorf("%v needs %v, want %v", algorithm.ID(tx), got, want)
		}
	}
	if got, safe := b.Sequence(); !safe || !slices.Equal(got, ids(2, 4, 5, 1, 3)) {
		t.Errorf("sequence %v, safe %v, want P2 P4 P5 P1 P3", got, safe)
	}
	if err := b.Request(1, 1, 0, 2); err != nil {
		t.Errorf("P2 asks for (1,0,2): %v", err)
	}
	if got, safe := b.Sequence(); !safe || !slices.Equal(got, ids(2, 4, 5, 1, 3)) {
		t.Errorf("then sequence %v, safe %v, want P2 P4 P5 P1 P3", got, safe)
	}
	if err := b.Request(4, 3, 3, 0); !errors.Is(err, ErrTaken) {
		t.Errorf("P5 asks for (3,3,0): %v, want that too few are free", err)
	}
	if err := b.Request(0, 0, 2, 0); !errors.Is(err, ErrUnsafe) {
		t.Errorf("P1 asks for (0,2,0): %v, want that it is unsafe", err)
	}
	if got := b.Available(); !slices.Equal(got, []int{2, 3, 0}) {
		t.Errorf("available %v after refusals, want [2 3 0] as before", got)
	}
	if err := b.Request(3, 0, 1, 2); err == nil || errors.Is(err, ErrTaken) || errors.Is(err, ErrUnsafe) {
		t.Errorf("P4 asks for more than it has claimed: %v", err)
	}
	b.Release(1)
	if err := b.Request(0, 0, 2, 0); err != nil {
		t.Errorf("P1 asks for (0,2,0) again, when P2 has ended: %v", err)
	}
}

// TestBankRefuses: what makes no sense is refused.
func TestBankRefuses(t *testing.T) {
	if _, err := NewBank([]int{2}, []int{3}); err == nil {
		t.Error("a claim of 3 of 2 is taken")
	}
	if _, err := NewBank([]int{2}, []int{1, 1}); err == nil {
		t.Error("a claim of two resources of one is taken")
	}
	b := textbook(t)
	if b.Request(0, -1, 0, 0) == nil || b.Request(0, 1) == nil || b.Request(9, 0, 0, 0) == nil || b.Request(algorithm.None, 0, 0, 0) == nil {
		t.Error("a negative request, or one of too few resources, is met")
	}
}

// A reducer is reduce, or a mutant of it.
type reducer func(free []int, want, have [][]int) (order, left []algorithm.ID)

// agrees compares a reducer with trying every order, on all kinds of small
// states: whether all can end, and whether the reported order works.
func agrees(r reducer) bool {
	chance := uint64(1)
	below := func(n int) int {
		chance = chance*6364136223846793005 + 1442695040888963407
		return int(chance>>33) % n
	}
	for range 3000 {
		free := []int{below(3), below(3)}
		var want, have [][]int
		for range 1 + below(4) {
			want, have = append(want, []int{below(4), below(4)}), append(have, []int{below(3), below(3)})
		}
		order, left := r(slices.Clone(free), want, have)
		if len(order)+len(left) != len(want) || (len(left) == 0) != anyOrder(free, want, have, nil) || !works(free, want, have, order) {
			return false
		}
	}
	return true
}

// anyOrder reports whether some order lets all end.
func anyOrder(free []int, want, have [][]int, order []algorithm.ID) bool {
	if len(order) == len(want) {
		return works(free, want, have, order)
	}
	for tx := range want {
		if id := algorithm.ID(tx); !slices.Contains(order, id) && anyOrder(free, want, have, append(slices.Clip(order), id)) {
			return true
		}
	}
	return false
}

// works reports whether each gets what it wants when those before it have
// ended.
func works(free []int, want, have [][]int, order []algorithm.ID) bool {
	free = slices.Clone(free)
	for _, tx := range order {
		for r := range free {
			if want[tx][r] > free[r] {
				return false
			}
		}
		add(free, have[tx], 1)
	}
	return true
}

// TestReduce: the reduction of the graph, on which the banker and the search
// for deadlocks with several instances rest, agrees with trying every order;
// and bugs planted into it do not.
func TestReduce(t *testing.T) {
	if !agrees(reduce) {
		t.Error("the reduction and trying every order differ")
	}
	first := func(all [][]int) [][]int {
		var cut [][]int
		for _, a := range all {
			cut = append(cut, []int{a[0], 0})
		}
		return cut
	}
	nothing := func(all [][]int) [][]int { return make([][]int, len(all)) }
	for bug, mutant := range map[string]reducer{
		"nothing is given back":          func(f []int, w, h [][]int) ([]algorithm.ID, []algorithm.ID) { return reduce(f, w, nothing(h)) },
		"only one resource is looked at": func(f []int, w, h [][]int) ([]algorithm.ID, []algorithm.ID) { return reduce(f, first(w), h) },
		"what is free is counted as one": func(f []int, w, h [][]int) ([]algorithm.ID, []algorithm.ID) {
			return reduce([]int{min(f[0], 1), min(f[1], 1)}, w, h)
		},
		"each is looked at once":          once,
		"a cycle is taken for a deadlock": cyclic,
	} {
		if agrees(mutant) {
			t.Errorf("%s, and the bug was not found", bug)
		}
	}
}

// once looks at each transaction only once, in order.
func once(free []int, want, have [][]int) (order, left []algorithm.ID) {
	for tx := range want {
		if within(want[tx], free) {
			add(free, have[tx], 1)
			order = append(order, algorithm.ID(tx))
		} else {
			left = append(left, algorithm.ID(tx))
		}
	}
	return order, left
}

// cyclic lets no process end that is part of a cycle of the wait-for graph, as if
// there were one instance of each resource.
func cyclic(free []int, want, have [][]int) (order, left []algorithm.ID) {
	units := slices.Clone(free)
	for _, h := range have {
		add(units, h, 1)
	}
	a := &Allocation{units: units, requests: want, assigned: have}
	if cycles := a.WaitFor().Cycles(); len(cycles) > 0 {
		for tx := range want {
			left = append(left, algorithm.ID(tx))
		}
		return nil, left
	}
	return reduce(free, want, have)
}
