package deadlock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// An Allocation is a resource-allocation graph: how many instances of each resource each
// transaction has requested, and how many it has been given.
type Allocation struct {
	units    []int
	requests [][]int // by transaction and resource
	assigned [][]int
}

// NewAllocation returns a graph without edges, among the given number of transactions and
// with units[i] instances of resource i.
func NewAllocation(transactions int, units ...int) *Allocation {
	a := &Allocation{units: slices.Clone(units)}
	for range transactions {
		a.requests = append(a.requests, make([]int, len(units)))
		a.assigned = append(a.assigned, make([]int, len(units)))
	}
	return a
}

// Units returns the number of instances of each resource.
func (a *Allocation) Units() []int { return slices.Clone(a.units) }

// Transactions returns the number of transactions.
func (a *Allocation) Transactions() int { return len(a.requests) }

// Requested returns how many instances of each resource a transaction has requested.
func (a *Allocation) Requested(tx algorithm.ID) []int { return slices.Clone(a.requests[tx]) }

// Assigned returns how many instances of each resource a transaction has been given.
func (a *Allocation) Assigned(tx algorithm.ID) []int { return slices.Clone(a.assigned[tx]) }

// Free returns how many instances of a resource are free.
func (a *Allocation) Free(resource int) int {
	n := a.units[resource]
	for tx := range a.assigned {
		n -= a.assigned[tx][resource]
	}
	return n
}

// Request adds a request edge: tx wants one more instance.
func (a *Allocation) Request(tx algorithm.ID, resource int) { a.requests[tx][resource]++ }

// Assign adds an assignment edge, and removes a request edge if there is one. It returns
// an error if no instance is free.
func (a *Allocation) Assign(tx algorithm.ID, resource int) error {
	if a.Free(resource) == 0 {
		return fmt.Errorf("%s to %v: all %d instances are in use", ResourceName(resource), tx, a.units[resource])
	}
	a.requests[tx][resource] = max(0, a.requests[tx][resource]-1)
	a.assigned[tx][resource]++
	return nil
}

// Release removes an assignment edge.
func (a *Allocation) Release(tx algorithm.ID, resource int) {
	a.assigned[tx][resource] = max(0, a.assigned[tx][resource]-1)
}

// WaitFor returns the wait-for graph: tx waits for every transaction that has an instance
// of a resource that tx has requested and cannot get.
func (a *Allocation) WaitFor() *Graph {
	g := &Graph{}
	a.edges(a.Free, g)
	return g
}

// Cycles returns the cycles of the graph, as Graph.Cycles does, by their transactions:
// each requests a resource of which the next one has an instance. Without a cycle there
// is no deadlock; with one there may be.
func (a *Allocation) Cycles() [][]algorithm.ID {
	g := &Graph{}
	a.edges(func(int) int { return 0 }, g)
	return g.Cycles()
}

// IsCycle reports whether each of txs requests a resource of which the next one has an
// instance, and the last one a resource of the first one's.
func (a *Allocation) IsCycle(txs []algorithm.ID) bool {
	g := &Graph{}
	a.edges(func(int) int { return 0 }, g)
	for i, tx := range txs {
		if !g.Has(tx, txs[(i+1)%len(txs)]) {
			return false
		}
	}
	return len(txs) > 0
}

// edges adds edges to a graph: from each transaction that requests more instances of a
// resource than that, to every other that has one.
func (a *Allocation) edges(than func(resource int) int, g *Graph) {
	for tx := range a.requests {
		for r, n := range a.requests[tx] {
			if n <= than(r) {
				continue
			}
			for other := range a.assigned {
				if a.assigned[other][r] > 0 {
					g.Add(algorithm.ID(tx), algorithm.ID(other), ResourceName(r))
				}
			}
		}
	}
}

// Deadlocked returns the transactions that can never proceed. With several instances a
// cycle is not enough. The graph is reduced, again and again, by a transaction whose
// requests can be met and which then returns everything; those left over are deadlocked.
//
// R. C. Holt: Some Deadlock Properties of Computer Systems. Computing Surveys 4(3), 1972.
func (a *Allocation) Deadlocked() []algorithm.ID {
	_, left := a.Reduce()
	return left
}

// Reduce returns an order in which transactions can end, and those that cannot.
func (a *Allocation) Reduce() (order, left []algorithm.ID) {
	free := make([]int, len(a.units))
	for r := range a.units {
		free[r] = a.Free(r)
	}
	return reduce(free, a.requests, a.assigned)
}

// A Reduction is one step by which a graph is reduced: a transaction gets what it
// requests, ends, and returns everything.
type Reduction struct {
	Tx   algorithm.ID
	Asks []int // what it gets, by resource
	Has  []int // what it had before
	Free []int // what is free after it
}

// Steps returns the steps by which the graph is reduced, as far as that goes.
func (a *Allocation) Steps() []Reduction {
	order, _ := a.Reduce()
	free := make([]int, len(a.units))
	for r := range a.units {
		free[r] = a.Free(r)
	}
	var steps []Reduction
	for _, tx := range order {
		add(free, a.assigned[tx], 1)
		steps = append(steps, Reduction{tx, slices.Clone(a.requests[tx]), slices.Clone(a.assigned[tx]), slices.Clone(free)})
	}
	return steps
}

// String describes the step: P3 gets 1 R3, ends, and gives back 2 R2, 1 R3.
func (s Reduction) String() string {
	gets, back := "asks for nothing", ", holds nothing, and ends"
	if slices.Max(s.Asks) > 0 {
		gets = "gets " + Amounts(s.Asks, false)
	}
	if slices.Max(s.Has) > 0 || slices.Max(s.Asks) > 0 {
		all := slices.Clone(s.Has)
		add(all, s.Asks, 1)
		back = ", ends, and releases " + Amounts(all, false)
	}
	return s.Tx.String() + " " + gets + back
}

// Amounts formats the units of each resource: of all resources, or only of those with
// any.
func Amounts(units []int, all bool) string {
	var list []string
	for r, n := range units {
		if n > 0 || all {
			list = append(list, fmt.Sprintf("%d %s", n, ResourceName(r)))
		}
	}
	return strings.Join(list, ", ")
}

// reduce lets transactions end as long as what they want is free, and returns their
// order, and those that cannot end.
func reduce(free []int, want, have [][]int) (order, left []algorithm.ID) {
	for tx := range want {
		left = append(left, algorithm.ID(tx))
	}
	for n := -1; n != len(order); {
		n = len(order)
		left = slices.DeleteFunc(left, func(tx algorithm.ID) bool {
			if !within(want[tx], free) {
				return false
			}
			for r, n := range have[tx] {
				free[r] += n
			}
			order = append(order, tx)
			return true
		})
	}
	return order, left
}

// within reports whether a is at most b, resource by resource.
func within(a, b []int) bool {
	for r, n := range a {
		if n > b[r] {
			return false
		}
	}
	return true
}

// ResourceName returns the name of a resource with several instances: R1, R2, and so on.
func ResourceName(resource int) string { return fmt.Sprintf("R%d", resource+1) }

// LockName returns the name of a lock: L1, L2, and so on.
func LockName(lock int) string { return fmt.Sprintf("L%d", lock+1) }
