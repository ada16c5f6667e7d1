package deadlock

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// Reasons why a Bank does not give now what it may give later.
var (
	ErrTaken  = errors.New("too few are free: wait until others release some")
	ErrUnsafe = errors.New("the state would be unsafe: wait until others end")
)

// A Bank is the banker's algorithm for several instances of each resource, as in
// textbooks: every transaction claims beforehand how many it may need, and a request is
// met only if the state stays safe.
//
// E. W. Dijkstra: Cooperating Sequential Processes. EWD 123, 1965, for one resource; A.
// N. Habermann: Prevention of System Deadlocks. Communications of the ACM 12(7), 1969,
// for several.
type Bank struct {
	available  []int   // by resource
	max        [][]int // by transaction and resource: what it has claimed
	allocation [][]int // by transaction and resource: what it has
}

// NewBank returns a bank that has given nothing yet, with the given units of each
// resource and the claims of each transaction.
func NewBank(units []int, claims ...[]int) (*Bank, error) {
	b := &Bank{available: slices.Clone(units)}
	for tx, c := range claims {
		if err := proper(c, len(units)); err != nil {
			return nil, fmt.Errorf("the claim of %v: %w", algorithm.ID(tx), err)
		}
		if !within(c, units) {
			return nil, fmt.Errorf("%v claims %v of %v: claim no more than there is", algorithm.ID(tx), c, units)
		}
		b.max = append(b.max, slices.Clone(c))
		b.allocation = append(b.allocation, make([]int, len(units)))
	}
	return b, nil
}

// proper checks amounts given by a caller.
func proper(amounts []int, resources int) error {
	if len(amounts) != resources {
		return fmt.Errorf("%d amounts %v for %d resources: want one for each", len(amounts), amounts, resources)
	}
	if len(amounts) > 0 && slices.Min(amounts) < 0 {
		return fmt.Errorf("%v: no amount may be negative", amounts)
	}
	return nil
}

// Available returns how many units of each resource are free.
func (b *Bank) Available() []int { return slices.Clone(b.available) }

// Has returns what a transaction has of each resource.
func (b *Bank) Has(tx algorithm.ID) []int { return slices.Clone(b.allocation[tx]) }

// Need returns what a transaction may still request of each resource.
func (b *Bank) Need(tx algorithm.ID) []int {
	need := slices.Clone(b.max[tx])
	add(need, b.allocation[tx], -1)
	return need
}

func add(to, amounts []int, sign int) {
	for r, n := range amounts {
		to[r] += sign * n
	}
}

// Sequence returns an order in which every transaction can get all that it has claimed
// and end, and whether there is one: whether the state is safe.
func (b *Bank) Sequence() ([]algorithm.ID, bool) {
	need := make([][]int, len(b.max))
	for tx := range b.max {
		need[tx] = b.Need(algorithm.ID(tx))
	}
	order, left := reduce(b.Available(), need, b.allocation)
	return order, len(left) == 0
}

// Request gives a transaction the given amounts of each resource, or returns an error
// that says why not. Nothing changes unless all of it can be given.
func (b *Bank) Request(tx algorithm.ID, amounts ...int) error {
	if tx < 0 || int(tx) >= len(b.max) {
		return fmt.Errorf("request of %v: only %d transactions have claims", tx, len(b.max))
	}
	if err := proper(amounts, len(b.available)); err != nil {
		return fmt.Errorf("request of %v: %w", tx, err)
	}
	if !within(amounts, b.Need(tx)) {
		return fmt.Errorf("%v asks for %v, but has claimed only %v more: claim more beforehand", tx, amounts, b.Need(tx))
	}
	if !within(amounts, b.available) {
		return fmt.Errorf("%v asks for %v of %v: %w", tx, amounts, b.available, ErrTaken)
	}
	b.move(tx, amounts, 1)
	if _, safe := b.Sequence(); !safe {
		b.move(tx, amounts, -1)
		return fmt.Errorf("%v asks for %v of %v: %w", tx, amounts, b.available, ErrUnsafe)
	}
	return nil
}

// Release returns all that a transaction has to the bank.
func (b *Bank) Release(tx algorithm.ID) { b.move(tx, b.Has(tx), -1) }

func (b *Bank) move(tx algorithm.ID, amounts []int, sign int) {
	add(b.available, amounts, -sign)
	add(b.allocation[tx], amounts, sign)
}

// Safe reports whether a state is safe: claims and have are by transaction and resource.
func Safe(units []int, claims, have [][]int) bool {
	b := &Bank{available: slices.Clone(units), max: claims, allocation: have}
	for _, h := range have {
		add(b.available, h, -1)
	}
	_, safe := b.Sequence()
	return safe && (len(units) == 0 || slices.Min(b.available) >= 0)
}
