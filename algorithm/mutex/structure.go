package mutex

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// A Structure says which processes each process asks before entry and which it informs at
// exit: an information structure in Sanders' words.
type Structure struct {
	Request quorum.System // R
	Inform  quorum.System // I
}

// A StructureOf returns the structure for n processes.
type StructureOf func(n int) (Structure, error)

// requests returns the request sets of n processes, or none if there is no such
// structure.
func (of StructureOf) requests(n int) []algorithm.Set {
	st, err := of(n)
	if err != nil {
		return nil
	}
	return st.Request
}

// Check verifies the conditions that make a structure safe: i is in I_i, I_i is within
// R_i, and for every pair I_i and I_j intersect, or i is in R_j and j is in R_i.
func (st Structure) Check() error {
	if err := st.inside(len(st.Request)); err != nil {
		return err
	}
	for i := range algorithm.ID(len(st.Request)) {
		if !st.Inform[i].Has(i) {
			return fmt.Errorf("process %d is not in its own inform set: put it there", i+1)
		}
		for j := range st.Inform[i].All() {
			if !st.Request[i].Has(j) {
				return fmt.Errorf("process %d informs process %d but does not ask it: put %d into its request set", i+1, j+1, j+1)
			}
		}
		for j := range i {
			if st.Inform[j].Meets(&st.Inform[i]) == algorithm.None && !(st.Request[j].Has(i) && st.Request[i].Has(j)) {
				return fmt.Errorf("processes %d and %d could both be inside: their inform sets do not intersect, and they do not ask each other", j+1, i+1)
			}
		}
	}
	return nil
}

// inside verifies that there are two sets for each of n processes, with no other members.
func (st Structure) inside(n int) error {
	if len(st.Request) != n || len(st.Inform) != n {
		return fmt.Errorf("%d request sets and %d inform sets for %d processes: want one of each for each", len(st.Request), len(st.Inform), n)
	}
	for i := range n {
		for _, s := range []*algorithm.Set{&st.Request[i], &st.Inform[i]} {
			if id := s.Next(algorithm.ID(n)); id != algorithm.None {
				return fmt.Errorf("a set of process %d names process %d, but there are only %d", i+1, id+1, n)
			}
		}
	}
	return nil
}

// AskAll returns the structure of Ricart and Agrawala: every process asks all processes
// and informs only itself.
func AskAll(n int) (Structure, error) {
	st := Structure{wholeGroup(n), make(quorum.System, n)}
	for i := range algorithm.ID(n) {
		st.Inform[i].Add(i)
	}
	return st, nil
}

// AskQuorum returns the structure of Maekawa: a process asks and informs its quorum.
func AskQuorum(quorums quorum.Builder) StructureOf {
	return func(n int) (Structure, error) {
		sets, err := quorums(n)
		return Structure{sets, sets}, err
	}
}

// AskCoordinator returns the structure of a central algorithm: a process asks and informs
// itself and the coordinator.
func AskCoordinator(c algorithm.ID) StructureOf {
	return func(n int) (Structure, error) {
		if c < 0 || int(c) >= n {
			return Structure{}, fmt.Errorf("coordinator %d of %d processes: it must be one of them", c+1, n)
		}
		sets := make(quorum.System, n)
		for i := range algorithm.ID(n) {
			sets[i] = algorithm.SetOf(i, c)
		}
		return Structure{sets, sets}, nil
	}
}

// AskGiven returns a structure given by hand, for exactly that number of processes.
func AskGiven(st Structure) StructureOf {
	return func(n int) (Structure, error) { return st, st.inside(n) }
}
