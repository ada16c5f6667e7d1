package explore_test

import (
	"testing"

	"github.com/stile-lock/stile/lab/internal/explore"
	"github.com/stile-lock/stile/lab/internal/ring"
)

// Agreement with TLC, the checker of TLA+. The TLA+ Examples publish, for each
// model, what TLC counts: distinct states; generated states, which are the
// initial states plus one for each successor computed, seen before or not; and
// depth, the number of levels of the breadth-first search. Stuttering is not
// counted.

// published is what TLC reports on a model.
type published struct {
	name                       string
	model                      explore.Model
	distinct, generated, depth int
}

func TestAgreesWithTLC(t *testing.T) {
	for _, p := range []published{
		// specifications/chang_roberts/MCChangRoberts, N = 3
		{"ChangRoberts", changRoberts{3}, 137, 227, 10},
		// specifications/ewd426/TokenRing, N = 6, M = 6
		{"TokenRing", ring.Ring{N: 6, K: 6, Mover: ring.OneMoves}, 46656, 248832, 1},
	} {
		initial := 0
		if err := p.model.Worker().Init(func([]byte) bool { initial++; return true }); err != nil {
			t.Fatal(err)
		}
		for workers := 1; workers <= 2; workers++ {
			e, err := explore.Explore(p.model, explore.Limits{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if int(e.States) != p.distinct || initial+int(e.Transitions) != p.generated || e.Depth != p.depth {
				t.Errorf("%s, %d workers: %d distinct states, %d generated, depth %d; TLC finds %d, %d and %d", p.name, workers,
					e.States, initial+int(e.Transitions), e.Depth, p.distinct, p.generated, p.depth)
			}
			if len(e.Broken) > 0 {
				t.Errorf("%s: broken: %v", p.name, e.Broken)
			}
		}
	}
}

// changRoberts is the election on a one-way ring of n, numbered in ring order:
// any subset initiates, the smallest number wins. What waits for a node is a
// set. A state is, for each node, whether it initiates and has begun, its role,
// and the set of numbers that wait for it.
type changRoberts struct{ n int }

func (m changRoberts) Worker() explore.Worker { return m }

const (
	candidate byte = iota
	lost
	won
)

const (
	initiates = 1 << iota
	begun
)

// The bytes of each node.
const (
	crFlags = iota
	crRole
	crSet
	crBytes
)

func (m changRoberts) Init(emit func([]byte) bool) error {
	for who := range 1 << m.n {
		s := make([]byte, crBytes*m.n)
		for i := range m.n {
			s[crBytes*i+crRole] = lost
			if who>>i&1 == 1 {
				s[crBytes*i+crFlags], s[crBytes*i+crRole] = initiates, candidate
			}
		}
		emit(s)
	}
	return nil
}

const brokenElection explore.Broken = 1

func (m changRoberts) Next(state []byte, emit func(explore.Step, []byte)) (explore.Broken, error) {
	for i := range m.n {
		me := state[crBytes*i:]
		if me[crFlags]&begun == 0 {
			s, node, next := m.copy(state, i)
			node[crFlags] |= begun
			if node[crFlags]&initiates != 0 {
				next[crSet] |= 1 << i
			}
			emit(explore.Step{}, s)
			continue
		}
		for id := range m.n {
			if me[crSet]>>id&1 == 0 {
				continue
			}
			s, node, next := m.copy(state, i)
			node[crSet] &^= 1 << id
			switch {
			case node[crRole] == lost || id < i:
				node[crRole] = lost
				next[crSet] |= 1 << id
			case id == i:
				node[crRole] = won
			}
			emit(explore.Step{}, s)
		}
	}
	return m.judge(state), nil
}

// copy returns a copy of a state, and in it node i and the one after it.
func (m changRoberts) copy(state []byte, i int) (s, node, next []byte) {
	s = append(s, state...)
	return s, s[crBytes*i:], s[crBytes*((i+1)%m.n):]
}

// judge: who has won is the smallest initiator, and all others have lost.
func (m changRoberts) judge(state []byte) explore.Broken {
	for i := range m.n {
		if state[crBytes*i+crRole] != won {
			continue
		}
		for j := range m.n {
			other := state[crBytes*j:]
			if j != i && (other[crRole] != lost || other[crFlags]&initiates != 0 && j < i) || state[crBytes*i]&initiates == 0 {
				return brokenElection
			}
		}
	}
	return 0
}
