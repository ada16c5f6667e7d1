package deadlock

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/algorithm"
)

// A Layout says how many sites, transactions and locks there are, and at which site each
// transaction has its home and each lock is kept.
type Layout struct {
	Sites int
	Home  []algorithm.ID // home of each transaction
	At    []algorithm.ID // site of each lock
	Units []int          // units of each lock that is a semaphore; 0 or 1 for others; nil if there is none
}

// Spread returns a layout in which transactions and locks are dealt out to the sites in
// turn.
func Spread(sites, transactions, locks int) Layout {
	l := Layout{Sites: sites}
	for i := range transactions {
		l.Home = append(l.Home, algorithm.ID(i%max(sites, 1)))
	}
	for i := range locks {
		l.At = append(l.At, algorithm.ID(i%max(sites, 1)))
	}
	return l
}

// maxIndex is greater than the number of transactions, or locks, may be.
const maxIndex = 1 << 16

// Check returns an error that says why the layout is impossible, or nil.
func (l Layout) Check() error {
	if l.Sites < 1 {
		return fmt.Errorf("%d sites: there must be at least 1", l.Sites)
	}
	if len(l.Home) < 1 || len(l.Home) > maxIndex {
		return fmt.Errorf("%d transactions at a time: want 1 to %d", len(l.Home), maxIndex)
	}
	if len(l.At) < 1 || len(l.At) > maxIndex {
		return fmt.Errorf("%d locks: want 1 to %d", len(l.At), maxIndex)
	}
	for tx, s := range l.Home {
		if s < 0 || int(s) >= l.Sites {
			return fmt.Errorf("the home of %v is site %d: there are sites 1 to %d", algorithm.ID(tx), s+1, l.Sites)
		}
	}
	if l.Units != nil && len(l.Units) != len(l.At) {
		return fmt.Errorf("units of %d locks: want those of each of %d, or none", len(l.Units), len(l.At))
	}
	for k, n := range l.Units {
		if n < 0 || n > maxIndex {
			return fmt.Errorf("%s has %d units: want 0 to %d", LockName(k), n, maxIndex)
		}
	}
	for k, s := range l.At {
		if s < 0 || int(s) >= l.Sites {
			return fmt.Errorf("%s is at site %d: there are sites 1 to %d", LockName(k), s+1, l.Sites)
		}
	}
	return nil
}

func (l *Layout) hasTx(tx int) bool { return tx >= 0 && tx < len(l.Home) }

func (l *Layout) hasLock(k int) bool { return k >= 0 && k < len(l.At) }

// UnitsOf returns the units of a lock that is a semaphore, and 0 or 1 for others.
func (l *Layout) UnitsOf(k int) int {
	if l.Units == nil {
		return 0
	}
	return l.Units[k]
}

// semaphore reports whether there is a lock with several units.
func (l *Layout) semaphore() bool {
	return slices.ContainsFunc(l.Units, func(n int) bool { return n > 1 })
}
