// Package operators has something for every operator to change. Its test prints what
// the functions return, and a test of the tool compares that for every mutant.
package operators

import (
	"cmp"
	"errors"
	"fmt"
)

type account struct {
	name    string
	balance int
	open    bool
}

var limits = [...]int{2: 7}

var errOpen = errors.New("not open")

func drop(n int) (out []int) {
	defer func() { out = append(out, -1) }()
	for i := range n {
		if i == 1 {
			continue
		}
		out = append(out, i)
	}
	return out
}

func early(a *account) {
	if a.open {
		a.balance++
		return
	}
	a.name = "closed"
}

func with(a account, open bool) account {
	a.open = open
	return a
}

func keep(a account) account {
	a = with(a, true)
	a.balance, a.open = 5, a.open && a.balance > 1
	if a.name = "b"; a.open {
		a.balance--
	}
	return a
}

func cases(n uint8) string {
	switch {
	case n > 2:
		return "large"
	case n == 2:
		return "two"
	}
	switch n {
	case 1:
		return "one"
	}
	return "none"
}

func both(a, b, c bool) bool { return a && (b || c) && !c }

func compare(a, b int) [4]bool { return [...]bool{a < b, a <= b, a > b, a >= b} }

func compute(a, b uint64) [4]uint64 {
	return [...]uint64{2*(a+b) - 1, a / b, a % b, a&b | a&^b}
}

func least(a, b int) int { return max(min(a, b, 5), cmp.Compare(a, 3)) }

func check(a account) (int, error) {
	if !a.open {
		return 0, fmt.Errorf("account %d: %w", 1+len(a.name), errOpen)
	}
	return limits[2] << 1, nil
}
