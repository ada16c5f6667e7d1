package ring

import (
	"bytes"
	"fmt"
	"time"

	"github.com/stile-lock/stile/internal/world/explore"
)

// A Result is the result of checking a ring.
type Result struct {
	Ring
	Converges           bool   // every infinite run, from every state, reaches exactly one privilege and keeps it
	Unfinished          string // why that is unknown; empty if it is known
	States, Transitions int64
	Levels              int // levels of the breadth-first search: 1, if flags are read

	// Run is a longest run until the ring is right, or one in which it never is: then
	// what follows state number Loop can be repeated forever. It is nil if flags travel
	// in messages, because then there is no longest one.
	Run  []Move
	Loop int
}

// A Move is a step of a run: the processes that move, one bit for each, and the flags
// after it. In the first of a run no process moves.
type Move struct {
	Who   uint32
	Flags []byte
}

// The largest rings: the processes that move are kept in a few bits, a flag in a byte.
const (
	maxN = 20
	maxK = 256
)

// Check finds out whether a ring converges. With messages, runs do not count in which a
// message is never delivered, a privileged process never moves, or a flag is never
// resent.
func (r Ring) Check(l explore.Limits) (*Result, error) {
	if r.N < 2 || r.N > maxN || r.K < 2 || r.K > maxK {
		return nil, fmt.Errorf("a ring of %d processes whose flags have %d values: want 2 to %d processes, and 2 to %d values", r.N, r.K, maxN, maxK)
	}
	l.Stop = brokenClosure
	g, err := explore.BuildGraph(r, explore.GraphLimits{Limits: l, Edges: true})
	if err != nil {
		return nil, err
	}
	result := &Result{Ring: r, States: g.States(), Transitions: g.Transitions(), Levels: g.Levels()}
	if _, found := g.Found(brokenClosure); found {
		return result, nil
	}
	err = result.judge(g)
	result.Unfinished = g.Unfinished
	return result, err
}

// judge looks for a run in which the ring is never right, or for a longest one until it
// is.
func (r *Result) judge(g *explore.Graph) error {
	if g.Unfinished != "" {
		return nil
	}
	c := g.Cut(0)
	if bad := c.Starves(); bad != nil {
		loop := c.Loop(bad)
		if loop == nil {
			return nil
		}
		stem := g.PathTo(loop[0])
		r.Loop = len(stem) - 1
		return r.show(g, append(stem, loop[1:]...))
	}
	if g.Unfinished != "" {
		return nil
	}
	r.Converges = true
	run, _ := c.Longest()
	return r.show(g, run)
}

// show notes a run.
func (r *Result) show(g *explore.Graph, run []uint32) error {
	if r.Mover >= EmptyLinks || len(run) == 0 {
		return nil
	}
	_, states, err := g.Along(run)
	for i, state := range states {
		m := Move{Flags: state}
		if i > 0 {
			_, err = g.Worker().Next(states[i-1], func(s explore.Step, next []byte) {
				if m.Who == 0 && bytes.Equal(next, state) {
					m.Who = s.Label
				}
			})
		}
		r.Run = append(r.Run, m)
	}
	return err
}

// Steps returns the maximum number of steps until the ring is right.
func (r *Result) Steps() int { return max(1, len(r.Run)) - 1 }

// Fewest finds how many values are needed for n processes, by trying 2, 3, and so on:
// with each smaller number the ring does not converge, and with the last it does. (With 1
// value no process but process 0 would ever be privileged.) An unfinished result is for
// the last number tried. more receives the number of states of each.
func Fewest(n int, m Mover, l explore.Limits, more func(states int64)) (*Result, error) {
	started := time.Now()
	for k := 2; k <= 4*n; k++ {
		left := l
		if l.Time > 0 {
			left.Time = max(time.Nanosecond, l.Time-time.Since(started))
		}
		r, err := Ring{N: n, K: k, Mover: m}.Check(left)
		if err != nil {
			return nil, err
		}
		more(r.States)
		if r.Converges || r.Unfinished != "" {
			return r, nil
		}
	}
	return nil, fmt.Errorf("a ring of %d with %v does not converge with up to %d values", n, m, 4*n)
}

// Bounds returns, for each way to move, the minimum number of values for every group size
// that can be checked in a few seconds.
func Bounds(l explore.Limits) ([]*Result, error) {
	var list []*Result
	for _, m := range Movers() {
		most := 6
		switch m {
		case EmptyLinks:
			most = 3
		case LitteredLinks:
			most = 2
		}
		for n := 2; n <= most; n++ {
			r, err := Fewest(n, m, l, func(int64) {})
			if err != nil {
				return nil, err
			}
			if r.Unfinished != "" {
				return nil, fmt.Errorf("a ring of %d with %v and %d values: %s", n, m, r.K, r.Unfinished)
			}
			list = append(list, r)
		}
	}
	return list, nil
}
