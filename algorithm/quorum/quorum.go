package quorum

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
)

// A System holds the voting set of each process.
type System []algorithm.Set

// A Builder returns the system for n processes, or an error that says why there is none.
type Builder func(n int) (System, error)

// Check verifies that every set has members, all of them among the processes, and that
// any two sets intersect.
func (s System) Check() error {
	for i := range s {
		if s[i].Empty() {
			return fmt.Errorf("the set of process %d is empty", i+1)
		}
		if id := s[i].Next(algorithm.ID(len(s))); id != algorithm.None {
			return fmt.Errorf("the set of process %d names process %d, but there are only %d", i+1, id+1, len(s))
		}
	}
	for i := range s {
		for j := range i {
			if s[i].Meets(&s[j]) == algorithm.None {
				return fmt.Errorf("the sets of processes %d and %d do not intersect: both could be inside", j+1, i+1)
			}
		}
	}
	return nil
}

// Grid puts the processes into a square by rows; the set of each is its row and its
// column. If n is not a square the last row, or last rows, are short or missing. Two sets
// still meet: of the two places where row and column cross, one is in a full row.
func Grid(n int) (System, error) {
	if n < 1 {
		return nil, fmt.Errorf("a grid of %d processes: want at least 1", n)
	}
	width := 1
	for width*width < n {
		width++
	}
	s := make(System, n)
	for i := range s {
		row, column := i/width, i%width
		for j := row * width; j < min(n, (row+1)*width); j++ {
			s[i].Add(algorithm.ID(j))
		}
		for j := column; j < n; j += width {
			s[i].Add(algorithm.ID(j))
		}
	}
	return s, nil
}

// Majority gives every process a set of itself and the next floor(n/2) processes in a
// circle.
func Majority(n int) (System, error) {
	if n < 1 {
		return nil, fmt.Errorf("a majority of %d processes: want at least 1", n)
	}
	s := make(System, n)
	for i := range s {
		for k := range n/2 + 1 {
			s[i].Add(algorithm.ID((i + k) % n))
		}
	}
	return s, nil
}

// Given returns a Builder of sets given by hand, for exactly that number of processes.
func Given(s System) Builder {
	return func(n int) (System, error) {
		if n != len(s) {
			return nil, fmt.Errorf("%d sets for %d processes: want one set for each", len(s), n)
		}
		if err := s.Check(); err != nil {
			return nil, err
		}
		return s, nil
	}
}
